use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::*;

#[test]
fn a_place_that_others_may_wait_for_is_announced() {
    let bells = [(); 2].map(|()| Bell::new().unwrap());
    let room = Room::new(2, bells.to_vec());
    let rings = || {
        let mut both = bells.each_ref().map(|bell| PollFd::new(bell, PollFlags::IN));
        poll(&mut both, Some(&Timespec::default())).unwrap()
    };
    assert_eq!([(); 3].map(|()| room.take()), [true, true, false]);
    assert_eq!((rings(), room.has(1)), (0, false));
    room.give_back();
    assert_eq!((rings(), room.has(1), room.has(2)), (2, true, false));
    bells.iter().for_each(Bell::silence);
    // Nobody was turned away since.
    room.give_back();
    assert_eq!((rings(), room.take(), room.take(), room.take()), (0, true, true, false));
}
