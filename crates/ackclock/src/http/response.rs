//! Responses.

use std::fmt::Write;
use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ackclock_report::escape;

use super::conditions::{Verdict, range_counts, verdict};
use super::found::{FileInfo, Found};
use super::range::{Selection, select};
use super::request::{Method, Refusal, Request};
use super::status::Status;

/// A response: what to send, then which bytes of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Its status.
    pub status: Status,
    /// The head, and the body if it does not come from a file.
    pub bytes: Vec<u8>,
    /// Bytes of the file that follow; empty if there is none.
    pub file: Range<u64>,
    /// Whether another request may follow on this connection.
    pub keep_alive: bool,
}

/// The media type of a directory's page.
const LISTING: &str = "text/html; charset=utf-8";

/// Answers a request for what was found.
pub fn answer(request: &Request, found: &Found, now: SystemTime) -> Response {
    match found {
        Found::File(file) => answer_file(request, file, now),
        // RFC 9110 section 9.3.2: what only making the page would tell may be missing.
        Found::Listing(..) if request.method == Method::Head => {
            let fields = format!("Content-Type: {LISTING}\r\n");
            let bytes = head(Status::Ok, &fields, request.keep_alive, now).into_bytes();
            let keep_alive = request.keep_alive;
            Response { status: Status::Ok, bytes, file: 0..0, keep_alive }
        }
        Found::Listing(entries, more) => {
            let page = listing(&request.path, entries, *more);
            let reply = Reply { media_type: LISTING, body: &page, ..Reply::to(request) };
            reply.response(now)
        }
        Found::Directory => {
            // RFC 3986 section 3.4: the query says with the path what is meant.
            let (path, query) = (percent_encode(&request.path), &request.query);
            let location = format!("Location: /{path}/{query}\r\n");
            short(request, Status::MovedPermanently, &location, now)
        }
        Found::Nothing(status) => short(request, *status, "", now),
    }
}

/// Answers what is no request that the server takes; the connection is to be closed.
pub fn refuse(refusal: Refusal, now: SystemTime) -> Response {
    let method = if refusal.head { Method::Head } else { Method::Get };
    let extra =
        if refusal.status == Status::MethodNotAllowed { "Allow: GET, HEAD\r\n" } else { "" };
    let body = &explanation(refusal.status);
    let reply = Reply {
        method,
        status: refusal.status,
        media_type: "text/plain",
        extra,
        body,
        keep_alive: false,
    };
    reply.response(now)
}

fn answer_file(request: &Request, file: &FileInfo, now: SystemTime) -> Response {
    let mut fields = format!("ETag: {}\r\n", file.etag);
    // RFC 9110 section 8.8.2.1: a date that lies after that of the response is replaced by it. The
    // tag still tells files apart, and conditions still hold against what the file has.
    let latest = date(now).unwrap_or(UNIX_EPOCH);
    if let Some(modified) = file.modified.and_then(date).map(|modified| modified.min(latest)) {
        let _ = write!(fields, "Last-Modified: {}\r\n", httpdate::fmt_http_date(modified));
    }
    match verdict(request, file) {
        Verdict::Proceed => {}
        Verdict::Failed => return short(request, Status::PreconditionFailed, "", now),
        Verdict::NotModified => {
            let bytes = head(Status::NotModified, &fields, request.keep_alive, now).into_bytes();
            return Response {
                status: Status::NotModified,
                bytes,
                file: 0..0,
                keep_alive: request.keep_alive,
            };
        }
    }
    // RFC 9110 section 14.2: Range is defined for GET only.
    let range = request
        .range
        .as_ref()
        .filter(|_| request.method == Method::Get && range_counts(request, file, now));
    let (status, part) = match range.map_or(Selection::Whole, |value| select(value, file.len)) {
        Selection::Whole => (Status::Ok, 0..file.len),
        Selection::Part(part) => {
            let _ = write!(
                fields,
                "Content-Range: bytes {}-{}/{}\r\n",
                part.start,
                part.end - 1,
                file.len
            );
            (Status::PartialContent, part)
        }
        Selection::Unsatisfiable => {
            let range = format!("Content-Range: bytes */{}\r\n", file.len);
            return short(request, Status::RangeNotSatisfiable, &range, now);
        }
    };
    let _ = write!(fields, "Accept-Ranges: bytes\r\nContent-Type: {}\r\n", file.media_type);
    let _ = write!(fields, "Content-Length: {}\r\n", part.end - part.start);
    let bytes = head(status, &fields, request.keep_alive, now).into_bytes();
    let part = if request.method == Method::Head { 0..0 } else { part };
    Response { status, bytes, file: part, keep_alive: request.keep_alive }
}

