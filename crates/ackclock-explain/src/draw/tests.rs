use std::fs;

use ackclock_trace::{Connection, Limit};

use super::*;
use crate::fixture;

const OPTIONS: Options = Options { jobs: 1, filter: None, events_of_streams: 0 };

#[test]
fn those_with_trouble_are_drawn_most_time_lost_first() {
    let mut explained = fixture::explained();
    let template = explained.connections[0].connection.clone();
    let with = |change: fn(&mut Connection)| {
        let mut connection = template.clone();
        change(&mut connection);
        connection
    };
    let connections = [
        with(|c| c.from_server = fixture::idle()),
        with(|c| c.from_server.stalls.truncate(1)),
        with(|_| {}),
        // Retransmissions alone, and a pause of the application alone.
        with(|c| c.from_server.stalls.clear()),
        with(|c| {
            c.from_server.retransmissions.clear();
            c.from_server.timeouts.clear();
            c.from_server.stalls.truncate(1);
            c.from_server.stalls[0].cause = ackclock_trace::StallCause::Application;
        }),
    ];
    let number = |(number, connection)| Found {
        number,
        capture: 0,
        same_as: None,
        connection,
        saved: Vec::new(),
        set_ahead: Default::default(),
        got_through: Vec::new(),
    };
    explained.connections = connections.into_iter().enumerate().map(number).collect();
    let numbers =
        |explained: &Explained| eventful(explained).iter().map(|f| f.number).collect::<Vec<_>>();
    assert_eq!(numbers(&explained), [2, 1, 3, 4]);
    // One that lost nothing, and waited for its own segments for a tenth of its time.
    let lifetime = &mut explained.connections[0].connection.from_server.lifetime;
    lifetime.add(Limit::Path, Span::from_millis(900));
    lifetime.add(Limit::Nagle, Span::from_millis(99));
    assert_eq!(numbers(&explained), [2, 1, 3, 4]);
    let lifetime = &mut explained.connections[0].connection.from_server.lifetime;
    lifetime.add(Limit::Nagle, Span::from_secs(100));
    assert_eq!(numbers(&explained), [0, 2, 1, 3, 4]);
    // A single connection is drawn whatever it is.
    explained.connections.truncate(1);
    assert_eq!(numbers(&explained), [0]);
}

#[test]
fn batches_hold_so_many_packets_or_one_connection() {
    let explained = fixture::explained();
    let with = |millions: u64| {
        let mut found = explained.connections[0].clone();
        found.connection.packets = millions * 1_000_000;
        found
    };
    let founds = [1, 1, 1, 5, 1].map(with);
    let founds: Vec<&Found> = founds.iter().collect();
    let sizes = |founds: &[&Found]| batches(founds).map(<[_]>::len).collect::<Vec<_>>();
    assert_eq!(sizes(&founds), [2, 1, 1, 1]);
    assert!(batches(&[]).next().is_none());
}

#[test]
fn an_index_a_page_and_a_file_for_xplot() {
    let explained = fixture::explained();
    let folder = std::env::temp_dir().join(format!("ackclock-draw-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let pictures = Pictures { html: Some(&folder), xplot: Some(&folder), qlog: None, top: 1 };
    let cancelled = Cancel::default();
    cancelled.cancel();
    let none = draw(&explained, &[], &OPTIONS, &pictures, &cancelled);
    assert!(matches!(none, Err(Error::Interrupted)));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    draw(&explained, &[], &OPTIONS, &pictures, &Cancel::default()).unwrap();
    let entries = fs::read_dir(&folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["connection-0-server_tsg.xpl", "connection-0.html", "index.html"]);
    fs::remove_dir_all(&folder).unwrap();
    let gone = draw(&explained, &[], &OPTIONS, &pictures, &Cancel::default());
    assert!(
        matches!(gone, Err(Error::Write { path, .. }) if path == folder.join("connection-0.html"))
    );
}
