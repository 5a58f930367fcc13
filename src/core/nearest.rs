//! Finding the name that was probably meant.

/// The known name that is most like `name`, if one is near enough to be worth naming.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    let ranked = known.into_iter().map(|candidate| (distance(name, candidate), candidate));
    ranked.filter(|(distance, _)| *distance <= limit).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// The number of letters to insert, delete or replace; 1 where one name is part of the other.
fn distance(left: &str, right: &str) -> usize {
    let (left, right) = (left.to_lowercase(), right.to_lowercase());
    let shorter = left.chars().count().min(right.chars().count());
    if shorter >= 3 && (left.contains(&right) || right.contains(&left)) {
        return 1;
    }
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, letter) in left.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, other) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_pen_finds_its_name_and_a_stranger_finds_none() {
        let known = ["batch_size", "train_steps", "use_tpu"];
        assert_eq!(nearest("batchsize", known), Some("batch_size"));
        assert_eq!(nearest("batch", known), Some("batch_size"));
        assert_eq!(nearest("use-tpu", known), Some("use_tpu"));
        assert_eq!(nearest("learning_rate", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest("x", []), None);
    }
}
