//! pcapng (draft-ietf-opsawg-pcapng): sections of blocks. Each section has its own order of bytes
//! and its own interfaces, each interface its own link type and clock.

use ackclock_tcp::Time;

use super::block::{
    ENHANCED_PACKET, INTERFACE_DESCRIPTION, INTERFACE_STATISTICS, PACKET, SECTION_HEADER,
    SIMPLE_PACKET,
};
use super::frame::{Damage, Halt, LATEST, LinkType, MOST_KEPT, Record};
use super::input::Input;
use super::order::Order;

/// The type of a section header block, the same in both orders.
pub(super) const MAGIC: [u8; 4] = SECTION_HEADER.to_be_bytes();

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;

/// Options of an interface description.
const IF_TSRESOL: u16 = 9;
const IF_TSOFFSET: u16 = 14;
/// Options of interface statistics.
const ISB_IFDROP: u16 = 5;
const ISB_OSDROP: u16 = 7;

/// Type and length before a block's body.
pub(super) const HEAD: usize = 8;
/// The length once more after it.
pub(super) const TAIL: usize = 4;
const MOST_INTERFACES: usize = 65_536;

pub(super) struct PcapNg {
    order: Order,
    interfaces: Vec<Interface>,
    /// Packets dropped in sections before this one.
    dropped: u64,
}

/// What the blocks with packets have in common.
struct Fields {
    /// Bytes of the body before the packet's.
    fixed: usize,
    interface: u32,
    /// In the interface's unit.
    time: Option<u64>,
    kept: u32,
    wire_len: u32,
}

struct Interface {
    link: LinkType,
    snaplen: u32,
    unit: Unit,
    /// Nanoseconds to be added to times.
    offset: i128,
    /// Packets dropped by the interface and by the operating system, as its last statistics have
    /// it.
    dropped: [u64; 2],
}

/// The unit of timestamps.
#[derive(Clone, Copy)]
enum Unit {
    /// So many nanoseconds.
    Nanos(u64),
    /// So many to the nanosecond.
    PerNano(u128),
    /// 2 to the power of so many to the second.
    Binary(u8),
}

impl PcapNg {
    /// Reads the header of the first section.
    pub(super) fn begin(input: &mut Input) -> Result<PcapNg, Halt> {
        let mut pcapng = PcapNg { order: Order::Little, interfaces: Vec::new(), dropped: 0 };
        if !input.need(HEAD)? {
            return Err(cut(input, 28));
        }
        pcapng.section(input)?;
        Ok(pcapng)
    }

    pub(super) fn dropped(&self) -> u64 {
        self.interfaces
            .iter()
            .flat_map(|interface| interface.dropped)
            .fold(self.dropped, u64::saturating_add)
    }

    /// Reads the next frame into `record`, whose time stays if the file has none; `false`
    /// at the end.
    #[inline]
    pub(super) fn next(&mut self, input: &mut Input, record: &mut Record) -> Result<bool, Halt> {
        loop {
            if !input.need(HEAD)? {
                return match input.rest().len() {
                    0 => Ok(false),
                    n => Err(input.damage(format!(
                        "the header of a block is cut off: {n} of its {HEAD} bytes are there"
                    ))),
                };
            }
            let head = input.peek::<HEAD>();
            let (kind, len) = (self.order.u32_at(&head, 0), self.order.u32_at(&head, 4));
            match kind {
                ENHANCED_PACKET => return self.enhanced(input, len, record).map(|()| true),
                SECTION_HEADER => self.section(input)?,
                PACKET => return self.obsolete(input, len, record).map(|()| true),
                SIMPLE_PACKET => return self.simple(input, len, record).map(|()| true),
                INTERFACE_DESCRIPTION => self.interface(input, len)?,
                INTERFACE_STATISTICS => self.statistics(input, len)?,
                _ => self.pass(input, len, HEAD + TAIL)?,
            }
        }
    }

    /// Reads a section's header and goes on to its first block.
    fn section(&mut self, input: &mut Input) -> Result<(), Halt> {
        let (order, len) = section(input)?;
        self.dropped = self.dropped();
        self.order = order;
        self.interfaces.clear();
        self.pass(input, len, 28)
    }

    fn interface(&mut self, input: &mut Input, len: u32) -> Result<(), Halt> {
        let body = self.body(input, len, 8)?;
        let mut interface = Interface {
            link: LinkType(self.order.u16_at(body, 0)),
            snaplen: self.order.u32_at(body, 4),
            unit: Unit::Nanos(1000),
            offset: 0,
            dropped: [0; 2],
        };
        let whole = options(self.order, &body[8..], |code, value| match (code, value) {
            (IF_TSRESOL, &[resolution, ..]) => interface.unit = Unit::new(resolution),
            (IF_TSOFFSET, value) if value.len() >= 8 => {
                interface.offset = i128::from(self.order.first_u64(value) as i64) * 1_000_000_000;
            }
            _ => {}
        });
        if !whole {
            return Err(
                input.damage("an option of an interface description goes beyond the block".into())
            );
        }
        if self.interfaces.len() == MOST_INTERFACES {
            return Err(
                input.damage(format!("more than {MOST_INTERFACES} interfaces in a section"))
            );
        }
        self.interfaces.push(interface);
        input.take(len as usize);
        Ok(())
    }

