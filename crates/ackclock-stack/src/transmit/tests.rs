use ackclock_tcp::{Cause, Sending, Seq, Timestamps};

use super::*;

#[test]
fn what_a_device_cuts_apart_again() {
    let header = Repr {
        seq: Seq(u32::MAX - 10),
        ack: Seq(5),
        wnd: 9,
        control: Control::ACK,
        ..Repr::default()
    };
    let first = Segment {
        header,
        position: 70,
        len: 100,
        sent: Some(Sending { cause: Cause::New, transmission: 1 }),
    };
    let next = Segment { header: Repr { seq: Seq(189), ..header }, position: 270, ..first };
    let changed = |change: fn(&mut Segment)| {
        let mut next = next;
        change(&mut next);
        follows(&first, 200, &next)
    };
    assert!(changed(|_| {}));
    assert!(changed(|next| next.len = 1));
    assert!(changed(
        |next| next.header.control = Control::ACK.with(Control::PSH).with(Control::FIN)
    ));
    assert!(!changed(|next| next.header.control = Control::ACK.with(Control::URG)));
    assert!(!changed(|next| next.len = 101));
    assert!(!changed(|next| next.len = 0));
    assert!(!changed(|next| next.position += 1));
    assert!(!changed(|next| next.header.seq = Seq(190)));
    // It leaves now, and says what there is to say now.
    assert!(changed(|next| next.header.ack = Seq(6)));
    assert!(changed(|next| next.header.wnd = 10));
    assert!(!changed(|next| next.header.options.timestamps = Some(Timestamps::default())));
    assert!(!changed(|next| next.sent = Some(Sending { cause: Cause::New, transmission: 2 })));
    assert!(!changed(
        |next| next.sent = Some(Sending { cause: Cause::TailLossProbe, transmission: 1 })
    ));
}
