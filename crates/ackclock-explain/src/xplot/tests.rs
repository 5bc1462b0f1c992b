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
darrow 1700000000.500000 0 white
uarrow 1700000000.500000 1000 white
line 1700000000.500000 0 1700000000.500000 1000 white
darrow 1700000000.500000 1000 white
uarrow 1700000000.500000 2000 white
line 1700000000.500000 1000 1700000000.500000 2000 white
darrow 1700000000.500000 2000 white
uarrow 1700000000.500000 3000 white
line 1700000000.500000 2000 1700000000.500000 3000 white
line 1700000000.600000 1000 1700000000.610000 1000 green
line 1700000000.600000 3000 1700000000.610000 3000 yellow
dtick 1700000000.610000 1000 green
line 1700000000.610000 2000 1700000000.610000 3000 purple
htick 1700000000.610000 2000 purple
htick 1700000000.610000 3000 purple
atext 1700000000.610000 3000 purple
S
darrow 1700000000.610000 1000 red
uarrow 1700000000.610000 2000 red
line 1700000000.610000 1000 1700000000.610000 2000 red
atext 1700000000.610000 2000 red
F
x 1700000000.610000 1500 white
darrow 1700000001.500000 1000 orange
uarrow 1700000001.500000 2000 orange
line 1700000001.500000 1000 1700000001.500000 2000 orange
atext 1700000001.500000 2000 orange
T
darrow 1700000001.550000 2000 pink
uarrow 1700000001.550000 3000 pink
line 1700000001.550000 2000 1700000001.550000 3000 pink
atext 1700000001.550000 3000 pink
S
diamond 1700000001.550000 2500 white
line 1700000000.610000 1000 1700000001.600000 1000 green
line 1700000001.600000 1000 1700000001.600000 3000 green
line 1700000000.610000 3000 1700000001.600000 3000 yellow
atext 1700000001.600000 3000 yellow
Z
line 1700000001.600000 3000 1700000001.650000 3000 green
line 1700000001.600000 3000 1700000001.650000 3000 yellow
atext 1700000001.650000 3000 yellow
Z
line 1700000001.650000 2000 1700000001.650000 3000 purple
htick 1700000001.650000 2000 purple
htick 1700000001.650000 3000 purple
atext 1700000001.650000 3000 purple
D
line 1700000001.650000 3000 1700000002.000000 3000 green
line 1700000001.650000 3000 1700000002.000000 3000 yellow
line 1700000002.000000 3000 1700000002.000000 11000 yellow
rtext 1700000001.500000 1000 orange
timeout: lost retransmission
line 1700000000.610000 1000 1700000001.600000 1000 magenta
line 1700000000.610000 3000 1700000001.600000 3000 magenta
line 1700000000.610000 1000 1700000000.610000 3000 magenta
line 1700000001.600000 1000 1700000001.600000 3000 magenta
rtext 1700000000.610000 3000 magenta
0.99 s: timeout, lost retransmission
line 1700000001.600000 3000 1700000002.000000 3000 magenta
line 1700000001.600000 4000 1700000002.000000 4000 magenta
line 1700000001.600000 3000 1700000001.600000 4000 magenta
line 1700000002.000000 3000 1700000002.000000 4000 magenta
rtext 1700000001.600000 4000 magenta
0.40 s: zero window
go
";

#[test]
fn the_file_of_a_connection() {
    let explained = fixture::explained();
    let mut out = Vec::new();
    write(&explained.connections[0], End::Server, &mut out).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), SERVER);
    assert_eq!(file_name(0, End::Server), "connection-0-server_tsg.xpl");
}

/// What a router had asked for has a letter of its own, and what nobody knows a question mark.
#[test]
fn what_was_too_big() {
    let signs = |kind: Kind| {
        let mut explained = fixture::explained();
        let found = &mut explained.connections[0];
        found.connection.from_server.retransmissions[0].kind = kind;
        let mut text = Vec::new();
        write(found, End::Server, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        text.contains("2000 white\nI\n") && !text.contains("?")
    };
    assert_eq!([signs(Kind::TooBig), signs(Kind::Unknown)], [true, false]);
}
