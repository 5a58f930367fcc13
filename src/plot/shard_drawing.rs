//! How the shards of a batch are drawn.

use super::palette::{INK, colour};
use super::shard_picture::{ShardPicture, range_text};
use super::sheet::{Area, Failure, fitting, px, text, text_width};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use std::ops::Range;

/// Cores side by side.
const ACROSS: usize = 8;
/// Lines of cores; of more, the first and the last are shown.
const MOST_LINES: usize = 5;
const LEFT: u32 = 84;
const TOP: u32 = 116;
const BOX: (u32, u32) = (84, 84);
const GAP: u32 = 8;
/// From one line of cores to the next, with the rows' numbers between them.
const LINE: u32 = BOX.1 + 40;
/// Where lines are left out.
const ELISION: u32 = 28;
/// Rows that still can be counted when each is a small square.
const MOST_SQUARES: usize = 36;
/// Rows that have room in the batch.
const MOST_ROWS: usize = 256;
/// Cores whose shards have room in the batch.
const MOST_PIECES: usize = 64;

/// Cores of one host that are drawn side by side.
struct Line {
    host: usize,
    is_first_of_host: bool,
    cores: Range<usize>,
}

impl ShardPicture {
    /// How wide and high the picture is, in pixels.
    pub(super) fn size(&self) -> (u32, u32) {
        let lines = self.lines().len();
        let elision = if lines > MOST_LINES { ELISION } else { 0 };
        (self.width(), TOP + lines.min(MOST_LINES) as u32 * LINE + elision)
    }

    fn width(&self) -> u32 {
        (LEFT + self.across() * (BOX.0 + GAP) + 16).max(480)
    }

    /// How many cores stand side by side.
    fn across(&self) -> u32 {
        (self.cores / self.hosts).min(ACROSS) as u32
    }

    fn lines(&self) -> Vec<Line> {
        let per_host = self.cores / self.hosts;
        let of_host = |host: usize| {
            let (start, end) = (host * per_host, (host + 1) * per_host);
            (start..end).step_by(ACROSS).map(move |core| Line {
                host,
                is_first_of_host: core == start,
                cores: core..(core + ACROSS).min(end),
            })
        };
        (0..self.hosts).flat_map(of_host).collect()
    }

    pub(super) fn paint(&self, area: &Area) -> Result<(), Failure> {
        let middle = px(self.width() / 2);
        let centre = |size| text(size, HPos::Center, VPos::Center);
        area.draw(&Text::new(fitting(&self.sum(), self.width(), 20), (middle, px(22)), centre(20)))?;
        self.paint_batch(area)?;
        let lines = self.lines();
        let tail = lines.len().min(MOST_LINES) - 1;
        for (line, y) in lines[..tail].iter().zip((TOP..).step_by(LINE as usize)) {
            self.paint_line(area, line, y)?;
        }
        let (skipped, last) = lines[tail..].split_at(lines.len() - tail - 1);
        let mut y = TOP + tail as u32 * LINE;
        if !skipped.is_empty() {
            let count: usize = skipped.iter().map(|line| line.cores.len()).sum();
            y += ELISION;
            area.draw(&Text::new(format!("… {count} more cores …"), (middle, px(y - 18)), centre(16)))?;
        }
        last.iter().try_for_each(|line| self.paint_line(area, line, y))
    }

    /// Where the shard of this core begins in the drawn batch.
    fn cut(&self, core: usize) -> i32 {
        let across = if self.hosts == 1 { self.across() } else { self.across().max(4) };
        let width = i64::from(px(across * (BOX.0 + GAP) - GAP));
        px(LEFT) + (width * core as i64 / self.cores as i64) as i32
    }

    fn paint_batch(&self, area: &Area) -> Result<(), Failure> {
        area.draw(&Text::new("batch", (px(LEFT - 14), px(65)), text(16, HPos::Right, VPos::Center)))?;
        // Of more, cuts would be all one sees.
        let is_cut = self.cores <= MOST_PIECES;
        let pieces = if is_cut { self.cores } else { self.hosts.min(MOST_PIECES) };
        for piece in 0..pieces {
            let ends = [piece, piece + 1].map(|piece| self.cut(piece * self.cores / pieces));
            framed(area, [(ends[0], px(50)), (ends[1], px(80))], if is_cut { piece } else { 0 })?;
        }
        let rows = if is_cut && self.batch_rows <= MOST_ROWS { self.batch_rows } else { 0 };
        for row in 0..rows {
            let core = row / self.shard_rows();
            let (start, length) = (self.cut(core), self.cut(core + 1) - self.cut(core));
            let eighths = 8 * self.shard_rows() as i32;
            let place = |eighth: i32| start + length * (8 * (row % self.shard_rows()) as i32 + eighth) / eighths;
            area.draw(&Rectangle::new([(place(2), px(59)), (place(6), px(71))], shade(core).filled()))?;
        }
        Ok(())
    }

    fn paint_line(&self, area: &Area, line: &Line, y: u32) -> Result<(), Failure> {
        let beside = px(LEFT - 14);
        if line.is_first_of_host {
            let host = format!("host {}", line.host);
            area.draw(&Text::new(host, (beside, px(y + BOX.1 / 2)), text(16, HPos::Right, VPos::Center)))?;
        }
        area.draw(&Text::new("rows", (beside, px(y + BOX.1 + 12)), text(14, HPos::Right, VPos::Center)))?;
        for (column, core) in (0..).zip(line.cores.clone()) {
            let x = LEFT + column * (BOX.0 + GAP);
            if self.cores <= ACROSS && self.hosts == 1 {
                let middle = (self.cut(core) + self.cut(core + 1)) / 2;
                let way = vec![(middle, px(80)), (px(x + BOX.0 / 2), px(y))];
                area.draw(&PathElement::new(way, INK.mix(0.6).stroke_width(px(1) as u32)))?;
            }
            self.paint_core(area, core, (x, y))?;
        }
        Ok(())
    }

    fn paint_core(&self, area: &Area, core: usize, (x, y): (u32, u32)) -> Result<(), Failure> {
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

/// Neighbours differ; that the colours come round again does not matter, since all shards have their numbers.
fn shade(core: usize) -> RGBColor {
    colour(core % 4)
}

fn framed(area: &Area, [from, to]: [(i32, i32); 2], core: usize) -> Result<(), Failure> {
    area.draw(&Rectangle::new([from, to], shade(core).mix(0.2).filled()))?;
    let border = vec![from, (to.0, from.1), to, (from.0, to.1), from];
    area.draw(&PathElement::new(border, shade(core).stroke_width(px(1) as u32)))
}
