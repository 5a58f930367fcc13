//! Positions in a cell's text: the protocol counts characters, Rust counts bytes.

/// The bytes before the character at `position`; the end, if the text is shorter.
pub fn bytes_before(text: &str, position: usize) -> usize {
    text.char_indices().nth(position).map_or(text.len(), |(at, _)| at)
}

/// The characters before the byte at `position`.
pub fn characters_before(text: &str, position: usize) -> usize {
    text.char_indices().take_while(|(at, _)| *at < position).count()
}

/// The name that the byte `position` lies in or behind.
pub fn name_at(text: &str, position: usize) -> Option<&str> {
    let part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let start = text[..position]
        .rfind(|letter| !part(letter))
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    let end = text[position..].find(|letter| !part(letter)).map_or(text.len(), |at| position + at);
    Some(&text[start..end]).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_characters_outside_and_bytes_inside() {
        let text = "let ção = \"🦀\".len";
        assert_eq!(bytes_before(text, 5), 6);
        assert_eq!(bytes_before(text, 99), text.len());
        assert_eq!(characters_before(text, 6), 5);
        assert_eq!(characters_before(text, text.len()), text.chars().count());
        assert_eq!(name_at(text, 4), Some("ção"));
        assert_eq!(name_at(text, 9), Some("ção"));
        assert_eq!(name_at(text, text.len()), Some("len"));
        assert_eq!(name_at("a → b", 5), None);
        assert_eq!(name_at("", 0), None);
    }
}