    fn statistics(&mut self, input: &mut Input, len: u32) -> Result<(), Halt> {
        let body = self.body(input, len, 12)?;
        let id = self.order.u32_at(body, 0);
        let mut counts = [None; 2];
        options(self.order, &body[12..], |code, value| match code {
            ISB_IFDROP if value.len() >= 8 => counts[0] = Some(self.order.first_u64(value)),
            ISB_OSDROP if value.len() >= 8 => counts[1] = Some(self.order.first_u64(value)),
            _ => {}
        });
        if let Some(interface) = self.interfaces.get_mut(id as usize) {
            for (dropped, count) in interface.dropped.iter_mut().zip(counts) {
                *dropped = count.unwrap_or(*dropped);
            }
        }
        input.take(len as usize);
        Ok(())
    }

    #[inline]
    fn enhanced(&mut self, input: &mut Input, len: u32, record: &mut Record) -> Result<(), Halt> {
        let body = self.body(input, len, 20)?;
        let Some(head) = body.first_chunk::<20>() else { return Err(cut(input, len)) };
        let [id, high, low, kept, wire_len] =
            [0, 4, 8, 12, 16].map(|at| self.order.u32_at(head, at));
        let time = Some(u64::from(high) << 32 | u64::from(low));
        self.record(input, len, &Fields { fixed: 20, interface: id, time, kept, wire_len }, record)
    }

    fn obsolete(&mut self, input: &mut Input, len: u32, record: &mut Record) -> Result<(), Halt> {
        let body = self.body(input, len, 20)?;
        // The other half of the first word is a count of dropped packets.
        let id = u32::from(self.order.u16_at(body, 0));
        let [high, low, kept, wire_len] = [4, 8, 12, 16].map(|at| self.order.u32_at(body, at));
        let time = Some(u64::from(high) << 32 | u64::from(low));
        self.record(input, len, &Fields { fixed: 20, interface: id, time, kept, wire_len }, record)
    }

    fn simple(&mut self, input: &mut Input, len: u32, record: &mut Record) -> Result<(), Halt> {
        let body = self.body(input, len, 4)?;
        let wire_len = self.order.u32_at(body, 0);
        // It belongs to the first interface. How many bytes were kept is said by its snap length
        // alone, 0 being none.
        let snaplen = match self.interfaces.first().map(|interface| interface.snaplen) {
            None | Some(0) => u32::MAX,
            Some(snaplen) => snaplen,
        };
        let room = len - (HEAD + 4 + TAIL) as u32;
        let kept = wire_len.min(snaplen).min(room);
        self.record(
            input,
            len,
            &Fields { fixed: 4, interface: 0, time: None, kept, wire_len },
            record,
        )
    }

    /// The frame in a block of `len` bytes, which is in the buffer.
    #[inline]
    fn record(
        &self,
        input: &mut Input,
        len: u32,
        fields: &Fields,
        record: &mut Record,
    ) -> Result<(), Halt> {
        let &Fields { fixed, interface, time, kept, wire_len } = fields;
        let Some(described) = self.interfaces.get(interface as usize) else {
            return Err(self.no_interface(input, interface));
        };
        let room = len as usize - HEAD - TAIL - fixed;
        if kept as usize > room {
            return Err(input.damage(format!(
                "a block says that {kept} bytes of a packet were kept, and has room for {room}"
            )));
        }
        let at = time.map_or(record.at, |stamp| described.time(stamp));
        let start = input.take(len as usize) + HEAD + fixed;
        *record = Record {
            at,
            link: described.link,
            start,
            len: kept as usize,
            wire_len: wire_len.max(kept),
        };
        Ok(())
    }

