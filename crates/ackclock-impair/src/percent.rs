//! Percent-encoding of paths.

/// The bytes that a text stands for (RFC 3986 section 2.1); `None` if a `%` is not followed by two
/// hexadecimal digits.
#[doc(hidden)]
pub fn percent_decode(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |b: Option<u8>| char::from(b?).to_digit(16).map(|d| d as u8);
    let mut bytes = text.iter().copied();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(b) = bytes.next() {
        decoded.push(if b == b'%' { digit(bytes.next())? << 4 | digit(bytes.next())? } else { b });
    }
    Some(decoded)
}
