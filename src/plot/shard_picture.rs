//! Which rows of a batch go to which core.

use super::PlotError;
use super::palette::{INK, colour};
use super::sheet::{Area, Failure, document, fitting, px, show_and_save, text, text_width};
use crate::core::Result;
use crate::notebook::Table;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardPicture {
    batch_rows: usize,
    cores: usize,
    hosts: usize,
}

/// Twice as many as the largest slice has.
const MOST_CORES: usize = 4096;
/// Cores side by side.
const ACROSS: usize = 8;
/// Lines of cores; of more, the first and the last are shown.
const MOST_LINES: usize = 5;
const LEFT: u32 = 84;
const BOX: (u32, u32) = (84, 84);
const GAP: u32 = 8;
/// Rows that still can be counted when each is a small square.
const MOST_SQUARES: usize = 36;

/// Cores of one host that are drawn side by side.
struct Line {
    host: usize,
    cores: Range<usize>,
}

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
        let lines = self.lines();
        let elided = if lines.len() > MOST_LINES { 28 } else { 0 };
        let height = 128 + lines.len().min(MOST_LINES) as u32 * (BOX.1 + 40) + elided;
        document((self.width(), height), &self.sum(), &self.to_string(), |area| self.paint(area, &lines))
    }

    fn width(&self) -> u32 {
        (LEFT + self.across() * (BOX.0 + GAP) + 16).max(480)
    }

    /// How many cores stand side by side.
    fn across(&self) -> u32 {
        (self.cores / self.hosts).min(ACROSS) as u32
    }

    /// `128 rows = 8 cores × 16 rows`.
    fn sum(&self) -> String {
        let counted = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
        let hosts = if self.hosts > 1 { format!("{} × ", counted(self.hosts, "host")) } else { String::new() };
        let cores = counted(self.cores / self.hosts, "core");
        format!("{} = {hosts}{cores} × {}", counted(self.batch_rows, "row"), counted(self.shard_rows(), "row"))
    }

    fn lines(&self) -> Vec<Line> {
        let per_host = self.cores / self.hosts;
        let of_host = |host: usize| {
            let (start, end) = (host * per_host, (host + 1) * per_host);
            (start..end).step_by(ACROSS).map(move |core| Line { host, cores: core..(core + ACROSS).min(end) })
        };
        (0..self.hosts).flat_map(of_host).collect()
    }

    fn paint(&self, area: &Area, lines: &[Line]) -> std::result::Result<(), Failure> {
        let centre = |size| text(size, HPos::Center, VPos::Center);
        area.draw(&Text::new(fitting(&self.sum(), self.width(), 20), (px(self.width() / 2), px(22)), centre(20)))?;
        let (bar_left, bar_width) = (px(LEFT), px(self.across() * (BOX.0 + GAP) - GAP));
        area.draw(&Text::new("batch", (px(LEFT - 14), px(65)), text(16, HPos::Right, VPos::Center)))?;
        let cut = |core: usize| bar_left + (i64::from(bar_width) * core as i64 / self.cores as i64) as i32;
        // Beyond that, cuts would be all one sees.
        let pieces = if self.cores <= 64 { self.cores } else { self.hosts.min(64) };
        for piece in 0..pieces {
            let ends = [piece, piece + 1].map(|piece| cut(piece * self.cores / pieces));
            framed(area, [(ends[0], px(50)), (ends[1], px(80))], if pieces == self.cores { piece } else { 0 })?;
        }
        // Where there is room, each row of the batch.
        for row in 0..(if self.batch_rows <= 256 { self.batch_rows } else { 0 }) {
            let place = |part: i32| bar_left + (bar_width * (8 * row as i32 + part)) / (8 * self.batch_rows as i32);
            let square = [(place(2), px(59)), (place(6), px(71))];
            area.draw(&Rectangle::new(square, shade(row / self.shard_rows()).filled()))?;
        }
        let tail = lines.len().min(MOST_LINES) - 1;
        let shown = lines[..tail].iter().chain(lines.last()).enumerate();
        for (index, line) in shown {
            let is_after_gap = lines.len() > MOST_LINES && index == tail;
            let y = 116 + index as u32 * (BOX.1 + 40) + if is_after_gap { 28 } else { 0 };
            if is_after_gap {
                let skipped = lines[tail..lines.len() - 1].iter().map(|line| line.cores.len()).sum::<usize>();
                let note = format!("… {skipped} more cores …");
                area.draw(&Text::new(note, (px(self.width() / 2), px(y - 18)), centre(16)))?;
            }
            if line.cores.start == 0 || self.hosts > 1 && line.cores.start.is_multiple_of(self.cores / self.hosts) {
                let host = format!("host {}", line.host);
                let place = (px(LEFT - 14), px(y + BOX.1 / 2));
                area.draw(&Text::new(host, place, text(16, HPos::Right, VPos::Center)))?;
            }
            let rows = (px(LEFT - 14), px(y + BOX.1 + 12));
            area.draw(&Text::new("rows", rows, text(14, HPos::Right, VPos::Center)))?;
            for (column, core) in (0..).zip(line.cores.clone()) {
                let x = LEFT + column * (BOX.0 + GAP);
                if lines.len() == 1 {
                    let middle = (cut(core) + cut(core + 1)) / 2;
                    let way = vec![(middle, px(80)), (px(x + BOX.0 / 2), px(y))];
                    area.draw(&PathElement::new(way, INK.mix(0.6).stroke_width(px(1) as u32)))?;
                }
                self.paint_core(area, core, (x, y))?;
            }
        }
        Ok(())
    }

    fn paint_core(&self, area: &Area, core: usize, (x, y): (u32, u32)) -> std::result::Result<(), Failure> {
        let centre = |size| text(size, HPos::Center, VPos::Center);
        framed(area, [(px(x), px(y)), (px(x + BOX.0), px(y + BOX.1))], core)?;
        let middle = px(x + BOX.0 / 2);
        area.draw(&Text::new(format!("core {core}"), (middle, px(y + 14)), centre(15)))?;
        let rows = self.rows(core);
        let (range, size) = match range_text(&rows) {
            range if text_width(&range, 14) <= BOX.0 + GAP => (range, 14),
            range if text_width(&range, 11) <= BOX.0 + GAP => (range, 11),
            _ => (fitting(&format!("{}…", rows.start), BOX.0 + GAP, 11), 11),
        };
        area.draw(&Text::new(range, (middle, px(y + BOX.1 + 12)), centre(size)))?;
        if rows.len() > MOST_SQUARES {
            let count = fitting(&format!("{} rows", rows.len()), BOX.0, 14);
            return area.draw(&Text::new(count, (middle, px(y + 52)), centre(14)));
        }
        // As square as it gets.
        let across = (1..).find(|side| side * side >= rows.len()).unwrap_or(1);
        let pitch = px(52) / across.max(3) as i32;
        let (left, top) = (middle - pitch * across as i32 / 2, px(y + 27));
        for row in 0..rows.len() {
            let (x, y) = (left + (row % across) as i32 * pitch, top + (row / across) as i32 * pitch);
            let square = [(x + pitch / 8, y + pitch / 8), (x + pitch * 7 / 8, y + pitch * 7 / 8)];
            area.draw(&Rectangle::new(square, shade(core).filled()))?;
        }
        Ok(())
    }
}

show_and_save!(ShardPicture);

fn even(parts: &'static str, count: usize, owners: &'static str, among: usize) -> Result<(), PlotError> {
    if count > 0 && among > 0 && count.is_multiple_of(among) {
        return Ok(());
    }
    Err(PlotError::UnevenSplit { parts, count, owners, among })
}

/// Neighbours differ; that the colours come round again does not matter, since all shards have their numbers.
fn shade(core: usize) -> RGBColor {
    colour(core % 4)
}

/// The first and the last of the rows that a core gets.
fn range_text(rows: &Range<usize>) -> String {
    match rows.len() {
        1 => rows.start.to_string(),
        _ => format!("{}–{}", rows.start, rows.end - 1),
    }
}

fn framed(area: &Area, [from, to]: [(i32, i32); 2], core: usize) -> std::result::Result<(), Failure> {
    area.draw(&Rectangle::new([from, to], shade(core).mix(0.2).filled()))?;
    let border = vec![from, (to.0, from.1), to, (from.0, to.1), from];
    area.draw(&PathElement::new(border, shade(core).stroke_width(px(1) as u32)))
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
