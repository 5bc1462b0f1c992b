//! Status codes.

/// Status codes (RFC 9110 section 15, RFC 6585).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Status {
    /// The whole file.
    Ok = 200,
    /// A part of it.
    PartialContent = 206,
    /// A directory without its slash.
    MovedPermanently = 301,
    /// The client has it already.
    NotModified = 304,
    /// This is no HTTP.
    BadRequest = 400,
    /// The file may not be read.
    Forbidden = 403,
    /// There is none.
    NotFound = 404,
    /// A known method other than GET and HEAD.
    MethodNotAllowed = 405,
    /// The request did not come to its end in time.
    RequestTimeout = 408,
    /// If-Match or If-Unmodified-Since does not hold.
    PreconditionFailed = 412,
    /// The target is longer than [`MAX_TARGET`](super::MAX_TARGET).
    UriTooLong = 414,
    /// The range lies behind the end of the file.
    RangeNotSatisfiable = 416,
    /// Too many fields, or too long ones.
    FieldsTooLarge = 431,
    /// Reading the file failed.
    InternalServerError = 500,
    /// An unknown method or transfer coding.
    NotImplemented = 501,
    /// Too many files are open.
    ServiceUnavailable = 503,
    /// Not HTTP/1.1 or HTTP/1.0.
    VersionNotSupported = 505,
}

impl Status {
    /// The code.
    pub fn code(self) -> u16 {
        self as u16
    }

    pub(super) fn reason(self) -> &'static str {
        match self {
            Status::Ok => "OK",
            Status::PartialContent => "Partial Content",
            Status::MovedPermanently => "Moved Permanently",
            Status::NotModified => "Not Modified",
            Status::BadRequest => "Bad Request",
            Status::Forbidden => "Forbidden",
            Status::NotFound => "Not Found",
            Status::MethodNotAllowed => "Method Not Allowed",
            Status::RequestTimeout => "Request Timeout",
            Status::PreconditionFailed => "Precondition Failed",
            Status::UriTooLong => "URI Too Long",
            Status::RangeNotSatisfiable => "Range Not Satisfiable",
            Status::FieldsTooLarge => "Request Header Fields Too Large",
            Status::InternalServerError => "Internal Server Error",
            Status::NotImplemented => "Not Implemented",
            Status::ServiceUnavailable => "Service Unavailable",
            Status::VersionNotSupported => "HTTP Version Not Supported",
        }
    }
}
