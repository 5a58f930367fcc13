//! Where a line of the generated source stands in the cells.

use super::Cell;

/// The cell and its line, counted from 1, that line `line` of `source` came from.
///
/// evcxr writes the text of a cell as it is, and functions of earlier cells again and again; so the place is where
/// the most lines around it are the same, in the latest such cell.
pub fn place<'a>(source: &str, line: usize, cells: &'a [Cell]) -> Option<(&'a Cell, usize)> {
    let source: Vec<_> = source.lines().map(str::trim_end).collect();
    let at = line.checked_sub(1).filter(|at| *at < source.len())?;
    let mut best: Option<(usize, &Cell, usize)> = None;
    for cell in cells.iter().rev() {
        let lines: Vec<_> = cell.code.lines().map(str::trim_end).collect();
        for (index, text) in lines.iter().enumerate() {
            if *text != source[at] {
                continue;
            }
            let before = (1..=index.min(at)).take_while(|back| lines[index - back] == source[at - back]).count();
            let after = (1..(lines.len() - index).min(source.len() - at))
                .take_while(|ahead| lines[index + ahead] == source[at + ahead])
                .count();
            let same = 1 + before + after;
            if best.is_none_or(|(most, ..)| same > most) {
                best = Some((same, cell, index + 1));
            }
        }
    }
    best.map(|(_, cell, line)| (cell, line)).or_else(|| part_of_a_line(source[at], cells))
}

/// The line of the latest cell that holds this text: evcxr puts each statement on a line of its own.
fn part_of_a_line<'a>(statement: &str, cells: &'a [Cell]) -> Option<(&'a Cell, usize)> {
    let statement = statement.trim();
    if statement.len() < 2 {
        return None;
    }
    cells.iter().rev().find_map(|cell| {
        let found = cell.code.lines().enumerate().filter(|(_, text)| text.contains(statement)).last();
        found.map(|(index, _)| (cell, index + 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_agreement_wins_then_the_latest_cell() {
        let cells = [
            Cell::new(Some(1), "fn f() {\n    panic!()\n}"),
            Cell::new(Some(2), "f();\n    panic!()\n"),
            Cell::new(Some(3), "f();"),
        ];
        let source = "#![allow(x)]\nfn f() {\n    panic!()\n}\npub fn run() {\nf();\n}";
        let found = |line| place(source, line, &cells).map(|(cell, line)| (cell.number, line));
        assert_eq!(found(3), Some((Some(1), 2)));
        assert_eq!(found(6), Some((Some(3), 1)));
        assert_eq!(found(1), None);
        let cells = [Cell::new(Some(1), "let v = vec![1];\nlet i = 5; v[i]")];
        assert_eq!(place("let i = 5;\n(\nv[i]\n).show();", 3, &cells).map(|(_, line)| line), Some(2));
        assert_eq!(found(99), None);
        assert_eq!(found(0), None);
    }
}
