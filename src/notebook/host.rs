//! What a kernel that has loaded this library calls, and what the library tells it.
//!
//! The kernel finds these functions by name (`dlsym`), since it cannot be linked to a library that its users may
//! rebuild. Under any other kernel nothing of this is active.

use std::fs::File;
use std::io::{Read, Write};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

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

/// The descriptors on which the kernel is asked and answers, once it has said so.
static INPUT: [AtomicI32; 2] = [AtomicI32::new(-1), AtomicI32::new(-1)];

/// Tells the library where it asks the kernel for input, and where it reads the answer.
#[allow(unsafe_code, reason = "no other symbol has this name")]
#[unsafe(no_mangle)]
pub extern "C" fn tpulab_attach_input(questions: i32, answers: i32) {
    INPUT[0].store(questions, Ordering::SeqCst);
    INPUT[1].store(answers, Ordering::SeqCst);
}

/// What a person is asked.
pub(super) struct Question<'a> {
    /// One line.
    pub prompt: &'a str,
    /// Whether the answer is not to be shown.
    pub secret: bool,
}

impl Question<'_> {
    /// The line by which evcxr knows a question.
    fn line(&self) -> String {
        let kind = if self.secret { "EVCXR_INPUT_REQUEST_PASSWORD" } else { "EVCXR_INPUT_REQUEST" };
        format!("{kind}:{}\n", self.prompt)
    }
}

/// Asks the kernel that has loaded this library. Its answer is `=` and the text, or `!` and the reason for none.
pub(super) fn ask_kernel(question: &Question<'_>) -> Result<String, String> {
    let [questions, answers] = [INPUT[0].load(Ordering::SeqCst), INPUT[1].load(Ordering::SeqCst)];
    if questions < 0 || answers < 0 {
        return Err("this kernel cannot ask".to_owned());
    }
    // One question at a time, and one reader of its answer.
    static ASKING: Mutex<()> = Mutex::new(());
    let _asking = ASKING.lock().unwrap_or_else(PoisonError::into_inner);
    #[allow(unsafe_code, reason = "the kernel opened both and keeps them open")]
    let (mut questions, mut answers) =
        unsafe { (ManuallyDrop::new(File::from_raw_fd(questions)), ManuallyDrop::new(File::from_raw_fd(answers))) };
    questions.write_all(question.line().as_bytes()).map_err(|error| error.to_string())?;
    let mut line = Vec::new();
    let mut byte = [0];
    // The kernel's next command follows on the same descriptor and must stay there.
    while answers.read(&mut byte).map_err(|error| error.to_string())? == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    let line = String::from_utf8_lossy(&line).into_owned();
    match line.strip_prefix('=') {
        Some(text) => Ok(text.to_owned()),
        None => Err(line.strip_prefix('!').unwrap_or("the kernel is gone").to_owned()),
    }
}

/// Whether evcxr's own kernel runs the cells.
pub(crate) fn under_evcxr() -> bool {
    !is_attached() && std::env::var_os("EVCXR_IS_RUNTIME").is_some()
}

/// Asks evcxr's own kernel, which answers on standard input.
pub(super) fn ask_evcxr(question: &Question<'_>) -> Result<String, String> {
    super::content::write(&question.line());
    line_of_standard_input()
}

/// The next line of standard input, without its end.
pub(super) fn line_of_standard_input() -> Result<String, String> {
    let mut line = String::new();
    match std::io::stdin().read_line(&mut line) {
        Ok(0) => Err("the input has ended".to_owned()),
        Ok(_) => Ok(line.trim_end_matches(['\n', '\r']).to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Whether a kernel of this project runs the cells.
pub(crate) fn is_attached() -> bool {
    REPORTS.load(Ordering::Relaxed) >= 0
}

/// Tells the kernel that the value it asks for next has no form, so that it takes no other for it.
pub(super) fn shows_nothing() {
    if is_attached() {
        report("nothing", "");
    }
}

/// A word, the number of bytes, a line feed, the bytes.
pub(super) fn report(word: &str, body: &str) {
    let descriptor = REPORTS.load(Ordering::SeqCst);
    #[allow(unsafe_code, reason = "the kernel opened it and keeps it open")]
    let mut kernel = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
    let _ = kernel.write_all(format!("{word} {}\n{body}", body.len()).as_bytes());
}

/// Writes a line where the kernel reads what is meant for evcxr.
pub(super) fn answer(line: &str) {
    let descriptor = INPUT[0].load(Ordering::SeqCst);
    if descriptor >= 0 {
        #[allow(unsafe_code, reason = "the kernel opened it and keeps it open")]
        let mut evcxr = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
        let _ = evcxr.write_all(line.as_bytes());
    }
}

/// The mark that begins a frame of rich output, if the kernel understands frames.
pub(crate) fn frame_mark() -> Option<&'static str> {
    static MARK: OnceLock<Option<String>> = OnceLock::new();
    let mark =
        MARK.get_or_init(|| std::env::var("TPULAB_DISPLAY").ok().map(|secret| format!("\u{1e}tpulab {secret} ")));
    mark.as_deref().filter(|_| is_attached())
}
