//! Random graphs: the same bits on any number of threads, with or without fusion, and on each shard alone.

mod random_graph;

use random_graph::{Case, Numbers};
use tpulab::engine::{Executor, ExecutorOptions, Request, Split};
use tpulab::prelude::*;

const GRAPHS: u64 = 150;
/// The rows of one replica, batch after batch: as many as columns, so that shapes look alike; more, one, none, and back.
const ROWS: [usize; 5] = [3, 9, 1, 0, 3];

#[test]
fn random_graphs_give_the_same_bits_however_they_run() {
    for seed in 0..GRAPHS {
        let case = Case::new(seed).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        case.check().unwrap_or_else(|problem| panic!("seed {seed}, {} replicas: {problem}", case.replicas));
    }
}

/// Everything that can be seen of some steps: for each, the fetches of all replicas, or the error.
type Story = Vec<Result<Vec<Vec<u64>>, String>>;

impl Case {
    fn check(&self) -> Result<(), String> {
        let alone = self.run(1, false)?;
        for threads in [2, 3, 8] {
            differ(&alone, &self.run(threads, false)?).map_or(Ok(()), |at| Err(format!("{threads} threads: {at}")))?;
        }
        // Only the first error is named, and steps of a plan without fusion have another order.
        let hide = |story: Story| -> Story { story.into_iter().map(|step| step.map_err(|_| String::new())).collect() };
        let unfused = hide(self.run(3, true)?);
        differ(&hide(alone.clone()), &unfused).map_or(Ok(()), |at| Err(format!("unfused: {at}")))?;
        if !self.meets && !self.draws {
            let shards: Result<Vec<Story>, String> =
                (0..self.replicas).map(|replica| self.run_shard(replica)).collect();
            self.compare_shards(&alone, &shards?)?;
        }
        Ok(())
    }

    fn options(&self, replicas: usize, threads: usize) -> ExecutorOptions {
        let (worker_threads, precision, split) = (Some(threads), self.precision, self.split);
        ExecutorOptions { replicas, worker_threads, precision, split, seed: 7 }
    }

    /// Some steps, with another plan between them.
    fn run(&self, threads: usize, unfused: bool) -> Result<Story, String> {
        let mut executor =
            Executor::new(&self.graph, self.options(self.replicas, threads)).map_err(|e| e.to_string())?;
        let feeds = || self.feeds.clone();
        let (fetches, targets) = (self.fetches.clone(), self.updates.clone());
        let request = Request { feeds: feeds(), fetches, targets, unfused };
        let plan = executor.prepare(&request).map_err(|e| e.to_string())?;
        let first = self.fetches[..1].to_vec();
        let other = Request { feeds: feeds(), fetches: first, unfused, ..Request::default() };
        let other = executor.prepare(&other).map_err(|e| e.to_string())?;
        let mut story = Vec::new();
        for (step, rows) in ROWS.into_iter().enumerate() {
            let feed = self.feed(step, rows);
            let plans = [(plan, self.fetches.len()), (other, 1)];
            for (plan, fetches) in &plans[..1 + step % 2] {
                let outcome = executor.run(*plan, feed.as_slice());
                let broken_off = outcome.as_ref().is_err_and(|error| error.code().starts_with("ENGINE"));
                let see = |()| -> Vec<Vec<u64>> {
                    let of_all = |fetch| (0..self.replicas).map(move |replica| (fetch, replica));
                    let all = (0..*fetches).flat_map(of_all);
                    all.map(|(fetch, replica)| bits(&executor.output(*plan, fetch, replica))).collect()
                };
                story.push(outcome.map(see).map_err(|error| error.to_string()));
                // Which replicas had changed their variables by then is left open.
                if broken_off && !self.updates.is_empty() {
                    return Ok(story);
                }
            }
        }
        let store = executor.store();
        story.push(Ok(store.names().iter().map(|name| bits(&store.get(name).unwrap())).collect()));
        Ok(story)
    }

