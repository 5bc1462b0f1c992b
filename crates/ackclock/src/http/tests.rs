//! Exact bytes: requests in, responses out.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::*;

/// Sun, 06 Nov 1994 08:49:37 GMT, the date of RFC 9110 section 5.6.7.
const MODIFIED: u64 = 784_111_777;

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(MODIFIED + 3600)
}

fn file(len: u64) -> Found {
    let modified = Duration::new(MODIFIED, 5);
    Found::File(FileInfo {
        len,
        modified: Some(UNIX_EPOCH + modified),
        etag: response::etag(modified, len),
        media_type: "text/html",
    })
}

const ETAG_1000: &str = "\"ae1b981bc490a05-3e8\"";

/// All that an inbox makes of these bytes.
fn requests(bytes: &[u8]) -> Vec<Result<Request, Refusal>> {
    let mut inbox = Inbox::default();
    let mut all = Vec::new();
    let mut rest = bytes;
    loop {
        while let Some(next) = inbox.next_request() {
            let refused = next.is_err();
            all.push(next);
            if refused {
                return all;
            }
        }
        if rest.is_empty() {
            return all;
        }
        let (now, later) = rest.split_at(inbox.room().min(rest.len()));
        inbox.push(now);
        rest = later;
    }
}

fn request(text: &str) -> Request {
    let all = requests(text.as_bytes());
    assert_eq!(all.len(), 1, "{text:?}: {all:?}");
    all[0].clone().unwrap()
}

fn get(fields: &str) -> Request {
    request(&format!("GET /file HTTP/1.1\r\nHost: h\r\n{fields}\r\n"))
}

fn refused(text: &str) -> (u16, bool) {
    let all = requests(text.as_bytes());
    let last = all.last().unwrap_or_else(|| panic!("{text:?}: nothing")).clone().unwrap_err();
    (last.status.code(), last.head)
}

/// Status code, the field lines in order without Date, the body, the range of the file, and whether
/// the connection stays.
fn respond(
    request: &Request,
    found: &Found,
) -> (u16, Vec<String>, String, std::ops::Range<u64>, bool) {
    parts(answer(request, found, now()))
}

fn parts(response: Response) -> (u16, Vec<String>, String, std::ops::Range<u64>, bool) {
    let text = String::from_utf8(response.bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let mut lines = head.split("\r\n").map(String::from);
    let status = lines.next().unwrap();
    assert!(status.starts_with(&format!("HTTP/1.1 {} ", response.status.code())), "{status}");
    assert_eq!(lines.next().unwrap(), "Date: Sun, 06 Nov 1994 09:49:37 GMT");
    let mut fields: Vec<String> = lines.collect();
    let connection =
        if response.keep_alive { "Connection: keep-alive" } else { "Connection: close" };
    assert_eq!(fields.pop().unwrap(), connection);
    (response.status.code(), fields, body.to_string(), response.file, response.keep_alive)
}

#[test]
fn a_whole_file() {
    let response = answer(&get(""), &file(1000), now());
    let expected = format!(
        "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 09:49:37 GMT\r\nETag: {ETAG_1000}\r\n\
         Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nAccept-Ranges: bytes\r\nContent-Type: \
         text/html\r\n\
         Content-Length: 1000\r\nConnection: keep-alive\r\n\r\n"
    );
    assert_eq!(String::from_utf8(response.bytes).unwrap(), expected);
    assert_eq!((response.file, response.keep_alive), (0..1000, true));
}

#[test]
fn head_has_the_same_head_and_no_body() {
    let head = request("HEAD /file HTTP/1.1\r\nHost: h\r\n\r\n");
    let (with, without) = (answer(&get(""), &file(1000), now()), answer(&head, &file(1000), now()));
    assert_eq!((with.bytes, without.file), (without.bytes, 0..0));
    let missing = Found::Nothing(Status::NotFound);
    assert_eq!(respond(&get(""), &missing).2, "404 Not Found\n");
    assert_eq!(respond(&head, &missing).2, "");
    assert_eq!(respond(&head, &missing).1, respond(&get(""), &missing).1);
}

#[test]
fn keep_alive_is_what_the_version_and_the_client_say() {
    for (text, keep_alive) in [
        ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", true),
        ("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", false),
        ("GET / HTTP/1.1\r\nHost: h\r\nConnection: TE, Close\r\n\r\n", false),
        ("GET / HTTP/1.1\r\nHost: h\r\nConnection: closed\r\n\r\n", true),
        ("GET / HTTP/1.0\r\n\r\n", false),
        ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true),
        ("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", false),
        // A body that nobody wants: where the next request begins does not matter any more.
        ("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n", false),
        ("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", true),
        ("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 0, 0\r\n\r\n", true),
        ("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n", false),
    ] {
        assert_eq!(request(text).keep_alive, keep_alive, "{text:?}");
    }
}

