use super::*;
use crate::fixture;

const SERVER: &str = "\
timeval double
title
#0 [2001:db8::2]:443_==>_192.0.2.1:40000 (time sequence graph)
xlabel
time
ylabel
sequence offset
@@";

#[test]
fn the_file_of_a_connection() {
    let explained = fixture::explained();
    let mut out = Vec::new();
    write(&explained.connections[0], End::Server, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), SERVER);
    assert_eq!(file_name(0, End::Server), "connection-0-server_tsg.xpl");
}
