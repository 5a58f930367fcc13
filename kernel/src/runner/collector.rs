use std::collections::HashMap;

use jupyter_protocol::{JupyterMessageContent, Media, Stdio};
use nbformat::v4::{DisplayData, ErrorOutput, ExecuteResult, MultilineString, Output};
use serde_json::{Map, Value};

/// Gathers messages into the outputs that a notebook saves.
#[derive(Default)]
pub struct Collector {
    outputs: Vec<Output>,
    /// Which outputs show the value of a display id.
    shown: HashMap<String, Vec<usize>>,
    clear_on_next: bool,
}

impl Collector {
    /// Takes in one message.
    pub fn take(&mut self, content: &JupyterMessageContent) {
        match content {
            JupyterMessageContent::ClearOutput(clear) if clear.wait => self.clear_on_next = true,
            JupyterMessageContent::ClearOutput(_) => self.clear(),
            JupyterMessageContent::StreamContent(stream) => {
                let name = if matches!(stream.name, Stdio::Stderr) { "stderr" } else { "stdout" };
                self.add_text(name, &stream.text);
            }
            JupyterMessageContent::DisplayData(display) => {
                if is_passing(&display.metadata) {
                    return;
                }
                let id = display.transient.as_ref().and_then(|transient| transient.display_id.clone());
                let (data, metadata) = (display.data.clone(), display.metadata.clone());
                self.add(Output::DisplayData(DisplayData { data, metadata }));
                if let Some(id) = id {
                    self.shown.entry(id).or_default().push(self.outputs.len() - 1);
                }
            }
            JupyterMessageContent::UpdateDisplayData(update) => {
                let id = update.transient.display_id.clone().unwrap_or_default();
                for at in self.shown.get(&id).into_iter().flatten() {
                    if let Some(output) = self.outputs.get_mut(*at) {
                        show_anew(output, &update.data, &update.metadata);
                    }
                }
            }
            JupyterMessageContent::ExecuteResult(result) => {
                self.add(Output::ExecuteResult(ExecuteResult {
                    execution_count: result.execution_count,
                    data: result.data.clone(),
                    metadata: result.metadata.clone(),
                }));
            }
            JupyterMessageContent::ErrorOutput(error) => {
                self.add(Output::Error(ErrorOutput {
                    ename: error.ename.clone(),
                    evalue: error.evalue.clone(),
                    traceback: error.traceback.clone(),
                }));
            }
            _ => {}
        }
    }

    /// The outputs.
    pub fn finish(self) -> Vec<Output> {
        self.outputs
    }

    fn add(&mut self, output: Output) {
        if std::mem::take(&mut self.clear_on_next) {
            self.clear();
        }
        self.outputs.push(output);
    }

    fn add_text(&mut self, name: &str, text: &str) {
        if std::mem::take(&mut self.clear_on_next) {
            self.clear();
        }
        match self.outputs.last_mut() {
            Some(Output::Stream { name: last, text: before }) if last == name => before.0.push_str(text),
            _ => self.outputs.push(Output::Stream { name: name.to_owned(), text: MultilineString(text.to_owned()) }),
        }
    }

    fn clear(&mut self) {
        self.outputs.clear();
        self.shown.clear();
    }
}

/// Whether what is shown is gone when the work is done, as a progress bar is.
fn is_passing(metadata: &Map<String, Value>) -> bool {
    metadata.get("tpulab").and_then(|own| own.get("passing")).and_then(Value::as_bool).unwrap_or(false)
}

fn show_anew(output: &mut Output, data: &Media, metadata: &Map<String, Value>) {
    if let Output::DisplayData(display) = output {
        *display = DisplayData { data: data.clone(), metadata: metadata.clone() };
    }
}

#[cfg(test)]
mod tests {
    use jupyter_protocol::{ClearOutput, MediaType, StreamContent, Transient, UpdateDisplayData};

    use super::*;

    fn display(text: &str, id: &str, passing: bool) -> JupyterMessageContent {
        let mut display = jupyter_protocol::DisplayData::new(Media::new(vec![MediaType::Plain(text.to_owned())]));
        display.transient = Some(Transient { display_id: Some(id.to_owned()) });
        if passing {
            display.metadata.insert("tpulab".to_owned(), serde_json::json!({ "passing": true }));
        }
        display.into()
    }

    fn texts(collector: Collector) -> Vec<String> {
        collector.finish().iter().map(super::super::check::text_of).collect()
    }

    #[test]
    fn streams_join_updates_stay_in_place_and_bars_vanish() {
        let mut collector = Collector::default();
        let update = UpdateDisplayData::new(Media::new(vec![MediaType::Plain("b".to_owned())]), "x");
        for content in [
            StreamContent::stdout("1").into(),
            StreamContent::stdout("2\n").into(),
            StreamContent::stderr("3\n").into(),
            display("a", "x", false),
            display("bar", "y", true),
            update.into(),
            StreamContent::stdout("4").into(),
        ] {
            collector.take(&content);
        }
        assert_eq!(texts(collector), ["12\n", "3\n", "b\n", "4\n"]);
    }

    #[test]
    fn clearing_may_wait_for_what_comes_next() {
        let mut collector = Collector::default();
        collector.take(&StreamContent::stdout("old").into());
        collector.take(&ClearOutput { wait: true }.into());
        assert_eq!(collector.outputs.len(), 1);
        collector.take(&StreamContent::stdout("new").into());
        assert_eq!(texts(collector), ["new\n"]);
        let mut collector = Collector::default();
        collector.take(&StreamContent::stdout("old").into());
        collector.take(&ClearOutput { wait: false }.into());
        assert!(collector.finish().is_empty());
    }
}
