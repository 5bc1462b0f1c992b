//! Requests (RFC 9112), cut into fields by `httparse`.

use ackclock_impair::percent_decode;

use super::status::Status;

/// Most bytes of a request's head.
pub const MAX_HEAD: usize = 16 * 1024;

/// Most bytes of a request target.
pub const MAX_TARGET: usize = 8 * 1024;

/// Most fields of a request.
pub const MAX_FIELDS: usize = 100;

/// Methods that RFC 9110 section 9 and RFC 5789 define and that do not read a file: known, but not
/// allowed.
const OTHER_METHODS: [&str; 7] = ["POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];

/// What a request wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The file.
    Get,
    /// What GET would answer, without the file.
    Head,
}

/// A request for a file. Fields that may appear several times are joined by commas (RFC 9110
/// section 5.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// The path, decoded, without slashes at either end: names joined by one slash each, none of
    /// them empty, `.` or `..`, and no NUL in them. Empty for the root.
    pub path: Vec<u8>,
    /// The path ended with a slash: a directory is meant.
    pub directory: bool,
    /// The query as it came, with its question mark; empty without.
    pub query: String,
    /// The connection may be used again after this request.
    pub keep_alive: bool,
    /// If-Match.
    pub if_match: Option<String>,
    /// If-None-Match.
    pub if_none_match: Option<String>,
    /// If-Modified-Since.
    pub if_modified_since: Option<String>,
    /// If-Unmodified-Since.
    pub if_unmodified_since: Option<String>,
    /// If-Range.
    pub if_range: Option<String>,
    /// Range.
    pub range: Option<String>,
}

/// Why something is no request that the server takes. The connection closes after the answer, since
/// where the next request begins may be unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What to answer.
    pub status: Status,
    /// It was a HEAD request: the answer has no body.
    pub head: bool,
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Refusal {
        Refusal { status, head: false }
    }
}

/// What a client has sent and what is not yet answered of it; at most [`MAX_HEAD`] bytes.
#[derive(Debug, Default)]
pub struct Inbox {
    bytes: Vec<u8>,
    /// How much of it is known to hold no further end of a line.
    searched: usize,
}

impl Inbox {
    /// How many bytes [`Inbox::push`] takes. Above 0 whenever [`Inbox::next_request`] returned
    /// `None`.
    pub fn room(&self) -> usize {
        MAX_HEAD - self.bytes.len()
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes bytes from the client, at most [`Inbox::room`].
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next request; `None` if more bytes are needed. After a refusal nothing else can be read.
    pub fn next_request(&mut self) -> Option<Result<Request, Refusal>> {
        // A head is parsed where a line has ended since the last try, so that single bytes do not
        // cost a parse each.
        let ended = self.bytes[self.searched..].contains(&b'\n');
        self.searched = self.bytes.len();
        let parsed = if ended { parse(&self.bytes) } else { Ok(None) };
        match parsed {
            Ok(Some((request, used))) => {
                self.bytes.drain(..used);
                if self.bytes.is_empty() {
                    // Thousands of idle connections need no buffer.
                    self.bytes = Vec::new();
                }
                self.searched = 0;
                Some(Ok(request))
            }
            Ok(None) => unfit(&self.bytes).map(|status| Err(status.into())),
            Err(refusal) => Some(Err(refusal)),
        }
    }
}

/// What is wrong with an unfinished head already, if anything is.
fn unfit(bytes: &[u8]) -> Option<Status> {
    let begin = bytes.iter().position(|&b| b != b'\r' && b != b'\n').unwrap_or(bytes.len());
    let line = bytes[begin..].split(|&b| b == b'\n').next().unwrap_or_default();
    // No method begins so: who speaks TLS to this port would wait for an answer to it.
    if line.first().is_some_and(|first| !first.is_ascii_graphic()) {
        return Some(Status::BadRequest);
    }
    // A method and a version take up to 16 bytes; the target is what makes a request line long.
    if line.len() > MAX_TARGET + 16 {
        Some(Status::UriTooLong)
    } else if bytes.len() >= MAX_HEAD {
        Some(Status::FieldsTooLarge)
    } else {
        None
    }
}

/// A request at the front of `bytes`, and how many of them are its head; `None` if it is not
/// complete.
fn parse(bytes: &[u8]) -> Result<Option<(Request, usize)>, Refusal> {
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut parsed = httparse::Request::new(&mut fields);
    let used = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(used)) => used,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Status::FieldsTooLarge.into()),
        Err(httparse::Error::Version) => {
            return match version(bytes) {
                // RFC 9110 section 2.5: a higher minor version counts as the highest that is known.
                Some((b'1', at)) if bytes[at] > b'1' => {
                    parse(&[&bytes[..at], b"1", &bytes[at + 1..]].concat())
                }
                Some(_) => Err(Status::VersionNotSupported.into()),
                None => Err(Status::BadRequest.into()),
            };
        }
        Err(_) => return Err(Status::BadRequest.into()),
    };
    let head = parsed.method == Some("HEAD");
    match request(&parsed) {
        Ok(request) => Ok(Some((request, used))),
        Err(status) => Err(Refusal { status, head }),
    }
}

/// The major version of HTTP that the request line names, and where its minor version is.
fn version(bytes: &[u8]) -> Option<(u8, usize)> {
    let begin = bytes.len() - bytes.trim_ascii_start().len();
    let line = bytes[begin..].split(|&b| b == b'\n').next()?.trim_ascii_end();
    // RFC 9112 section 3: a method, a target and a version, with one space between them.
    let parts: Vec<&[u8]> = line.split(|&b| b == b' ').collect();
    let [_, _, version] = parts[..] else { return None };
    match version {
        [b'H', b'T', b'T', b'P', b'/', major, b'.', minor]
            if major.is_ascii_digit() && minor.is_ascii_digit() =>
        {
            Some((*major, begin + line.len() - 1))
        }
        _ => None,
    }
}

