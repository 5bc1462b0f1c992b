//! What a request asks for.

use std::sync::{Mutex, MutexGuard, PoisonError};

use ackclock_tcp::Registry;
use serde_json::{Value, json};

use super::wanted::Changes;
use super::{Body, Condition, NewProxy, Object, Problem, Proxies, Reply, read};
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
    route(proxies, registry, method, path, body).unwrap_or_else(Problem::reply)
}

fn route(
    proxies: &Mutex<Proxies>,
    registry: &Registry,
    method: &str,
    path: &str,
    body: &[u8],
) -> Result<Reply, Problem> {
    let lock =
        || -> MutexGuard<'_, Proxies> { proxies.lock().unwrap_or_else(PoisonError::into_inner) };
    let decoded = parts(path).ok_or_else(|| {
        let text = format!("{path}: `%` stands before two hexadecimal digits, for bytes of UTF-8");
        Problem::new(400, text)
    })?;
    let parts: Vec<&str> = decoded.iter().map(String::as_str).collect();
    // The server leaves the body out (RFC 9110 section 9.3.2).
    let method = if method == "HEAD" { "GET" } else { method };
    let ok = |value: Value| Ok((200, Body::Json(value)));
    let made = |value: Value| Ok((201, Body::Json(value)));
    let gone = |()| (204, Body::None);
    match (parts.as_slice(), method) {
        (["version"], "GET") => ok(json!({ "version": env!("CARGO_PKG_VERSION") })),
        (["metrics"], "GET") => Ok((200, Body::Text(lock().metrics()))),
        (["proxies"], "GET") => ok(lock().show()),
        (["proxies"], "POST") => {
            // Not under the lock, since names may take long to look up, and scenarios to read.
            let wanted = read::<Object<NewProxy>>(body)?.0.found(registry)?;
            made(lock().add(wanted)?)
        }
        (["proxies", name], "GET") => ok(lock().show_one(name)?),
        (["proxies", name], "POST" | "PATCH") => {
            let changes = read::<Object<Changes>>(body)?.0;
            stays(name, changes.name.as_deref())?;
            let changes = changes.found()?;
            ok(lock().change(name, changes)?)
        }
        (["proxies", name], "DELETE") => lock().remove(name).map(gone),
        (["proxies", name, "conditions"], "GET") => ok(lock().conditions(name)?),
        (["proxies", name, "conditions"], "POST") => {
            let Object(condition) = read::<Object<Condition>>(body)?;
            let links = condition.links(None, registry)?;
            made(lock().add_condition(name, condition, &links)?)
        }
        (["proxies", proxy, "conditions", name], "GET") => ok(lock().condition(proxy, name)?),
        (["proxies", proxy, "conditions", name], "POST" | "PATCH") => {
            // Until nobody else has changed it meanwhile.
            loop {
                let (before, its_links) = lock().keys(proxy, name)?;
                let after = before.patched(body)?;
                stays(name, Some(after.name.as_deref().unwrap_or_default()))?;
                let links = after.links_after(&its_links, registry)?;
                let changed = lock().change_condition(proxy, name, &before, after, &links)?;
                if let Some(shown) = changed {
                    return ok(shown);
                }
            }
        }
        (["proxies", proxy, "conditions", name], "DELETE") => {
            lock().remove_condition(proxy, name).map(gone)
        }
        (["populate"], "POST") => {
            let new: Vec<Object<NewProxy>> = read(body)?;
            let found = new.into_iter().enumerate().map(|(index, Object(new))| {
                new.found(registry).map_err(|problem| problem.within(&format!("[{index}].")))
            });
            let found = found.collect::<Result<_, _>>()?;
            made(lock().populate(found)?)
        }
        (["reset"], "POST") => lock().reset().map(gone),
        (known, _) => match methods(known) {
            Some(methods) => {
                Err(Problem::new(405, format!("{method} does nothing here; there is {methods}")))
            }
            None => {
                let toxics = known.contains(&"toxics") || known.contains(&"toxic");
                let hint = if toxics { "conditions take the place of toxics: " } else { "" };
                Err(Problem::new(404, format!("there is no {path}; {hint}there is {PATHS}")))
            }
        },
    }
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
