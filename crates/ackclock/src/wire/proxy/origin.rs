//! Where routes come from: options, or a file.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use ackclock_impair::names;
use ackclock_report::counted;
use ackclock_tcp::Registry;

use super::super::daemon::{Again, Own, Reload};
use super::super::prefix::Prefix;
use super::super::proxy_protocol::ProxyProtocol;
use super::super::routes::{
    self, Listeners, LookUps, NoAddress, Route, Routes, check_families, check_listen, listening,
    resolve,
};
use super::super::split::Split;
use super::ProxyArgs;
use crate::error::Error;

/// Where routes come from, with all that it takes to read them.
pub(super) struct Origin {
    from: Source,
    registry: Registry,
    /// The addresses of our stack.
    own: Vec<Prefix>,
    look_ups: Arc<LookUps>,
}

enum Source {
    File(PathBuf),
    Options(Options),
}

/// The only route of `--listen` and `--to`.
struct Options {
    listen: SocketAddr,
    to: String,
    proxy_protocol: Option<ProxyProtocol>,
    transparent: bool,
    split: Split,
}

impl Origin {
    pub fn of(
        args: &ProxyArgs,
        registry: &Registry,
        look_ups: &Arc<LookUps>,
    ) -> Result<Origin, Error> {
        let own = args.daemon.wire.addr.clone();
        let from = match (&args.listeners, args.listen, &args.to) {
            (Some(file), _, _) => Source::File(file.clone()),
            (None, Some(listen), Some(to)) => {
                check_listen(listen, &own)
                    .map_err(|why| Error::Usage(format!("--listen {why}")))?;
                Source::Options(Options {
                    listen,
                    to: to.clone(),
                    proxy_protocol: args.proxy_protocol,
                    transparent: args.transparent,
                    split: Split::new(&args.daemon.split, registry)?,
                })
            }
            _ => {
                let text = "--listen and --to, or --listeners: one is needed";
                return Err(Error::Usage(text.into()));
            }
        };
        Ok(Origin { from, registry: registry.clone(), own, look_ups: look_ups.clone() })
    }

    /// The routes as they are now.
    pub fn read(&self) -> Result<Listeners, Error> {
        let only = match &self.from {
            Source::File(file) => {
                return routes::read(file, &self.registry, &self.own, &self.look_ups);
            }
            Source::Options(only) => only,
        };
        let to = resolve(&only.to, &self.own, &self.look_ups)
            .map_err(|why| Error::Usage(format!("--to {}", why.text())))?;
        let route = Route {
            to,
            name: names::name(&only.to),
            proxy_protocol: only.proxy_protocol,
            transparent: only.transparent,
            own: Own::default(),
        };
        check_families(only.listen, &route)
            .map_err(|why| Error::Usage(format!("--transparent: {why}")))?;
        let routes = Routes::from([(only.listen, Arc::new(route))]);
        Ok(Listeners { routes, split: only.split.clone(), unknown: Vec::new() })
    }

    /// What SIGHUP is for. The file may have been half written before. `transparent` says whether
    /// the right to connect from other addresses was kept.
    pub fn read_again(&self, transparent: bool) -> Result<Again<Routes>, Error> {
        // An address stays what it is.
        if matches!(&self.from, Source::Options(only) if names::name(&only.to).is_none()) {
            return Ok(Again::Nothing);
        }
        let Listeners { routes, split, unknown } = self.read()?;
        let said = match &self.from {
            Source::File(file) => {
                let file = file.display();
                if is_transparent(&routes) && !transparent {
                    return Err(Error::Usage(format!(
                        "{file}: listener.transparent: the right to it was given up at the start, \
                         when no listener had it; start the proxy anew"
                    )));
                }
                let read = format!("{} from {file}", counted(routes.len() as u64, "listener"));
                [vec![read], unknown].concat().join("; ")
            }
            Source::Options(only) => {
                let to = routes.values().flat_map(|route| route.to.clone());
                routes::is_at(&only.to, &to.collect::<Vec<_>>())
            }
        };
        Ok(Again::Reload(Reload { listen: listening(&routes), split, plan: routes, said }))
    }

    /// Where these names are by now.
    pub fn look_up(&self, names: Vec<String>) -> Again<Routes> {
        Again::Names(names::each(names, |name| {
            let to = resolve(&name, &self.own, &self.look_ups).map_err(NoAddress::text);
            (name, to)
        }))
    }
}

/// Whether any of them needs the capability for it.
pub(super) fn is_transparent(routes: &Routes) -> bool {
    routes.values().any(|route| route.transparent)
}
