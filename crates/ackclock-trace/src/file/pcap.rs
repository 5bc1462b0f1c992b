//! The older format (draft-ietf-opsawg-pcap): a header, then records.

use ackclock_tcp::Time;

use super::frame::{Halt, LATEST, LinkType, MOST_KEPT, Record};
use super::input::Input;
use super::order::Order;

const HEADER: usize = 24;

/// Times have microseconds.
const MICROS: u32 = 0xa1b2_c3d4;
/// Times have nanoseconds.
const NANOS: u32 = 0xa1b2_3c4d;
/// Written by Alexey Kuznetsov's libpcap on old Linux systems: microseconds, and 8 more bytes in
/// the header of each record.
const MODIFIED: u32 = 0xa1b2_cd34;

/// Before version 2.3, the length on the wire came before the bytes kept; in it, some writers had
/// it so (libpcap's `sf-pcap.c`).
const MIXED: u16 = 3;
const FIRST_IN_ORDER: u16 = 4;

/// Records may be this long whatever the header says, as libpcap has it.
const MAXIMUM_SNAPLEN: u32 = 262_144;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

pub(super) struct Pcap {
    order: Order,
    record_header: usize,
    /// Nanoseconds in the unit of fractions of seconds.
    unit: u64,
    longest: u32,
    link: LinkType,
    /// Of the format's version.
    minor: u16,
}

impl Pcap {
    /// Reads the header of the file, of which four bytes are there; `None` if it is none.
    pub(super) fn begin(input: &mut Input) -> Result<Option<Pcap>, Halt> {
        let known = |order: &Order| {
            matches!(order.u32_at(&input.peek::<4>(), 0), MICROS | NANOS | MODIFIED)
        };
        let Some(order) = [Order::Little, Order::Big].into_iter().find(known) else {
            return Ok(None);
        };
        if !input.need(HEADER)? {
            let n = input.rest().len();
            return Err(input.damage(format!(
                "the header of the file is cut off: {n} of its {HEADER} bytes are there"
            )));
        }
        let header = input.peek::<HEADER>();
        let (major, minor) = (order.u16_at(&header, 4), order.u16_at(&header, 6));
        if major != 2 {
            return Err(input.damage(format!("pcap of version {major}, where 2 is known")));
        }
        input.take(HEADER);
        let magic = order.u32_at(&header, 0);
        Ok(Some(Pcap {
            order,
            record_header: if magic == MODIFIED { 24 } else { 16 },
            unit: if magic == NANOS { 1 } else { 1000 },
            longest: order.u32_at(&header, 16).clamp(MAXIMUM_SNAPLEN, MOST_KEPT),
            // The upper half says whether frames have a check sequence.
            link: LinkType(order.u32_at(&header, 20) as u16),
            minor,
        }))
    }

    /// Reads the next frame into `record`; `false` at the end.
    #[inline(always)]
    pub(super) fn next(&mut self, input: &mut Input, record: &mut Record) -> Result<bool, Halt> {
        if !input.need(self.record_header)? {
            return match input.rest().len() {
                0 => Ok(false),
                n => Err(input.damage(format!(
                    "the header of a record is cut off: {n} of its {} bytes are there",
                    self.record_header
                ))),
            };
        }
        let header = input.peek::<16>();
        let [secs, fraction, mut kept, mut wire_len] =
            [0, 4, 8, 12].map(|at| self.order.u32_at(&header, at));
        if self.minor < FIRST_IN_ORDER && (self.minor < MIXED || kept > wire_len) {
            (kept, wire_len) = (wire_len, kept);
        }
        if kept > self.longest {
            return Err(
                input.damage(format!("a record of {kept} bytes; at most {} can be", self.longest))
            );
        }
        let len = kept as usize;
        if !input.need(self.record_header + len)? {
            let there = input.rest().len() - self.record_header;
            return Err(
                input.damage(format!("a record is cut off: {there} of its {len} bytes are there"))
            );
        }
        let start = input.take(self.record_header + len) + self.record_header;
        // More than a second, which some writers have, counts as such.
        let at = u64::from(secs) * NANOS_PER_SECOND + u64::from(fraction) * self.unit;
        *record = Record {
            at: Time(at.min(LATEST)),
            link: self.link,
            start,
            len,
            wire_len: wire_len.max(kept),
        };
        Ok(true)
    }
}
