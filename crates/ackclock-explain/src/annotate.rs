//! A copy of a capture in which each retransmission says in a comment what it is, so that Wireshark
//! shows it.
//!
//! Of a pcapng file all blocks and comments are kept as they are; a pcap file becomes pcapng. Field
//! names are those of draft-ietf-opsawg-pcapng.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use ackclock_report::FrameWriter;
use ackclock_run::{FileIdentity, WholeFile};
use ackclock_trace::file::Order;
use ackclock_trace::file::block::{Blocks, ENHANCED_PACKET, PACKET, SECTION_HEADER, SIMPLE_PACKET};
use ackclock_trace::{Damage, Reader};

use crate::error::Error;
use crate::explained::Explained;
use crate::source::Source;
use crate::text::{retransmission, stall};

/// The code of opt_comment (section 3.5).
const COMMENT: u16 = 1;

/// What each frame is to say.
type Comments = BTreeMap<u64, Vec<String>>;

/// Copies the one capture of `sources`, which `explained` is about, to `path` as pcapng with
/// comments: on each retransmission what it is, and on the packet that ends a stall why there was
/// one. A damaged capture is copied up to the damage. A simple packet block has no room for a
/// comment and stays without.
///
/// # Errors
/// As [`annotatable`]; [`Error::Read`], also for a block longer than 32 MiB that was passed over
/// when the capture was explained; [`Error::Write`].
pub fn annotate(explained: &Explained, sources: &[Source], path: &Path) -> Result<(), Error> {
    let from = annotatable(sources, path)?;
    let open = || File::open(from).map(Box::new).map_err(Error::read(from));
    let blocks = Blocks::new(open()?).map_err(Error::read(from))?;
    let comments = comments(explained);
    let mut out = WholeFile::create(path).map_err(Error::write(path))?;
    let damage = explained.captures.first().and_then(|capture| capture.damage.as_ref());
    let copy = Copied { comments: &comments, from, path, damage };
    match blocks {
        Some(blocks) => copy.blocks(blocks, &mut out)?,
        None => copy.frames(Reader::new(open()?).map_err(Error::read(from))?, &mut out)?,
    }
    out.finish().map_err(Error::write(path))
}

/// The one capture of `sources`, if it can be copied to `path` with comments.
///
/// # Errors
/// [`Error::Usage`] unless there is exactly one, it is a file, and another one than `path`.
pub fn annotatable<'a>(sources: &'a [Source], path: &Path) -> Result<&'a Path, Error> {
    let is_written = |file| FileIdentity::of(path) == Some(file);
    match sources {
        [Source::File(from)] if FileIdentity::of(from).is_some_and(is_written) => {
            Err(Error::Usage("--annotate: this would overwrite the capture that is read".into()))
        }
        [Source::File(from)] => Ok(from),
        [_] => Err(Error::Usage(
            "--annotate takes a file, which it reads twice, and not standard input".into(),
        )),
        all => {
            Err(Error::Usage(format!("--annotate takes one capture, and these are {}", all.len())))
        }
    }
}

fn comments(explained: &Explained) -> Comments {
    let mut comments = Comments::new();
    let mut add = |frame: u64, text: String| {
        if frame == 0 {
            return;
        }
        let said: &mut Vec<String> = comments.entry(frame).or_default();
        // The segments of a super-segment say the same of one frame.
        if !said.contains(&text) {
            said.push(text);
        }
    };
    for found in &explained.connections {
        for (end, flow) in found.flows() {
            for (place, r) in flow.retransmissions.iter().enumerate() {
                add(r.frame, retransmission(found, end, place));
            }
            for s in &flow.stalls {
                add(s.frame, stall(found, end, s));
            }
        }
    }
    comments
}

/// What a frame says in all.
fn comment(said: &[String]) -> String {
    format!("ackclock: {}", said.join("; "))
}

/// A capture that is copied with comments.
struct Copied<'a> {
    comments: &'a Comments,
    from: &'a Path,
    path: &'a Path,
    /// Where reading ended.
    damage: Option<&'a Damage>,
}

impl Copied<'_> {
    /// A pcap file, frame by frame.
    fn frames(&self, mut reader: Reader, out: impl Write) -> Result<(), Error> {
        let written = Error::write(self.path);
        let mut out = Some(out);
        let mut writer = None;
        while let Some(frame) = reader.next().map_err(Error::read(self.from))? {
            if let Some(out) = out.take() {
                writer = Some(FrameWriter::new(out, frame.link.0).map_err(&written)?);
            }
            if let Some(writer) = &mut writer {
                let said = self.comments.get(&frame.number);
                let comment = said.map_or(String::new(), |said| comment(said));
                writer
                    .frame(frame.at, frame.data, frame.wire_len as usize, &comment)
                    .map_err(&written)?;
            }
        }
        match (writer, out) {
            (Some(mut writer), _) => writer.flush().map_err(written),
            // An empty capture.
            (None, Some(out)) => {
                FrameWriter::new(out, 1).and_then(|mut w| w.flush()).map_err(written)
            }
            (None, None) => Ok(()),
        }
    }

    /// A pcapng file, block by block (section 3.1). Where a block makes no sense the copy ends, as
    /// reading did.
    fn blocks(&self, mut blocks: Blocks, mut out: impl Write) -> Result<(), Error> {
        let written = Error::write(self.path);
        let mut frame = 0;
        let mut body = Vec::new();
        while let Some(block) = blocks.next().map_err(Error::read(self.from))? {
            let (kind, order) = (block.kind, block.order);
            body.clear();
            body.extend_from_slice(block.body);
            if matches!(kind, PACKET | SIMPLE_PACKET | ENHANCED_PACKET) {
                frame += 1;
            }
            match self.comments.get(&frame) {
                Some(said) if matches!(kind, PACKET | ENHANCED_PACKET) => {
                    insert(&comment(said), order, &mut body)
                }
                // Its length is no longer known (section 4.1).
                _ if kind == SECTION_HEADER => {
                    body.get_mut(8..16).into_iter().for_each(|length| length.fill(0xff))
                }
                _ => {}
            }
            let total = order.u32(body.len() as u32 + 12);
            let parts = [&order.u32(kind)[..], &total, &body, &total];
            parts.into_iter().try_for_each(|part| out.write_all(part)).map_err(&written)?;
        }
        if let Some(Damage { offset, what }) = blocks.too_long()
            && self.damage.is_none_or(|damage| damage.offset > *offset)
        {
            let what = format!("byte {offset}: {what}");
            return Err(Error::read(self.from)(io::Error::new(io::ErrorKind::InvalidData, what)));
        }
        out.flush().map_err(written)
    }
}

/// Puts a comment before the options of a packet block (sections 4.3 and A): after five words and
/// the packet, padded to a word.
fn insert(comment: &str, order: Order, body: &mut Vec<u8>) {
    let kept = order.u32_at(body, 12) as usize;
    let options = 20 + kept.next_multiple_of(4);
    if options > body.len() {
        return;
    }
    let comment = &comment.as_bytes()[..comment.len().min(usize::from(u16::MAX))];
    let mut option = [order.u16(COMMENT), order.u16(comment.len() as u16)].concat();
    option.extend_from_slice(comment);
    option.resize(option.len().next_multiple_of(4), 0);
    if options == body.len() {
        // opt_endofopt
        option.extend_from_slice(&[0; 4]);
    }
    body.splice(options..options, option);
}
