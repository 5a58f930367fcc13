//! What a kernel that has loaded this library calls, and what the library tells it.
//!
//! The kernel finds these functions by name (`dlsym`), since it cannot be linked to a library that its users may
//! rebuild. Under any other kernel nothing of this is active.

use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

/// The descriptor on which the kernel listens, once it has said so.
static REPORTS: AtomicI32 = AtomicI32::new(-1);

/// Tells the library where the kernel listens. From here on a panic of the thread that runs the cells is reported
/// there instead of on standard error, so that the kernel shows it once, at its place.
#[allow(unsafe_code, reason = "no other symbol has this name")]
#[unsafe(no_mangle)]
pub extern "C" fn tpulab_attach(reports: i32) {
    if REPORTS.swap(reports, Ordering::SeqCst) >= 0 {
        return;
    }
    let cells = std::thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().id() != cells {
            return before(panic);
        }
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let message = panic.payload_as_str().unwrap_or("a value that is no text");
        report("panic", &format!("{place}\n{message}"));
    }));
}

/// Writes out the line that cells have begun on standard output.
#[allow(unsafe_code, reason = "no other symbol has this name")]
#[unsafe(no_mangle)]
pub extern "C" fn tpulab_flush() {
    // A notebook that no longer listens is no reason for its program to end.
    let _ = std::io::stdout().flush();
}

/// Whether a kernel of this project runs the cells.
pub(crate) fn is_attached() -> bool {
    REPORTS.load(Ordering::Relaxed) >= 0
}

/// A word, the number of bytes, a line feed, the bytes.
fn report(word: &str, body: &str) {
    let descriptor = REPORTS.load(Ordering::SeqCst);
    #[allow(unsafe_code, reason = "the kernel opened it and keeps it open")]
    let mut kernel = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
    let _ = kernel.write_all(format!("{word} {}\n{body}", body.len()).as_bytes());
}

/// The mark that begins a frame of rich output, if the kernel understands frames.
pub(crate) fn frame_mark() -> Option<&'static str> {
    static MARK: OnceLock<Option<String>> = OnceLock::new();
    let mark =
        MARK.get_or_init(|| std::env::var("TPULAB_DISPLAY").ok().map(|secret| format!("\u{1e}tpulab {secret} ")));
    mark.as_deref().filter(|_| is_attached())
}
