//! What is sent, and what of it arrives.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use ackclock_live::be_prompt;
use ackclock_net::Rng;
use ackclock_run::Cancel;

use crate::format::Transfers;
use crate::sender::Sender;
use crate::testbed::{Counters, Testbed};

/// What came out of a run, as far as the ends know.
#[derive(Debug, Default)]
pub(crate) struct Received {
    /// Bytes that the receiving applications got.
    pub bytes: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Segments that there were to send.
    pub segments: u64,
    /// The sender's counters.
    pub counters: Counters,
    /// The times of each transfer; empty for one without end.
    pub transfers: Vec<Completion>,
}

/// When the last byte of a transfer arrived, in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    /// After the handshake.
    pub data: f64,
    /// After the call to connect.
    pub total: f64,
}

const PORT: u16 = 5001;

const CHUNK: usize = 1 << 16;

/// One connection that sends without end, for `length`. `tick` gets the share that is over.
pub(crate) fn bulk(
    testbed: &Testbed,
    sender: &Sender,
    length: Duration,
    mss: u16,
    (tick, cancel): (&mut dyn FnMut(f64), &Cancel),
) -> io::Result<Received> {
    let to = Testbed::to(PORT);
    let listener = testbed.receiver.run(|| TcpListener::bind(to))??;
    let stream = sender.connect(to)?;
    let began = Instant::now();
    let (sink, _) = listener.accept()?;
    let (mut writer, mut reader) = (stream.try_clone()?, sink.try_clone()?);
    let (bytes, over) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            // Whoever writes sends, too.
            be_prompt();
            let chunk = vec![0; CHUNK];
            let mut written = Ok(());
            while !over.load(Ordering::Relaxed) && written.is_ok() {
                written = writer.write_all(&chunk);
            }
        });
        scope.spawn(|| {
            // Some ACKs wait until the application has read.
            be_prompt();
            let mut chunk = vec![0; CHUNK];
            while let Ok(n @ 1..) = reader.read(&mut chunk) {
                bytes.fetch_add(n as u64, Ordering::Relaxed);
            }
        });
        let waited = wait(began, length, tick, cancel);
        let bytes = bytes.load(Ordering::Relaxed);
        let seconds = began.elapsed().as_secs_f64();
        let counters = stream.counters().and_then(|ours| counters(testbed, sender, ours));
        over.store(true, Ordering::Relaxed);
        // The reader ends by this; the writer by the reset that what it still sends is answered
        // with.
        let ended = sink.shutdown(Shutdown::Both);
        drop((sink, listener));
        stream.abort();
        ended?;
        waited?;
        Ok(Received {
            bytes,
            seconds,
            segments: bytes.div_ceil(mss.into()),
            counters: counters?,
            transfers: Vec::new(),
        })
    })
}

fn wait(
    began: Instant,
    length: Duration,
    tick: &mut dyn FnMut(f64),
    cancel: &Cancel,
) -> io::Result<()> {
    loop {
        go_on(cancel)?;
        let gone = began.elapsed();
        tick(gone.as_secs_f64() / length.as_secs_f64());
        let Some(left) = length.checked_sub(gone) else { return Ok(()) };
        thread::sleep(left.min(Duration::from_millis(100)));
    }
}

/// An error once the runs are cancelled.
fn go_on(cancel: &Cancel) -> io::Result<()> {
    match cancel.is_cancelled() {
        true => Err(io::Error::new(io::ErrorKind::Interrupted, "cancelled")),
        false => Ok(()),
    }
}

/// Those of the sender's kernel, or else ours.
fn counters(testbed: &Testbed, sender: &Sender, ours: Counters) -> io::Result<Counters> {
    match sender {
        Sender::Kernel(..) => testbed.counters(),
        Sender::Ours(..) => Ok(ours),
    }
}

