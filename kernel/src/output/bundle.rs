use serde_json::{Map, Value};

/// One value in several forms, by MIME type.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bundle {
    /// MIME type → content: text, base64 for pictures, a value for JSON.
    pub data: Map<String, Value>,
    /// What front ends should know about the forms.
    pub metadata: Map<String, Value>,
    /// The name under which the value can be shown anew.
    pub display_id: Option<String>,
    /// Whether this replaces what was shown under `display_id`.
    pub update: bool,
}

impl Bundle {
    /// The bundle with one form.
    pub fn of(mime: &str, content: &str) -> Self {
        let mut bundle = Bundle::default();
        bundle.add(mime, content);
        bundle
    }

    /// Adds a form; JSON is parsed, so that front ends get a value.
    pub fn add(&mut self, mime: &str, content: &str) {
        let json = mime == "application/json" || mime.ends_with("+json");
        let value = json.then(|| serde_json::from_str(content).ok()).flatten();
        self.data.insert(mime.to_owned(), value.unwrap_or_else(|| Value::String(content.to_owned())));
    }

    /// Whether it has a form of this type.
    pub fn has(&self, mime: &str) -> bool {
        self.data.contains_key(mime)
    }
}
