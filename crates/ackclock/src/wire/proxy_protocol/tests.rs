use super::ProxyProtocol::{V1, V2};

#[test]
fn headers_are_those_of_the_specification() {
    let (client, server) = ("192.168.0.1:56324", "192.168.0.11:443");
    let [client, server] = [client, server].map(|a| a.parse().unwrap());
    // The example of section 2.1.
    let line = b"PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n";
    assert_eq!(V1.header(client, server), line);
    let bytes = b"\x0d\x0a\x0d\x0a\x00\x0d\x0a\x51\x55\x49\x54\x0a\x21\x11\x00\x0c\
        \xc0\xa8\x00\x01\xc0\xa8\x00\x0b\xdc\x04\x01\xbb";
    assert_eq!(V2.header(client, server), bytes);

    let [client, server] = ["[fd00::1]:1", "[fd00::2]:80"].map(|a| a.parse().unwrap());
    assert_eq!(V1.header(client, server), b"PROXY TCP6 fd00::1 fd00::2 1 80\r\n");
    let header = V2.header(client, server);
    assert_eq!(header[12..16], [0x21, 0x21, 0, 36]);
    assert_eq!((header.len(), &header[48..]), (52, &[0, 1, 0, 80][..]));
}
