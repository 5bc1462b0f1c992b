//! The HTTP/1.1 of `ackclock serve`, without I/O: bytes come in, heads of responses and ranges of
//! files come out.
//!
//! An [`Inbox`] cuts what a client sends into requests, several of which may have come at once (RFC
//! 9112 section 9.3.2). [`answer`] takes a [`Request`] and what is [`Found`] under its path, and
//! returns a [`Response`]; [`refuse`] answers what is no request that the server takes. Who drives
//! it looks paths up and sends the bytes.
//!
//! GET and HEAD only. A request with a body is answered and its connection closed, since no method
//! here has a use for one. Several ranges in one request are answered by the whole file, as RFC
//! 9110 section 14.2 allows.

mod conditions;
mod found;
mod range;
mod request;
mod response;
mod status;

pub use found::{FileInfo, Found};
pub use range::{Selection, select};
pub use request::{Inbox, MAX_FIELDS, MAX_HEAD, MAX_TARGET, Method, Refusal, Request};
pub use response::{Response, answer, head, refuse};
pub(crate) use response::{date, etag};
pub use status::Status;

#[cfg(test)]
mod tests;