    /// The body of a block of `len` bytes that is needed whole and has at least `least` bytes.
    #[inline]
    fn body<'a>(&self, input: &'a mut Input, len: u32, least: usize) -> Result<&'a [u8], Halt> {
        body(self.order, input, len, least, MOST_KEPT)
    }

    /// Goes on to the end of a block of which nothing is needed beyond its first `fixed` bytes.
    fn pass(&self, input: &mut Input, len: u32, fixed: usize) -> Result<(), Halt> {
        if (len as usize) < fixed || !len.is_multiple_of(4) {
            return Err(bad_length(input, len, fixed));
        }
        let begin = input.offset();
        let at_begin = |halt| match halt {
            Halt::Damage(damage) => Halt::Damage(Damage { offset: begin, ..damage }),
            halt => halt,
        };
        if !input.skip(u64::from(len) - TAIL as u64)? || !input.need(TAIL)? {
            let there = input.offset() + input.rest().len() as u64 - begin;
            return Err(at_begin(
                input.damage(format!("a block is cut off: {there} of its {len} bytes are there")),
            ));
        }
        let again = self.order.u32_at(&input.peek::<TAIL>(), 0);
        if again != len {
            return Err(at_begin(differs(input, len, again)));
        }
        input.take(TAIL);
        Ok(())
    }

    fn no_interface(&self, input: &Input, id: u32) -> Halt {
        input.damage(format!(
            "a block of interface {id}, where the section has described {} so far",
            self.interfaces.len()
        ))
    }
}

impl Interface {
    #[inline]
    fn time(&self, stamp: u64) -> Time {
        match self.unit {
            Unit::Nanos(nanos) if self.offset == 0 => Time(stamp.saturating_mul(nanos).min(LATEST)),
            unit => {
                let stamp = u128::from(stamp);
                let nanos = match unit {
                    Unit::Nanos(nanos) => stamp * u128::from(nanos),
                    Unit::PerNano(n) => stamp / n,
                    Unit::Binary(bits) => (stamp * 1_000_000_000) >> bits,
                };
                Time((nanos as i128 + self.offset).clamp(0, i128::from(LATEST)) as u64)
            }
        }
    }
}

impl Unit {
    /// What if_tsresol means: a negative power of 10 or, with the highest bit, of 2.
    fn new(resolution: u8) -> Unit {
        match resolution {
            0..=9 => Unit::Nanos(10_u64.pow(9 - u32::from(resolution))),
            // 10^38 is more than any timestamp has.
            10..=127 => Unit::PerNano(10_u128.pow(u32::from(resolution - 9).min(38))),
            128.. => Unit::Binary(resolution - 128),
        }
    }
}

/// The order of bytes and the length of the section whose header is next.
pub(super) fn section(input: &mut Input) -> Result<(Order, u32), Halt> {
    if !input.need(28)? {
        return Err(cut(input, 28));
    }
    let header = input.peek::<28>();
    let known = |order: &Order| order.u32_at(&header, 8) == BYTE_ORDER_MAGIC;
    let Some(order) = [Order::Little, Order::Big].into_iter().find(known) else {
        let what = "a section whose byte order is unknown: neither 1a 2b 3c 4d nor 4d 3c 2b 1a \
            at its byte 8";
        return Err(input.damage(what.into()));
    };
    let (len, major) = (order.u32_at(&header, 4), order.u16_at(&header, 12));
    if major != 1 {
        return Err(input.damage(format!("a section of pcapng version {major}, where 1 is known")));
    }
    Ok((order, len))
}

/// The body of a block of `len` bytes, of which there are at most `most`, that is needed whole and
/// has at least `least` bytes. Later positions in the block are then inside the buffer.
#[inline]
pub(super) fn body(
    order: Order,
    input: &mut Input,
    len: u32,
    least: usize,
    most: u32,
) -> Result<&[u8], Halt> {
    if (len as usize) < HEAD + least + TAIL || !len.is_multiple_of(4) || len > most {
        return Err(bad_length(input, len, HEAD + least + TAIL));
    }
    if !input.need(len as usize)? {
        return Err(cut(input, len));
    }
    let block = &input.rest()[..len as usize];
    let again = order.u32_at(block, block.len() - TAIL);
    if again != len {
        return Err(differs(input, len, again));
    }
    Ok(&input.rest()[HEAD..len as usize - TAIL])
}

/// Hands each option's code and value to `each`; `false` if one goes beyond the end.
fn options(order: Order, mut bytes: &[u8], mut each: impl FnMut(u16, &[u8])) -> bool {
    while bytes.len() >= 4 {
        let (code, len) = (order.u16_at(bytes, 0), usize::from(order.u16_at(bytes, 2)));
        if code == 0 {
            return true;
        }
        let Some(value) = bytes[4..].get(..len) else { return false };
        each(code, value);
        bytes = bytes.get(4 + len.next_multiple_of(4)..).unwrap_or(&[]);
    }
    true
}

#[cold]
fn cut(input: &Input, len: u32) -> Halt {
    input.damage(format!("a block is cut off: {} of its {len} bytes are there", input.rest().len()))
}

#[cold]
fn bad_length(input: &Input, len: u32, least: usize) -> Halt {
    input.damage(format!(
        "a block of {len} bytes; a multiple of 4 is right, at least {least}, and at most \
         {MOST_KEPT} with a packet"
    ))
}

#[cold]
fn differs(input: &Input, len: u32, again: u32) -> Halt {
    input.damage(format!(
        "a block says at its begin that it has {len} bytes, and at its end that it has {again}"
    ))
}
