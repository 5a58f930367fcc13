//! Which rows of a batch go to which core.

use super::PlotError;
use super::sheet::{document, show_and_save};
use crate::core::Result;
use crate::notebook::Table;
use std::fmt;
use std::ops::Range;

/// A global batch, and the shard of it that each core gets.
///
/// Shards are as long as each other and follow each other: of 128 rows over 8 cores, core 0 gets rows 0 to 15. Hosts
/// own as many cores as each other, in order.
///
/// # Examples
/// ```
/// use tpulab::plot::ShardPicture;
///
/// let picture = ShardPicture::new(128, 8)?;
/// assert_eq!((picture.shard_rows(), picture.rows(7)), (16, 112..128));
/// assert!(picture.to_string().starts_with("128 rows = 8 cores × 16 rows"));
/// let pod_slice = ShardPicture::new(1024, 32)?.hosts(4)?;
/// # Ok::<(), tpulab::core::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ShardPicture {
    pub(super) batch_rows: usize,
    pub(super) cores: usize,
    pub(super) hosts: usize,
}

/// Twice as many as the largest slice has.
const MOST_CORES: usize = 4096;

impl ShardPicture {
    /// `batch_rows` rows over `cores` cores of one host.
    ///
    /// # Errors
    /// `PLOT007` unless each core gets as many rows, and at least one; `PLOT004` for more than 4096 cores.
    pub fn new(batch_rows: usize, cores: usize) -> Result<Self> {
        even("rows", batch_rows, "cores", cores)?;
        PlotError::check_count("cores", cores, MOST_CORES)?;
        Ok(ShardPicture { batch_rows, cores, hosts: 1 })
    }

    /// Sets how many hosts own the cores; one by default.
    ///
    /// # Errors
    /// `PLOT007` unless each host has as many cores, and at least one.
    pub fn hosts(mut self, hosts: usize) -> Result<Self> {
        even("cores", self.cores, "hosts", hosts)?;
        self.hosts = hosts;
        Ok(self)
    }

    /// The rows of a shard.
    pub fn shard_rows(&self) -> usize {
        self.batch_rows / self.cores
    }

    /// The rows that core `core` gets, counted from 0; none, if there is no such core.
    pub fn rows(&self, core: usize) -> Range<usize> {
        let core = core.min(self.cores);
        let end = (core + 1).min(self.cores);
        core * self.shard_rows()..end * self.shard_rows()
    }

    /// The picture as an SVG document, the same for the same numbers.
    pub fn svg(&self) -> String {
        document(self.size(), &self.sum(), &self.to_string(), |area| self.paint(area))
    }

    /// `128 rows = 8 cores × 16 rows`.
    pub(super) fn sum(&self) -> String {
        let counted = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
        let hosts = if self.hosts > 1 { format!("{} × ", counted(self.hosts, "host")) } else { String::new() };
        let cores = counted(self.cores / self.hosts, "core");
        format!("{} = {hosts}{cores} × {}", counted(self.batch_rows, "row"), counted(self.shard_rows(), "row"))
    }
}

show_and_save!(ShardPicture);

fn even(parts: &'static str, count: usize, owners: &'static str, among: usize) -> Result<(), PlotError> {
    if count > 0 && among > 0 && count.is_multiple_of(among) {
        return Ok(());
    }
    Err(PlotError::UnevenSplit { parts, count, owners, among })
}

/// The first and the last of the rows that a core gets.
pub(super) fn range_text(rows: &Range<usize>) -> String {
    match rows.len() {
        1 => rows.start.to_string(),
        _ => format!("{}–{}", rows.start, rows.end - 1),
    }
}

/// A line for each core, or for the first and the last of many.
impl fmt::Display for ShardPicture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 16;
        let mut table = Table::new(["host", "core", "rows", "count"]);
        for core in 0..self.cores {
            let tail = self.cores - 2;
            if self.cores > MOST && core == MOST - 3 {
                table = table.row(["…", "…", "…", "…"]);
            }
            if self.cores > MOST && (MOST - 3..tail).contains(&core) {
                continue;
            }
            let (rows, host) = (self.rows(core), core / (self.cores / self.hosts));
            table = table.row([host.to_string(), core.to_string(), range_text(&rows), rows.len().to_string()]);
        }
        write!(f, "{}\n{table}", self.sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_of_100_over_8_cores_is_refused() {
        assert_eq!(
            ShardPicture::new(100, 8).unwrap_err().to_string(),
            "PLOT007: 100 rows cannot be split over 8 cores; use a multiple of 8, such as 96 or 104"
        );
        for (rows, cores) in [(0, 8), (8, 0), (4, 8)] {
            assert_eq!(ShardPicture::new(rows, cores).unwrap_err().code(), "PLOT007");
        }
        for hosts in [0, 3, 16] {
            assert_eq!(ShardPicture::new(128, 8).unwrap().hosts(hosts).unwrap_err().code(), "PLOT007");
        }
    }

    #[test]
    fn the_shards_are_the_batch() {
        let picture = ShardPicture::new(128, 8).unwrap();
        let rows: Vec<usize> = (0..8).flat_map(|core| picture.rows(core)).collect();
        assert_eq!(rows, (0..128).collect::<Vec<_>>());
        assert!(picture.rows(8).is_empty() && picture.rows(usize::MAX).is_empty());
    }

    #[test]
    fn a_terminal_shows_the_first_and_the_last_cores() {
        assert_eq!(
            ShardPicture::new(4, 2).unwrap().to_string(),
            "4 rows = 2 cores × 2 rows\nhost  core  rows  count\n   0     0   0–1      2\n   0     1   2–3      2"
        );
        let text = ShardPicture::new(4096, 2048).unwrap().hosts(256).unwrap().to_string();
        assert!(text.starts_with("4096 rows = 256 hosts × 8 cores × 2 rows\n") && text.lines().count() == 18);
    }

    #[test]
    fn very_long_batches_stay_in_their_boxes() {
        let picture = ShardPicture::new(usize::MAX - 7, 8).unwrap();
        assert!(picture.svg().len() < 20_000);
        let error = ShardPicture::new(8192, 8192).unwrap_err().to_string();
        assert!(error.starts_with("PLOT004: expected 1 to 4096 cores, found 8192;"), "{error}");
    }

    #[test]
    fn large_pods_have_small_pictures() {
        let svg = ShardPicture::new(131_072, 2048).unwrap().hosts(256).unwrap().svg();
        assert!(svg.contains("2008 more cores") && svg.len() < 200_000, "{}", svg.len());
    }
}
