//! Frames of 802.11, as captures in monitor mode have them.

use super::bytes::{Bytes, Ignored, Wrapper};
use super::link;

/// Bits of the second byte of frame control (IEEE 802.11 section 9.2.4.1).
const TO_AND_FROM_DS: u8 = 0x03;
const MORE_FRAGMENTS: u8 = 0x04;
const PROTECTED: u8 = 0x40;
const HT_CONTROL: u8 = 0x80;

/// Bits of radiotap's flags.
const PADDED: u8 = 0x20;
const DAMAGED: u8 = 0x40;

/// Behind a radiotap header (<https://www.radiotap.org>).
pub(super) fn radiotap(frame: Bytes<'_>) -> Result<Bytes<'_>, Ignored> {
    let &[_, _, low, high] = frame.head()?;
    let len = usize::from(u16::from_le_bytes([low, high]));
    // The flags come after the words that say which fields there are, and after a time of eight
    // bytes if there is one.
    let mut at = 4;
    let mut present = [0; 4];
    let mut last = false;
    while !last {
        let word = *frame.after(at)?.head::<4>()?;
        present = if at == 4 { word } else { present };
        last = word[3] & 0x80 == 0;
        at += 4;
        if at > len {
            return Err(Ignored::Malformed);
        }
    }
    if present[0] & 1 != 0 {
        at = at.next_multiple_of(8) + 8;
    }
    let flags = match present[0] & 2 {
        2 if at < len => frame.after(at)?.head::<1>()?[0],
        _ => 0,
    };
    // What the check sequence says is damaged would be a packet of nobody.
    if flags & DAMAGED != 0 {
        return Err(Ignored::Malformed);
    }
    data(frame.after(len)?, flags & PADDED != 0)
}

/// Without anything before it.
pub(super) fn bare(frame: Bytes<'_>) -> Result<Bytes<'_>, Ignored> {
    data(frame, false)
}

/// A data frame (IEEE 802.11 section 9.3.2); `padded` if its header is filled up to a multiple of
/// four bytes.
fn data(frame: Bytes<'_>, padded: bool) -> Result<Bytes<'_>, Ignored> {
    let &[kind, flags] = frame.head()?;
    // Version 0, type 2, and a subtype with data.
    if kind & 0x4f != 0x08 {
        return Err(Ignored::NotIp);
    }
    if flags & PROTECTED != 0 {
        return Err(Ignored::Wrapped(Wrapper::Wlan));
    }
    let fragment = frame.head::<23>()?[22] & 0x0f;
    if flags & MORE_FRAGMENTS != 0 || fragment != 0 {
        return Err(Ignored::Fragment);
    }
    let mut len = 24;
    if flags & TO_AND_FROM_DS == TO_AND_FROM_DS {
        len += 6;
    }
    if kind & 0x80 != 0 {
        if frame.after(len)?.head::<1>()?[0] & 0x80 != 0 {
            return Err(Ignored::Wrapped(Wrapper::Amsdu));
        }
        len += if flags & HT_CONTROL == 0 { 2 } else { 6 };
    }
    let payload = frame.after(if padded { usize::next_multiple_of(len, 4) } else { len })?;
    let (ethertype, len) = link::llc(payload)?.ok_or(Ignored::NotIp)?;
    link::by_ethertype(ethertype.to_be_bytes(), payload.after(len)?)
}
