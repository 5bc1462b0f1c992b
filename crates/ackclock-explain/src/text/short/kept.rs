//! For how long a connection was only kept open.

use ackclock_tcp::Span;
use ackclock_trace::Limit;

use super::part;
use crate::explained::{End, Found};

/// What [`closed_by`] says first, if that was longer than anything limited it.
pub(super) fn kept_open(found: &Found, main: Limit) -> Option<(String, Span)> {
    let [first, _] = closed_by(found, found.lifetime().whole());
    Some(first).filter(|(_, span)| *span > found.limited_for(main))
}

/// The other end did not close it after this one had, and nobody closed it after the last data: for
/// how long, the longer first, of `whole`.
pub(super) fn closed_by(found: &Found, whole: Span) -> [(String, Span); 2] {
    let (closed, late, from) = (found.lifetime().closed(), found.closed_late(), found.sender());
    let [from, other] = [from, from.other()].map(End::name);
    let for_closed = part(found, closed, whole);
    let by_other =
        format!("the {other} kept the connection open {for_closed} after the {from} had closed it");
    let late_for = part(found, late, whole);
    let by_both = format!("nothing more was sent {late_for} before the connection was closed");
    let [by_other, by_both] = [(by_other, closed), (by_both, late)];
    if closed >= late { [by_other, by_both] } else { [by_both, by_other] }
}
