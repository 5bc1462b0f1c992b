//! The wire without root: in a user namespace, root has no rights outside of it. Where that cannot
//! be had, the tests say that they were skipped.

use std::io::Write;
use std::process::Command;

use crate::run::{Run, scratch};

/// A shell in a user namespace and a network namespace of its own, as the guide has them.
fn shell(script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--net", "sh", "-c", script]);
    command.arg(env!("CARGO_BIN_EXE_ackclock"));
    command
}

#[test]
fn a_user_namespace_will_do() {
    if !shell("ip link set lo up && : <>/dev/net/tun").output().unwrap().status.success() {
        // Not by a macro: the line has to be seen where the test's output is not.
        let line = b"skipped: needs user namespaces, `ip` and /dev/net/tun\n";
        return std::io::stderr().write_all(line).unwrap();
    }
    let run = |script: &str| -> Run {
        let script = format!("ip link set lo up && {script}");
        shell(&script).current_dir(scratch("rootless", "")).output().unwrap().into()
    };
    // The kernel's answer comes back through the device.
    let sent = run("\"$0\" send 10.77.0.1:5001");
    let refused = "error: 10.77.0.1:5001: linux: the connection was refused: nobody listens there \
                   (`nc -l` takes one connection only)\n";
    assert_eq!((sent.code, sent.err.as_str()), (1, refused));

    // What an earlier run said is not taken for the answer.
    let proxy = "rm -f said; \"$0\" proxy --queues 2 --queue 77 --listen 10.77.0.2:80 \
                 --to 127.0.0.1:80 2>said & \
                 until grep -qs forwarding said; do sleep 0.01; done; \
                 ip -o link show ackclock0; kill -INT $!; wait $!";
    let proxied = run(proxy);
    assert_eq!(proxied.code, 0, "{proxied:?}");
    assert!(proxied.out.contains(" qlen 77"), "{proxied:?}");
}
