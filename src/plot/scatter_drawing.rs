//! How a scatter matrix is drawn.

use super::axis::{Axis, Scale};
use super::palette::{INK, colour, mark};
use super::scatter_matrix::ScatterMatrix;
use super::sheet::{Area, Failure, fitting, px, short, text, text_width};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use std::collections::BTreeSet;

const LEFT: u32 = 76;
const TOP: u32 = 44;
const BELOW: u32 = 62;
const NAME_SIZE: u32 = 14;
/// The space around each panel.
const INSET: u32 = 6;

impl ScatterMatrix {
    /// How wide and high the figure is, in pixels.
    pub(super) fn size(&self) -> (u32, u32) {
        let side = self.columns.len() as u32 * self.panel();
        // A single panel leaves no free corner for the names.
        let beside = if self.columns.len() == 1 { self.legend_width() + 16 } else { 0 };
        (LEFT + side + beside + 16, TOP + side + BELOW + 8)
    }

    fn legend_width(&self) -> u32 {
        24 + self.legend_names().iter().map(|name| text_width(name, 16)).max().unwrap_or(0)
    }

    fn legend_names(&self) -> Vec<String> {
        self.names.iter().map(|name| short(name, 24)).collect()
    }

    /// How wide and high a panel is, in pixels.
    fn panel(&self) -> u32 {
        match self.columns.len() as u32 {
            1 => 420,
            2 => 300,
            3 => 230,
            count => 760 / count,
        }
    }

    pub(super) fn paint(&self, area: &Area, size: (u32, u32)) -> Result<(), Failure> {
        let title = Text::new(
            fitting(&self.title, size.0 - 20, 20),
            (px(size.0 / 2), px(20)),
            text(20, HPos::Center, VPos::Center),
        );
        area.draw(&title)?;
        let axes: Vec<Axis> = self
            .columns
            .iter()
            .map(|(_, values)| {
                Axis::around(values.iter().copied(), Scale::Linear, 0.06).with_most_ticks(f64::from(self.panel() / 36))
            })
            .collect();
        for row in 0..self.columns.len() {
            for column in 0..=row {
                self.paint_panel(area, (row, column), &axes)?;
            }
        }
        self.legend(area, size)
    }

    fn corner(&self, (row, column): (usize, usize)) -> (u32, u32) {
        (LEFT + column as u32 * self.panel(), TOP + row as u32 * self.panel())
    }

    fn paint_panel(&self, area: &Area, (row, column): (usize, usize), axes: &[Axis]) -> Result<(), Failure> {
        let (left, top) = self.corner((row, column));
        let inner = self.panel() - 2 * INSET;
        let (x0, y0) = (px(left + INSET), px(top + INSET));
        let (x1, y1) = (x0 + px(inner), y0 + px(inner));
        let frame = vec![(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)];
        area.draw(&PathElement::new(frame, INK.mix(0.35).stroke_width(px(1) as u32)))?;
        self.label_panel(area, (row, column), axes, [(x0, y0), (x1, y1)])?;
        if row == column {
            return self.paint_histogram(area, row, &axes[row], [(x0, y0), (x1, y1)]);
        }
        let mut seen = BTreeSet::new();
        for index in (0..self.classes.len()).step_by(self.every()) {
            let x = axes[column].map(&self.columns[column].1[index], (x0, x1));
            let y = axes[row].map(&self.columns[row].1[index], (y1, y0));
            // Measured values repeat; one marker in one place is enough.
            if seen.insert((x, y, self.classes[index])) {
                let radius = if self.columns.len() > 4 { 3 } else { 4 };
                mark(area, self.classes[index], (x, y), radius, 0.85)?;
            }
        }
        Ok(())
    }

