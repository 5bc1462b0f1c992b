//! The blocks of pcapng (draft-ietf-opsawg-pcapng section 4): their types, and their bytes for a
//! copy.

use std::io::{self, Read};

use super::frame::{Damage, Halt};
use super::input::Input;
use super::order::Order;
use super::pcapng::{self, HEAD, TAIL};

/// No block that is copied is longer: a damaged file may say anything.
const LONGEST: u32 = 32 << 20;

/// A section header: the same in both orders of bytes.
pub const SECTION_HEADER: u32 = 0x0a0d_0d0a;
/// Link type and clock of an interface.
pub const INTERFACE_DESCRIPTION: u32 = 1;
/// A packet. Obsolete; written by old versions of Wireshark.
pub const PACKET: u32 = 2;
/// A packet without time and options.
pub const SIMPLE_PACKET: u32 = 3;
/// What an interface has counted.
pub const INTERFACE_STATISTICS: u32 = 5;
/// A packet.
pub const ENHANCED_PACKET: u32 = 6;

/// The blocks of a pcapng file, plain or compressed, as [`Reader`](super::Reader) goes through
/// them. They end before the first one that is not whole, that makes no sense, or that is longer
/// than 32 MiB ([`Blocks::too_long`]).
pub struct Blocks {
    input: Input,
    order: Order,
    too_long: Option<Damage>,
}

/// A block.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// Its type.
    pub kind: u32,
    /// The order of bytes of its section.
    pub order: Order,
    /// What is between its two lengths.
    pub body: &'a [u8],
}

impl Blocks {
    /// Begins with the first bytes of `input`; `None` if this is no pcapng file.
    ///
    /// # Errors
    /// What reading returns.
    pub fn new(input: Box<dyn Read + Send>) -> io::Result<Option<Blocks>> {
        let mut input = Input::new(input)?;
        let known = or_end(input.need(pcapng::MAGIC.len()))?.unwrap_or(false);
        let is_pcapng = known && input.peek() == pcapng::MAGIC;
        Ok(is_pcapng.then_some(Blocks { input, order: Order::Little, too_long: None }))
    }

    /// The next block; `None` at the end.
    ///
    /// # Errors
    /// What reading returns.
    #[expect(
        clippy::should_implement_trait,
        reason = "a block borrows the reader, so that nothing is copied"
    )]
    pub fn next(&mut self) -> io::Result<Option<Block<'_>>> {
        let Some(Some((kind, len))) = or_end(self.whole())? else { return Ok(None) };
        let start = self.input.take(len) + HEAD;
        let body = self.input.kept(start, len - HEAD - TAIL);
        Ok(Some(Block { kind, order: self.order, body }))
    }

    /// The block that is too long, before which the blocks have ended: its first byte in the file,
    /// uncompressed, and its length. The reader passes over it, unless it has a packet or is cut
    /// off.
    pub fn too_long(&self) -> Option<&Damage> {
        self.too_long.as_ref()
    }

    /// Type and length of the next block, which is then in the buffer; `None` at the end.
    fn whole(&mut self) -> Result<Option<(u32, usize)>, Halt> {
        let Blocks { input, order, too_long } = self;
        if !input.need(HEAD)? {
            return Ok(None);
        }
        if input.peek() == pcapng::MAGIC {
            (*order, _) = pcapng::section(input)?;
        }
        let head = input.peek::<HEAD>();
        let (kind, len) = (order.u32_at(&head, 0), order.u32_at(&head, 4));
        if len > LONGEST && len.is_multiple_of(4) {
            let what = format!("a block of {len} bytes; at most {LONGEST} are copied");
            *too_long = Some(Damage { offset: input.offset(), what });
            return Ok(None);
        }
        pcapng::body(*order, input, len, 0, LONGEST)?;
        Ok(Some((kind, len as usize)))
    }
}

/// `None` where what is read makes no sense.
fn or_end<T>(read: Result<T, Halt>) -> io::Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(Halt::Damage(_)) => Ok(None),
        Err(Halt::Io(error)) => Err(error),
    }
}
