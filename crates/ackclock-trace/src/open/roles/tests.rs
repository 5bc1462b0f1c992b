use super::*;

#[test]
fn the_server_has_the_port_that_is_known() {
    let servers = [(80, 443), (443, 2049), (2049, 959), (993, 44_818), (514, 1023)];
    let known =
        [(44_818, 3120), (3389, 1041), (20_000, 1025), (2404, 50_000), (1433, 3389), (6000, 1162)];
    // Clients take ports from 10000 on, or from 1024 on, as they are set up.
    let low = [(44_818, 40_000), (27_017, 15_000), (27_017, 6002), (5432, 5200), (11_211, 1024)];
    let unknown = [(5001, 55_318), (1024, 1025), (7000, 7001), (4841, 60_999)];
    let iperf = [(5201, 44_818), (5001, 20_000)];
    let all = servers.into_iter().chain(known).chain(low).chain(unknown).chain(iperf);
    for (server, client) in all {
        assert!(is_client(client, server) && !is_client(server, client), "{server} {client}");
    }
    assert!(is_client(179, 179));
}

#[test]
fn known_ports_are_in_order() {
    assert!(KNOWN.is_sorted() && KNOWN[0] >= 1024);
}
