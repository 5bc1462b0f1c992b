use super::*;

/// C0 with DEL, and C1: of these U+009B begins a sequence as ESC [ does.
#[test]
fn control_characters_are_escaped_and_nothing_else() {
    let name = "a\u{1b}[31mred\n\tb\u{7f}\u{9b}1m \\ ä…";
    assert_eq!(printable(name), r"a\u{1b}[31mred\n\tb\u{7f}\u{9b}1m \ ä…");
    let lines = "a\u{1b}[31mred\n\tb\r";
    assert_eq!(printable_lines(lines), "a\\u{1b}[31mred\n\tb\\r");
}