/// A response whose body only says what its status says.
fn short(request: &Request, status: Status, extra: &str, now: SystemTime) -> Response {
    Reply { status, extra, body: &explanation(status), ..Reply::to(request) }.response(now)
}

fn explanation(status: Status) -> String {
    format!("{} {}\n", status.code(), status.reason())
}

/// A response whose body is at hand.
struct Reply<'a> {
    method: Method,
    status: Status,
    media_type: &'a str,
    /// Further fields, each with its end of line.
    extra: &'a str,
    body: &'a str,
    keep_alive: bool,
}

impl Reply<'_> {
    /// One to a request, without a body yet.
    fn to(request: &Request) -> Reply<'static> {
        Reply {
            method: request.method,
            status: Status::Ok,
            media_type: "text/plain",
            extra: "",
            body: "",
            keep_alive: request.keep_alive,
        }
    }

    fn response(&self, now: SystemTime) -> Response {
        let &Reply { method, status, media_type, extra, body, keep_alive } = self;
        let len = body.len();
        let fields = format!("{extra}Content-Type: {media_type}\r\nContent-Length: {len}\r\n");
        let mut text = head(status, &fields, keep_alive, now);
        if method == Method::Get {
            text.push_str(body);
        }
        Response { status, bytes: text.into_bytes(), file: 0..0, keep_alive }
    }
}

/// The head of a response: status line, Date, these fields (each with its end of line), and whether
/// the connection stays.
pub fn head(status: Status, fields: &str, keep_alive: bool, now: SystemTime) -> String {
    let connection = if keep_alive { "keep-alive" } else { "close" };
    // A clock before 1970 or after 9999 gives no date that HTTP can say.
    let date = date(now).unwrap_or(UNIX_EPOCH);
    format!(
        "HTTP/1.1 {} {}\r\nDate: {}\r\n{fields}Connection: {connection}\r\n\r\n",
        status.code(),
        status.reason(),
        httpdate::fmt_http_date(date)
    )
}

/// The time, if HTTP has a date for it: from 1970 to 9999.
pub(crate) fn date(time: SystemTime) -> Option<SystemTime> {
    const YEAR_10000: u64 = 253_402_300_800;
    time.duration_since(UNIX_EPOCH).ok().filter(|since| since.as_secs() < YEAR_10000).map(|_| time)
}

/// A directory as a page.
fn listing(path: &[u8], entries: &[Vec<u8>], more: bool) -> String {
    let name = escape(&format!("/{}", String::from_utf8_lossy(path)));
    let mut page = format!(
        "<!DOCTYPE html>\n<html>\n<head>\n<title>{name}</title>\n</head>\n<body>\n<h1>{name}</h1>\n<ul>\n"
    );
    if !path.is_empty() {
        page.push_str("<li><a href=\"../\">../</a></li>\n");
    }
    for entry in entries {
        let text = escape(&String::from_utf8_lossy(entry));
        let _ = writeln!(page, "<li><a href=\"{}\">{text}</a></li>", percent_encode(entry));
    }
    page.push_str("</ul>\n");
    if more {
        page.push_str("<p>There are more.</p>\n");
    }
    page.push_str("</body>\n</html>\n");
    page
}

/// Everything but the unreserved characters of RFC 3986 section 2.3 and slashes.
fn percent_encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &b in bytes {
        if b.is_ascii_alphanumeric() || b"-._~".contains(&b) || b == b'/' {
            text.push(char::from(b));
        } else {
            let _ = write!(text, "%{b:02X}");
        }
    }
    text
}

/// The entity tag of a file: when it was changed, to the nanosecond, and its length.
pub(crate) fn etag(modified: Duration, len: u64) -> String {
    format!("\"{:x}-{len:x}\"", modified.as_nanos())
}