#[test]
fn a_later_minor_version_is_taken_for_the_latest_known() {
    let text = "\r\nHEAD /a HTTP/1.7\r\nHost: h\r\n\r\n";
    assert_eq!(request(text), request(&text.replace("1.7", "1.1")));
    assert_eq!(refused("GET / HTTP/1.2\n\n"), (400, false));
}

#[test]
fn a_host_is_a_name_or_an_address() {
    let text = |host: &str| format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
    for host in ["", "h", "h:", "h:80", "10.0.0.1", "[::1]", "[2001:db8::1]:80", "a_b", "%C3%A4"] {
        assert!(request(&text(host)).keep_alive, "{host}");
    }
    for host in ["a b", "h:8x", "h:80:80", "::1", "[::1", "a/b", "a@b", "%4", "a,b c", "\u{e4}"] {
        assert_eq!(refused(&text(host)), (400, false), "{host}");
    }
}

#[test]
fn pipelined_requests_come_out_in_order_however_they_are_cut() {
    let text = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n\r\nHEAD /b/ HTTP/1.1\nHost: h\n\nGET /c \
        HTTP/1.0\r\n\r\nGET /d";
    let whole = requests(text.as_bytes());
    let names: Vec<_> = whole.iter().map(|r| r.as_ref().unwrap().path.clone()).collect();
    assert_eq!(names, [b"a", b"b", b"c"]);
    let mut inbox = Inbox::default();
    let mut single = Vec::new();
    for byte in text.bytes() {
        inbox.push(&[byte]);
        single.extend(inbox.next_request());
        assert_eq!(inbox.next_request(), None);
    }
    assert_eq!((single, inbox.is_empty()), (whole, false));
}

