//! Where the proxy listens, and where connections go on to: from options, or from a file.

use std::collections::HashMap;
use std::fs;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::rc::Rc;

use ackclock_run::{FileError, error_at, parse};
use serde::Deserialize;

use super::proxy_protocol::ProxyProtocol;
use crate::error::Error;

/// Where connections to a listener go on to.
pub(crate) struct Route {
    /// The backend's addresses, in the order to try.
    pub to: Vec<SocketAddr>,
    pub proxy_protocol: Option<ProxyProtocol>,
}

/// Routes by the address that is listened at.
pub(crate) type Routes = HashMap<SocketAddr, Rc<Route>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RoutesFile {
    listener: Vec<Listener>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listener {
    listen: SocketAddr,
    to: String,
    proxy_protocol: Option<ProxyProtocol>,
}

/// The addresses of a backend. `what` names it in errors.
pub(crate) fn resolve(what: &str, to: &str) -> Result<Vec<SocketAddr>, Error> {
    let found = to.to_socket_addrs().map_err(|e| Error::Usage(format!("{what} {to}: {e}")))?;
    Ok(found.collect())
}

/// The routes of a file of listeners.
pub(crate) fn read(path: &Path) -> Result<Routes, Error> {
    let text = fs::read_to_string(path)
        .map_err(|error| Error::Read { path: path.to_path_buf(), error })?;
    let file = path.display().to_string();
    let wrong = |error| Error::Run(ackclock_run::Error::Scenario(error));
    let RoutesFile { listener } = parse(&file, &text).map_err(wrong)?;
    let at = |i: usize, key: &str, message: String| {
        let error = error_at(&format!("listener[{i}].{key}"), message).located(&text);
        wrong(FileError { file: file.clone(), error })
    };
    let mut routes = Routes::new();
    for (i, Listener { listen, to, proxy_protocol }) in listener.into_iter().enumerate() {
        let addresses = resolve("to", &to).map_err(|e| at(i, "to", e.to_string()))?;
        let route = Rc::new(Route { to: addresses, proxy_protocol });
        if routes.insert(listen, route).is_some() {
            return Err(at(i, "listen", format!("another listener has {listen}, too")));
        }
    }
    Ok(routes)
}

#[cfg(test)]
mod tests {
    use super::read;

    fn routes(text: &str) -> Result<Vec<String>, String> {
        let path = std::env::temp_dir().join(format!("ackclock-routes-{}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let routes = read(&path).map_err(|e| e.to_string().replace(path.to_str().unwrap(), "F"))?;
        let mut shown: Vec<_> = routes
            .iter()
            .map(|(listen, r)| format!("{listen} {:?} {:?}", r.to, r.proxy_protocol))
            .collect();
        shown.sort();
        Ok(shown)
    }

    #[test]
    fn a_file_has_a_route_for_each_listener_and_errors_name_the_line() {
        let two = "[[listener]]\nlisten = \"10.77.0.2:80\"\nto = \"127.0.0.1:8080\"\n\
            [[listener]]\nlisten = \"[fd00::2]:81\"\nto = \"[::1]:1\"\nproxy_protocol = \"v2\"\n";
        assert_eq!(
            routes(two).unwrap(),
            ["10.77.0.2:80 [127.0.0.1:8080] None", "[fd00::2]:81 [[::1]:1] Some(V2)"]
        );
        let wrong = |from: &str, to: &str| routes(&two.replace(from, to)).unwrap_err();
        let text = wrong("[fd00::2]:81", "10.77.0.2:80");
        assert!(text.starts_with("F:5: ") && text.contains("another listener"), "{text}");
        let text = wrong("v2", "v3");
        assert!(text.starts_with("F:7: "), "{text}");
        let text = wrong("127.0.0.1:8080", "nobody");
        assert!(text.starts_with("F:3: "), "{text}");
        let text = wrong("proxy_protocol", "protocol");
        assert!(text.contains("there is no key `protocol`"), "{text}");
    }
}
