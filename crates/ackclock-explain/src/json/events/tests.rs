use ackclock_tcp::Time;
use ackclock_trace::StallCause;

use super::*;
use crate::fixture;

#[test]
fn a_stall_that_the_capture_cuts_off_has_no_frame() {
    let (start, end, cause) = (Time::ZERO, Time(1), StallCause::Unknown);
    let frame = |frame| {
        let stall = Stall { frame, ..fixture::stall(start, end, cause) };
        StallJson::of(End::Client, &stall).frame
    };
    assert_eq!([frame(0), frame(9)], [None, Some(9)]);
}
