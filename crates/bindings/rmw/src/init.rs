//! Init options, and the initialization, shutdown and finalization of contexts.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::{CStr, c_char};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use feros_engine::{DiscoveryRange, SessionOptions};

use crate::allocation::Allocator;
use crate::arguments::{given, ours, text};
use crate::context::Context;
use crate::distribution::{
    self, ContextObject, Distribution, InitOptions, RMW_LOCALHOST_ONLY_ENABLED,
};
use crate::error::{Failure, guarded};
use crate::ffi::{
    RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST, RMW_AUTOMATIC_DISCOVERY_RANGE_NOT_SET,
    RMW_AUTOMATIC_DISCOVERY_RANGE_OFF, RMW_AUTOMATIC_DISCOVERY_RANGE_SUBNET,
    RMW_AUTOMATIC_DISCOVERY_RANGE_SYSTEM_DEFAULT, RMW_DEFAULT_DOMAIN_ID,
    RMW_SECURITY_ENFORCEMENT_ENFORCE, rcutils_allocator_t, rmw_context_t, rmw_discovery_options_t,
    rmw_init_options_t, rmw_peer_address_t, rmw_ret_t, rmw_security_options_t,
};
use crate::identity::identifier;
use crate::log;

/// The options behind a pointer from the host program.
///
/// # Safety
/// The pointer is null or points to options of this distribution.
unsafe fn initialized(
    of: &Distribution,
    options: *const rmw_init_options_t,
) -> Result<InitOptions, Failure> {
    // SAFETY: [init options] the options are null or valid, and have the form of the distribution.
    unsafe {
        ours(options)?;
        Ok(InitOptions::read(of, options))
    }
}

/// Fills init options with defaults.
///
/// # Safety
/// The options are null or valid; the allocator is valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_init_options_init(
    init_options: *mut rmw_init_options_t,
    allocator: rcutils_allocator_t,
) -> rmw_ret_t {
    guarded(|| {
        log::begin();
        let of = distribution::loaded()?;
        // SAFETY: [zero] the options are null or zero-initialized.
        let before = unsafe { given(init_options, "init_options") }?;
        // SAFETY: [allocators] the functions belong to one allocator.
        let allocator = unsafe { Allocator::new(allocator) }?;
        if !before.implementation_identifier.is_null() {
            return Err(Failure::invalid("the init options were already initialized"));
        }
        let options = InitOptions {
            implementation_identifier: identifier(),
            domain_id: RMW_DEFAULT_DOMAIN_ID,
            allocator: allocator.raw(),
            ..InitOptions::zero()
        };
        // SAFETY: the memory was checked above, and holds nothing that has to be freed.
        unsafe { options.write(of, init_options) };
        Ok(())
    })
}

/// A copy of init options.
///
/// # Safety
/// The options are initialized: each string ends with NUL, and there are as many peers as the count
/// says.
unsafe fn copy(from: &InitOptions) -> Result<InitOptions, Failure> {
    // SAFETY: the options hold the allocator that they were initialized with.
    let allocator = unsafe { Allocator::new(from.allocator) }?;
    let copy_text = |text: *mut c_char| match text.is_null() {
        true => Ok(ptr::null_mut()),
        // SAFETY: [init options] the string ends with NUL.
        false => allocator.c_text(unsafe { CStr::from_ptr(text) }),
    };
    let mut made = InitOptions {
        instance_id: from.instance_id,
        implementation_identifier: from.implementation_identifier,
        domain_id: from.domain_id,
        localhost_only: from.localhost_only,
        allocator: allocator.raw(),
        ..InitOptions::zero()
    };
    made.security_options.enforce_security = from.security_options.enforce_security;
    made.discovery_options.automatic_discovery_range =
        from.discovery_options.automatic_discovery_range;
    let mut fill = || {
        made.enclave = copy_text(from.enclave)?;
        made.security_options.security_root_path =
            copy_text(from.security_options.security_root_path)?;
        let count = from.discovery_options.static_peers_count;
        if count > 0 && !from.discovery_options.static_peers.is_null() {
            let peers = allocator.array::<rmw_peer_address_t>(count)?;
            // SAFETY: both arrays have `count` peers, and the copy was just allocated.
            unsafe {
                ptr::copy_nonoverlapping(from.discovery_options.static_peers, peers, count);
            }
            made.discovery_options.static_peers = peers;
            made.discovery_options.static_peers_count = count;
            made.discovery_options.allocator = allocator.raw();
        }
        Ok::<(), Failure>(())
    };
    match fill() {
        Ok(()) => Ok(made),
        Err(failure) => {
            // SAFETY: this function allocated all of the memory.
            unsafe { free(&mut made, allocator) };
            Err(failure)
        }
    }
}