/// Transfers one after the other in each lane, of sizes that depend on the seed alone.
pub(crate) fn short(
    testbed: &Testbed,
    sender: &Sender,
    plan: Transfers,
    (count, seed, mss): (u32, u64, u16),
    (tick, cancel): (&mut dyn FnMut(f64), &Cancel),
) -> io::Result<Received> {
    let sizes = sizes(plan, count, seed);
    let segments = sizes.iter().map(|size| size.div_ceil(mss.into())).sum();
    let (done, finished) = mpsc::channel();
    let began = Instant::now();
    let lanes = thread::scope(|scope| {
        let lanes: Vec<_> = (0..plan.lanes)
            .map(|lane| {
                let done = done.clone();
                let sizes: Vec<u64> =
                    sizes.iter().skip(lane.into()).step_by(plan.lanes.into()).copied().collect();
                scope.spawn(move || lane_of(testbed, sender, PORT + lane, &sizes, (&done, cancel)))
            })
            .collect();
        drop(done);
        for (n, ()) in (1_u32..).zip(finished) {
            tick(f64::from(n) / f64::from(count));
        }
        lanes
            .into_iter()
            .map(|lane| lane.join().unwrap_or_else(|_| Err(io::Error::other("a lane panicked"))))
            .collect()
    });
    let lanes: io::Result<Vec<(Vec<Completion>, Counters)>> = lanes;
    let (transfers, ours): (Vec<_>, Vec<_>) = lanes?.into_iter().unzip();
    let counters =
        counters(testbed, sender, ours.into_iter().fold(Counters::default(), Counters::plus))?;
    let seconds = began.elapsed().as_secs_f64();
    Ok(Received {
        bytes: sizes.iter().sum(),
        seconds,
        segments,
        counters,
        transfers: transfers.concat(),
    })
}

fn sizes(plan: Transfers, count: u32, seed: u64) -> Vec<u64> {
    let mut rng = Rng::new(seed, "lab/sizes");
    let span = plan.most.0.saturating_sub(plan.least.0) + 1;
    (0..count).map(|_| plan.least.0 + (rng.unit() * span as f64) as u64).collect()
}

/// The transfers of a lane.
fn lane_of(
    testbed: &Testbed,
    sender: &Sender,
    port: u16,
    sizes: &[u64],
    (done, cancel): (&mpsc::Sender<()>, &Cancel),
) -> io::Result<(Vec<Completion>, Counters)> {
    let to = Testbed::to(port);
    let listener = testbed.receiver.run(|| TcpListener::bind(to))??;
    let expected = sizes.to_vec();
    // Not joined if the sender fails, since then it waits for ever.
    let receiver = thread::spawn(move || {
        expected.into_iter().map(|size| receive(&listener, size)).collect::<io::Result<Vec<_>>>()
    });
    let mut sent = Vec::new();
    let mut counters = Counters::default();
    for size in sizes {
        go_on(cancel)?;
        let called = Instant::now();
        let mut stream = sender.connect(to)?;
        let opened = Instant::now();
        stream.write_all(&vec![0; *size as usize])?;
        stream.shutdown()?;
        // The receiver closes when it has everything.
        while stream.read(&mut [0; 64])? > 0 {}
        counters = counters.plus(stream.counters()?);
        sent.push((called, opened));
        let _ = done.send(());
    }
    let arrived =
        receiver.join().unwrap_or_else(|_| Err(io::Error::other("a receiver panicked")))?;
    let completion = |((called, opened), last): ((Instant, Instant), Instant)| Completion {
        data: last.duration_since(opened).as_secs_f64(),
        total: last.duration_since(called).as_secs_f64(),
    };
    Ok((sent.into_iter().zip(arrived).map(completion).collect(), counters))
}

/// Takes a connection with so many bytes; returns when the last of them was there.
fn receive(listener: &TcpListener, size: u64) -> io::Result<Instant> {
    let (mut stream, _): (TcpStream, _) = listener.accept()?;
    let mut chunk = vec![0; CHUNK];
    let (mut got, mut last) = (0, Instant::now());
    loop {
        let n = stream.read(&mut chunk)?;
        if n == 0 {
            break;
        }
        got += n as u64;
        last = Instant::now();
    }
    if got == size {
        Ok(last)
    } else {
        Err(io::Error::other(format!("{got} of {size} bytes arrived")))
    }
}
