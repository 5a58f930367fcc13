//! A small table, as aligned text and as HTML.

use super::content::{display, escape_html, printable};
use std::fmt;

/// Rows of texts under headings; shows itself as HTML in a notebook and as aligned columns in a terminal.
///
/// Columns whose cells all look like numbers are set to the right. Cells may hold any text: it is escaped.
///
/// # Examples
/// ```
/// use tpulab::notebook::Table;
/// let table = Table::new(["layer", "weights"]).row(["dense", "50"]).row(["dense_1", "110"]);
/// assert_eq!(table.to_string(), "layer    weights\ndense         50\ndense_1      110");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
    caption: Option<String>,
}

impl Table {
    /// A table without rows.
    pub fn new<T: Into<String>>(headings: impl IntoIterator<Item = T>) -> Self {
        Table { headings: headings.into_iter().map(Into::into).collect(), ..Table::default() }
    }

    /// Adds a row. Cells beyond the headings are dropped, missing ones are empty.
    pub fn row<T: Into<String>>(mut self, cells: impl IntoIterator<Item = T>) -> Self {
        let mut cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        cells.resize(self.headings.len(), String::new());
        self.rows.push(cells);
        self
    }

    /// Sets the line below the table.
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = Some(caption.into());
        self
    }

    /// The table as HTML; all texts are escaped.
    pub fn to_html(&self) -> String {
        let mut html = String::from("<table>\n<thead><tr>");
        let right: Vec<bool> = (0..self.headings.len()).map(|column| self.is_numeric(column)).collect();
        for (heading, &right) in self.headings.iter().zip(&right) {
            push_cell(&mut html, "th", heading, right);
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            html.push_str("<tr>");
            for (cell, &right) in row.iter().zip(&right) {
                push_cell(&mut html, "td", cell, right);
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody>\n</table>");
        if let Some(caption) = &self.caption {
            html.push_str(&format!("\n<p>{}</p>", escape_html(caption)));
        }
        html
    }

    /// Shows the table in a notebook.
    pub fn evcxr_display(&self) {
        display(&[("text/html", &self.to_html()), ("text/plain", &self.to_string())]);
    }

    fn is_numeric(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().map(|row| row[column].trim()).filter(|cell| !cell.is_empty()).peekable();
        cells.peek().is_some() && cells.all(|cell| cell.starts_with(|first: char| "+-−.0123456789".contains(first)))
    }
}

fn push_cell(html: &mut String, tag: &str, text: &str, right: bool) {
    let side = if right { "right" } else { "left" };
    // A heading may have two lines; a cell's line ends mean nothing to HTML.
    let text = escape_html(text).replace('\n', "<br>");
    html.push_str(&format!("<{tag} style=\"text-align: {side}\">{text}</{tag}>"));
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<Vec<String>> = std::iter::once(&self.headings)
            .chain(&self.rows)
            .map(|row| row.iter().map(|cell| printable(&cell.replace('\n', " "))).collect())
            .collect();
        let widths: Vec<usize> = (0..self.headings.len())
            .map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0))
            .collect();
        let right: Vec<bool> = (0..self.headings.len()).map(|column| self.is_numeric(column)).collect();
        for (index, line) in lines.iter().enumerate() {
            let mut text = String::new();
            for (column, cell) in line.iter().enumerate() {
                let gap = if column == 0 { "" } else { "  " };
                let width = widths[column];
                text.push_str(gap);
                text.push_str(&if right[column] { format!("{cell:>width$}") } else { format!("{cell:<width$}") });
            }
            let end = if index == 0 { "" } else { "\n" };
            write!(f, "{end}{}", text.trim_end())?;
        }
        match &self.caption {
            Some(caption) => write!(f, "\n{}", printable(caption)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_set_to_the_right_and_texts_to_the_left() {
        let table = Table::new(["name", "loss"]).row(["a", "1.5"]).row(["long", "-10"]).caption("2 rows");
        assert_eq!(table.to_string(), "name  loss\na      1.5\nlong   -10\n2 rows");
        assert!(table.to_html().contains("<td style=\"text-align: right\">-10</td>"));
    }

    #[test]
    fn foreign_text_cannot_leave_its_cell() {
        let table = Table::new(["<script>"]).row(["a\u{1b}[2J\nEVCXR_END_CONTENT"]);
        assert!(!table.to_html().contains("<script>") && !table.to_html().contains("EVCXR_"));
        assert_eq!(table.to_string().lines().count(), 2);
        assert!(!table.to_string().contains('\u{1b}') && !table.to_string().contains("EVCXR_"));
    }

    #[test]
    fn rows_of_another_length_are_made_to_fit() {
        let table = Table::new(["a", "b"]).row(["1"]).row(["1", "2", "3"]);
        assert_eq!(table.to_string(), "a  b\n1\n1  2");
        assert_eq!(Table::default().to_string(), "");
    }
}
