//! The compiled cells, and the library that they were linked to.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::signals;
use super::streams::{ANSWERS, COMMANDS, REPORTS};

/// The cells loaded so far. None is ever unloaded: a variable may hold code of any of them.
#[derive(Default)]
pub struct Libraries {
    loaded: Vec<Library>,
    variables: Variables,
    attached: bool,
}

/// evcxr's store of variables, which passes from cell to cell.
struct Variables(*mut c_void);

impl Default for Variables {
    fn default() -> Self {
        Variables(std::ptr::null_mut())
    }
}

static FLUSH: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

impl Libraries {
    /// Loads a compiled cell.
    pub fn load(&mut self, path: &str) -> Result<(), libloading::Error> {
        // SAFETY: the library was compiled by evcxr for this process.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL) }?;
        if !self.attached {
            self.attached = attach(&library);
        }
        self.loaded.push(library);
        Ok(())
    }

    /// Runs a function of the cell loaded last.
    pub fn call(&mut self, function: &str) -> Result<(), libloading::Error> {
        if let Some(library) = self.loaded.last() {
            // SAFETY: evcxr gives the function this signature.
            unsafe {
                let run = library.get::<extern "C" fn(*mut c_void) -> *mut c_void>(function.as_bytes())?;
                self.variables.0 = run(self.variables.0);
            }
        }
        Ok(())
    }
}

/// Connects the library with the kernel, if the cell was linked to it.
fn attach(cell: &Library) -> bool {
    // SAFETY: these are the signatures that the library's module `notebook` gives its exported functions.
    unsafe {
        let Ok(attach) = cell.get::<extern "C" fn(i32)>(b"tpulab_attach") else { return false };
        attach(REPORTS);
        if let Ok(attach_input) = cell.get::<extern "C" fn(i32, i32)>(b"tpulab_attach_input") {
            attach_input(ANSWERS, COMMANDS);
        }
        if let Ok(set_stop) = cell.get::<extern "C" fn(bool)>(b"tpulab_set_stop") {
            signals::stop_with(*set_stop);
        }
        if let Ok(flush) = cell.get::<extern "C" fn()>(b"tpulab_flush") {
            FLUSH.store(*flush as *mut (), Ordering::SeqCst);
        }
    }
    true
}

/// Sends out the line that the cells have begun.
pub fn flush() {
    let function = FLUSH.load(Ordering::SeqCst);
    if !function.is_null() {
        // SAFETY: only `attach` stores here, and libraries are never unloaded.
        let function: extern "C" fn() = unsafe { std::mem::transmute(function) };
        function();
    }
}
