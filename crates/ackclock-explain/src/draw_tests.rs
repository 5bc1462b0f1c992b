use super::*;
use crate::fixture;

#[test]
fn look() {
    let explained = fixture::explained();
    let dir = Path::new("/tmp/tpic/out");
    let pictures = Pictures { html: Some(dir), xplot: Some(dir), top: 20 };
    draw(&explained, &[], &Options { jobs: 1, events_of_streams: 0 }, &pictures).unwrap();
}