fn request(parsed: &httparse::Request<'_, '_>) -> Result<Request, Status> {
    let http_1_0 = parsed.version == Some(0);
    let target = parsed.path.unwrap_or_default();
    if target.len() > MAX_TARGET {
        return Err(Status::UriTooLong);
    }
    let fields = Fields(parsed.headers);
    // RFC 9112 section 3.2: a request of HTTP/1.1 has exactly one Host, and that is a valid one.
    let hosts = fields.all("host").count();
    if hosts > 1 || (hosts == 0 && !http_1_0) || !fields.all("host").all(is_host) {
        return Err(Status::BadRequest);
    }
    let body = has_body(&fields, http_1_0)?;
    let method = match parsed.method.unwrap_or_default() {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        other if OTHER_METHODS.contains(&other) => return Err(Status::MethodNotAllowed),
        _ => return Err(Status::NotImplemented),
    };
    let (path, query) = path_of(target)?;
    let (path, directory) = decode_path(path)?;
    let keep_alive = if http_1_0 { fields.connection_has("keep-alive") } else { true };
    Ok(Request {
        method,
        path,
        directory,
        query: query.into(),
        keep_alive: keep_alive && !fields.connection_has("close") && !body,
        if_match: fields.joined("if-match"),
        if_none_match: fields.joined("if-none-match"),
        if_modified_since: fields.joined("if-modified-since"),
        if_unmodified_since: fields.joined("if-unmodified-since"),
        if_range: fields.joined("if-range"),
        range: fields.joined("range"),
    })
}

/// Whether a body follows the head (RFC 9112 section 6.3). What could be read in two ways is
/// refused (section 11.2).
fn has_body(fields: &Fields<'_, '_>, http_1_0: bool) -> Result<bool, Status> {
    let mut length = None;
    for value in fields.all("content-length").flat_map(|v| v.split(|&b| b == b',')) {
        let value = value.trim_ascii();
        let digits = std::str::from_utf8(value)
            .ok()
            .filter(|v| !v.is_empty() && v.bytes().all(|b| b.is_ascii_digit()));
        let this: u64 = digits.and_then(|v| v.parse().ok()).ok_or(Status::BadRequest)?;
        if length.is_some_and(|l| l != this) {
            return Err(Status::BadRequest);
        }
        length = Some(this);
    }
    match fields.joined("transfer-encoding") {
        None => Ok(length.is_some_and(|l| l > 0)),
        Some(_) if length.is_some() || http_1_0 => Err(Status::BadRequest),
        Some(coding) if coding.eq_ignore_ascii_case("chunked") => Ok(true),
        Some(_) => Err(Status::NotImplemented),
    }
}

/// RFC 3986 sections 3.2.2 and 3.2.3: a name or an address, which may be empty, and maybe a port.
fn is_host(value: &[u8]) -> bool {
    let digits = value.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let host = value[..value.len() - digits].strip_suffix(b":").unwrap_or(value);
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(b);
    match host {
        [b'[', address @ .., b']'] => address.iter().all(|b| plain(b) || *b == b':'),
        name => name.iter().all(|b| plain(b) || *b == b'%') && percent_decode(name).is_some(),
    }
}

/// The path and the query of a request target in origin-form or absolute-form (RFC 9112 section
/// 3.2).
fn path_of(target: &str) -> Result<(&str, &str), Status> {
    let path = if target.starts_with('/') {
        target
    } else {
        let (scheme, rest) = target.split_once("://").ok_or(Status::BadRequest)?;
        if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
            return Err(Status::BadRequest);
        }
        &rest[rest.find(['/', '?']).unwrap_or(rest.len())..]
    };
    if path.contains('#') {
        return Err(Status::BadRequest);
    }
    Ok(path.split_at(path.find('?').unwrap_or(path.len())))
}

/// The names in a path, and whether it ends with a slash.
fn decode_path(path: &str) -> Result<(Vec<u8>, bool), Status> {
    let mut names = Vec::new();
    for name in path.split('/').filter(|name| !name.is_empty()) {
        let name = percent_decode(name.as_bytes()).ok_or(Status::BadRequest)?;
        // Clients take dots out themselves (RFC 3986 section 5.2.4); who sends them tries to get
        // out of the directory.
        if name == b"." || name == b".." || name.contains(&0) {
            return Err(Status::BadRequest);
        }
        if name.contains(&b'/') {
            return Err(Status::NotFound);
        }
        names.push(name);
    }
    Ok((names.join(&b'/'), path.is_empty() || path.ends_with('/')))
}

struct Fields<'h, 'b>(&'h [httparse::Header<'b>]);

impl<'b> Fields<'_, 'b> {
    /// The values of all fields with this name, in order.
    fn all(&self, name: &str) -> impl Iterator<Item = &'b [u8]> {
        self.0
            .iter()
            .filter(move |field| field.name.eq_ignore_ascii_case(name))
            .map(|field| field.value)
    }

    fn joined(&self, name: &str) -> Option<String> {
        let values: Vec<_> = self.all(name).map(String::from_utf8_lossy).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// Whether `Connection` has this token.
    fn connection_has(&self, token: &str) -> bool {
        let mut tokens = self.all("connection").flat_map(|v| v.split(|&b| b == b','));
        tokens.any(|t| t.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
    }
}
