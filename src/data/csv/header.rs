//! What the first line of a file is.

use super::cells::Kind;

/// What the first line of a file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// Whatever it looks like.
    ///
    /// It is metadata if it holds two whole numbers and then only words that stand above something else, or above
    /// nothing. It is names if it holds only words and either no names were given, or they are these, or the second
    /// line does not hold only words. Else it is the first example.
    #[default]
    Infer,
    /// The first example.
    None,
    /// The columns' names. Names that were given take their place.
    Names,
    /// The number of rows, the number of features and the names of the classes, as in `120,4,setosa,versicolor`; the
    /// label is the column after the features. The numbers are checked.
    Metadata,
}

impl Header {
    /// What the first line is by the look of it and of the second.
    pub(super) fn resolve(self, first: &[String], second: Option<&[String]>, names: Option<&[String]>) -> Header {
        match self {
            Header::Infer if is_metadata(first, second) => Header::Metadata,
            Header::Infer if is_names(first, second, names) => Header::Names,
            Header::Infer => Header::None,
            given => given,
        }
    }
}

fn is_word(cell: &str) -> bool {
    Kind::of(cell) == Kind::Text
}

fn all_words(cells: &[String]) -> bool {
    cells.iter().all(|cell| is_word(cell))
}

fn is_metadata(first: &[String], second: Option<&[String]>) -> bool {
    first.len() > 2
        && first[..2].iter().all(|cell| cell.trim().parse::<usize>().is_ok())
        && all_words(&first[2..])
        && second.is_none_or(|second| second.len() != first.len() || !all_words(&second[2..]))
}

fn is_names(first: &[String], second: Option<&[String]>, names: Option<&[String]>) -> bool {
    // A table that was saved with its index has no name above it.
    let is_name = |cell: &String| matches!(Kind::of(cell), Kind::Text | Kind::Missing);
    first.iter().all(is_name)
        && first.iter().any(|cell| is_word(cell))
        && (names.is_none_or(|names| names == first) || second.is_some_and(|second| !all_words(second)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn infer(first: &str, second: &str, names: Option<&str>) -> Header {
        let cells = |line: &str| line.split(',').map(str::to_string).collect::<Vec<_>>();
        let second = (!second.is_empty()).then(|| cells(second));
        Header::Infer.resolve(&cells(first), second.as_deref(), names.map(cells).as_deref())
    }

    #[test]
    fn metadata_names_and_examples_are_told_apart() {
        assert_eq!(infer("120,4,setosa,versicolor,virginica", "6.4,2.8,5.6,2.2,2", None), Header::Metadata);
        assert_eq!(infer("2,1,no,yes", "6.4,1", None), Header::Metadata);
        assert_eq!(infer("120,4,setosa", "", None), Header::Metadata);
        assert_eq!(infer("120,4,red", "7,3,blue", None), Header::None);
        assert_eq!(infer("length,width", "1.5,2", None), Header::Names);
        assert_eq!(infer("6.4,2.8,5.6,2.2,2", "5.0,2.3,3.3,1.0,1", None), Header::None);
        assert_eq!(infer("5.1,setosa", "4.9,setosa", None), Header::None);
        assert_eq!(infer(",length", "0,4.9", None), Header::Names);
    }

    #[test]
    fn words_above_words_are_an_example_where_other_names_are_given() {
        assert_eq!(infer("red,round", "blue,square", Some("colour,form")), Header::None);
        assert_eq!(infer("colour,form", "blue,square", Some("colour,form")), Header::Names);
        assert_eq!(infer("red,round", "blue,square", None), Header::Names);
        assert_eq!(infer("a,b", "1,2", Some("x,y")), Header::Names);
    }
}