/// Frees the memory of options.
///
/// # Safety
/// The memory came from this allocator, and the memory of the peers from the allocator of the
/// discovery options.
unsafe fn free(options: &mut InitOptions, allocator: Allocator) {
    // SAFETY: [init options, allocators] the memory came from the allocators of the options.
    unsafe {
        allocator.free(options.enclave);
        allocator.free(options.security_options.security_root_path);
        let peers = options.discovery_options.static_peers;
        if !peers.is_null() {
            let of_peers = Allocator::new(options.discovery_options.allocator);
            of_peers.unwrap_or(allocator).free(peers);
        }
    }
    *options = InitOptions::zero();
}

/// Copies init options.
///
/// # Safety
/// Both pointers are null or valid, and the destination is zero-initialized.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_init_options_copy(
    src: *const rmw_init_options_t,
    dst: *mut rmw_init_options_t,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [init options] the source is null or initialized. [zero] The destination is null
        // or zero-initialized, and only this call uses it.
        unsafe {
            given(src, "src")?;
            let before = given(dst, "dst")?;
            let of = distribution::loaded()?;
            let from = initialized(of, src)?;
            if !before.implementation_identifier.is_null() {
                return Err(Failure::invalid("`dst` was already initialized"));
            }
            copy(&from)?.write(of, dst);
        }
        Ok(())
    })
}

/// Frees the memory of init options.
///
/// # Safety
/// The options are null or initialized.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_init_options_fini(init_options: *mut rmw_init_options_t) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [init options] the options are null or initialized. [destruction] Only this call
        // uses them.
        unsafe {
            given(init_options, "init_options")?;
            let of = distribution::loaded()?;
            let mut options = initialized(of, init_options)?;
            let allocator = Allocator::new(options.allocator)?;
            free(&mut options, allocator);
            options.write(of, init_options);
        }
        Ok(())
    })
}

/// Converts init options into session options.
///
/// # Safety
/// The contract of [`copy`].
unsafe fn session_options(options: &InitOptions) -> Result<SessionOptions, Failure> {
    // SAFETY: [init options] the enclave is null or ends with NUL.
    let enclave = unsafe { text(options.enclave, "init_options.enclave") }?.to_owned();
    let domain_id = match options.domain_id {
        RMW_DEFAULT_DOMAIN_ID => 0,
        other => u32::try_from(other)
            .map_err(|_| Failure::invalid(format!("the domain id {other} is not valid")))?,
    };
    let (discovery_range, static_peers) = if options.localhost_only == RMW_LOCALHOST_ONLY_ENABLED {
        // As in `rcl_init` of Jazzy, which then ignores the range and the peers.
        (DiscoveryRange::Localhost, Vec::new())
    } else {
        // SAFETY: [init options] the options are initialized.
        unsafe { discovery(&options.discovery_options) }?
    };
    // Feros's own variables set the options that the init options do not have.
    let of_feros = SessionOptions::from_own_variables(|name| std::env::var_os(name))
        .map_err(Failure::error)?;
    Ok(SessionOptions { domain_id, enclave, discovery_range, static_peers, ..of_feros })
}

