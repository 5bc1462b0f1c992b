//! Conditional requests (RFC 9110 section 13).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::found::FileInfo;
use super::request::Request;

/// What the conditions of a request come to, in the order of RFC 9110 section 13.2.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Answer as without conditions.
    Proceed,
    /// The client has it already.
    NotModified,
    /// The file is not the one that the client means.
    Failed,
}

pub(super) fn verdict(request: &Request, file: &FileInfo) -> Verdict {
    match (&request.if_match, &request.if_unmodified_since) {
        (Some(tags), _) if !names(tags, &file.etag, true) => return Verdict::Failed,
        (None, Some(date)) if modified_since(file, date) == Some(true) => return Verdict::Failed,
        _ => {}
    }
    let not_modified = match (&request.if_none_match, &request.if_modified_since) {
        (Some(tags), _) => names(tags, &file.etag, false),
        (None, Some(date)) => modified_since(file, date) == Some(false),
        _ => false,
    };
    if not_modified { Verdict::NotModified } else { Verdict::Proceed }
}

/// Whether If-Range lets the range count (RFC 9110 section 13.1.5). A date counts only if it is
/// exactly the file's and that second was over by `now`: a file that changes twice in a second
/// shows it in the tag alone.
pub(super) fn range_counts(request: &Request, file: &FileInfo, now: SystemTime) -> bool {
    let Some(validator) = &request.if_range else { return true };
    if validator.contains('"') {
        return names(validator, &file.etag, true);
    }
    let (Ok(date), Some(modified)) = (httpdate::parse_http_date(validator), file.modified) else {
        return false;
    };
    whole_seconds(modified) == date && now >= date + Duration::from_secs(1)
}

/// Whether a list of entity tags, or `*`, names ours. By the strong comparison a weak tag names
/// nothing (section 8.8.3.2).
fn names(list: &str, etag: &str, strong: bool) -> bool {
    if list.trim() == "*" {
        return true;
    }
    let mut rest = list;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let weak = rest.strip_prefix("W/");
        let Some((tag, after)) =
            weak.unwrap_or(rest).strip_prefix('"').and_then(|r| r.split_once('"'))
        else {
            return false;
        };
        if tag == etag.trim_matches('"') && !(strong && weak.is_some()) {
            return true;
        }
        rest = after;
    }
}

/// `None` if this is no date, or the file has none: then the condition does not count (sections
/// 13.1.3, 13.1.4).
fn modified_since(file: &FileInfo, date: &str) -> Option<bool> {
    let date = httpdate::parse_http_date(date).ok()?;
    Some(whole_seconds(file.modified?) > date)
}

fn whole_seconds(time: SystemTime) -> SystemTime {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    UNIX_EPOCH + Duration::from_secs(since.as_secs())
}
