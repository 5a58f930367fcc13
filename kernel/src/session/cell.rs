/// What a learner ran.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its execution count; none if it ran silently.
    pub number: Option<usize>,
    /// Its text.
    pub code: String,
    /// Whether it did what it should.
    pub good: bool,
}

impl Cell {
    /// A cell that has not run yet.
    pub fn new(number: Option<usize>, code: impl Into<String>) -> Self {
        Cell { number, code: code.into(), good: false }
    }

    /// Whether it holds nothing but commands that change nothing, such as `:vars`.
    pub fn only_asks(&self) -> bool {
        let mut lines = self.code.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.all(|line| line.starts_with(':') && !line.starts_with(":dep") && !line.starts_with(":opt"))
    }

    /// How errors name it.
    pub fn name(&self) -> String {
        self.number.map_or("this cell".to_owned(), |number| format!("cell [{number}]"))
    }
}
