//! The SVG document around a figure.

use super::palette::INK;
use crate::notebook::escape_html;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// What figures are drawn on.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// What drawing says when it fails, which it does only by a mistake of ours: a text takes all that is written to it.
pub(super) type Failure = DrawingAreaErrorKind<std::io::Error>;

/// plotters knows whole units only, so a pixel has four of them.
const FINENESS: u32 = 4;
/// Where the document is a picture of its own, the text colours on light and on dark paper.
const TEXT_COLOURS: [RGBColor; 2] = [RGBColor(0x1B, 0x1B, 0x1B), RGBColor(0xE8, 0xE8, 0xE8)];
const PAPERS: [RGBColor; 2] = [RGBColor(0xFF, 0xFF, 0xFF), RGBColor(0x11, 0x11, 0x11)];

/// Pixels in fine units.
pub(super) fn px(pixels: u32) -> i32 {
    (pixels * FINENESS) as i32
}

/// The document of `width` × `height` pixels that `paint` draws, with a name and a description for those who do not
/// see it.
///
/// As a part of a page it has no background, and texts take the page's colour, since no fixed colour has enough
/// contrast on both white and dark pages. As a picture it cannot know the page, so it brings its own paper, light or
/// dark as the reader prefers.
pub(super) fn document(
    (width, height): (u32, u32),
    title: &str,
    description: &str,
    paint: impl FnOnce(&Area) -> Result<(), Failure>,
) -> String {
    let mut drawn = String::new();
    {
        let area = SVGBackend::with_string(&mut drawn, (width * FINENESS, height * FINENESS)).into_drawing_area();
        paint(&area).and_then(|()| area.present()).expect("a text takes all that is written to it");
    }
    // The first line is the opening tag, of which ours says more. In texts quotation marks are escaped, so these
    // replacements meet attributes only.
    let body = drawn.split_once('\n').map_or("", |(_, body)| body);
    let body = body
        .replace("\"#000000\"", "\"currentColor\"")
        .replace(" opacity=\"1\"", "")
        .replace(" stroke=\"none\" stroke-width=\"1\"", "")
        .replace(" stroke=\"none\"", "");
    let hex = |RGBColor(red, green, blue)| format!("#{red:02x}{green:02x}{blue:02x}");
    let ([light, dark], [white, black]) = (TEXT_COLOURS.map(hex), PAPERS.map(hex));
    let (fine_width, fine_height) = (px(width), px(height));
    let (title, description) = (escape_html(title), escape_html(description));
    let corner = px(6);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {fine_width} {fine_height}\" width=\"{width}\" \
         height=\"{height}\" class=\"tpulab-figure\" role=\"img\" aria-label=\"{title}\" stroke-linejoin=\"round\" \
         style=\"max-width:100%;height:auto\">\n\
         <style>.tpulab-paper{{fill:none}}\
         svg.tpulab-figure:root{{color:{light}}}svg.tpulab-figure:root .tpulab-paper{{fill:{white}}}\
         @media(prefers-color-scheme:dark){{svg.tpulab-figure:root{{color:{dark}}}\
         svg.tpulab-figure:root .tpulab-paper{{fill:{black}}}}}</style>\n\
         <title>{title}</title>\n<desc>{description}</desc>\n\
         <rect class=\"tpulab-paper\" width=\"100%\" height=\"100%\" rx=\"{corner}\"/>\n{body}"
    )
}

/// Text of a height in pixels, anchored at a side or corner.
pub(super) fn text(size: u32, horizontal: HPos, vertical: VPos) -> TextStyle<'static> {
    // plotters divides by 1.24 what it writes.
    let size = f64::from(px(size)) * 1.24;
    TextStyle::from(("sans-serif", size)).color(&INK).pos(Pos::new(horizontal, vertical))
}

/// About how many pixels wide a text is; rather more, since the reader's font is not known.
pub(super) fn text_width(text: &str, size: u32) -> u32 {
    (text.chars().count() as u32 * size * 31).div_ceil(50)
}

