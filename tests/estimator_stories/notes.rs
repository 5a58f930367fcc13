//! Hooks that note what they are called for.

use std::sync::{Arc, Mutex};
use tpulab::estimator::{RunContext, RunValues, SessionState};
use tpulab::prelude::*;

/// What hooks were called for, in order.
#[derive(Clone, Default)]
pub struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    pub fn spy(&self, name: &'static str) -> Spy {
        Spy { notes: self.clone(), name, fails_after: None }
    }

    pub fn are(&self, expected: &str) {
        assert_eq!(self.0.lock().unwrap().join(", "), expected);
    }
}

/// A hook that notes what it is called for.
pub struct Spy {
    pub notes: Notes,
    pub name: &'static str,
    pub fails_after: Option<u64>,
}

impl Spy {
    fn note(&self, what: String) -> Result<()> {
        self.notes.0.lock().unwrap().push(format!("{} {what}", self.name));
        Ok(())
    }
}

impl SessionRunHook for Spy {
    fn begin(&mut self, _graph: &Graph) -> Result<()> {
        self.note("begin".to_string())
    }

    fn after_create_session(&mut self, session: &SessionState<'_>) -> Result<()> {
        self.note(format!("session {}", session.global_step))
    }

    fn before_run(&mut self, context: &RunContext) -> Result<Vec<Tensor>> {
        self.note(format!("before {}", context.global_step))?;
        Ok(Vec::new())
    }

    fn after_run(&mut self, context: &mut RunContext, _values: &RunValues<'_>) -> Result<()> {
        self.note(format!("after {}", context.global_step))?;
        match self.fails_after {
            Some(step) if context.global_step >= step => Evaluation::default().get("a value").map(|_| ()),
            _ => Ok(()),
        }
    }

    fn end(&mut self, session: &SessionState<'_>) -> Result<()> {
        self.note(format!("end {}", session.global_step))
    }
}
