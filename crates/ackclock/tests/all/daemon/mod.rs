//! What the tests of the commands that serve share: the command in a namespace, and its metrics.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ackclock_live::Namespace;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};

pub use crate::run::empty_folder as scratch;

pub use crate::common::namespace;

/// Where `serve` listens.
pub const URL: &str = "http://10.77.0.2";
pub const ADDRESS: &str = "10.77.0.2:80";

/// `serve` for a directory.
pub fn serve(namespace: &Namespace, dir: &Path, more: &[&str]) -> Daemon {
    Daemon::start(namespace, &[&["serve", dir.to_str().unwrap()], more].concat())
}

/// Everything until the end of the stream.
pub fn rest(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// The status codes of responses that follow each other.
pub fn codes(text: &str) -> Vec<&str> {
    text.split("HTTP/1.1 ").skip(1).map(|response| &response[..3]).collect()
}

/// The command, serving in a namespace; killed when dropped.
pub struct Daemon {
    child: Child,
    said: Arc<Mutex<Vec<String>>>,
}

impl Daemon {
    /// Starts it, and waits until it says that it serves.
    pub fn start(namespace: &Namespace, args: &[&str]) -> Daemon {
        Daemon::start_with(namespace, args, &[])
    }

    /// The same, with these variables in its environment.
    pub fn start_with(namespace: &Namespace, args: &[&str], env: &[(&str, &str)]) -> Daemon {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ackclock"));
        command.envs(env.iter().copied());
        Daemon::spawn(namespace, command, args)
    }

    /// The same, with a limit of open files.
    pub fn start_with_files(namespace: &Namespace, args: &[&str], files: u32) -> Daemon {
        let mut command = Command::new("prlimit");
        command.args([&format!("--nofile={files}"), env!("CARGO_BIN_EXE_ackclock")]);
        Daemon::spawn(namespace, command, args)
    }

    /// The same, where names stand for what this file says (hosts(5)).
    pub fn start_with_hosts(namespace: &Namespace, args: &[&str], hosts: &Path) -> Daemon {
        let mut command = Command::new("unshare");
        let mount = "mount --bind \"$HOSTS\" /etc/hosts && exec \"$0\" \"$@\"";
        command.args(["-m", "sh", "-c", mount, env!("CARGO_BIN_EXE_ackclock")]);
        command.env("HOSTS", hosts);
        Daemon::spawn(namespace, command, args)
    }

    fn spawn(namespace: &Namespace, mut command: Command, args: &[&str]) -> Daemon {
        command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = namespace.run(|| command.spawn()).unwrap().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut warnings = Vec::new();
        let line = loop {
            let line = stderr.next().unwrap().unwrap();
            if !line.starts_with("warning: ") {
                break line;
            }
            warnings.push(line);
        };
        assert!(line.starts_with("serving ") || line.starts_with("forwarding "), "{line}");
        let said = Arc::new(Mutex::new(warnings));
        let lines = said.clone();
        std::thread::spawn(move || {
            stderr.map_while(Result::ok).for_each(|line| lines.lock().unwrap().push(line))
        });
        Daemon { child, said }
    }

    /// What it has said on standard error since its first line.
    pub fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }

    /// The same, to be looked at when it has ended.
    pub fn said_by(&self) -> Arc<Mutex<Vec<String>>> {
        self.said.clone()
    }

    /// What the kernel says of its process (proc(5)).
    pub fn status(&self, field: &str) -> String {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(":\t"));
        line.unwrap().to_string()
    }

    /// How many open files it has.
    pub fn open_files(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.child.id())).unwrap().count()
    }

    /// From now on it may have so many open files beside those that it has.
    pub fn limit_files(&self, more: usize) {
        let fds = format!("/proc/{}/fd", self.child.id());
        // A new one gets the least number that is free, and that is below the limit.
        let is_free = |n: &u64| !Path::new(&fds).join(n.to_string()).is_symlink();
        let current = (0..).filter(is_free).nth(more);
        let pid = Some(Pid::from_child(&self.child));
        prlimit(pid, Resource::Nofile, Rlimit { current, maximum: Some(20_000) }).unwrap();
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until it ends by itself. Returns what it printed.
    pub fn wait(mut self) -> String {
        let mut out = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{out}");
        out
    }

    /// Waits until it ends by itself. Returns its exit code, and what it printed.
    pub fn code_and_output(mut self) -> (Option<i32>, String) {
        let mut out = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        (self.child.wait().unwrap().code(), out)
    }

    /// Ends it with Ctrl-C.
    pub fn end(self) -> String {
        self.signal(Signal::INT);
        self.wait()
    }

    /// Bytes of memory that it holds.
    pub fn memory(&self) -> u64 {
        let statm = fs::read_to_string(format!("/proc/{}/statm", self.child.id())).unwrap();
        4096 * statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap()
    }

    /// Seconds of CPU that it has used.
    pub fn cpu(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        // utime and stime, in hundredths of a second.
        (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command in the namespace.
pub fn run(namespace: &Namespace, program: &str, args: &[&str]) -> Output {
    namespace.run(|| Command::new(program).args(args).output()).unwrap().unwrap()
}

/// What curl prints; it has to succeed.
pub fn curl(namespace: &Namespace, args: &[&str]) -> String {
    let output = run(namespace, "curl", &[&["-sS", "--max-time", "60"], args].concat());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "curl {args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// A connection of the kernel's, made in the namespace. No test waits for ever.
pub fn connect(namespace: &Namespace, address: &str) -> TcpStream {
    let address: SocketAddr = address.parse().unwrap();
    let stream = namespace
        .run(|| TcpStream::connect_timeout(&address, Duration::from_secs(10)))
        .unwrap()
        .unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// A value once it has not changed for half a second.
pub fn settled<T: PartialEq>(mut value: impl FnMut() -> T) -> T {
    let mut last = value();
    for _ in 0..60 {
        std::thread::sleep(Duration::from_millis(500));
        let now = value();
        if now == last {
            return now;
        }
        last = now;
    }
    panic!("it does not settle");
}

/// Bytes that repeat nowhere near, different for each seed.
pub fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// The samples at this address, by name and labels, after checking that the text is what Prometheus
/// takes.
pub fn metrics(namespace: &Namespace, address: &str) -> BTreeMap<String, f64> {
    let text = curl(namespace, &["--fail", &format!("http://{address}/metrics")]);
    let mut samples = BTreeMap::new();
    let mut family = String::new();
    let mut kind = String::new();
    let mut helped = String::new();
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, help) = help.split_once(' ').unwrap();
            assert!(!help.is_empty());
            helped = name.to_string();
        } else if let Some(what) = line.strip_prefix("# TYPE ") {
            let (name, of) = what.split_once(' ').unwrap();
            assert_eq!(name, helped);
            assert!(["counter", "gauge", "histogram", "summary"].contains(&of), "{line}");
            (family, kind) = (name.to_string(), of.to_string());
        } else {
            let (sample, value) = line.rsplit_once(' ').unwrap();
            let (name, labels) = match sample.split_once('{') {
                Some((name, labels)) => (name, labels.strip_suffix('}').unwrap()),
                None => (sample, ""),
            };
            let belongs = match kind.as_str() {
                "histogram" => ["_bucket", "_sum", "_count"]
                    .iter()
                    .any(|end| *name == format!("{family}{end}")),
                "summary" => {
                    [format!("{family}_sum"), format!("{family}_count")].contains(&name.to_string())
                }
                "counter" => name == family && name.ends_with("_total"),
                _ => name == family,
            };
            assert!(belongs, "{line} in {family}");
            assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{line}");
            for label in labels.split(',').filter(|label| !label.is_empty()) {
                let (label, value) = label.split_once('=').unwrap();
                assert!(label.bytes().all(|b| b.is_ascii_lowercase()), "{line}");
                let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap();
                assert!(!value.contains(['"', '\\']), "{line}");
            }
            let key = sample.replace("strategy=\"linux\",", "").replace("{strategy=\"linux\"}", "");
            assert_eq!(samples.insert(key, value.parse().unwrap()), None, "{line}");
        }
    }
    samples
}

/// A backend that greets each connection with its name, and then sends back what comes.
pub fn backend(namespace: &Namespace, name: &'static str) -> SocketAddr {
    let listener = namespace.run(|| TcpListener::bind("127.0.0.1:0")).unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            std::thread::spawn(move || {
                stream.write_all(name.as_bytes()).unwrap();
                let _ = std::io::copy(&mut stream.try_clone().unwrap(), &mut stream);
            });
        }
    });
    address
}
