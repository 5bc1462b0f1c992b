use super::{dscp, strategy};

#[test]
fn no_wire_tells_what_it_loses() {
    let registry = ackclock_tcp::Registry::default();
    let refused = strategy("oracle", &registry).unwrap_err().to_string();
    assert!(refused.ends_with("which only a simulated network does"), "{refused}");
    assert_eq!(strategy("sack+lt", &registry).unwrap().name(), "sack+lt");
}

#[test]
fn codepoints_have_numbers_and_names() {
    let of = [("0", 0), ("63", 63), ("le", 1), ("cs6", 48), ("af11", 10), ("af43", 38), ("ef", 46)];
    for (text, codepoint) in of {
        assert_eq!(dscp(text), Ok(codepoint), "{text}");
    }
    for text in ["64", "-1", "cs8", "af14", "af51", "af", "EF", ""] {
        assert!(dscp(text).unwrap_err().contains("number below 64"), "{text}");
    }
}
