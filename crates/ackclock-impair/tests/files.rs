//! The command as a process: where the system allows few open files, and with signals.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;
use std::time::Duration;

const CLIENTS: usize = 60;

/// A server that sends back what it gets.
fn echo() -> SocketAddr {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    thread::spawn(move || {
        for stream in server.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let mut byte = [0];
                while stream.read_exact(&mut byte).is_ok() && stream.write_all(&byte).is_ok() {}
            });
        }
    });
    address
}

/// A proxy in a process of its own.
struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
    said: Vec<String>,
    /// Where the proxy listens, and the API.
    address: SocketAddr,
    api: SocketAddr,
}

impl Running {
    /// Starts it before a server, after the shell has done this, such as to limit files.
    fn start(first: &str, to: SocketAddr) -> Running {
        let mut child = Command::new("sh")
            .args(["-c", &format!("{first}; exec \"$0\" \"$@\"")])
            .arg(env!("CARGO_BIN_EXE_ackclock-impair"))
            .args(["--listen", "127.0.0.1:0", "--max-connections", "100"])
            .args(["--api", "127.0.0.1:0", "--to"])
            .arg(to.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let (mut said, mut address) = (Vec::new(), None);
        let api = loop {
            let mut line = String::new();
            assert!(stderr.read_line(&mut line).unwrap() > 0, "it has ended: {said:?}");
            if let Some(rest) = line.strip_prefix("forwarding ") {
                address = Some(rest.split(' ').next().unwrap().parse().unwrap());
            } else if let Some(rest) = line.strip_prefix("the API is at http://") {
                break rest.split(';').next().unwrap().parse().unwrap();
            } else {
                said.push(line);
            }
        };
        Running { child, stderr, said, address: address.unwrap(), api }
    }

    /// The answer of the API.
    fn ask(&self, what: &str, body: &str) -> String {
        let mut api = TcpStream::connect(self.api).unwrap();
        api.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let length = body.len();
        let request =
            format!("{what} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}");
        api.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        api.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Clients that have sent a byte each.
    fn clients(&self) -> Vec<TcpStream> {
        let connect = |_| {
            let mut client = TcpStream::connect(self.address).unwrap();
            client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
            client.write_all(b"x").unwrap();
            client
        };
        (0..CLIENTS).map(connect).collect()
    }

    fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Ends it. Returns its last line.
    fn end(self) -> String {
        self.signal("-TERM");
        self.last_line()
    }

    /// What it says when it ends.
    fn last_line(mut self) -> String {
        let mut line = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut line).unwrap();
        self.stderr.read_to_string(&mut String::new()).unwrap();
        self.child.wait().unwrap();
        line
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

/// As `nohup` has it, SIGHUP is ignored; SIGINT and SIGTERM end it all the same.
#[test]
fn an_ignored_hangup_stays_ignored() {
    for signal in ["-INT", "-TERM"] {
        let proxy = Running::start("trap '' HUP", echo());
        proxy.signal("-HUP");
        let mut client = TcpStream::connect(proxy.address).unwrap();
        client.write_all(b"x").unwrap();
        client.read_exact(&mut [0]).unwrap();
        drop(client);
        proxy.signal(signal);
        let line = proxy.last_line();
        assert!(line.starts_with("1 connection, 0 reset, 0 not taken by the server;"), "{line}");
    }
}

/// Where only the soft limit is low, all clients are served at the same time.
#[test]
fn the_soft_limit_is_raised() {
    let proxy = Running::start("ulimit -Sn 40", echo());
    assert_eq!(proxy.said, [""; 0]);
    let mut clients = proxy.clients();
    for client in &mut clients {
        client.read_exact(&mut [0]).unwrap();
    }
    drop(clients);
    let line = proxy.end();
    assert!(line.starts_with("60 connections, 0 reset, 0 not taken by the server;"), "{line}");
}

/// Where there are too few files for all clients at the same time, each one is served when others
/// have gone, and nobody is reset.
#[test]
fn clients_for_whom_there_are_no_files_wait() {
    let proxy = Running::start("ulimit -n 64", echo());
    assert_eq!(
        proxy.said,
        ["warning: 64 open files are allowed, which is room for some 24 of the 100 clients of \
          --max-connections; further ones wait; `ulimit -Hn` is the limit\n"]
    );
    let mut clients = proxy.clients();
    clients[0].read_exact(&mut [0]).unwrap();
    clients[0].write_all(b"x").unwrap();
    // The API answers meanwhile.
    let answer = proxy.ask("GET /version", "");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    for (number, mut client) in clients.into_iter().enumerate() {
        let read = client.read_exact(&mut [0]);
        assert!(read.is_ok(), "client {number}: {read:?}");
    }
    let line = proxy.end();
    assert!(line.starts_with("60 connections, 0 reset, 0 not taken by the server;"), "{line}");
}

#[test]
fn a_limit_that_leaves_no_room_for_a_client() {
    let said = Command::new("sh")
        .args(["-c", "ulimit -n 13; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_ackclock-impair")])
        .args(["--listen", "127.0.0.1:0", "--to", "127.0.0.1:1"])
        .output()
        .unwrap();
    let expected = "error: open files: 13 are allowed, and a single client takes 14; raise \
                    `ulimit -n`\n";
    assert_eq!(
        (String::from_utf8_lossy(&said.stderr).as_ref(), said.status.code()),
        (expected, Some(4))
    );
}

/// A proxy for which there are no files is refused, for no fault of the request.
#[test]
fn the_api_says_that_there_are_no_files() {
    let proxy = Running::start("ulimit -n 64", echo());
    let make = |number| {
        let body = format!(r#"{{"name":"p{number}","upstream":"127.0.0.1:1"}}"#);
        proxy.ask("POST /proxies", &body)
    };
    let answers: Vec<String> = (0..30).map(make).collect();
    let made = answers.iter().filter(|answer| answer.starts_with("HTTP/1.1 201 ")).count();
    // Of 64 files 3 are of the terminal, 4 of the API, 6 are left over, and one is of the request;
    // each proxy takes 3, and `default` is there already. Who starts the tests may leave others.
    let most = (64 - 3 - 4 - 6 - 1) / 3 - 1;
    assert!((most - 2..=most).contains(&made), "{made}");
    for answer in &answers[made..] {
        assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
        let why = "Too many open files (os error 24); `ulimit -n` allows 64";
        assert!(answer.contains(why), "{answer}");
    }
    // Clients of the API that say nothing do not keep it from others, and with these it has files.
    let _silent: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(proxy.api).unwrap()).collect();
    assert!(proxy.ask("GET /proxies", "").starts_with("HTTP/1.1 200 "));
    let gone = proxy.ask("DELETE /proxies/p0", "");
    assert!(gone.starts_with("HTTP/1.1 204 "), "{gone}");
    assert!(proxy.ask("GET /proxies", "").starts_with("HTTP/1.1 200 "));
}
