//! Where the conversation with evcxr goes, and what takes its place.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, RawFd};
use std::os::unix::net::UnixStream;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::libc;

use super::streams::{ANSWERS, COMMANDS, REPORTS, SOCKET, Stream};

/// The two ends of the conversation with evcxr.
pub struct Descriptors {
    /// evcxr's lines.
    pub commands: File,
    /// What evcxr is told.
    pub answers: File,
}

/// Moves the conversation to private descriptors and gives the cells streams of their own.
///
/// Private descriptors do not live on in what a cell starts, so a background process cannot hold evcxr up. The
/// process leads a group of its own and dies with the kernel.
pub fn separate() -> Result<Descriptors, Box<dyn std::error::Error>> {
    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
    nix::unistd::setpgid(nix::unistd::Pid::from_raw(0), nix::unistd::Pid::from_raw(0))?;
    // Memory runs out here first, not in the kernel.
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    super::signals::listen()?;
    forget_surroundings();

    let socket = std::env::var_os(SOCKET).ok_or("no socket was named")?;
    move_to(0, COMMANDS)?;
    move_to(1, ANSWERS)?;
    replace(0, File::open("/dev/null")?.into_raw_fd())?;
    replace(1, connect(&socket, Stream::Stdout)?)?;
    replace(2, connect(&socket, Stream::Stderr)?)?;
    move_to(connect(&socket, Stream::Reports)?, REPORTS)?;
    for private in [COMMANDS, ANSWERS, REPORTS] {
        keep_from_children(private)?;
    }
    Ok(Descriptors { commands: owned(COMMANDS), answers: owned(ANSWERS) })
}

/// Takes away what only kernel and compiler should see.
fn forget_surroundings() {
    for name in ["EVCXR_IS_RUNTIME", "RUST_BACKTRACE"] {
        // SAFETY: no other thread runs yet.
        unsafe { std::env::remove_var(name) };
    }
}

fn connect(socket: &std::ffi::OsStr, stream: Stream) -> io::Result<RawFd> {
    let mut connection = UnixStream::connect(socket)?;
    connection.write_all(&[stream.tag()])?;
    Ok(connection.into_raw_fd())
}

fn move_to(from: RawFd, to: RawFd) -> io::Result<()> {
    replace(to, from)
}

/// Makes `number` mean what `with` means; `with` itself is closed.
fn replace(number: RawFd, with: RawFd) -> io::Result<()> {
    // SAFETY: both are plain descriptor numbers; `with` is owned here and closed once.
    unsafe {
        if libc::dup2(with, number) < 0 {
            return Err(io::Error::last_os_error());
        }
        if with > 2 {
            libc::close(with);
        }
    }
    Ok(())
}

fn keep_from_children(number: RawFd) -> nix::Result<()> {
    let file = owned(number);
    let result = fcntl(&file, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC));
    debug_assert_eq!(file.as_raw_fd(), number);
    let _ = file.into_raw_fd();
    result.map(drop)
}

/// Tells the kernel a report without a body.
pub fn report(word: &str) -> io::Result<()> {
    let mut reports = std::mem::ManuallyDrop::new(owned(REPORTS));
    reports.write_all(format!("{word} 0\n").as_bytes())
}

fn owned(number: RawFd) -> File {
    // SAFETY: the number was opened above and has no other owner.
    unsafe { File::from_raw_fd(number) }
}