#[test]
fn paths_are_decoded_and_stay_inside() {
    let path = |target: &str| {
        let r = request(&format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n"));
        (String::from_utf8(r.path).unwrap(), r.directory)
    };
    let is = |p: &str, d| (p.to_string(), d);
    assert_eq!(path("/"), is("", true));
    assert_eq!(path("/a/b%20c?d=/e"), is("a/b c", false));
    assert_eq!(path("//a//b/"), is("a/b", true));
    assert_eq!(path("/%C3%A4%2e%2E%2e"), is("ä...", false));
    assert_eq!(path("http://h:80/a"), is("a", false));
    assert_eq!(path("HTTPS://h"), is("", true));
    assert_eq!(path("http://h?x/y"), is("", true));
    for (target, status) in [
        ("/../etc/passwd", 400),
        ("/a/%2e%2E/b", 400),
        ("/.%2e", 400),
        ("/a/./b", 400),
        ("/a%00b", 400),
        ("/%", 400),
        ("/%4", 400),
        ("/%g0", 400),
        ("/%+1", 400),
        ("/a#b", 400),
        ("*", 400),
        ("a", 400),
        ("ftp://h/a", 400),
        ("/a%2Fb", 404),
    ] {
        assert_eq!(
            refused(&format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n")),
            (status, false),
            "{target}"
        );
        assert_eq!(
            refused(&format!("HEAD {target} HTTP/1.1\r\nHost: h\r\n\r\n")),
            (status, true),
            "{target}"
        );
    }
}

#[test]
fn what_is_no_request_is_refused_as_what_it_is() {
    for (text, status) in [
        ("\u{16}\u{3}\u{1}\n", 400),
        ("GET /\r\n", 400),
        ("GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", 400),
        ("GET / HTTP/1.0\r\nHost: h\r\nHost: i\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 2\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
        (
            "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            400,
        ),
        ("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n", 405),
        ("OPTIONS / HTTP/1.1\r\nHost: h\r\n\r\n", 405),
        ("CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n", 405),
        ("get / HTTP/1.1\r\nHost: h\r\n\r\n", 501),
        ("BREW / HTTP/1.1\r\nHost: h\r\n\r\n", 501),
        ("GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505),
        ("GET / HTTP/0.9\r\nHost: h\r\n\r\n", 505),
        ("GET / HTCPCP/1.0\r\nHost: h\r\n\r\n", 400),
        ("GET / HTTP/1.1x\r\nHost: h\r\n\r\n", 400),
        ("GET /  HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        ("GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        // The first bytes of TLS.
        ("\x16\x03\x01\x02", 400),
    ] {
        assert_eq!(refused(text), (status, false), "{text:?}");
    }
}

#[test]
fn a_405_names_the_methods_and_every_refusal_closes() {
    let response = refuse(Refusal { status: Status::MethodNotAllowed, head: false }, now());
    let fields = ["Allow: GET, HEAD", "Content-Type: text/plain", "Content-Length: 23"]
        .map(String::from)
        .to_vec();
    assert_eq!(parts(response), (405, fields, "405 Method Not Allowed\n".into(), 0..0, false));
    let response = refuse(Refusal { status: Status::BadRequest, head: true }, now());
    let fields = ["Content-Type: text/plain", "Content-Length: 16"].map(String::from).to_vec();
    assert_eq!(parts(response), (400, fields, String::new(), 0..0, false));
}

#[test]
fn limits_hold_at_the_byte() {
    let target = |len: usize| format!("GET /{} HTTP/1.1\r\nHost: h\r\n\r\n", "a".repeat(len - 1));
    assert_eq!(request(&target(MAX_TARGET)).path.len(), MAX_TARGET - 1);
    assert_eq!(refused(&target(MAX_TARGET + 1)).0, 414);
    // A line without an end is too long before it is all there.
    let endless = |len: usize| format!("\r\nGET /{}", "a".repeat(len));
    assert_eq!(requests(endless(MAX_TARGET + 11).as_bytes()), []);
    assert_eq!(refused(&endless(MAX_TARGET + 12)).0, 414);

    let fields =
        |count: usize| format!("GET / HTTP/1.1\r\nHost: h\r\n{}\r\n", "A: b\r\n".repeat(count - 1));
    assert!(requests(fields(MAX_FIELDS).as_bytes())[0].is_ok());
    assert_eq!(refused(&fields(MAX_FIELDS + 1)).0, 431);

    // 31 bytes and the field's value: a head that fits exactly, and one that is a byte too long.
    let head =
        |value: usize| format!("GET / HTTP/1.1\r\nHost: h\r\nA: {}\r\n\r\n", "b".repeat(value));
    assert_eq!(head(0).len(), 32);
    assert!(requests(head(MAX_HEAD - 32).as_bytes())[0].is_ok());
    assert_eq!(refused(&head(MAX_HEAD - 31)).0, 431);
    assert_eq!(refused(&"\r\n".repeat(MAX_HEAD)).0, 431);
}

#[test]
fn ranges_select_bytes() {
    let part = |range| Selection::Part(range);
    for (value, len, selection) in [
        ("bytes=0-499", 1000, part(0..500)),
        ("bytes=500-999", 1000, part(500..1000)),
        ("bytes=999-999", 1000, part(999..1000)),
        ("bytes=500-", 1000, part(500..1000)),
        ("bytes=-500", 1000, part(500..1000)),
        ("bytes=-1", 1000, part(999..1000)),
        ("bytes=-1001", 1000, part(0..1000)),
        ("bytes=-99999999999999999999", 1000, part(0..1000)),
        ("bytes=0-99999999999999999999", 1000, part(0..1000)),
        ("bytes=0-18446744073709551615", 1000, part(0..1000)),
        ("Bytes = , 1-1 ,", 1000, part(1..2)),
        ("bytes=1000-", 1000, Selection::Unsatisfiable),
        ("bytes=1000-1000", 1000, Selection::Unsatisfiable),
        ("bytes=99999999999999999999-", 1000, Selection::Unsatisfiable),
        ("bytes=-0", 1000, Selection::Unsatisfiable),
        ("bytes=0-", 0, Selection::Unsatisfiable),
        ("bytes=-5", 0, Selection::Whole),
        ("bytes=0-0,2-2", 1000, Selection::Whole),
        ("bytes=5-4", 1000, Selection::Whole),
        ("bytes=-", 1000, Selection::Whole),
        ("bytes=a-b", 1000, Selection::Whole),
        ("bytes=+1-2", 1000, Selection::Whole),
        ("bytes=--1", 1000, Selection::Whole),
        ("bytes=", 1000, Selection::Whole),
        ("bytes 0-1", 1000, Selection::Whole),
        ("lines=0-1", 1000, Selection::Whole),
    ] {
        assert_eq!(select(value, len), selection, "{value} of {len}");
    }
}

#[test]
fn a_part_of_a_file() {
    let (status, fields, _, part, _) = respond(&get("Range: bytes=-300\r\n"), &file(1000));
    assert_eq!((status, part), (206, 700..1000));
    assert_eq!(fields[2], "Content-Range: bytes 700-999/1000");
    assert_eq!(fields[5], "Content-Length: 300");

    let behind = respond(&get("Range: bytes=1000-\r\n"), &file(1000));
    let fields = ["Content-Range: bytes */1000", "Content-Type: text/plain", "Content-Length: 26"]
        .map(String::from);
    assert_eq!(behind, (416, fields.to_vec(), "416 Range Not Satisfiable\n".into(), 0..0, true));

    // HEAD has no ranges (RFC 9110 section 14.2), and several ranges bring the whole file.
    let head = request("HEAD /file HTTP/1.1\r\nHost: h\r\nRange: bytes=0-1\r\n\r\n");
    assert_eq!(respond(&head, &file(1000)).0, 200);
    assert_eq!(respond(&get("Range: bytes=0-0, -1\r\n"), &file(1000)).3, 0..1000);
}

#[test]
fn if_range_wants_the_same_file() {
    let part = |validator: &str| {
        respond(&get(&format!("Range: bytes=0-9\r\nIf-Range: {validator}\r\n")), &file(1000)).0
    };
    assert_eq!(part(ETAG_1000), 206);
    assert_eq!(part(&format!("W/{ETAG_1000}")), 200);
    assert_eq!(part("\"other\""), 200);
    assert_eq!(part("Sun, 06 Nov 1994 08:49:37 GMT"), 206);
    assert_eq!(part("Sun, 06 Nov 1994 08:49:38 GMT"), 200);
    assert_eq!(part("Sun, 06 Nov 1994 08:49:36 GMT"), 200);
    assert_eq!(part("yesterday"), 200);

    // Within the second in which the file was changed its date says too little.
    let request = get("Range: bytes=0-9\r\nIf-Range: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
    let at = |nanos: u32| {
        answer(&request, &file(1000), UNIX_EPOCH + Duration::new(MODIFIED, 999_999_999 + nanos))
            .status
    };
    assert_eq!((at(0), at(1)), (Status::Ok, Status::PartialContent));
}

#[test]
fn conditions_in_their_order() {
    let status = |fields: &str| respond(&get(fields), &file(1000)).0;
    let tag = |name: &str, value: &str| status(&format!("{name}: {value}\r\n"));
    for (value, code) in [
        (ETAG_1000, 304),
        (&format!("W/{ETAG_1000}"), 304),
        (&format!("\"a\", W/\"b\",,{ETAG_1000}"), 304),
        ("*", 304),
        ("\"a\"", 200),
        ("ae1b981bc490a05-3e8", 200),
        ("\"unended", 200),
    ] {
        assert_eq!(tag("If-None-Match", value), code, "{value}");
    }
    for (value, code) in [
        (ETAG_1000, 200),
        ("*", 200),
        ("\"a\"", 412),
        (&format!("W/{ETAG_1000}"), 412),
        ("nonsense", 412),
    ] {
        assert_eq!(tag("If-Match", value), code, "{value}");
    }
    let [before, same, after] = [36, 37, 38].map(|s| format!("Sun, 06 Nov 1994 08:49:{s} GMT"));
    for (date, modified, unmodified) in [(&before, 200, 412), (&same, 304, 200), (&after, 304, 200)]
    {
        assert_eq!(tag("If-Modified-Since", date), modified, "{date}");
        assert_eq!(tag("If-Unmodified-Since", date), unmodified, "{date}");
    }
    // The two older formats of a date, and what is none.
    assert_eq!(tag("If-Modified-Since", "Sunday, 06-Nov-94 08:49:37 GMT"), 304);
    assert_eq!(tag("If-Modified-Since", "Sun Nov  6 08:49:37 1994"), 304);
    assert_eq!(tag("If-Modified-Since", "today"), 200);
    assert_eq!(tag("If-Unmodified-Since", "today"), 200);
    // RFC 9110 section 13.2.2: tags go before dates, If-Match before If-None-Match, conditions
    // before ranges.
    assert_eq!(status(&format!("If-None-Match: \"a\"\r\nIf-Modified-Since: {after}\r\n")), 200);
    assert_eq!(status(&format!("If-Match: {ETAG_1000}\r\nIf-Unmodified-Since: {before}\r\n")), 200);
    assert_eq!(status("If-Match: \"a\"\r\nIf-None-Match: *\r\n"), 412);
    assert_eq!(status("If-None-Match: *\r\nRange: bytes=0-1\r\n"), 304);
}

#[test]
fn a_304_has_no_body_and_names_the_file() {
    let fields = [&format!("ETag: {ETAG_1000}"), "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"]
        .map(String::from);
    let response = respond(&get("If-None-Match: *\r\n"), &file(1000));
    assert_eq!(response, (304, fields.to_vec(), String::new(), 0..0, true));
}

#[test]
fn a_directory_leads_to_its_slash() {
    let request = request("GET //evil.example/%0d%0aX:%20y HTTP/1.1\r\nHost: h\r\n\r\n");
    let (status, fields, ..) = respond(&request, &Found::Directory);
    assert_eq!((status, fields[0].as_str()), (301, "Location: /evil.example/%0D%0AX%3A%20y/"));
    for (target, location) in [
        ("/sub?x=1&y=%0d?/z", "Location: /sub/?x=1&y=%0d?/z"),
        ("http://h/sub?", "Location: /sub/?"),
    ] {
        let request = self::request(&format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n"));
        let (_, fields, ..) = respond(&request, &Found::Directory);
        assert_eq!(fields[0], location);
    }
}

#[test]
fn a_listing_is_escaped() {
    const LISTING: &str = "Content-Type: text/html; charset=utf-8";
    let entries =
        vec![b"<b>&\"'".to_vec(), b"javascript:x".to_vec(), b"sub/".to_vec(), b"\xff?#%".to_vec()];
    let page = "<!DOCTYPE \
        html>\n<html>\n<head>\n<title>/a&lt;b</title>\n</head>\n<body>\n<h1>/a&lt;b</h1>\n<ul>\n\
        <li><a href=\"../\">../</a></li>\n\
        <li><a href=\"%3Cb%3E%26%22%27\">&lt;b&gt;&amp;&quot;&#39;</a></li>\n\
        <li><a href=\"javascript%3Ax\">javascript:x</a></li>\n\
        <li><a href=\"sub/\">sub/</a></li>\n\
        <li><a href=\"%FF%3F%23%25\">\u{fffd}?#%</a></li>\n\
        </ul>\n<p>There are more.</p>\n</body>\n</html>\n";
    let request = request("GET /a%3Cb/ HTTP/1.1\r\nHost: h\r\n\r\n");
    let (status, fields, body, ..) = respond(&request, &Found::Listing(entries, true));
    assert_eq!((status, body.as_str()), (200, page));
    let length = format!("Content-Length: {}", page.len());
    assert_eq!(fields, [LISTING, length.as_str()]);
    let head = self::request("HEAD /a%3Cb/ HTTP/1.1\r\nHost: h\r\n\r\n");
    let (status, fields, body, ..) = respond(&head, &Found::Listing(Vec::new(), false));
    assert_eq!((status, fields.concat().as_str(), body.as_str()), (200, LISTING, ""));
}

/// RFC 9110 section 8.8.2.1. The file that has a date to come has changed since the response.
#[test]
fn no_file_was_changed_after_the_response() {
    let Found::File(file) = file(1000) else { panic!() };
    let later = FileInfo { modified: Some(now() + Duration::from_secs(60)), ..file };
    let date = "Sun, 06 Nov 1994 09:49:37 GMT";
    let text = answer(&get(""), &Found::File(later.clone()), now()).bytes;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains(&format!("\r\nLast-Modified: {date}\r\n")), "{text}");
    let again = get(&format!("If-Modified-Since: {date}\r\n"));
    assert_eq!(answer(&again, &Found::File(later), now()).status, Status::Ok);
}

#[test]
fn no_clock_is_too_far_off() {
    let odd =
        [UNIX_EPOCH - Duration::from_secs(1), UNIX_EPOCH + Duration::from_secs(253_402_300_800)];
    for time in odd {
        let found = Found::File(FileInfo {
            len: 1,
            modified: Some(time),
            etag: "\"a\"".into(),
            media_type: "a/b",
        });
        let text = String::from_utf8(answer(&get(""), &found, time).bytes).unwrap();
        assert!(
            text.contains(
                "\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nETag: \"a\"\r\nAccept-Ranges"
            ),
            "{text}"
        );
    }
}
