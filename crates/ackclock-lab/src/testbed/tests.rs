use super::*;

#[test]
fn counters_are_found_under_their_names() {
    let mut all = BTreeMap::new();
    parse("Tcp: MaxConn RetransSegs\nTcp: -1 7\nTcpExt: A TCPTimeouts\nTcpExt: 3 4\n", &mut all);
    assert_eq!((all["Tcp.RetransSegs"], all["TcpExt.TCPTimeouts"], all["Tcp.MaxConn"]), (7, 4, 0));
}
