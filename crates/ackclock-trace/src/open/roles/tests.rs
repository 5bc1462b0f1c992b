use super::*;

#[test]
fn the_server_has_the_port_that_is_known() {
    let servers = [(80, 443), (443, 2049), (2049, 959), (993, 44_818), (514, 1023)];
    let known = [(44_818, 3120), (3389, 1041), (20_000, 1025), (2404, 50_000), (1433, 3389)];
    let unknown = [(5001, 55_318), (1024, 1025), (7000, 7001), (5201, 44_818)];
    for (server, client) in servers.into_iter().chain(known).chain(unknown) {
        assert!(is_client(client, server) && !is_client(server, client), "{server} {client}");
    }
    assert!(is_client(179, 179));
}

#[test]
fn registered_ports_are_in_order() {
    assert!(REGISTERED.is_sorted() && REGISTERED[0] >= 1024);
}
