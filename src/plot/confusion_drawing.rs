//! How a confusion matrix is drawn.

use super::confusion_matrix::{ConfusionMatrix, FEW_CLASSES, share};
use super::palette::{INK, colour};
use super::sheet::{Area, Failure, fitting, px, text, text_width};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

/// How much a full cell is coloured; more would make its count hard to read.
const DEEPEST: f64 = 0.4;
const NAME_SIZE: u32 = 15;
const TOP: u32 = 52;
/// The height of a cell, at most.
const TALLEST: u32 = 72;

impl ConfusionMatrix {
    /// How wide and high the figure is, in pixels.
    pub(super) fn size(&self) -> (u32, u32) {
        let [left, cell] = self.widths();
        let classes = self.names.len() as u32;
        ((left + classes * cell + 24).max(420), TOP + 56 + classes * cell.min(TALLEST) + 24)
    }

    /// What stands left of the cells, and how wide a cell is, both in pixels.
    fn widths(&self) -> [u32; 2] {
        let longest = self.names().map(|name| text_width(&name, NAME_SIZE)).max().unwrap_or(0);
        [longest + 56, if self.names.len() <= FEW_CLASSES { (longest + 16).max(88) } else { 48 }]
    }

    pub(super) fn paint(&self, area: &Area, size: (u32, u32)) -> Result<(), Failure> {
        let [left, cell] = self.widths();
        let (height, classes) = (cell.min(TALLEST), self.names.len() as u32);
        let centre = |size| text(size, HPos::Center, VPos::Center);
        let accuracy = match self.accuracy() {
            Some(accuracy) => format!("accuracy {:.1}%", 100.0 * accuracy),
            None => "no examples".to_string(),
        };
        let title = format!("{}: {accuracy}", fitting(&self.title, size.0 - text_width(&accuracy, 20) - 40, 20));
        area.draw(&Text::new(title, (px(size.0 / 2), px(24)), centre(20)))?;
        let middle = |start: u32, index: u32, width: u32| px(start + index * width) + px(width) / 2;
        let top = TOP + 48;
        area.draw(&Text::new("predicted", (middle(left, 0, classes * cell), px(TOP + 6)), centre(16)))?;
        let turned = centre(16).transform(FontTransform::Rotate270);
        area.draw(&Text::new("expected", (px(18), middle(top, 0, classes * height)), turned))?;
        for (index, name) in (0..).zip(self.names()) {
            let y = middle(top, index, height);
            area.draw(&Text::new(name.clone(), (px(left - 10), y), text(NAME_SIZE, HPos::Right, VPos::Center)))?;
            // Narrow columns have room for the number only.
            let name = if self.names.len() <= FEW_CLASSES { name } else { index.to_string() };
            area.draw(&Text::new(name, (middle(left, index, cell), px(TOP + 32)), centre(NAME_SIZE)))?;
        }
        self.paint_cells(area, top)
    }

    fn paint_cells(&self, area: &Area, top: u32) -> Result<(), Failure> {
        let [left, cell] = self.widths();
        let height = cell.min(TALLEST);
        let count_size = if self.names.len() <= FEW_CLASSES { 22 } else { 15 };
        for (row, counts) in (0..).zip(&self.counts) {
            for (column, &count) in (0..).zip(counts) {
                let (x, y) = (px(left + column * cell), px(top + row * height));
                let corners = [(x, y), (x + px(cell), y + px(height))];
                let depth = (share([count], counts).unwrap_or(0.0) * DEEPEST * 100.0).round() / 100.0;
                // Right ones are blue and wrong ones vermillion; where they stand says the same.
                let fill = colour(usize::from(row != column)).mix(depth);
                area.draw(&Rectangle::new(corners, fill.filled()))?;
                let border = vec![corners[0], (x + px(cell), y), corners[1], (x, y + px(height)), corners[0]];
                area.draw(&PathElement::new(border, INK.mix(0.35).stroke_width(px(1) as u32)))?;
                let place = (x + px(cell) / 2, y + px(height) / 2);
                area.draw(&Text::new(brief(count), place, text(count_size, HPos::Center, VPos::Center)))?;
            }
        }
        Ok(())
    }
}

/// A count in at most four characters.
fn brief(count: u64) -> String {
    const UNITS: [(u64, &str); 6] = [
        (1_000_000_000_000_000_000, "E"),
        (1_000_000_000_000_000, "P"),
        (1_000_000_000_000, "T"),
        (1_000_000_000, "G"),
        (1_000_000, "M"),
        (1_000, "k"),
    ];
    match UNITS.into_iter().find(|(unit, _)| count >= 10_000 && count >= *unit) {
        Some((unit, sign)) => format!("{}{sign}", count / unit),
        None => count.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::palette::contrast;
    use super::*;

    #[test]
    fn counts_can_be_read_in_full_cells() {
        let over = |RGBColor(r, g, b): RGBColor, page: u8| {
            let mix = |part: u8| (f64::from(part) * DEEPEST + f64::from(page) * (1.0 - DEEPEST)).round() as u8;
            RGBColor(mix(r), mix(g), mix(b))
        };
        for fill in [colour(0), colour(1)] {
            assert!(contrast(over(fill, 0xFF), RGBColor(0x1B, 0x1B, 0x1B)) >= 4.5);
            assert!(contrast(over(fill, 0x11), RGBColor(0xE8, 0xE8, 0xE8)) >= 4.5);
        }
    }

    #[test]
    fn large_counts_stay_in_their_cells() {
        assert_eq!([9_999, 10_000, 1_234_567, u64::MAX].map(brief), ["9999", "10k", "1M", "18E"]);
    }
}
