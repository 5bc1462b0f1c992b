//! What a command that serves may do once it has what it needs: as little as possible.

use nix::unistd::{User, initgroups, setgid, setuid};
use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, set_capabilities, set_keep_capabilities, set_no_new_privs,
};

use crate::error::Error;

/// Becomes this user, if any, and gives up all capabilities but `kept` for good (capabilities(7)):
/// an open device takes none. To be called while there is one thread.
pub(crate) fn drop_privileges(user: Option<&str>, kept: CapabilitySet) -> Result<(), Error> {
    let refused =
        |what: String| move |error: nix::Error| Error::System { what, error: error.into() };
    if let Some(name) = user {
        let what = || format!("--user {name}");
        let found = User::from_name(name).map_err(refused(what()))?;
        let found =
            found.ok_or_else(|| Error::Usage(format!("--user: there is no user `{name}`")))?;
        // Who is not root any more would lose them.
        let capabilities =
            |error: Errno| Error::System { what: "capabilities".into(), error: error.into() };
        set_keep_capabilities(!kept.is_empty()).map_err(capabilities)?;
        let c_name = std::ffi::CString::new(name).map_err(|e| Error::Usage(e.to_string()))?;
        initgroups(&c_name, found.gid)
            .and_then(|()| setgid(found.gid))
            .and_then(|()| setuid(found.uid))
            .map_err(refused(what()))?;
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: none };
    set_no_new_privs(true)
        .and_then(|()| set_capabilities(None, sets))
        .map_err(|error| Error::System { what: "capabilities".into(), error: error.into() })
}