/// Converts the range of discovery and the static peers.
///
/// # Safety
/// The contract of [`copy`].
unsafe fn discovery(
    discovery: &rmw_discovery_options_t,
) -> Result<(DiscoveryRange, Vec<String>), Failure> {
    // The client library has already read the environment variables, so its options take
    // precedence. The variables only provide the options that the client library leaves open.
    let of_variables = SessionOptions::from_variables(|name| {
        let is_discovery = !matches!(name, "ROS_DOMAIN_ID");
        is_discovery.then(|| std::env::var_os(name)).flatten()
    });
    let range = match discovery.automatic_discovery_range {
        RMW_AUTOMATIC_DISCOVERY_RANGE_NOT_SET => {
            of_variables.map_err(Failure::error)?.discovery_range
        }
        RMW_AUTOMATIC_DISCOVERY_RANGE_OFF => DiscoveryRange::Off,
        RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST => DiscoveryRange::Localhost,
        RMW_AUTOMATIC_DISCOVERY_RANGE_SUBNET => DiscoveryRange::Subnet,
        RMW_AUTOMATIC_DISCOVERY_RANGE_SYSTEM_DEFAULT => DiscoveryRange::SystemDefault,
        other => {
            return Err(Failure::invalid(format!(
                "the automatic discovery range {other} is unknown"
            )));
        }
    };
    let mut static_peers = Vec::new();
    if discovery.static_peers_count > 0 {
        // SAFETY: [init options] the array of peers is null or valid.
        unsafe { given(discovery.static_peers, "init_options.discovery_options.static_peers") }?;
    }
    for index in 0..discovery.static_peers_count {
        // SAFETY: [init options] there are `static_peers_count` peers, each with a NUL.
        let peer = unsafe {
            text((&raw const (*discovery.static_peers.add(index)).peer_address).cast(), "peer")
        };
        static_peers.push(peer?.to_owned());
    }
    Ok((range, static_peers))
}

fn check_security(options: &rmw_security_options_t) -> Result<(), Failure> {
    if options.enforce_security == RMW_SECURITY_ENFORCEMENT_ENFORCE {
        return Err(Failure::unsupported(
            "rmw_feros does not support DDS security yet, but ROS_SECURITY_STRATEGY enforces it: \
             use another implementation, or unset ROS_SECURITY_STRATEGY",
        ));
    }
    if !options.security_root_path.is_null() {
        tracing::warn!(
            "rmw_feros does not support DDS security yet: messages are not protected, as \
             ROS_SECURITY_STRATEGY permits"
        );
    }
    Ok(())
}

/// Initializes a context.
///
/// # Safety
/// Options and context are null or valid; the context is zero-initialized.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_init(
    options: *const rmw_init_options_t,
    context: *mut rmw_context_t,
) -> rmw_ret_t {
    static INSTANCES: AtomicU64 = AtomicU64::new(1);
    guarded(|| {
        // SAFETY: [init options] the options are null or initialized. [zero] The context is null or
        // zero-initialized, and only this call uses it.
        unsafe {
            given(options, "options")?;
            let before = given(context, "context")?;
            let of = distribution::loaded()?;
            let options = initialized(of, options)?;
            if !before.implementation_identifier.is_null() {
                return Err(Failure::invalid("the context was already initialized"));
            }
            check_security(&options.security_options)?;
            let of_session = session_options(&options)?;
            let made = Context::open(&of_session)?;
            let object = ContextObject {
                instance_id: INSTANCES.fetch_add(1, Ordering::Relaxed),
                implementation_identifier: identifier(),
                options: copy(&options)?,
                actual_domain_id: of_session.domain_id as usize,
                impl_: made.into_raw(),
            };
            object.write(of, context);
        }
        Ok(())
    })
}

/// Shuts a context down, so that no node can be created in it.
///
/// # Safety
/// The context is null or valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_shutdown(context: *mut rmw_context_t) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the context is null, zero-initialized or valid.
        unsafe { Context::even_shut_down(context) }?.shut_down();
        Ok(())
    })
}

