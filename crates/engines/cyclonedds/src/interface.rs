//! The network interfaces of this host, as listed by the engine.

use std::ffi::{CStr, c_char, c_void};

use feros_cyclonedds_sys as sys;

/// An IPv4 interface of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// The name, such as `eth0`.
    pub name: String,
    /// The address.
    pub address: String,
    /// Whether the interface is switched on.
    pub up: bool,
    /// Whether the interface reaches only this host.
    pub loopback: bool,
    /// Whether the interface can multicast.
    pub multicast: bool,
}

/// Returns the IPv4 interfaces of this host, as listed by the engine. Returns an empty list if they
/// cannot be listed.
pub fn interfaces() -> Vec<Interface> {
    unsafe extern "C" fn add(
        name: *const c_char,
        address: *const c_char,
        up: bool,
        loopback: bool,
        multicast: bool,
        arg: *mut c_void,
    ) {
        // SAFETY: the shim passes two strings that exist during the call, and `arg` is the vector
        // below.
        let (list, name, address) = unsafe {
            (&mut *arg.cast::<Vec<Interface>>(), CStr::from_ptr(name), CStr::from_ptr(address))
        };
        list.push(Interface {
            name: name.to_string_lossy().into_owned(),
            address: address.to_string_lossy().into_owned(),
            up,
            loopback,
            multicast,
        });
    }
    let mut list = Vec::<Interface>::new();
    // SAFETY: `add` is called only during this call, with the vector that it expects.
    let code = unsafe { sys::feros_for_each_interface(add, (&raw mut list).cast()) };
    if code < 0 {
        tracing::warn!("network interfaces cannot be listed: {}", crate::dds::Code(code));
    }
    list
}
