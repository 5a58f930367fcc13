//! Colours and markers that tell series apart, for colour-blind readers too.

use super::sheet::{Area, Failure, px};
use plotters::prelude::*;

/// What plotters draws with this colour takes the page's text colour instead; see `sheet`.
pub(super) const INK: RGBColor = RGBColor(0, 0, 0);

/// Okabe and Ito's colours (Color Universal Design, <https://jfly.uni-koeln.de/color/>), those that stand out most on
/// both white and dark pages first. Their yellow is left out, since it cannot be seen on white; their black is the
/// page's text colour.
pub(super) const COLOURS: [RGBColor; 7] = [
    RGBColor(0x00, 0x72, 0xB2), // blue
    RGBColor(0xD5, 0x5E, 0x00), // vermillion
    RGBColor(0x00, 0x9E, 0x73), // bluish green
    RGBColor(0xCC, 0x79, 0xA7), // reddish purple
    INK,
    RGBColor(0xE6, 0x9F, 0x00), // orange
    RGBColor(0x56, 0xB4, 0xE9), // sky blue
];

/// The colour of series `index`.
pub(super) fn colour(index: usize) -> RGBColor {
    COLOURS[index % COLOURS.len()]
}

/// Draws the marker of series `index` around `(x, y)`, both in the sheet's fine units. Each series has another shape,
/// and where colours come round again, colour and shape do not come together again.
pub(super) fn mark(area: &Area, index: usize, (x, y): (i32, i32), radius: u32, opacity: f64) -> Result<(), Failure> {
    let style = colour(index).mix(opacity).filled();
    let r = px(radius);
    let (half, third, more) = (r * 4 / 5, r / 3, r * 5 / 4);
    let corners: &[(i32, i32)] = match (index + index / COLOURS.len()) % COLOURS.len() {
        0 => return area.draw(&Circle::new((x, y), r, style)),
        1 => &[(-half, -half), (half, -half), (half, half), (-half, half)],
        2 => &[(0, -more), (more, r * 7 / 8), (-more, r * 7 / 8)],
        3 => &[(0, -more), (more, 0), (0, more), (-more, 0)],
        4 => &[
            (-third, -more),
            (third, -more),
            (third, -third),
            (more, -third),
            (more, third),
            (third, third),
            (third, more),
            (-third, more),
            (-third, third),
            (-more, third),
            (-more, -third),
            (-third, -third),
        ],
        5 => &[(0, more), (-more, -r * 7 / 8), (more, -r * 7 / 8)],
        _ => &[(-third, -more), (third, -more), (third, more), (-third, more)],
    };
    area.draw(&Polygon::new(corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect::<Vec<_>>(), style))
}

/// WCAG 2's contrast ratio of two colours.
#[cfg(test)]
pub(super) fn contrast(one: RGBColor, other: RGBColor) -> f64 {
    let luminance = |RGBColor(red, green, blue): RGBColor| {
        let [red, green, blue] = [red, green, blue].map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    };
    let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
    one.max(other) / one.min(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIGHT: RGBColor = RGBColor(0xFF, 0xFF, 0xFF);
    const DARK: RGBColor = RGBColor(0x11, 0x11, 0x11);

    #[test]
    fn the_contrast_of_black_and_white_is_21() {
        assert_eq!(contrast(RGBColor(0, 0, 0), LIGHT), 21.0);
        assert_eq!(contrast(DARK, DARK), 1.0);
    }

    #[test]
    fn the_first_four_colours_can_be_told_from_light_and_dark_pages() {
        // WCAG 2.1, 1.4.11: graphics need a contrast of 3.
        for colour in &COLOURS[..4] {
            assert!(contrast(*colour, LIGHT) >= 3.0 && contrast(*colour, DARK) >= 3.0, "{colour:?}");
        }
    }
}
