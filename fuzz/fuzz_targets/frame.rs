//! Any bytes of any link type are a segment or are ignored; what the snap length cuts off changes
//! nothing but options, and what is padding.
#![no_main]

use ackclock_tcp::Time;
use ackclock_trace::{Fragments, Frame, Ignored, LinkType, Packet, decode, too_big};
use libfuzzer_sys::fuzz_target;

const LINKS: [u16; 16] = [1, 101, 12, 14, 228, 229, 113, 276, 0, 108, 9, 50, 1000, 105, 127, 239];

// Four bytes say the link type, where to cut and how many bytes more were on the wire; the rest is
// the frame.
fuzz_target!(|bytes: &[u8]| {
    let Some((&[link, cut, more, shift], data)) = bytes.split_first_chunk::<4>() else { return };
    let link = LinkType(LINKS[usize::from(link) % LINKS.len()]);
    let wire_len = data.len() as u32 + (u32::from(more) << (shift % 20));
    let frame = |data| Frame { number: 1, at: Time(0), link, data, wire_len };
    let see = |data| decode(&frame(data));
    // The rest in two fragments, as far as they are some.
    let mut fragments = Fragments::default();
    let (first, second) = data.split_at(data.len() / 2);
    for data in [first, second, data] {
        fragments.put(&frame(data));
    }
    // What asks for shorter packets is no segment. Its rest may be in other fragments.
    if too_big(&frame(data)).is_ok() {
        assert!(matches!(see(data), Err(Ignored::TooBig | Ignored::Fragment)));
    }
    let kept = data.len() * usize::from(cut) / 256;
    match (see(&data[..kept]), see(data)) {
        (Err(Ignored::Cut), _) => {}
        // What asks for shorter packets is known by its ICMP header.
        (Err(Ignored::NotTcp), Err(Ignored::TooBig)) => {}
        (Ok(cut), Ok(all)) => {
            let options = if cut.options_cut { cut.options } else { all.options };
            let Packet { options_cut, damaged, .. } = cut;
            // The zeros that fill the shortest frame are known only where they are kept.
            let len = if all.len == 0 && (2..=6).contains(&cut.len) { cut.len } else { all.len };
            assert!(all.damaged || !damaged);
            assert_eq!(cut, Packet { options, options_cut, damaged, len, ..all });
        }
        (cut, all) => assert_eq!(cut, all),
    }
});
