//! Two named network namespaces, and `ackclock gateway` between them.

use std::fs;
use std::io::Read;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use ackclock_live::Namespace;
use rustix::process::{Pid, Signal, geteuid, kill_process};

/// What the names of all these namespaces start with.
const PREFIX: &str = "ackt-";

/// Two named namespaces, deleted when this is dropped.
pub struct Pair {
    pub names: [String; 2],
}

impl Pair {
    /// `None` and a line on stderr where that is not permitted, or where there is no `ip`.
    pub fn new(test: &str) -> Option<Pair> {
        let root = geteuid().is_root() && Path::new("/dev/net/tun").exists();
        let names = ["l", "r"].map(|side| format!("{PREFIX}{test}-{side}-{}", std::process::id()));
        let pair = Pair { names };
        let made = |name: &String| {
            Command::new("ip").args(["netns", "add", name]).status().is_ok_and(|s| s.success())
        };
        if !root || !pair.names.iter().all(made) {
            eprintln!("skipped: needs root, /dev/net/tun and ip netns");
            return None;
        }
        Some(pair)
    }

    pub fn namespace(&self, side: usize) -> Namespace {
        Namespace::named(&self.names[side]).unwrap()
    }

    pub fn attach(&self) -> [String; 4] {
        let [left, right] = &self.names;
        let attach = |node, addr, name: &str| format!("{node}={addr}@{name}");
        let flag = || "--attach".to_string();
        [
            flag(),
            attach("left", "10.80.0.1/16", left),
            flag(),
            attach("right", "10.80.1.1/16", right),
        ]
    }

    /// The gateway, once it runs.
    pub fn start(&self, scenario: &str, more: &[&str]) -> Running {
        let mut child = command(&[&["gateway", scenario], more].concat())
            .args(self.attach())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let mut said = String::new();
        while !said.contains("Ctrl-C ends it") {
            let mut bytes = [0; 256];
            let n = stderr.read(&mut bytes).unwrap();
            assert!(n > 0, "it ended: {said}");
            said.push_str(std::str::from_utf8(&bytes[..n]).unwrap());
        }
        Running { child: Some(child), said }
    }

    /// The devices on one side.
    pub fn devices(&self, side: usize) -> String {
        self.namespace(side)
            .run(|| fs::read_to_string("/proc/thread-self/net/dev").unwrap())
            .unwrap()
    }

    /// How long it takes to connect from left to right.
    pub fn connect(&self) -> Duration {
        let listener = self.namespace(1).run(|| TcpListener::bind("10.80.1.1:0")).unwrap().unwrap();
        let to: SocketAddr = listener.local_addr().unwrap();
        let begin = Instant::now();
        let connected = self
            .namespace(0)
            .run(|| TcpStream::connect_timeout(&to, Duration::from_secs(9)))
            .unwrap();
        connected.unwrap();
        begin.elapsed()
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for name in &self.names {
            let _ =
                Command::new("ip").args(["netns", "delete", name]).stderr(Stdio::null()).status();
        }
    }
}

/// A gateway, killed when dropped.
pub struct Running {
    /// Until it is waited for.
    child: Option<Child>,
    pub said: String,
}

impl Running {
    pub fn end(self, signal: Signal) -> Output {
        kill_process(Pid::from_child(self.child.as_ref().unwrap()), signal).unwrap();
        self.wait()
    }

    /// Waits until it ends by itself.
    pub fn wait(mut self) -> Output {
        self.child.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

pub fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ackclock"));
    command.args(args);
    command
}
