use std::collections::HashSet;

use jupyter_protocol::{HistoryEntry, HistoryRequest};

/// The number of this session. Earlier ones are not kept.
const SESSION: usize = 1;

/// What was run in this session.
#[derive(Debug, Default)]
pub struct History {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    number: usize,
    code: String,
    output: String,
}

impl History {
    /// Remembers a cell under its execution count.
    pub fn add(&mut self, number: usize, code: &str) {
        self.entries.push(Entry { number, code: code.to_owned(), output: String::new() });
    }

    /// Remembers the text of the value that the last cell ended in.
    pub fn add_output(&mut self, text: &str) {
        if let Some(last) = self.entries.last_mut() {
            last.output = text.to_owned();
        }
    }

    /// The entries that are asked for, oldest first.
    pub fn find(&self, request: &HistoryRequest) -> Vec<HistoryEntry> {
        match request {
            HistoryRequest::Range { session, start, stop, output, .. } => {
                // 0 is the current session, as a negative number counts back from it.
                if session.is_some_and(|session| session != 0 && session != SESSION as i32) {
                    return Vec::new();
                }
                let from = usize::try_from(*start).unwrap_or(0);
                let to = usize::try_from(*stop).ok().filter(|stop| *stop > 0).unwrap_or(usize::MAX);
                let inside = self.entries.iter().filter(|entry| (from..to).contains(&entry.number));
                inside.map(|entry| entry.reply(*output)).collect()
            }
            HistoryRequest::Tail { n, output, .. } => self.last(*n, *output, |_| true),
            HistoryRequest::Search { pattern, unique, output, n, .. } => {
                let mut seen = HashSet::new();
                let pattern: Vec<char> = pattern.chars().collect();
                self.last(*n, *output, |entry| {
                    matches(&pattern, &entry.code.chars().collect::<Vec<_>>())
                        && (!unique || seen.insert(entry.code.clone()))
                })
            }
        }
    }

    /// The last `most` entries of those `wanted`.
    fn last(&self, most: i32, output: bool, mut wanted: impl FnMut(&Entry) -> bool) -> Vec<HistoryEntry> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let newest = self.entries.iter().rev().filter(|entry| wanted(entry)).take(most);
        let mut found: Vec<_> = newest.map(|entry| entry.reply(output)).collect();
        found.reverse();
        found
    }
}

impl Entry {
    fn reply(&self, output: bool) -> HistoryEntry {
        match output {
            true => HistoryEntry::InputOutput(SESSION, self.number, (self.code.clone(), self.output.clone())),
            false => HistoryEntry::Input(SESSION, self.number, self.code.clone()),
        }
    }
}

/// Whether the whole text fits a pattern in which `*` stands for anything and `?` for one character.
fn matches(pattern: &[char], text: &[char]) -> bool {
    // The state after each prefix of the pattern, so that no pattern takes longer than pattern times text.
    let mut reachable = vec![false; text.len() + 1];
    reachable[0] = true;
    for letter in pattern {
        let mut next = vec![false; text.len() + 1];
        for at in 0..=text.len() {
            next[at] = match letter {
                '*' => reachable[at] || (at > 0 && next[at - 1]),
                '?' => at > 0 && reachable[at - 1],
                letter => at > 0 && reachable[at - 1] && text[at - 1] == *letter,
            };
        }
        reachable = next;
    }
    reachable[text.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(found: &[HistoryEntry]) -> Vec<String> {
        let text = |entry: &HistoryEntry| match entry {
            HistoryEntry::Input(_, number, code) => format!("{number}:{code}"),
            HistoryEntry::InputOutput(_, number, (code, output)) => format!("{number}:{code}→{output}"),
        };
        found.iter().map(text).collect()
    }

    #[test]
    fn ranges_tails_and_searches_give_the_oldest_first() {
        let mut history = History::default();
        for (number, code) in ["let a = 1;", "a + 1", "let b = 2;", "a + 1"].into_iter().enumerate() {
            history.add(number + 1, code);
        }
        history.add_output("2");
        let range = |start, stop, session| {
            codes(&history.find(&HistoryRequest::Range { session, start, stop, output: false, raw: true }))
        };
        assert_eq!(range(2, 4, None), ["2:a + 1", "3:let b = 2;"]);
        assert_eq!(range(4, 0, Some(0)), ["4:a + 1"]);
        assert_eq!(range(-3, -7, Some(1)).len(), 4);
        assert!(range(1, 4, Some(-1)).is_empty());
        let tail = history.find(&HistoryRequest::Tail { n: 1, output: true, raw: true });
        assert_eq!(codes(&tail), ["4:a + 1→2"]);
        let search = |pattern: &str, unique, n| {
            let pattern = pattern.to_owned();
            codes(&history.find(&HistoryRequest::Search { pattern, unique, output: false, raw: true, n }))
        };
        assert_eq!(search("let*", false, 9), ["1:let a = 1;", "3:let b = 2;"]);
        assert_eq!(search("? + *", true, 9), ["4:a + 1"]);
        assert_eq!(search("? + 1", false, 1), ["4:a + 1"]);
        assert!(search("let", false, 9).is_empty());
        assert!(search("*********************b", false, 9).is_empty());
    }
}
