use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::json;

use super::screen::Screen;
use crate::output::{Bundle, Output};

/// The time between two looks at what is compiled; nothing is shown before the second.
const PERIOD: Duration = Duration::from_millis(400);

/// Shows what is compiled while a cell waits for it, and takes it away at the end.
pub struct CompileBar {
    // Dropped first, which ends the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl CompileBar {
    /// Watches the file in which cargo's lines gather.
    pub fn watch(file: PathBuf, screen: Screen) -> Self {
        let _ = std::fs::remove_file(&file);
        let (end, ended) = channel();
        let id = format!("tpulab-compiles-{}", uuid::Uuid::new_v4());
        let thread = std::thread::spawn(move || {
            let mut shown = String::new();
            while ended.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                if let Some(text) = state(&file).filter(|text| *text != shown) {
                    show(&screen, &id, &text, !shown.is_empty());
                    shown = text;
                }
            }
            if !shown.is_empty() {
                show(&screen, &id, "", true);
            }
        });
        CompileBar { end: Some(end), thread: Some(thread) }
    }
}

impl Drop for CompileBar {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// One line on what cargo does.
fn state(file: &Path) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let last = text.lines().last()?;
    let compiled = text.lines().filter(|line| line.starts_with("Compiling")).count();
    Some(if compiled > 1 { format!("{last}, crate {compiled}") } else { last.to_owned() })
}

fn show(screen: &Screen, id: &str, text: &str, update: bool) {
    let mut bundle = Bundle::of("text/plain", text);
    bundle.display_id = Some(id.to_owned());
    bundle.update = update;
    bundle.metadata.insert("tpulab".to_owned(), json!({ "passing": true }));
    screen.show(Output::Display(bundle));
}
