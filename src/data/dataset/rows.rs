//! Streams of row numbers: what every stage but `map` works on.

use super::Remainder;
use crate::core::Philox;

/// One element: the rows that it is made of, and the sizes that batches gave it.
#[derive(Clone, Debug, Default)]
pub(super) struct Item {
    pub rows: Vec<u32>,
    /// The sizes of the leading dimensions, outermost first; none for a single row.
    pub sizes: Vec<usize>,
    /// Whether elements of different sizes met in one batch.
    pub ragged: bool,
}

/// A stream of elements.
pub(super) trait RowStream: Send {
    /// Puts the next element's rows behind those in `item` and sets its sizes; false at the end.
    fn next(&mut self, item: &mut Item) -> bool;

    /// Up to `count` elements at once, where each is a single row; how many there were.
    fn next_rows(&mut self, item: &mut Item, count: usize) -> usize {
        (0..count).take_while(|_| self.next(item)).count()
    }

    /// Begins again, as the next repetition.
    fn restart(&mut self);
}

/// Every row of the source in order.
pub(super) struct SourceRows {
    rows: u32,
    at: u32,
}

impl SourceRows {
    pub fn new(rows: u32) -> Self {
        SourceRows { rows, at: 0 }
    }
}

impl RowStream for SourceRows {
    fn next(&mut self, item: &mut Item) -> bool {
        if self.at == self.rows {
            return false;
        }
        item.rows.push(self.at);
        item.sizes.clear();
        self.at += 1;
        true
    }

    fn next_rows(&mut self, item: &mut Item, count: usize) -> usize {
        let count = count.min((self.rows - self.at) as usize);
        item.rows.extend(self.at..self.at + count as u32);
        item.sizes.clear();
        self.at += count as u32;
        count
    }

    fn restart(&mut self) {
        self.at = 0;
    }
}

/// A shuffle of single rows.
pub(super) struct ShuffledRows {
    source: Box<dyn RowStream>,
    size: usize,
    key: u64,
    reshuffle: bool,
    repetition: u64,
    random: Philox,
    buffer: Item,
    ended: bool,
}

impl ShuffledRows {
    pub fn new(source: Box<dyn RowStream>, size: usize, key: u64, reshuffle: bool) -> Self {
        let random = Philox::new(key, 0);
        let buffer = Item::default();
        ShuffledRows { source, size, key, reshuffle, repetition: 0, random, buffer, ended: false }
    }

    fn draw(&mut self) -> Option<u32> {
        if !self.ended && self.buffer.rows.len() < self.size {
            let missing = self.size - self.buffer.rows.len();
            self.ended = self.source.next_rows(&mut self.buffer, missing) < missing;
        }
        let rows = &mut self.buffer.rows;
        if rows.is_empty() {
            return None;
        }
        let chosen = self.random.below(rows.len() as u64) as usize;
        Some(rows.swap_remove(chosen))
    }
}

impl RowStream for ShuffledRows {
    fn next(&mut self, item: &mut Item) -> bool {
        self.next_rows(item, 1) == 1
    }

    fn next_rows(&mut self, item: &mut Item, count: usize) -> usize {
        let before = item.rows.len();
        item.sizes.clear();
        item.rows.extend(std::iter::from_fn(|| self.draw()).take(count));
        item.rows.len() - before
    }

    fn restart(&mut self) {
        self.source.restart();
        self.buffer.rows.clear();
        self.ended = false;
        self.repetition += u64::from(self.reshuffle);
        self.random = Philox::new(self.key, self.repetition);
    }
}

/// A shuffle of batches, each kept with its rows.
pub(super) struct Shuffled {
    source: Box<dyn RowStream>,
    size: usize,
    key: u64,
    reshuffle: bool,
    repetition: u64,
    random: Philox,
    buffer: Vec<Item>,
    /// Items that are not in use, so that their memory is.
    spare: Vec<Item>,
    ended: bool,
}

impl Shuffled {
    pub fn new(source: Box<dyn RowStream>, size: usize, key: u64, reshuffle: bool) -> Self {
        let random = Philox::new(key, 0);
        Shuffled {
            source,
            size,
            key,
            reshuffle,
            repetition: 0,
            random,
            buffer: Vec::new(),
            spare: Vec::new(),
            ended: false,
        }
    }
}

