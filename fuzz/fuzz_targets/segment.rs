//! Any bytes are a TCP segment or are refused; what a header means survives being written and read
//! again.
#![no_main]

use ackclock_tcp::wire::{EmitError, MAX_HEADER_LEN, Packet, PseudoHeader, Repr};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let pseudo = PseudoHeader::V4 { src: [192, 0, 2, 1].into(), dst: [198, 51, 100, 2].into() };
    let Ok(packet) = Packet::parse(bytes) else { return };
    packet.checksum_ok(&pseudo);
    let (repr, _) = Repr::parse(&packet);
    let payload = packet.payload();

    let mut again = vec![0xaa; repr.header_len()];
    again.extend_from_slice(payload);
    match repr.emit(&pseudo, &mut again) {
        // Options packed without padding may need more room than a header has once they are
        // aligned.
        Err(error) => {
            assert!(error == EmitError::OptionsTooLong && repr.header_len() > MAX_HEADER_LEN)
        }
        Ok(()) => {
            let packet = Packet::parse(&again).expect("what was written is a segment");
            assert_eq!(Repr::parse(&packet), (repr, None));
            assert_eq!(packet.payload(), payload);
            assert!(packet.checksum_ok(&pseudo));
        }
    }

    let segment = repr.segment(payload.len() as u32);
    assert_eq!(Repr::from_segment(&segment).segment(segment.len), segment);
});