    /// Writes ticks and names at the outer side of the panels at the left and at the foot.
    fn label_panel(
        &self,
        area: &Area,
        (row, column): (usize, usize),
        axes: &[Axis],
        [(x0, y0), (x1, y1)]: [(i32, i32); 2],
    ) -> Result<(), Failure> {
        let unit = short(&self.unit, 6);
        let unit = if unit.is_empty() { unit } else { format!(" ({unit})") };
        let room = (self.panel() - 8).saturating_sub(text_width(&unit, NAME_SIZE));
        let name = |index: usize| fitting(&self.columns[index].0, room, NAME_SIZE) + &unit;
        let tick = INK.mix(0.6).stroke_width(px(1) as u32);
        if row + 1 == self.columns.len() {
            let mut free = x0 - px(INSET + 3);
            for (place, label) in axes[column].ticks() {
                let x = axes[column].map(place, (x0, x1));
                area.draw(&PathElement::new(vec![(x, y1), (x, y1 + px(4))], tick))?;
                // A label stays below its own panel and beside the one before it.
                let half = px(text_width(label, 14)) / 2;
                if x - half >= free && x + half <= x1 + px(1) {
                    let style = text(14, HPos::Center, VPos::Center);
                    area.draw(&Text::new(label.clone(), (x, y1 + px(16)), style))?;
                    free = x + half;
                }
            }
            let centre = ((x0 + x1) / 2, y1 + px(42));
            area.draw(&Text::new(name(column), centre, text(NAME_SIZE, HPos::Center, VPos::Center)))?;
        }
        if column == 0 {
            // The first panel counts rows, which have no scale worth reading.
            let ticks = if row == 0 { &[][..] } else { axes[row].ticks() };
            for (place, label) in ticks {
                let y = axes[row].map(place, (y1, y0));
                area.draw(&PathElement::new(vec![(x0 - px(4), y), (x0, y)], tick))?;
                area.draw(&Text::new(label.clone(), (x0 - px(8), y), text(14, HPos::Right, VPos::Center)))?;
            }
            let label = if row == 0 { "rows".to_string() } else { name(row) };
            let style = text(NAME_SIZE, HPos::Center, VPos::Center).transform(FontTransform::Rotate270);
            area.draw(&Text::new(label, (px(16), (y0 + y1) / 2), style))?;
        }
        Ok(())
    }

    /// For each class an outline of how often its values occur.
    fn paint_histogram(
        &self,
        area: &Area,
        column: usize,
        axis: &Axis,
        [(x0, y0), (x1, y1)]: [(i32, i32); 2],
    ) -> Result<(), Failure> {
        const BINS: usize = 16;
        let mut counts = vec![[0usize; BINS]; self.names.len()];
        for (value, class) in self.columns[column].1.iter().zip(&self.classes) {
            let bin = axis.map(value, (0, BINS as i32 * 1000)) as usize / 1000;
            counts[*class][bin.min(BINS - 1)] += 1;
        }
        let most = counts.iter().flatten().max().copied().unwrap_or(0).max(1);
        let height = f64::from(y1 - y0) * 0.9;
        for (class, counts) in counts.iter().enumerate().filter(|(_, counts)| counts.iter().any(|count| *count > 0)) {
            let mut outline = vec![(x0, y1)];
            for (bin, count) in (0..).zip(counts) {
                let y = y1 - (height * *count as f64 / most as f64) as i32;
                let at = |bin: i32| x0 + (x1 - x0) * bin / BINS as i32;
                outline.extend([(at(bin), y), (at(bin + 1), y)]);
            }
            outline.push((x1, y1));
            area.draw(&Polygon::new(outline.clone(), colour(class).mix(0.25)))?;
            area.draw(&PathElement::new(outline, colour(class).stroke_width(px(3) as u32 / 2)))?;
        }
        Ok(())
    }

    /// Names the classes in the free corner, or beside the only panel.
    fn legend(&self, area: &Area, size: (u32, u32)) -> Result<(), Failure> {
        let x = match self.columns.len() {
            1 => LEFT + self.panel() + 8,
            // The middle of the panels that are not drawn in the first row.
            count => (size.0 - 16 - (count as u32 - 1) * self.panel() / 2).saturating_sub(self.legend_width() / 2),
        };
        let mut y = TOP + 24;
        for (class, name) in self.legend_names().into_iter().enumerate() {
            mark(area, class, (px(x + 8), px(y)), 6, 1.0)?;
            area.draw(&Text::new(name, (px(x + 24), px(y)), text(16, HPos::Left, VPos::Center)))?;
            y += 26;
        }
        for note in self.notes() {
            area.draw(&Text::new(note, (px(x), px(y)), text(14, HPos::Left, VPos::Center)))?;
            y += 20;
        }
        Ok(())
    }
}
