//! What a command that serves may do once it has what it needs: as little as possible.

use nix::unistd::{User, initgroups, setgid, setuid};
use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_keep_capabilities,
    set_no_new_privs,
};

use crate::error::Error;

/// What of `wanted`, in the order of preference, this process may keep; the first if it has none.
pub(crate) fn permitted(wanted: [CapabilitySet; 2]) -> CapabilitySet {
    let permitted = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.permitted);
    wanted.into_iter().find(|one| permitted.contains(*one)).unwrap_or(wanted[0])
}

/// The user of `--user`.
pub(crate) fn user(name: &str) -> Result<User, Error> {
    let found = User::from_name(name).map_err(refused(name))?;
    found.ok_or_else(|| Error::Usage(format!("--user: there is no user `{name}`")))
}

fn refused(name: &str) -> impl Fn(nix::Error) -> Error {
    move |error| Error::System { what: format!("--user {name}"), error: error.into() }
}

/// Becomes this user, if any, and gives up all capabilities but `kept` for good (capabilities(7)):
/// an open device takes none. To be called while there is one thread.
pub(crate) fn drop_privileges(user: Option<&User>, kept: CapabilitySet) -> Result<(), Error> {
    if let Some(user) = user {
        // Who is not root any more would lose them.
        let failed =
            |error: Errno| Error::System { what: "capabilities".into(), error: error.into() };
        set_keep_capabilities(!kept.is_empty()).map_err(failed)?;
        let name = std::ffi::CString::new(user.name.as_str());
        let name = name.map_err(|e| Error::Usage(e.to_string()))?;
        initgroups(&name, user.gid)
            .and_then(|()| setgid(user.gid))
            .and_then(|()| setuid(user.uid))
            .map_err(refused(&user.name))?;
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: none };
    set_no_new_privs(true)
        .and_then(|()| set_capabilities(None, sets))
        .map_err(|error| Error::System { what: "capabilities".into(), error: error.into() })
}
