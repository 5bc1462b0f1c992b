use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};

use super::*;
use crate::{Proxy, ProxyConfig};

#[test]
fn a_server_is_not_the_proxy_itself() {
    for (to, listen, same) in [
        ("127.0.0.1:80", "127.0.0.1:80", true),
        ("127.0.0.1:80", "127.0.0.1:81", false),
        ("127.0.0.1:80", "127.0.0.2:80", false),
        ("127.0.0.1:80", "0.0.0.0:80", true),
        ("127.0.0.1:80", "[::]:80", true),
        ("[::ffff:127.0.0.1]:80", "127.0.0.1:80", true),
        ("0.0.0.0:80", "127.0.0.1:80", true),
        ("[::1]:80", "0.0.0.0:80", false),
        // It is of a documentation's network, and so nobody's.
        ("192.0.2.1:80", "0.0.0.0:80", false),
    ] {
        let [to_address, listen] = [to, listen].map(|text| text.parse().unwrap());
        let checked = check_server("--to", to, &[to_address], listen);
        assert_eq!(checked.is_err(), same, "{to} {listen}");
    }
    let error = server_addresses("--to", "127.0.0.1:0").unwrap_err().to_string();
    assert_eq!(error, "--to 127.0.0.1:0: no server has port 0; write the port of the server");
    let error = server_addresses("--to", "224.0.0.1:80").unwrap_err().to_string();
    let expected = "--to 224.0.0.1:80: no host can have 224.0.0.1; write the address of the server";
    assert_eq!(error, expected);
}

#[test]
fn a_port_alone_is_one_of_both_families() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let start = |text| {
        let listen = vec![listen_address("--listen", text).unwrap()];
        let config = ProxyConfig::new(listen, vec![server.local_addr().unwrap()]);
        Proxy::start(&config, &[]).unwrap()
    };
    let all = start(":0");
    let port = all.addresses()[0].port();
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    TcpStream::connect((Ipv6Addr::LOCALHOST, port)).unwrap();
    let v4 = start("0.0.0.0:0");
    let port = v4.addresses()[0].port();
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    let refused = TcpStream::connect((Ipv6Addr::LOCALHOST, port)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
}
