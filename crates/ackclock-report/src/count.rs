//! Numbers of things in words.

/// `1 packet`, `2 packets`: so many of something, whose plural has an `s`.
pub fn counted(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    #[test]
    fn one_is_no_plural() {
        let shown = [0, 1, 2, 11].map(|n| super::counted(n, "packet"));
        assert_eq!(shown, ["0 packets", "1 packet", "2 packets", "11 packets"]);
    }
}