/// A foreign text in one line of at most `most` characters.
pub(super) fn short(text: &str, most: usize) -> String {
    let text = crate::notebook::printable(text).replace(['\u{FFFE}', '\u{FFFF}'], "\u{FFFD}");
    if text.chars().count() <= most {
        return text;
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// A foreign text, cut to about `width` pixels.
pub(super) fn fitting(text: &str, width: u32, size: u32) -> String {
    short(text, (width * 50 / (size * 31)) as usize)
}

/// The document as a picture in HTML. Front ends take drawings out of the HTML of notebooks that they do not trust, such
/// as one that was just downloaded, but leave pictures in.
pub(super) fn picture(svg: &str, description: &str) -> String {
    let mut address = String::with_capacity(svg.len() * 5 / 4);
    for character in svg.chars() {
        match character {
            // What ends the address, the attribute or the tag, or has a meaning in addresses.
            '%' | '#' | '"' | '<' | '>' | '&' | '\n' => address.push_str(&format!("%{:02X}", character as u32)),
            other => address.push(other),
        }
    }
    format!("<img src=\"data:image/svg+xml,{address}\" alt=\"{}\">", escape_html(description))
}

/// Gives a figure with `svg`, `title` and `Display` what all figures do with them.
macro_rules! show_and_save {
    ($figure:ty) => {
        impl $figure {
            /// Writes the figure as an SVG file, in one instant.
            ///
            /// # Errors
            /// Those of [`Location::write_atomic`](crate::storage::Location::write_atomic).
            pub fn save(&self, location: &crate::storage::Location) -> crate::core::Result<()> {
                location.write_atomic(self.svg().as_bytes())
            }

            /// Shows the figure in a notebook.
            pub fn evcxr_display(&self) {
                let (svg, text) = (self.svg(), self.to_string());
                let html = crate::plot::sheet::picture(&svg, &text);
                crate::notebook::display(&[("text/html", &html), ("text/plain", &text)]);
            }
        }

        /// The text form: some kernels show a value by `Debug` alone, as where a cell's last expression moves a variable.
        impl std::fmt::Debug for $figure {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
}
pub(super) use show_and_save;

#[cfg(test)]
mod tests {
    use super::super::palette::contrast;
    use super::*;

    #[test]
    fn texts_can_be_read_on_light_and_dark_pages() {
        // WCAG 2.1, 1.4.3: small texts need a contrast of 4.5.
        for (text, paper) in TEXT_COLOURS.into_iter().zip(PAPERS) {
            assert!(contrast(text, paper) >= 4.5, "{text:?} on {paper:?}");
        }
        // No one colour would do: the two are too near each other.
        let pages = contrast(PAPERS[0], PAPERS[1]);
        assert!(pages < 4.5 * 4.5);
    }

    #[test]
    fn texts_take_the_colour_of_the_page_and_stay_texts() {
        let svg = document((10, 10), "<script>", "a & \"b\"", |area| {
            area.draw(&Text::new("fill=\"#000000\" </text>", (0, 0), text(12, HPos::Left, VPos::Top)))
        });
        assert!(svg.contains("aria-label=\"&lt;script&gt;\"") && svg.contains("<desc>a &amp; &quot;b&quot;</desc>"));
        assert!(svg.contains("fill=\"currentColor\">\nfill=&quot;#000000&quot; &lt;/text&gt;\n</text>"), "{svg}");
        assert!(svg.contains("font-size=\"48\"") && !svg.contains(" id="));
    }

    #[test]
    fn a_picture_holds_the_whole_document_in_its_address() {
        let picture = picture("<svg a=\"#1\">50%\né</svg>", "a \"b\"");
        assert_eq!(
            picture,
            "<img src=\"data:image/svg+xml,%3Csvg a=%22%231%22%3E50%25%0Aé%3C/svg%3E\" alt=\"a &quot;b&quot;\">"
        );
    }

    #[test]
    fn long_names_are_cut_and_control_characters_written_out() {
        assert_eq!(short("a\0b\u{FFFF}", 20), "a\\u{0}b\u{FFFD}");
        assert_eq!(short("abcdef", 4), "abc…");
    }
}
