//! Captures and packets, byte by byte, for tests.

use std::io::{Cursor, Read};

use ackclock_trace::{Damage, Reader};

/// The order of bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Little,
    Big,
}

/// Fields one after another.
#[derive(Clone, Debug)]
pub struct Bytes {
    pub order: Order,
    pub bytes: Vec<u8>,
}

impl Bytes {
    pub fn new(order: Order) -> Bytes {
        Bytes { order, bytes: Vec::new() }
    }

    pub fn u16(mut self, value: u16) -> Bytes {
        self.bytes.extend(if self.order == Order::Big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
        self
    }

    pub fn u32(mut self, value: u32) -> Bytes {
        self.bytes.extend(if self.order == Order::Big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
        self
    }

    pub fn u64(mut self, value: u64) -> Bytes {
        self.bytes.extend(if self.order == Order::Big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
        self
    }

    pub fn raw(mut self, bytes: &[u8]) -> Bytes {
        self.bytes.extend(bytes);
        self
    }

    /// Zeros up to a multiple of four.
    pub fn pad(mut self) -> Bytes {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self
    }

    /// An option of pcapng.
    pub fn option(self, code: u16, value: &[u8]) -> Bytes {
        self.u16(code).u16(value.len() as u16).raw(value).pad()
    }

    /// A block of pcapng with this body.
    pub fn block(self, kind: u32, body: impl FnOnce(Bytes) -> Bytes) -> Bytes {
        let body = body(Bytes::new(self.order)).pad().bytes;
        let len = body.len() as u32 + 12;
        self.u32(kind).u32(len).raw(&body).u32(len)
    }

    /// A section's header of pcapng, in `order` from here on.
    pub fn section(mut self, order: Order) -> Bytes {
        self.order = order;
        self.block(0x0a0d_0d0a, |b| b.u32(0x1a2b_3c4d).u16(1).u16(0).u64(u64::MAX))
    }

    pub fn interface(self, link: u16, snaplen: u32, options: impl FnOnce(Bytes) -> Bytes) -> Bytes {
        self.block(1, |b| options(b.u16(link).u16(0).u32(snaplen)))
    }

    pub fn enhanced(self, interface: u32, stamp: u64, data: &[u8], wire_len: u32) -> Bytes {
        self.block(6, |b| {
            b.u32(interface)
                .u32((stamp >> 32) as u32)
                .u32(stamp as u32)
                .u32(data.len() as u32)
                .u32(wire_len)
                .raw(data)
        })
    }

    /// The header of a pcap file.
    pub fn pcap(self, magic: u32, snaplen: u32, link: u32) -> Bytes {
        self.u32(magic).u16(2).u16(4).u32(0).u32(0).u32(snaplen).u32(link)
    }

    pub fn record(self, secs: u32, fraction: u32, data: &[u8], wire_len: u32) -> Bytes {
        self.u32(secs).u32(fraction).u32(data.len() as u32).u32(wire_len).raw(data)
    }
}

/// A frame as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub number: u64,
    pub at: u64,
    pub link: u16,
    pub data: Vec<u8>,
    pub wire_len: u32,
}

impl Seen {
    pub fn new(number: u64, at: u64, link: u16, data: &[u8], wire_len: u32) -> Seen {
        Seen { number, at, link, data: data.to_vec(), wire_len }
    }
}

/// All frames, and what damage ended them.
pub fn read_from(
    input: impl Read + Send + 'static,
) -> std::io::Result<(Vec<Seen>, Option<Damage>)> {
    let mut reader = Reader::new(Box::new(input))?;
    let mut frames = Vec::new();
    while let Some(f) = reader.next()? {
        frames.push(Seen::new(f.number, f.at.nanos(), f.link.0, f.data, f.wire_len));
    }
    assert!(reader.next()?.is_none());
    Ok((frames, reader.damage().cloned()))
}

/// All frames, and what damage ended them.
pub fn read(bytes: &[u8]) -> (Vec<Seen>, Option<Damage>) {
    read_from(Cursor::new(bytes.to_vec())).expect("a capture")
}

/// All frames of a file that is whole.
pub fn read_whole(bytes: &[u8]) -> Vec<Seen> {
    let (frames, damage) = read(bytes);
    assert_eq!(damage, None);
    frames
}
