//! How a line chart is drawn.

use super::axis::Axis;
use super::line_chart::LineChart;
use super::palette::{INK, colour, mark};
use super::sheet::{Area, Failure, fitting, px, short, text, text_width};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

const WIDTH: u32 = 800;
/// Of the plot with its labels.
const HEIGHT: u32 = 412;
/// Where the legend begins, and how high its rows are.
const LEGEND: (u32, u32) = (40, 26);
const LEGEND_SIZE: u32 = 16;
/// Of all series together, so that the document stays small.
const POINTS: usize = 6000;
/// So few points have a marker each.
const FEW: usize = 40;

/// The unbroken parts of a series' line.
type Lines<Point> = Vec<Vec<Point>>;

impl LineChart {
    /// How wide and high the chart is, in pixels.
    pub(super) fn size(&self) -> (u32, u32) {
        (WIDTH, self.top() + HEIGHT + self.below())
    }

    fn top(&self) -> u32 {
        let rows = self.legend().last().map_or(0, |(_, (_, row))| row + 1);
        LEGEND.0 + rows * LEGEND.1 + 4
    }

    fn below(&self) -> u32 {
        if self.note().is_some() { 28 } else { 4 }
    }

    pub(super) fn paint(&self, area: &Area, size: (u32, u32)) -> Result<(), Failure> {
        let title = fitting(&self.title, WIDTH - 20, 20);
        area.draw(&Text::new(title, (px(WIDTH / 2), px(20)), text(20, HPos::Center, VPos::Center)))?;
        self.paint_legend(area)?;
        let most = (POINTS / self.series.len().max(1)).min(1400);
        let lines: Vec<Lines<(f64, f64)>> = self.series.iter().map(|series| series.lines(self.scale, most)).collect();
        let drawn = self.paint_axes(area, &lines)?;
        for (index, lines) in drawn.iter().enumerate() {
            for line in lines.iter().filter(|line| line.len() > 1) {
                area.draw(&PathElement::new(line.clone(), colour(index).stroke_width(px(2) as u32)))?;
            }
        }
        // No line may cover a marker.
        for (index, lines) in drawn.iter().enumerate() {
            self.paint_markers(area, index, lines)?;
        }
        if drawn.iter().all(Vec::is_empty) {
            let place = (px(WIDTH / 2 + 42), px(size.1 / 2));
            area.draw(&Text::new("no values to show", place, text(18, HPos::Center, VPos::Center)))?;
        }
        self.note().map_or(Ok(()), |note| {
            area.draw(&Text::new(note, (px(WIDTH - 36), px(size.1 - 16)), text(14, HPos::Right, VPos::Center)))
        })
    }

    /// Draws axes around the lines, and says where their points lie between them.
    fn paint_axes(&self, area: &Area, lines: &[Lines<(f64, f64)>]) -> Result<Vec<Lines<(i32, i32)>>, Failure> {
        let points = || lines.iter().flatten().flatten();
        let x = Axis::of_steps(points().map(|point| point.0));
        let y = Axis::around(points().map(|point| point.1), self.scale, 0.05);
        let widest = y.ticks().iter().map(|(_, label)| text_width(label, 15)).max().unwrap_or(0);
        let plot = area.margin(px(self.top()), px(self.below()), px(8), px(36));
        let mut chart = ChartBuilder::on(&plot)
            .x_label_area_size(px(50))
            .y_label_area_size(px(widest.max(40) + 44))
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(INK.mix(0.15).stroke_width(px(1) as u32))
            .axis_style(INK.mix(0.6).stroke_width(px(1) as u32))
            .label_style(text(15, HPos::Center, VPos::Center))
            .set_all_tick_mark_size(px(5))
            .axis_desc_style(text(16, HPos::Center, VPos::Center))
            .x_desc(fitting(&self.x_label, 600, 16))
            .y_desc(fitting(&self.y_label, 380, 16))
            .draw()?;
        let place = |line: &Vec<(f64, f64)>| line.iter().map(|point| chart.backend_coord(point)).collect();
        Ok(lines.iter().map(|lines| lines.iter().map(place).collect()).collect())
    }

    /// A marker at each of few points and at some of many; a dot where a point has no line to be seen by.
    fn paint_markers(&self, area: &Area, index: usize, lines: &[Vec<(i32, i32)>]) -> Result<(), Failure> {
        let period = px(90);
        // Where runs lie on each other, their markers still stand side by side.
        let offset = period * index as i32 / self.series.len() as i32;
        let is_few = lines.iter().map(Vec::len).sum::<usize>() <= FEW;
        let mut next = i32::MIN;
        for line in lines {
            for &(x, y) in line {
                if is_few || x >= next {
                    mark(area, index, (x, y), 5, 1.0)?;
                } else if line.len() == 1 {
                    area.draw(&Circle::new((x, y), px(2), colour(index).filled()))?;
                }
                if x >= next {
                    next = (x - offset).div_euclid(period) * period + period + offset;
                }
            }
        }
        Ok(())
    }

    fn paint_legend(&self, area: &Area) -> Result<(), Failure> {
        for (index, (name, (x, row))) in self.legend().into_iter().enumerate() {
            let y = px(LEGEND.0 + row * LEGEND.1 + LEGEND.1 / 2);
            let line = vec![(px(x), y), (px(x + 32), y)];
            area.draw(&PathElement::new(line, colour(index).stroke_width(px(2) as u32)))?;
            mark(area, index, (px(x + 16), y), 5, 1.0)?;
            area.draw(&Text::new(name, (px(x + 40), y), text(LEGEND_SIZE, HPos::Left, VPos::Center)))?;
        }
        Ok(())
    }

    /// The name of each run, and where it stands: pixels from the left, and the row.
    fn legend(&self) -> Vec<(String, (u32, u32))> {
        const START: u32 = 92;
        let names: Vec<String> = self.series.iter().map(|series| short(&series.name, 60)).collect();
        let widths: Vec<u32> = names.iter().map(|name| 56 + text_width(name, LEGEND_SIZE)).collect();
        // Names that need several rows stand in columns.
        let widest = widths.iter().copied().max().unwrap_or(0);
        let is_one_row = START + widths.iter().sum::<u32>() <= WIDTH;
        let (mut x, mut row) = (START, 0);
        let mut entries = Vec::new();
        for (name, width) in names.into_iter().zip(widths) {
            let width = if is_one_row { width } else { widest };
            if x + width > WIDTH && x > START {
                (x, row) = (START, row + 1);
            }
            entries.push((name, (x, row)));
            x += width;
        }
        entries
    }
}