    /// What one replica sees that has the graph and its shard for itself.
    fn run_shard(&self, replica: usize) -> Result<Story, String> {
        let mut executor = Executor::new(&self.graph, self.options(1, 1)).map_err(|e| e.to_string())?;
        let (feeds, fetches, targets) = (self.feeds.clone(), self.fetches.clone(), self.updates.clone());
        let request = Request { feeds, fetches, targets, ..Request::default() };
        let plan = executor.prepare(&request).map_err(|e| e.to_string())?;
        let mut story = Vec::new();
        for (step, rows) in ROWS.into_iter().enumerate() {
            let shard = |array: Array| match (self.split, array.shape().first()) {
                (Split::Rows, Some(&whole)) => part(&array, replica * (whole / self.replicas), whole / self.replicas),
                _ => array,
            };
            let feed: Vec<Array> = self.feed(step, rows).into_iter().map(shard).collect();
            let outcome = executor.run(plan, feed.as_slice()).map_err(|error| error.to_string());
            let see = |()| (0..self.fetches.len()).map(|fetch| bits(&executor.output(plan, fetch, 0))).collect();
            story.push(outcome.map(see));
        }
        Ok(story)
    }

    fn compare_shards(&self, together: &Story, shards: &[Story]) -> Result<(), String> {
        // Every second step of the replicas runs another plan too, whose results come after.
        let steps = (0..ROWS.len()).scan(0, |place, step| Some(std::mem::replace(place, *place + 1 + step % 2)));
        for (step, place) in steps.enumerate() {
            let Ok(seen) = &together[place] else {
                // An error on one replica ends the step for all.
                return Ok(());
            };
            for (replica, shard) in shards.iter().enumerate() {
                let Ok(shard) = &shard[step] else { return Err(format!("step {step}: replica {replica} fails alone")) };
                for (fetch, values) in shard.iter().enumerate() {
                    if *values != seen[fetch * self.replicas + replica] {
                        let name = self.fetches[fetch].name();
                        return Err(format!("step {step}: replica {replica} alone gives another `{name}`"));
                    }
                }
            }
        }
        Ok(())
    }

    fn feed(&self, step: usize, rows: usize) -> Vec<Array> {
        let mut numbers = Numbers(1000 + step as u64);
        let replicas = match self.split {
            Split::Rows => self.replicas,
            _ => 1,
        };
        let labels: Vec<i32> = (0..rows * replicas).map(|_| numbers.below(3) as i32).collect();
        let columns = self.feeds[1].shape().size(1).unwrap();
        let [x, z, row, number] = [&[rows * replicas, 3][..], &[rows * replicas, columns], &[replicas, 3], &[]]
            .map(|shape| numbers.array(shape));
        vec![x.unwrap(), z.unwrap(), Array::from(labels), row.unwrap(), number.unwrap()]
    }
}

/// Where two stories part.
fn differ(left: &Story, right: &Story) -> Option<String> {
    assert_eq!(left.len(), right.len());
    left.iter().zip(right).enumerate().find(|(_, (left, right))| left != right).map(|(run, pair)| match pair {
        (Ok(left), Ok(right)) => {
            let value = left.iter().zip(right).position(|(left, right)| left != right).unwrap_or_default();
            format!("run {run}, value {value}: {:x?} and {:x?}", left[value], right[value])
        }
        (left, right) => format!("run {run}: {:?} and {:?}", left.as_ref().err(), right.as_ref().err()),
    })
}

/// `count` rows from row `first` on.
fn part(array: &Array, first: usize, count: usize) -> Array {
    let mut shape = array.shape().to_vec();
    let width: usize = shape[1..].iter().product();
    shape[0] = count;
    let (start, end) = (first * width, (first + count) * width);
    match array.dtype() {
        DType::Int32 => Array::from_vec(&shape, array.as_slice::<i32>().unwrap()[start..end].to_vec()).unwrap(),
        _ => Array::from_vec(&shape, array.as_slice::<f32>().unwrap()[start..end].to_vec()).unwrap(),
    }
}

/// Shape and elements; all NaN are one.
fn bits(array: &Array) -> Vec<u64> {
    let sizes = array.shape().iter().map(|&size| size as u64);
    let values = array.to_f64_vec().unwrap();
    sizes.chain(values.iter().map(|value| if value.is_nan() { u64::MAX } else { value.to_bits() })).collect()
}
