//! What a request asks for.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ackclock_tcp::Registry;
use serde_json::{Value, json};

use super::wanted::Changes;
use super::{Body, Condition, NewProxy, Object, Problem, Proxies, Reply, read};
use crate::names;
use crate::percent::percent_decode;

const PATHS: &str = "/version, /metrics, /proxies, /proxies/NAME, /proxies/NAME/conditions, \
                     /proxies/NAME/conditions/NAME, /populate, /reset";

/// Does what is asked for. `registry` has the strategies that scenarios may name.
pub(crate) fn answer(
    proxies: &Mutex<Proxies>,
    registry: &Registry,
    method: &str,
    path: &str,
    body: &[u8],
) -> Reply {
    // The server leaves the body out (RFC 9110 section 9.3.2).
    let method = if method == "HEAD" { "GET" } else { method };
    Asked { proxies, registry, method, body }.route(path).unwrap_or_else(Problem::reply)
}

/// A request, and what it is about.
struct Asked<'a> {
    proxies: &'a Mutex<Proxies>,
    registry: &'a Registry,
    method: &'a str,
    body: &'a [u8],
}

/// Nothing where the path or its method is not there.
type Found = Result<Option<Reply>, Problem>;

impl Asked<'_> {
    fn route(&self, path: &str) -> Result<Reply, Problem> {
        let decoded = parts(path).ok_or_else(|| {
            let text =
                format!("{path}: `%` stands before two hexadecimal digits, for bytes of UTF-8");
            Problem::new(400, text)
        })?;
        let parts: Vec<&str> = decoded.iter().map(String::as_str).collect();
        let found = match parts.as_slice() {
            ["proxies", proxy, "conditions", rest @ ..] => self.of_conditions(proxy, rest),
            ["proxies", rest @ ..] => self.of_proxies(rest),
            all => self.of_all(all),
        };
        found?.ok_or_else(|| self.not_there(path, &parts))
    }

    fn lock(&self) -> MutexGuard<'_, Proxies> {
        self.proxies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of_all(&self, path: &[&str]) -> Found {
        match (path, self.method) {
            (["version"], "GET") => ok(json!({ "version": env!("CARGO_PKG_VERSION") })),
            (["metrics"], "GET") => Ok(Some((200, Body::Text(self.lock().metrics())))),
            (["populate"], "POST") => {
                let new: Vec<Object<NewProxy>> = read(self.body)?;
                let new: Vec<_> = new.into_iter().enumerate().collect();
                let found = names::each(new, |(index, Object(new))| {
                    new.found(self.registry)
                        .map_err(|problem| problem.within(&format!("[{index}].")))
                });
                let found = found.into_iter().collect::<Result<_, _>>()?;
                made(self.lock().populate(found)?)
            }
            (["reset"], "POST") => self.lock().reset().map(gone),
            _ => Ok(None),
        }
    }

    fn of_proxies(&self, path: &[&str]) -> Found {
        match (path, self.method) {
            ([], "GET") => ok(self.lock().show()),
            ([], "POST") => {
                // Not under the lock, since names may take long to look up, and scenarios to read.
                let wanted = read::<Object<NewProxy>>(self.body)?.0.found(self.registry)?;
                made(self.lock().add(wanted)?)
            }
            ([name], "GET") => ok(self.lock().show_one(name)?),
            ([name], "POST" | "PATCH") => {
                let changes = read::<Object<Changes>>(self.body)?.0;
                stays(name, changes.name.as_deref())?;
                let changes = changes.found()?;
                ok(self.lock().change(name, changes)?)
            }
            ([name], "DELETE") => self.lock().remove(name).map(gone),
            _ => Ok(None),
        }
    }

    fn of_conditions(&self, proxy: &str, path: &[&str]) -> Found {
        match (path, self.method) {
            ([], "GET") => ok(self.lock().conditions(proxy)?),
            ([], "POST") => {
                let Object(condition) = read::<Object<Condition>>(self.body)?;
                let links = condition.links(None, self.registry)?;
                made(self.lock().add_condition(proxy, condition, &links)?)
            }
            ([name], "GET") => ok(self.lock().condition(proxy, name)?),
            ([name], "POST" | "PATCH") => {
                // Until nobody else has changed it meanwhile.
                loop {
                    let (before, its_links) = self.lock().keys(proxy, name)?;
                    let after = before.patched(self.body)?;
                    stays(name, Some(after.name.as_deref().unwrap_or_default()))?;
                    let links = after.links_after(&its_links, self.registry)?;
                    let changed =
                        self.lock().change_condition(proxy, name, &before, after, &links)?;
                    if let Some(shown) = changed {
                        return ok(shown);
                    }
                }
            }
            ([name], "DELETE") => self.lock().remove_condition(proxy, name).map(gone),
            _ => Ok(None),
        }
    }

    fn not_there(&self, path: &str, parts: &[&str]) -> Problem {
        if let Some(methods) = methods(parts) {
            let text = format!("{} does nothing here; there is {methods}", self.method);
            return Problem::new(405, text);
        }
        let toxics = parts.contains(&"toxics") || parts.contains(&"toxic");
        let hint = if toxics { "conditions take the place of toxics: " } else { "" };
        Problem::new(404, format!("there is no {path}; {hint}there is {PATHS}"))
    }
}

fn ok(value: Value) -> Found {
    Ok(Some((200, Body::Json(value))))
}

fn made(value: Value) -> Found {
    Ok(Some((201, Body::Json(value))))
}

fn gone((): ()) -> Option<Reply> {
    Some((204, Body::None))
}

/// Refuses another name.
fn stays(name: &str, wanted: Option<&str>) -> Result<(), Problem> {
    match wanted.is_none_or(|wanted| wanted == name) {
        true => Ok(()),
        false => Err(Problem::new(400, format!("name: it stays `{name}`; leave the key out"))),
    }
}

/// The steps of a path, decoded (RFC 3986 section 2.1), so that an encoded `/` divides none. `None`
/// where the encoding is wrong.
fn parts(path: &str) -> Option<Vec<String>> {
    let decoded = |step: &str| String::from_utf8(percent_decode(step.as_bytes())?).ok();
    path.trim_matches('/').split('/').map(decoded).collect()
}

/// The methods that a path has, if there is one.
pub(super) fn allowed(path: &str) -> Option<&'static str> {
    let parts = parts(path)?;
    methods(&parts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The methods of a path that there is.
fn methods(parts: &[&str]) -> Option<&'static str> {
    match parts {
        ["version"] | ["metrics"] => Some("GET, HEAD"),
        ["proxies"] | ["proxies", _, "conditions"] => Some("GET, HEAD, POST"),
        ["proxies", _] | ["proxies", _, "conditions", _] => Some("GET, HEAD, POST, PATCH, DELETE"),
        ["populate"] | ["reset"] => Some("POST"),
        _ => None,
    }
}
