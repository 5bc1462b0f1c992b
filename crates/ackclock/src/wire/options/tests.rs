use super::{Size, device, dscp, size, strategy};

#[test]
fn no_wire_tells_what_it_loses() {
    let registry = ackclock_tcp::Registry::default();
    let refused = strategy("oracle", &registry).unwrap_err().to_string();
    assert!(refused.ends_with("which only a simulated network does"), "{refused}");
    assert_eq!(strategy("sack+lt", &registry).unwrap().name(), "sack+lt");
}

#[test]
fn a_buffer_holds_two_segments() {
    for (text, least) in [("4kb", 4096), ("4096", 4096), ("4mb", 4 << 20)] {
        assert_eq!(size(text), Ok(Size(least)));
    }
    for text in ["0", "1", "4", "4095"] {
        assert_eq!(size(text), Err("it takes at least 4kb; write a size such as 4mb".into()));
    }
}

#[test]
fn devices_have_names_that_the_kernel_takes() {
    for text in ["ackclock%d", "a", "fifteen-bytes--", "%d"] {
        assert_eq!(device(text), Ok(text.into()));
    }
    for (text, why) in [
        ("", "1 to 15 bytes"),
        ("sixteen-bytes---", "1 to 15 bytes"),
        ("ääääääää", "1 to 15 bytes"),
        ("a b", "no space"),
        ("a/b", "no space"),
        ("a:b", "no space"),
        ("..", "no space"),
        ("a%", "in `%d`"),
        ("a%s", "in `%d`"),
        ("%d%d", "in `%d`"),
    ] {
        assert!(device(text).unwrap_err().contains(why), "{text}");
    }
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