/// Finalizes a context that has been shut down.
///
/// # Safety
/// The context is null or valid, and is not used afterwards.
#[unsafe(no_mangle)]
unsafe extern "C" fn rmw_context_fini(context: *mut rmw_context_t) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [handles] the context is null, zero-initialized or valid.
        let made = unsafe { Context::even_shut_down(context) }?;
        if !made.is_shut_down() {
            return Err(Failure::invalid("the context is in use: shut it down first"));
        }
        // SAFETY: since `rmw_init`, `impl_` holds a reference, which this call takes over.
        unsafe {
            let of = distribution::loaded()?;
            let mut object = ContextObject::read(of, context);
            let allocator = Allocator::new(object.options.allocator)?;
            let held = Arc::from_raw(object.impl_.cast::<Context>().cast_const());
            free(&mut object.options, allocator);
            ContextObject::zero().write(of, context);
            made.end(held, |_| ());
        }
        if made.is_forked() {
            std::mem::forget(made);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi::{RMW_RET_INVALID_ARGUMENT, STATIC_PEER_BYTES};

    fn peer(address: &str) -> rmw_peer_address_t {
        let mut peer = rmw_peer_address_t { peer_address: [0; STATIC_PEER_BYTES] };
        for (place, byte) in peer.peer_address.iter_mut().zip(address.bytes()) {
            *place = byte as c_char;
        }
        peer
    }

    fn options() -> InitOptions {
        let mut options = InitOptions::zero();
        options.enclave = c"/".as_ptr().cast_mut();
        options.discovery_options.automatic_discovery_range =
            RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST;
        options
    }

    #[test]
    fn static_peers_are_read_unless_the_array_is_missing() {
        let mut peer = peer("robot.local");
        let mut options = options();
        // SAFETY: the options hold a string, and null or the peer.
        let peers = |options: &InitOptions| unsafe {
            session_options(options).map(|options| options.static_peers)
        };
        assert_eq!(peers(&options), Ok(Vec::new()));
        options.discovery_options.static_peers_count = 1;
        let refused = peers(&options).expect_err("the array is null");
        assert_eq!(refused.code, RMW_RET_INVALID_ARGUMENT);
        assert!(refused.text.contains("static_peers` is null"), "{}", refused.text);
        options.discovery_options.static_peers = &raw mut peer;
        assert_eq!(peers(&options), Ok(vec!["robot.local".to_owned()]));
    }

    #[test]
    fn localhost_only_takes_precedence_over_range_and_peers() {
        let mut peer = peer("robot.local");
        let mut options = options();
        options.discovery_options.automatic_discovery_range = RMW_AUTOMATIC_DISCOVERY_RANGE_SUBNET;
        options.discovery_options.static_peers = &raw mut peer;
        options.discovery_options.static_peers_count = 1;
        let disabled = 2;
        for (localhost_only, range, peers) in [
            (0, DiscoveryRange::Subnet, 1),
            (RMW_LOCALHOST_ONLY_ENABLED, DiscoveryRange::Localhost, 0),
            (disabled, DiscoveryRange::Subnet, 1),
        ] {
            options.localhost_only = localhost_only;
            // SAFETY: the options hold a string and the peer.
            let session = unsafe { session_options(&options) }.expect("valid options");
            assert_eq!(session.discovery_range, range, "{localhost_only}");
            assert_eq!(session.static_peers.len(), peers, "{localhost_only}");
        }
    }

    #[test]
    fn a_copy_has_every_option_in_memory_of_its_own() {
        let mut peer = peer("robot.local");
        let mut from = options();
        from.allocator = Allocator::of_c().raw();
        from.domain_id = 7;
        from.localhost_only = RMW_LOCALHOST_ONLY_ENABLED;
        from.discovery_options.static_peers = &raw mut peer;
        from.discovery_options.static_peers_count = 1;
        // SAFETY: the options hold a string and the peer, and the copy is freed once.
        unsafe {
            let mut made = copy(&from).expect("there is enough memory");
            assert_eq!((made.domain_id, made.localhost_only), (7, RMW_LOCALHOST_ONLY_ENABLED));
            assert_ne!(made.enclave, from.enclave);
            assert_eq!(CStr::from_ptr(made.enclave), c"/");
            assert_ne!(made.discovery_options.static_peers, &raw mut peer);
            let session = session_options(&made).expect("valid options");
            assert_eq!(session.domain_id, 7);
            free(&mut made, Allocator::of_c());
            assert!(made.enclave.is_null() && made.discovery_options.static_peers.is_null());
        }
    }
}
