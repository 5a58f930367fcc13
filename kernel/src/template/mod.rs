//! A session made ready: the library compiled, so that a kernel only has to copy it.

mod sources;
mod standard_library;
mod toolchain;

use std::fs;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Context, Error, Result};
use crate::session::{self, PrivateFolder, Session};

pub use sources::Sources;
pub use toolchain::Toolchain;

/// The variable that names the template, where it is not in its usual place.
pub const VARIABLE: &str = "TPULAB_TEMPLATE";

/// The features that the library has in notebooks.
pub const FEATURES: [&str; 1] = ["linfa"];

/// A prepared session on disk. It is only read; every session works on a copy.
#[derive(Clone, Debug)]
pub struct Template {
    path: PathBuf,
    description: Description,
}

/// What a template was made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// The digest of the library's sources.
    pub sources: String,
    /// What compiled it.
    pub toolchain: Toolchain,
    /// The kernel's version.
    pub kernel: String,
    /// The library's features.
    pub features: Vec<String>,
}

impl Template {
    /// The template that this kernel uses: the one that `TPULAB_TEMPLATE` names, or the one below the user's data.
    pub fn find() -> Result<Self> {
        let path = match std::env::var_os(VARIABLE) {
            Some(path) => path.into(),
            None => usual_place(&Description::wanted()?)?,
        };
        Self::open(&path).map_err(|error| error.help("run `tpulab kernel install`, which prepares it"))
    }

    /// The template in the folder `path`.
    pub fn open(path: &Path) -> Result<Self> {
        let file = path.join("template.json");
        let text = fs::read_to_string(&file)
            .context("KERNEL001", format!("the prepared session is not there: {}", file.display()))?;
        let description = serde_json::from_str(&text)
            .context("KERNEL001", format!("{} does not describe a prepared session", file.display()))?;
        Ok(Template { path: path.to_owned(), description })
    }

    /// Finds the template and prepares it where it is missing, or made of other sources or by another compiler.
    pub fn ensure() -> Result<Self> {
        let wanted = Description::wanted()?;
        match Self::find() {
            Ok(template) if template.description == wanted => return Ok(template),
            _ => {}
        }
        // Whoever prepares goes into the session, and this process stays where it is.
        let program = std::env::current_exe().context("KERNEL002", "this program cannot be found")?;
        let status = std::process::Command::new(program)
            .args(["kernel", "prepare"])
            .status()
            .context("KERNEL002", "the preparation does not start")?;
        match status.success() {
            true => Self::open(&usual_place(&wanted)?),
            false => Err(Error::new("KERNEL002", "the session could not be prepared, for the reason above")
                .help("`tpulab doctor` looks for what is missing")),
        }
    }

    /// Prepares a template in its usual place, unless another process does so first.
    pub fn prepare_here() -> Result<Self> {
        let wanted = Description::wanted()?;
        let path = usual_place(&wanted)?;
        let failed = || format!("{} cannot be made", path.display());
        path.parent().map_or(Ok(()), fs::create_dir_all).context("KERNEL002", failed())?;
        let lock = fs::File::create(path.with_extension("lock")).context("KERNEL002", failed())?;
        // Held until the end, and let go by the system whatever that end is.
        let _lock =
            Flock::lock(lock, FlockArg::LockExclusive).map_err(|(_, error)| error).context("KERNEL002", failed())?;
        match Self::open(&path) {
            Ok(template) if template.description == wanted => Ok(template),
            _ => Self::prepare(&path),
        }
    }

    /// Compiles the library and all it needs, once, and keeps the result in the folder `path`.
    fn prepare(path: &Path) -> Result<Self> {
        let wanted = Description::wanted()?;
        let sources = Sources::of_this_kernel();
        eprintln!("compiling tpulab for notebooks, once: this takes a minute or two");
        let private = PrivateFolder::create().context("KERNEL002", "no folder for the session")?;
        let folder = private.folder();
        sources.write(&folder.library()).context("KERNEL002", "the sources cannot be written")?;
        fs::write(folder.lock(), sources.lock()).context("KERNEL002", "the versions cannot be written")?;
        let new = path.with_extension("new");
        let _ = fs::remove_dir_all(&new);
        fs::create_dir_all(&new).context("KERNEL002", format!("{} cannot be made", new.display()))?;
        standard_library::copy(&wanted.toolchain, &new.join("rust-src"))?;
        session::enter(&private, &new.join("rust-src"), &wanted.toolchain)?;
        Session::warm(private)?.keep_crate_in(&new.join("crate"))?;
        let text = serde_json::to_string_pretty(&wanted).context("KERNEL002", "no description")?;
        fs::write(new.join("template.json"), text).context("KERNEL002", "the description cannot be written")?;
        let _ = fs::remove_dir_all(path);
        fs::rename(&new, path).context("KERNEL002", format!("{} cannot be made", path.display()))?;
        Self::open(path)
    }

    /// Copies the prepared crate into a session's folder.
    pub fn copy_to(&self, private: &PrivateFolder) -> Result<()> {
        session::copy(&self.path.join("crate"), private.folder().path())
            .context("KERNEL002", format!("the prepared session in {} cannot be copied", self.path.display()))
    }

    /// The standard library's sources for inference.
    pub fn standard_library(&self) -> PathBuf {
        self.path.join("rust-src")
    }

    /// What it was made of.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Description {
    /// What a template of this kernel must be made of.
    pub fn wanted() -> Result<Self> {
        Ok(Description {
            sources: Sources::of_this_kernel().digest(),
            toolchain: Toolchain::find()?,
            kernel: env!("CARGO_PKG_VERSION").to_owned(),
            features: FEATURES.map(str::to_owned).to_vec(),
        })
    }

    /// A short name; other sources or another compiler have another.
    fn name(&self) -> String {
        let mut hasher = Sha256::new();
        hasher.update(serde_json::to_vec(self).unwrap_or_default());
        hasher.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Where the template of this description is kept: below the user's data.
pub fn usual_place(description: &Description) -> Result<PathBuf> {
    let data = dirs::data_dir().ok_or_else(|| {
        Error::new("KERNEL003", "this user has no folder for data")
            .help(format!("set {VARIABLE} to a folder for the prepared session"))
    })?;
    Ok(data.join("tpulab").join("templates").join(description.name()))
}