impl RowStream for Shuffled {
    fn next(&mut self, item: &mut Item) -> bool {
        while !self.ended && self.buffer.len() < self.size {
            let mut element = self.spare.pop().unwrap_or_default();
            element.rows.clear();
            element.ragged = false;
            if self.source.next(&mut element) {
                self.buffer.push(element);
            } else {
                self.spare.push(element);
                self.ended = true;
            }
        }
        if self.buffer.is_empty() {
            return false;
        }
        let chosen = self.random.below(self.buffer.len() as u64) as usize;
        let element = self.buffer.swap_remove(chosen);
        item.rows.extend_from_slice(&element.rows);
        item.sizes.clone_from(&element.sizes);
        item.ragged |= element.ragged;
        self.spare.push(element);
        true
    }

    fn restart(&mut self) {
        self.source.restart();
        self.spare.append(&mut self.buffer);
        self.ended = false;
        self.repetition += u64::from(self.reshuffle);
        self.random = Philox::new(self.key, self.repetition);
    }
}

pub(super) struct Repeated {
    source: Box<dyn RowStream>,
    times: Option<u64>,
    done: u64,
    /// Whether the current repetition had an element: without one there would be no end.
    any: bool,
}

impl Repeated {
    pub fn new(source: Box<dyn RowStream>, times: Option<u64>) -> Self {
        Repeated { source, times, done: 0, any: false }
    }
}

impl RowStream for Repeated {
    fn next(&mut self, item: &mut Item) -> bool {
        while self.times.is_none_or(|times| self.done < times) {
            if self.source.next(item) {
                self.any = true;
                return true;
            }
            if !self.any {
                return false;
            }
            self.done += 1;
            self.any = false;
            self.source.restart();
        }
        false
    }

    fn next_rows(&mut self, item: &mut Item, count: usize) -> usize {
        let mut got = 0;
        while got < count && self.times.is_none_or(|times| self.done < times) {
            let more = self.source.next_rows(item, count - got);
            self.any |= more > 0;
            got += more;
            if got == count || !self.any {
                break;
            }
            self.done += 1;
            self.any = false;
            self.source.restart();
        }
        got
    }

    fn restart(&mut self) {
        (self.done, self.any) = (0, false);
        self.source.restart();
    }
}

pub(super) struct Taken {
    source: Box<dyn RowStream>,
    count: u64,
    done: u64,
}

impl Taken {
    pub fn new(source: Box<dyn RowStream>, count: u64) -> Self {
        Taken { source, count, done: 0 }
    }
}

impl RowStream for Taken {
    fn next(&mut self, item: &mut Item) -> bool {
        if self.done == self.count {
            return false;
        }
        self.done += 1;
        self.source.next(item)
    }

    fn restart(&mut self) {
        self.done = 0;
        self.source.restart();
    }
}

pub(super) struct Skipped {
    source: Box<dyn RowStream>,
    count: u64,
    begun: bool,
}

impl Skipped {
    pub fn new(source: Box<dyn RowStream>, count: u64) -> Self {
        Skipped { source, count, begun: false }
    }
}

impl RowStream for Skipped {
    fn next(&mut self, item: &mut Item) -> bool {
        if !std::mem::replace(&mut self.begun, true) {
            let start = item.rows.len();
            for _ in 0..self.count {
                if !self.source.next(item) {
                    return false;
                }
                item.rows.truncate(start);
            }
        }
        self.source.next(item)
    }

    fn restart(&mut self) {
        self.begun = false;
        self.source.restart();
    }
}

pub(super) struct Batched {
    source: Box<dyn RowStream>,
    size: usize,
    remainder: Remainder,
    /// Whether the elements within are single rows.
    of_rows: bool,
    /// The sizes of the elements within.
    inner: Vec<usize>,
}

impl Batched {
    pub fn new(source: Box<dyn RowStream>, size: usize, remainder: Remainder, of_rows: bool) -> Self {
        Batched { source, size, remainder, of_rows, inner: Vec::new() }
    }
}

impl RowStream for Batched {
    fn next(&mut self, item: &mut Item) -> bool {
        let start = item.rows.len();
        let mut count = 0;
        if self.of_rows {
            count = self.source.next_rows(item, self.size);
        } else {
            while count < self.size && self.source.next(item) {
                item.ragged |= count > 0 && item.sizes != self.inner;
                count += 1;
                self.inner.clone_from(&item.sizes);
            }
        }
        if count == 0 || (count < self.size && self.remainder == Remainder::Drop) {
            item.rows.truncate(start);
            return false;
        }
        // A source that ended in the middle of an element has left that element's sizes.
        item.sizes.clear();
        item.sizes.push(count);
        item.sizes.extend_from_slice(&self.inner);
        true
    }

    fn restart(&mut self) {
        self.source.restart();
    }
}
