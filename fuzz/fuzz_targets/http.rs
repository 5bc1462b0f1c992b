//! Any bytes are requests or are refused, the same ones however they are cut; what is answered is a
//! response that HTTP can say.
#![no_main]

use std::time::{Duration, UNIX_EPOCH};

use ackclock::http::{
    FileInfo, Found, Inbox, MAX_TARGET, Method, Refusal, Request, Response, Status, answer, refuse,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u64, Option<u64>, &[u8])| {
    let (cut, len, modified, bytes) = input;
    if bytes.len() > MAX_TARGET {
        return; // Of what is too long, what is wrong first may depend on the cuts.
    }
    // An unfinished line is looked at only when it ends, or in company of one that has ended.
    let lines = [bytes, b"\n"].concat();
    let all = requests(&lines, usize::MAX);
    assert_eq!(requests(&lines, usize::from(cut) + 1), all);

    let modified = modified.and_then(|s| UNIX_EPOCH.checked_add(Duration::from_secs(s)));
    let info = FileInfo { len, modified, etag: "\"1-2\"".into(), media_type: "text/plain" };
    let founds = [
        Found::File(info),
        Found::Listing(vec![bytes.to_vec()], len % 2 == 0),
        Found::Directory,
        Found::Nothing(Status::NotFound),
    ];
    let now = modified.unwrap_or(UNIX_EPOCH);
    for request in all {
        match request {
            Err(refusal) => check(&refuse(refusal, now), refusal.head, 0),
            Ok(request) => {
                let names: Vec<_> = request.path.split(|&b| b == b'/').collect();
                let odd = |name: &[u8]| {
                    name.is_empty() || name == b"." || name == b".." || name.contains(&0)
                };
                assert!(request.path.is_empty() || !names.into_iter().any(odd));
                for found in &founds {
                    check(&answer(&request, found, now), request.method == Method::Head, len);
                }
            }
        }
    }
});

/// What comes out of these bytes, given in pieces of at most `cut`.
fn requests(bytes: &[u8], cut: usize) -> Vec<Result<Request, Refusal>> {
    let mut inbox = Inbox::default();
    let mut all = Vec::new();
    let mut rest = bytes;
    loop {
        while let Some(request) = inbox.next_request() {
            let refused = request.is_err();
            all.push(request);
            if refused {
                return all;
            }
        }
        if rest.is_empty() {
            return all;
        }
        let (piece, later) = rest.split_at(cut.min(inbox.room()).min(rest.len()));
        inbox.push(piece);
        rest = later;
    }
}

/// The head ends where it should and holds no line that was not meant, and the body is as long as
/// it says.
fn check(response: &Response, head: bool, len: u64) {
    let end = response.bytes.windows(4).position(|w| w == b"\r\n\r\n").expect("a head ends") + 4;
    let text = std::str::from_utf8(&response.bytes[..end]).expect("a head is text");
    assert!(text.starts_with("HTTP/1.1 "));
    let known = [
        "Date",
        "ETag",
        "Last-Modified",
        "Content-Range",
        "Accept-Ranges",
        "Content-Type",
        "Content-Length",
        "Location",
        "Allow",
        "Connection",
    ];
    let lines = text.trim_end().split("\r\n").skip(1);
    let fields: Vec<(&str, &str)> =
        lines.map(|l| l.split_once(": ").expect("a field has a value")).collect();
    assert!(
        fields.iter().all(|(name, value)| known.contains(name) && !value.contains(['\r', '\n']))
    );
    let said = fields
        .iter()
        .find(|(name, _)| *name == "Content-Length")
        .map(|(_, v)| v.parse::<u64>().expect("a number"));
    let inline = (response.bytes.len() - end) as u64;
    assert!(inline == 0 || response.file.is_empty());
    assert!(response.file.end <= len || response.file.is_empty());
    match said {
        None => assert!(
            response.status == Status::NotModified && inline == 0 && response.file.is_empty()
        ),
        Some(_) if head => assert!(inline == 0 && response.file.is_empty()),
        Some(n) => assert_eq!(n, inline + (response.file.end - response.file.start)),
    }
}
