//! What can be wrong with what is to be plotted.

use crate::core::{DType, Exception, Explain, Explanation};

/// What can be wrong with what is to be plotted.
///
/// # Examples
/// ```
/// use tpulab::plot::{PlotError, ShardPicture};
/// let error = ShardPicture::new(100, 8).unwrap_err();
/// assert!(matches!(error.downcast_ref(), Some(PlotError::UnevenSplit { count: 100, among: 8, .. })));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlotError {
    /// `PLOT001`: two lists that belong together differ in length.
    Lengths {
        /// The first list and its length.
        left: (String, usize),
        /// The second list and its length.
        right: (String, usize),
    },
    /// `PLOT002`: a name comes twice.
    DuplicateName {
        /// The name.
        name: String,
    },
    /// `PLOT003`: the steps of a series do not rise.
    StepsGoBack {
        /// The series.
        name: String,
        /// A step.
        from: u64,
        /// The smaller step after it.
        to: u64,
    },
    /// `PLOT004`: none of what a figure shows, or more than can be read in it.
    Count {
        /// What is shown, such as `classes`.
        things: &'static str,
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// `PLOT005`: a column that cannot name classes.
    ClassColumn {
        /// Its dtype.
        dtype: DType,
        /// The shape of one entry.
        shape: Vec<usize>,
    },
    /// `PLOT006`: a class id without a name.
    UnknownClass {
        /// Which list it stands in.
        list: &'static str,
        /// Its place there.
        row: usize,
        /// The id.
        id: i64,
        /// How many names there are.
        classes: usize,
    },
    /// `PLOT007`: rows that cores, or cores that hosts, cannot share evenly.
    UnevenSplit {
        /// What is shared, such as `rows`.
        parts: &'static str,
        /// How many there are.
        count: usize,
        /// Who shares them, such as `cores`.
        owners: &'static str,
        /// How many of those there are.
        among: usize,
    },
}

impl PlotError {
    /// Refuses none of `things`, and more than `most`.
    pub(super) fn check_count(things: &'static str, found: usize, most: usize) -> Result<(), PlotError> {
        if (1..=most).contains(&found) { Ok(()) } else { Err(PlotError::Count { things, found, most }) }
    }

    /// Refuses two lists of different lengths.
    pub(super) fn check_lengths(left: (&str, usize), right: (&str, usize)) -> Result<(), PlotError> {
        let [left, right] = [left, right].map(|(name, length)| (name.to_string(), length));
        if left.1 == right.1 { Ok(()) } else { Err(PlotError::Lengths { left, right }) }
    }

    /// Refuses a name that comes twice.
    pub(super) fn check_names(names: &[String]) -> Result<(), PlotError> {
        let twice = names.iter().enumerate().find(|(index, name)| names[..*index].contains(name));
        twice.map_or(Ok(()), |(_, name)| Err(PlotError::DuplicateName { name: name.clone() }))
    }
}

impl Explain for PlotError {
    fn explain(&self) -> Explanation {
        let error = |code, message: String| Explanation::new(code, Exception::ValueError, message);
        match self {
            PlotError::Lengths { left, right } => {
                error("PLOT001", format!("{} has length {}, {} has length {}", left.0, left.1, right.0, right.1))
                    .help("give both the same length")
            }
            PlotError::DuplicateName { name } => {
                error("PLOT002", format!("`{name}` comes twice")).help("give each a name of its own")
            }
            PlotError::StepsGoBack { name, from, to } => {
                error("PLOT003", format!("series `{name}`: step {to} comes after step {from}"))
                    .help("sort the steps, or give each run a series of its own")
            }
            PlotError::Count { things, found, most } => {
                error("PLOT004", format!("expected 1 to {most} {things}, found {found}")).help(match found {
                    0 => "a figure needs something to show",
                    _ => "show some of them, or draw several figures",
                })
            }
            PlotError::ClassColumn { dtype, shape } => error(
                "PLOT005",
                format!("expected one integer, text or truth value for each example, found {dtype} of shape {shape:?}"),
            )
            .help("give the column of labels"),
            PlotError::UnknownClass { list, row, id, classes } => {
                error("PLOT006", format!("{list}, row {row}: class {id} has no name; there are {classes} names"))
                    .help("number the classes from 0, in the order of their names")
            }
            PlotError::UnevenSplit { parts, count, owners, among } => {
                let message = format!("{count} {parts} cannot be split over {among} {owners}");
                let help = match (count.checked_div(*among), among) {
                    (None, _) => format!("use 1 or more {owners}"),
                    (Some(0), among) => format!("use a multiple of {among}, such as {among}"),
                    (Some(share), among) => {
                        let (below, above) = (share * among, share.saturating_add(1).saturating_mul(*among));
                        format!("use a multiple of {among}, such as {below} or {above}")
                    }
                };
                error("PLOT007", message).help(help)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::Error;

    fn text(error: PlotError) -> String {
        let error = Error::from(error);
        assert_eq!(error.exception(), Exception::ValueError);
        error.to_string()
    }

    #[test]
    fn every_error_says_what_was_found_and_what_to_do() {
        let (left, right) = (("steps".to_string(), 2), ("values".to_string(), 3));
        assert_eq!(
            text(PlotError::Lengths { left, right }),
            "PLOT001: steps has length 2, values has length 3; give both the same length"
        );
        assert_eq!(
            text(PlotError::DuplicateName { name: "cpu".to_string() }),
            "PLOT002: `cpu` comes twice; give each a name of its own"
        );
        assert_eq!(
            text(PlotError::StepsGoBack { name: "cpu".to_string(), from: 9, to: 1 }),
            "PLOT003: series `cpu`: step 1 comes after step 9; sort the steps, or give each run a series of its own"
        );
        let count = |found| text(PlotError::Count { things: "classes", found, most: 7 });
        assert_eq!(count(0), "PLOT004: expected 1 to 7 classes, found 0; a figure needs something to show");
        assert_eq!(count(8), "PLOT004: expected 1 to 7 classes, found 8; show some of them, or draw several figures");
        assert_eq!(
            text(PlotError::ClassColumn { dtype: DType::Float32, shape: vec![] }),
            "PLOT005: expected one integer, text or truth value for each example, found float32 of shape []; \
             give the column of labels"
        );
        assert_eq!(
            text(PlotError::UnknownClass { list: "predicted", row: 4, id: -1, classes: 3 }),
            "PLOT006: predicted, row 4: class -1 has no name; there are 3 names; \
             number the classes from 0, in the order of their names"
        );
    }

    #[test]
    fn an_uneven_split_names_the_nearest_even_ones() {
        let split = |count, among| text(PlotError::UnevenSplit { parts: "rows", count, owners: "cores", among });
        assert_eq!(
            split(100, 8),
            "PLOT007: 100 rows cannot be split over 8 cores; use a multiple of 8, such as 96 or 104"
        );
        assert_eq!(split(3, 8), "PLOT007: 3 rows cannot be split over 8 cores; use a multiple of 8, such as 8");
        assert_eq!(split(8, 0), "PLOT007: 8 rows cannot be split over 0 cores; use 1 or more cores");
    }
}
