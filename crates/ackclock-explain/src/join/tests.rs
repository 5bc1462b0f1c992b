use super::*;

/// A file that is gone with this value.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, bytes: &[u8]) -> Scratch {
        let name = format!("ackclock-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, bytes).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn open(files: &[Scratch]) -> Joined {
    Joined::open(&files.iter().map(|file| file.0.clone()).collect::<Vec<_>>())
}

/// Number and first byte of each frame.
fn frames(joined: &mut Joined) -> Vec<(u64, u8)> {
    let mut frames = Vec::new();
    while let Some(frame) = joined.next().unwrap() {
        frames.push((frame.number, frame.data[0]));
    }
    frames
}

/// A pcapng file of frames of one byte, by their times and bytes, whose interface dropped so
/// many packets.
fn pcapng(frames: &[(u32, u8)], dropped: u64) -> Vec<u8> {
    let mut words = vec![0x0a0d_0d0a, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28];
    words.extend([1, 20, 101, 0, 20]);
    for &(at, byte) in frames {
        words.extend([6, 36, 0, 0, at, 1, 1, byte.into(), 36]);
    }
    // isb_ifdrop
    words.extend([5, 36, 0, 0, 0, 5 | 8 << 16, dropped as u32, (dropped >> 32) as u32, 36]);
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Also those of a file without a frame.
#[test]
fn dropped_packets_and_bytes_are_those_of_all() {
    let files = [(&[(1, 1), (3, 3)][..], 7), (&[(2, 2)], 5), (&[], 1 << 40)];
    let bytes = files.map(|(frames, dropped)| pcapng(frames, dropped));
    let len: usize = bytes.iter().map(Vec::len).sum();
    let mut n = 0;
    let files = bytes.map(|bytes| {
        n += 1;
        Scratch::new(&format!("dropped-{n}"), &bytes)
    });
    let mut joined = open(&files);
    assert_eq!(frames(&mut joined), [(1, 1), (2, 2), (3, 3)]);
    assert_eq!(joined.dropped_by_capture(), (1 << 40) + 12);
    assert_eq!(joined.consumed(), len as u64);
}

#[test]
fn frames_of_one_time_are_in_the_order_of_the_captures() {
    let first = Scratch::new("first", &pcapng(&[(5, 1), (5, 2), (6, 6), (9, 8)], 0));
    let second = Scratch::new("second", &pcapng(&[(5, 3), (6, 7), (9, 9)], 0));
    let third = Scratch::new("third", &pcapng(&[(5, 4), (5, 5)], 0));
    let files = [first, second, third];
    let mut joined = open(&files);
    let expected = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(|n| (u64::from(n), n));
    assert_eq!(frames(&mut joined), expected);
}

/// A ring buffer may have more files than may be open at a time.
#[test]
fn files_are_open_only_while_they_are_read() {
    let file = |n: u32| {
        let words = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65_535, 101, n, 0, 4, 4, n];
        Scratch::new(&format!("ring-{n}"), &words.map(u32::to_le_bytes).concat())
    };
    let files: Vec<Scratch> = (0..9).rev().map(file).collect();
    let (mut joined, mut frames) = (open(&files), Vec::new());
    while let Some(frame) = joined.next().unwrap() {
        frames.push((frame.number, frame.data[0]));
        assert!(joined.captures.len() <= 1);
    }
    assert_eq!(frames, [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|n| (u64::from(n) + 1, n)));
}
