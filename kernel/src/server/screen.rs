use std::sync::{Arc, Mutex, PoisonError};

use jupyter_protocol::{
    ClearOutput, DisplayData, ExecuteResult, ExecutionCount, JupyterMessage, Media, StreamContent, Transient,
    UpdateDisplayData,
};
use serde_json::Value;

use super::publisher::Publisher;
use crate::output::{Bundle, Output};

/// Shows what cells put out as the output of the cell that was run last.
#[derive(Clone)]
pub struct Screen {
    publisher: Publisher,
    current: Arc<Mutex<Current>>,
}

#[derive(Default)]
struct Current {
    request: Option<Arc<JupyterMessage>>,
    count: usize,
    silent: bool,
    /// The text of the value that the cell ended in.
    result: Option<String>,
}

impl Screen {
    /// A screen that no cell owns yet.
    pub fn new(publisher: Publisher) -> Self {
        Screen { publisher, current: Arc::default() }
    }

    /// From here on everything is the output of this request.
    pub fn begin(&self, request: Arc<JupyterMessage>, count: usize, silent: bool) {
        *self.lock() = Current { request: Some(request), count, silent, result: None };
    }

    /// The text of the value that the last cell ended in.
    pub fn take_result(&self) -> Option<String> {
        self.lock().result.take()
    }

    /// Shows one thing.
    pub fn show(&self, output: Output) {
        let mut current = self.lock();
        let request = current.request.clone();
        let parent = request.as_deref();
        match output {
            Output::Stdout(text) => self.publisher.send(StreamContent::stdout(&text), parent),
            Output::Stderr(text) => self.publisher.send(StreamContent::stderr(&text), parent),
            Output::Clear { wait } => self.publisher.send(ClearOutput { wait }, parent),
            Output::Display(bundle) => self.display(bundle, parent),
            Output::Result(bundle) if !current.silent => {
                current.result = bundle.data.get("text/plain").and_then(Value::as_str).map(str::to_owned);
                let mut result = ExecuteResult::new(ExecutionCount::new(current.count), media(&bundle));
                result.metadata = bundle.metadata;
                result.transient = Some(Transient::default());
                self.publisher.send(result, parent);
            }
            Output::Result(_) | Output::Report(_) => {}
        }
    }

    fn display(&self, bundle: Bundle, parent: Option<&JupyterMessage>) {
        let media = media(&bundle);
        match bundle.display_id {
            Some(id) if bundle.update => {
                let mut update = UpdateDisplayData::new(media, &id);
                update.metadata = bundle.metadata;
                self.publisher.send(update, parent);
            }
            display_id => {
                let mut display = DisplayData::new(media);
                display.metadata = bundle.metadata;
                display.transient = Some(Transient { display_id });
                self.publisher.send(display, parent);
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn media(bundle: &Bundle) -> Media {
    serde_json::from_value(Value::Object(bundle.data.clone())).unwrap_or_default()
}
