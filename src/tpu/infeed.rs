//! The infeed: a thread of its own reads batches ahead into a bounded queue.

use super::sources::Sources;
use crate::core::{Error, Result};
use crate::data::{Batch, Position};
use crate::engine::{BatchSource, thread_panicked};
use std::fmt;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;

/// Batches on their way to the cores. The thread enqueues as many as it was told to, never more, so the input stands
/// where the last loop left it.
pub(super) struct Infeed {
    orders: Option<SyncSender<Order>>,
    blocks: Receiver<Block>,
    thread: Option<JoinHandle<()>>,
    current: Option<Block>,
    /// Where the first input stood at the start.
    start: Position,
    /// The batches that were taken, and how many elements of the first input each is made of.
    taken: u64,
    pulls: u64,
}

enum Order {
    Enqueue(u64),
    Reuse(Block),
}

/// Several batches at once: so that small ones do not cost a wake-up each.
#[derive(Default)]
struct Block {
    batches: Vec<Batch>,
    filled: usize,
    taken: usize,
    /// The dataset has no further batch.
    ended: bool,
    /// Why reading ended behind the batches of this block.
    failure: Option<Error>,
}

impl Block {
    /// Whether the next block is to be waited for.
    fn is_used_up(&self) -> bool {
        self.taken == self.filled && !self.ended
    }
}

/// How many blocks are on their way at most.
const QUEUE: usize = 2;
/// How many blocks there are: those in the queue, one at either end, and one to spare.
const BLOCKS: usize = QUEUE + 3;
/// How many orders can wait: more than there are blocks to be given back.
const ORDERS: usize = 4 * BLOCKS;
/// How many batches a block has at most, and roughly how many elements.
const BLOCK_BATCHES: usize = 64;
const BLOCK_ELEMENTS: usize = 1 << 16;

impl Infeed {
    pub fn start(sources: Sources) -> Result<Self> {
        let (orders, inbox) = sync_channel(ORDERS);
        let (outbox, blocks) = sync_channel(QUEUE);
        let (start, pulls) = (sources.position(), sources.pulls() as u64);
        let thread = std::thread::Builder::new()
            .name("tpulab-infeed".to_string())
            .spawn(move || serve(sources, &inbox, &outbox))
            .map_err(|error| thread_panicked(&error.to_string()))?;
        Ok(Infeed { orders: Some(orders), blocks, thread: Some(thread), current: None, start, taken: 0, pulls })
    }

    /// Tells the thread to enqueue `batches` more.
    pub fn enqueue(&mut self, batches: u64) {
        self.send(Order::Enqueue(batches));
    }

    /// The next batch; none if the dataset has ended.
    pub fn next(&mut self) -> Result<Option<&Batch>> {
        if self.current.as_ref().is_none_or(Block::is_used_up) {
            if let Some(block) = self.current.take() {
                self.send(Order::Reuse(block));
            }
            match self.blocks.recv() {
                Ok(block) => self.current = Some(block),
                Err(_) => return Err(self.cause()),
            }
        }
        let Some(block) = &mut self.current else { return Ok(None) };
        if block.taken == block.filled {
            return block.failure.take().map_or(Ok(None), Err);
        }
        block.taken += 1;
        self.taken += 1;
        Ok(block.batches.get(block.taken - 1))
    }

    /// Where the input stands behind the batches that were taken, however many are on their way.
    pub fn position(&self) -> Position {
        self.start.behind(self.taken * self.pulls)
    }

    fn send(&mut self, order: Order) {
        // A thread that has ended says why when its batches are asked for.
        if let Some(orders) = &self.orders {
            let _ = orders.send(order);
        }
    }

    /// Why the thread has ended.
    fn cause(&mut self) -> crate::core::Error {
        self.orders = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(panic)) => thread_panicked(&*panic),
            _ => thread_panicked(&"the infeed has ended"),
        }
    }
}

impl Drop for Infeed {
    fn drop(&mut self) {
        self.orders = None;
        // Makes room, so that the thread does not wait for ever to hand over a block.
        while self.blocks.recv().is_ok() {}
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Infeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Infeed")
            .field("current", &self.current.as_ref().map(|block| block.filled))
            .finish_non_exhaustive()
    }
}

/// The life of the thread: ends when nobody orders or takes any more.
fn serve(mut sources: Sources, inbox: &Receiver<Order>, outbox: &SyncSender<Block>) {
    let mut spare: Vec<Block> = Vec::with_capacity(BLOCKS);
    let mut block_size = 0;
    let mut left = 0;
    loop {
        // Orders first; without work the thread sleeps until there is one.
        let order = match inbox.try_recv() {
            Err(TryRecvError::Empty) if left == 0 => inbox.recv().ok(),
            // Nobody takes the batches that are left.
            Err(TryRecvError::Disconnected) => return,
            order => order.ok(),
        };
        match order {
            Some(Order::Enqueue(batches)) => left += batches,
            Some(Order::Reuse(block)) => spare.push(block),
            None if left == 0 => return,
            None => {
                let block = next_block(&mut sources, &mut spare, &mut block_size, left);
                left = if block.ended { 0 } else { left - block.filled as u64 };
                if outbox.send(block).is_err() {
                    return;
                }
            }
        }
    }
}

/// The next block of up to `left` batches. The first has one batch, by which all blocks are measured and made.
fn next_block(sources: &mut Sources, spare: &mut Vec<Block>, block_size: &mut usize, left: u64) -> Block {
    let mut block = spare.pop().unwrap_or_default();
    fill(sources, &mut block, (*block_size as u64).clamp(1, left) as usize);
    if *block_size == 0
        && let Some(first) = block.batches.first()
    {
        let elements: usize = first.features().iter().map(|(_, array)| array.len()).sum();
        *block_size = (BLOCK_ELEMENTS / elements.max(1)).clamp(1, BLOCK_BATCHES);
        let copies = |count| (0..count).map(|_| first.unshared()).collect::<Vec<_>>();
        spare.extend((1..BLOCKS).map(|_| Block { batches: copies(*block_size), ..Block::default() }));
        let more = copies(*block_size - 1);
        block.batches.extend(more);
    }
    block
}

fn fill(sources: &mut Sources, block: &mut Block, size: usize) {
    (block.filled, block.taken, block.ended, block.failure) = (0, 0, false, None);
    while block.filled < size {
        if block.batches.len() == block.filled {
            block.batches.push(Batch::default());
        }
        match sources.next_into(&mut block.batches[block.filled]) {
            Ok(true) => block.filled += 1,
            Ok(false) => {
                block.ended = true;
                return;
            }
            // The batches before it are as good as ever.
            Err(error) => {
                (block.ended, block.failure) = (true, Some(error));
                return;
            }
        }
    }
}
