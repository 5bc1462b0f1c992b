//! What a request asks for.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::proxies::Changes;
use super::{NewProxy, Problem, Proxies, read};

/// A status, and the body if there is one.
pub(crate) type Reply = (u16, Option<Value>);

const PATHS: &str = "/version, /proxies, /proxies/NAME, /proxies/NAME/conditions, \
                     /proxies/NAME/conditions/NAME, /populate, /reset";

/// Does what is asked for.
pub(crate) fn answer(proxies: &Mutex<Proxies>, method: &str, path: &str, body: &[u8]) -> Reply {
    route(proxies, method, path, body).unwrap_or_else(|Problem { status, text }| {
        (status, Some(json!({ "error": text, "status": status })))
    })
}

fn route(
    proxies: &Mutex<Proxies>,
    method: &str,
    path: &str,
    body: &[u8],
) -> Result<Reply, Problem> {
    let lock =
        || -> MutexGuard<'_, Proxies> { proxies.lock().unwrap_or_else(PoisonError::into_inner) };
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let ok = |value: Value| Ok((200, Some(value)));
    let gone = |()| (204, None);
    match (parts.as_slice(), method) {
        (["version"], "GET") => ok(json!({ "version": env!("CARGO_PKG_VERSION") })),
        (["proxies"], "GET") => ok(lock().show()),
        (["proxies"], "POST") => {
            let new: NewProxy = read(body)?;
            // Not under the lock, since names may take long to look up.
            let addresses = new.addresses()?;
            Ok((201, Some(lock().add(new, addresses)?)))
        }
        (["proxies", name], "GET") => ok(lock().show_one(name)?),
        (["proxies", name], "POST" | "PATCH") => {
            let changes = read::<Changes>(body)?.found()?;
            ok(lock().change(name, changes)?)
        }
        (["proxies", name], "DELETE") => lock().remove(name).map(gone),
        (["proxies", name, "conditions"], "GET") => ok(lock().conditions(name)?),
        (["proxies", name, "conditions"], "POST") => {
            Ok((201, Some(lock().add_condition(name, read(body)?)?)))
        }
        (["proxies", proxy, "conditions", name], "GET") => ok(lock().condition(proxy, name)?),
        (["proxies", proxy, "conditions", name], "POST" | "PATCH") => {
            ok(lock().change_condition(proxy, name, body)?)
        }
        (["proxies", proxy, "conditions", name], "DELETE") => {
            lock().remove_condition(proxy, name).map(gone)
        }
        (["populate"], "POST") => {
            let new: Vec<NewProxy> = read(body)?;
            let named = |index: usize| {
                move |Problem { status, text }| Problem::new(status, format!("[{index}].{text}"))
            };
            let mut addresses = Vec::new();
            for (index, new) in new.iter().enumerate() {
                addresses.push(new.addresses().map_err(Problem::from).map_err(named(index))?);
            }
            let mut made = Vec::new();
            let mut proxies = lock();
            for (index, (new, addresses)) in new.into_iter().zip(addresses).enumerate() {
                made.push(proxies.populate(new, addresses).map_err(named(index))?);
            }
            Ok((201, Some(json!({ "proxies": made }))))
        }
        (["reset"], "POST") => lock().reset().map(gone),
        (known, _) => match methods(known) {
            Some(methods) => {
                Err(Problem::new(405, format!("{method} does nothing here; there is {methods}")))
            }
            None => Err(Problem::new(404, format!("there is no {path}; there is {PATHS}"))),
        },
    }
}

/// The methods of a path that there is.
fn methods(parts: &[&str]) -> Option<&'static str> {
    match parts {
        ["version"] => Some("GET"),
        ["proxies"] | ["proxies", _, "conditions"] => Some("GET, POST"),
        ["proxies", _] | ["proxies", _, "conditions", _] => Some("GET, POST, PATCH, DELETE"),
        ["populate"] | ["reset"] => Some("POST"),
        _ => None,
    }
}
