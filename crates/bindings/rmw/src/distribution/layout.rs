//! The objects of rmw whose fields differ between distributions.
//!
//! The rest of the crate uses the form of init options and contexts that has the most fields. This
//! file reads and writes the form of the host program's distribution.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::{c_char, c_void};
use std::ptr;

use super::Distribution;
use crate::ffi::{
    RMW_AUTOMATIC_DISCOVERY_RANGE_NOT_SET, RMW_SECURITY_ENFORCEMENT_PERMISSIVE,
    rcutils_allocator_t, rmw_context_t, rmw_discovery_options_t, rmw_init_options_t,
    rmw_security_options_t, rmw_subscription_options_t, rmw_subscription_t,
};

/// The host program does not say whether discovery is restricted to this host.
pub(crate) const RMW_LOCALHOST_ONLY_DEFAULT: u32 = 0;
/// Discovery is restricted to this host.
pub(crate) const RMW_LOCALHOST_ONLY_ENABLED: u32 = 1;

/// An allocator without functions, as in zero-initialized structures.
const NO_ALLOCATOR: rcutils_allocator_t = rcutils_allocator_t {
    allocate: None,
    deallocate: None,
    reallocate: None,
    zero_allocate: None,
    state: ptr::null_mut(),
};

/// A field that a distribution does not have.
#[repr(C)]
pub(crate) struct Absent;

/// The options of a context. `localhost_only` is a number in Jazzy, and [`Absent`] in later
/// distributions.
#[repr(C)]
pub(crate) struct InitOptions<L = u32> {
    pub(crate) instance_id: u64,
    pub(crate) implementation_identifier: *const c_char,
    pub(crate) domain_id: usize,
    pub(crate) security_options: rmw_security_options_t,
    pub(crate) localhost_only: L,
    pub(crate) discovery_options: rmw_discovery_options_t,
    pub(crate) enclave: *mut c_char,
    pub(crate) allocator: rcutils_allocator_t,
    pub(crate) impl_: *mut c_void,
}

impl<L> InitOptions<L> {
    /// The same options with another `localhost_only`.
    fn with<M>(self, localhost_only: M) -> InitOptions<M> {
        InitOptions {
            instance_id: self.instance_id,
            implementation_identifier: self.implementation_identifier,
            domain_id: self.domain_id,
            security_options: self.security_options,
            localhost_only,
            discovery_options: self.discovery_options,
            enclave: self.enclave,
            allocator: self.allocator,
            impl_: self.impl_,
        }
    }
}

impl InitOptions {
    /// Zero-initialized options: `rmw_get_zero_initialized_init_options`.
    pub(crate) fn zero() -> Self {
        Self {
            instance_id: 0,
            implementation_identifier: ptr::null(),
            domain_id: 0,
            security_options: rmw_security_options_t {
                enforce_security: RMW_SECURITY_ENFORCEMENT_PERMISSIVE,
                security_root_path: ptr::null_mut(),
            },
            localhost_only: RMW_LOCALHOST_ONLY_DEFAULT,
            discovery_options: rmw_discovery_options_t {
                automatic_discovery_range: RMW_AUTOMATIC_DISCOVERY_RANGE_NOT_SET,
                static_peers: ptr::null_mut(),
                static_peers_count: 0,
                allocator: NO_ALLOCATOR,
            },
            enclave: ptr::null_mut(),
            allocator: NO_ALLOCATOR,
            impl_: ptr::null_mut(),
        }
    }

    /// Reads the options of a host program of this distribution.
    ///
    /// # Safety
    /// The pointer points to initialized or zero-initialized options.
    pub(crate) unsafe fn read(of: &Distribution, at: *const rmw_init_options_t) -> Self {
        // SAFETY: [pointers] the options are valid, and have the form of the distribution.
        unsafe {
            if of.has_localhost_only {
                at.cast::<Self>().read()
            } else {
                at.cast::<InitOptions<Absent>>().read().with(RMW_LOCALHOST_ONLY_DEFAULT)
            }
        }
    }

    /// Writes the options for a host program of this distribution.
    ///
    /// # Safety
    /// The pointer points to memory for options that nobody else uses.
    pub(crate) unsafe fn write(self, of: &Distribution, at: *mut rmw_init_options_t) {
        // SAFETY: [outputs] there is memory for options in the form of the distribution.
        unsafe {
            if of.has_localhost_only {
                at.cast::<Self>().write(self);
            } else {
                at.cast::<InitOptions<Absent>>().write(self.with(Absent));
            }
        }
    }
}

/// A context. `L` is the type of `localhost_only` in its options.
#[repr(C)]
pub(crate) struct ContextObject<L = u32> {
    pub(crate) instance_id: u64,
    pub(crate) implementation_identifier: *const c_char,
    pub(crate) options: InitOptions<L>,
    pub(crate) actual_domain_id: usize,
    pub(crate) impl_: *mut c_void,
}

impl<L> ContextObject<L> {
    /// The same context with another `localhost_only`.
    fn with<M>(self, localhost_only: M) -> ContextObject<M> {
        ContextObject {
            instance_id: self.instance_id,
            implementation_identifier: self.implementation_identifier,
            options: self.options.with(localhost_only),
            actual_domain_id: self.actual_domain_id,
            impl_: self.impl_,
        }
    }
}

impl ContextObject {
    /// A zero-initialized context: `rmw_get_zero_initialized_context`.
    pub(crate) fn zero() -> Self {
        Self {
            instance_id: 0,
            implementation_identifier: ptr::null(),
            options: InitOptions::zero(),
            actual_domain_id: 0,
            impl_: ptr::null_mut(),
        }
    }

    /// Reads a context of a host program of this distribution.
    ///
    /// # Safety
    /// The pointer points to an initialized or zero-initialized context.
    pub(crate) unsafe fn read(of: &Distribution, at: *const rmw_context_t) -> Self {
        // SAFETY: [handles] the context is valid, and has the form of the distribution.
        unsafe {
            if of.has_localhost_only {
                at.cast::<Self>().read()
            } else {
                at.cast::<ContextObject<Absent>>().read().with(RMW_LOCALHOST_ONLY_DEFAULT)
            }
        }
    }

    /// Writes the context for a host program of this distribution.
    ///
    /// # Safety
    /// The pointer points to memory for a context that nobody else uses.
    pub(crate) unsafe fn write(self, of: &Distribution, at: *mut rmw_context_t) {
        // SAFETY: [outputs] there is memory for a context in the form of the distribution.
        unsafe {
            if of.has_localhost_only {
                at.cast::<Self>().write(self);
            } else {
                at.cast::<ContextObject<Absent>>().write(self.with(Absent));
            }
        }
    }
}

/// The options of a subscription in Lyrical.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct WithBackends {
    pub(crate) options: rmw_subscription_options_t,
    /// The kinds of memory in which the subscription takes buffers; null stands for main memory.
    pub(crate) acceptable_buffer_backends: *const c_char,
}

/// A subscription. `O` is the type of its options: [`WithBackends`] in Lyrical.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct SubscriptionObject<O = rmw_subscription_options_t> {
    pub(crate) implementation_identifier: *const c_char,
    pub(crate) data: *mut c_void,
    pub(crate) topic_name: *const c_char,
    pub(crate) options: O,
    pub(crate) can_loan_messages: bool,
    pub(crate) is_cft_enabled: bool,
    /// Since Lyrical; in earlier distributions this is padding.
    pub(crate) is_cft_supported: bool,
}

impl<O> SubscriptionObject<O> {
    /// The same subscription with other options.
    fn with<P>(self, options: P) -> SubscriptionObject<P> {
        SubscriptionObject {
            implementation_identifier: self.implementation_identifier,
            data: self.data,
            topic_name: self.topic_name,
            options,
            can_loan_messages: self.can_loan_messages,
            is_cft_enabled: self.is_cft_enabled,
            is_cft_supported: self.is_cft_supported,
        }
    }
}

/// Memory for a subscription of any distribution.
#[repr(C)]
pub(crate) union SubscriptionMemory {
    until_kilted: SubscriptionObject,
    since_lyrical: SubscriptionObject<WithBackends>,
}

impl SubscriptionObject {
    /// Moves the subscription into memory of its own, in the form of this distribution.
    pub(crate) fn into_raw(self, of: &Distribution) -> *mut rmw_subscription_t {
        let memory = if of.has_buffer_backends {
            // Buffers are always in main memory, so the backends of the host program are left out.
            let options =
                WithBackends { options: self.options, acceptable_buffer_backends: ptr::null() };
            SubscriptionMemory { since_lyrical: self.with(options) }
        } else {
            SubscriptionMemory { until_kilted: self }
        };
        Box::into_raw(Box::new(memory)).cast()
    }

    /// Writes whether the content filter of a subscription is in use.
    ///
    /// # Safety
    /// [`SubscriptionObject::into_raw`] made the subscription for this distribution, and no other
    /// call uses it.
    pub(crate) unsafe fn set_cft_enabled(
        of: &Distribution,
        subscription: *mut rmw_subscription_t,
        is_enabled: bool,
    ) {
        let memory = subscription.cast::<SubscriptionMemory>();
        // SAFETY: [handles, exclusive] the library made the subscription in this form, and only
        // this call uses it.
        unsafe {
            let place = if of.has_buffer_backends {
                &raw mut (*memory).since_lyrical.is_cft_enabled
            } else {
                &raw mut (*memory).until_kilted.is_cft_enabled
            };
            place.write(is_enabled);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 3] = ["jazzy", "kilted", "lyrical"];

    fn distribution(name: &str) -> &'static Distribution {
        Distribution::named(name).expect(name)
    }

    /// Memory for any of the objects, with a mark in the bytes that no object has.
    #[repr(C, align(8))]
    struct Memory([u8; 256]);

    impl Memory {
        /// The number of bytes at the beginning that were written.
        fn written(&self) -> usize {
            self.0.iter().rposition(|byte| *byte != 0xa5).map_or(0, |last| last + 1)
        }
    }

    #[test]
    fn options_are_read_as_they_were_written_and_not_a_byte_more() {
        for (name, size) in [("jazzy", 168), ("kilted", 160), ("lyrical", 160)] {
            let of = distribution(name);
            let mut memory = Memory([0xa5; 256]);
            let at: *mut rmw_init_options_t = memory.0.as_mut_ptr().cast();
            let options = InitOptions {
                domain_id: 7,
                localhost_only: RMW_LOCALHOST_ONLY_ENABLED,
                enclave: ptr::without_provenance_mut(0x10),
                impl_: ptr::without_provenance_mut(0x20),
                ..InitOptions::zero()
            };
            // SAFETY: there is memory for options of any distribution.
            let read = unsafe {
                options.write(of, at);
                InitOptions::read(of, at)
            };
            assert_eq!(memory.written(), size, "{name}");
            assert_eq!((read.domain_id, read.enclave.addr(), read.impl_.addr()), (7, 0x10, 0x20));
            let expected = if name == "jazzy" { RMW_LOCALHOST_ONLY_ENABLED } else { 0 };
            assert_eq!(read.localhost_only, expected, "{name}");
        }
    }

    #[test]
    fn contexts_are_read_as_they_were_written_and_not_a_byte_more() {
        for (name, size) in [("jazzy", 200), ("kilted", 192), ("lyrical", 192)] {
            let of = distribution(name);
            let mut memory = Memory([0xa5; 256]);
            let at: *mut rmw_context_t = memory.0.as_mut_ptr().cast();
            let context = ContextObject {
                instance_id: 3,
                actual_domain_id: 9,
                impl_: ptr::without_provenance_mut(0x30),
                ..ContextObject::zero()
            };
            // SAFETY: there is memory for a context of any distribution.
            let read = unsafe {
                context.write(of, at);
                ContextObject::read(of, at)
            };
            assert_eq!(memory.written(), size, "{name}");
            assert_eq!((read.instance_id, read.actual_domain_id), (3, 9), "{name}");
            assert_eq!(read.impl_.addr(), 0x30, "{name}");
        }
    }

    #[test]
    fn the_flags_of_a_subscription_lie_behind_its_options() {
        for name in NAMES {
            let of = distribution(name);
            let raw = SubscriptionObject {
                implementation_identifier: ptr::without_provenance(1),
                data: ptr::without_provenance_mut(2),
                topic_name: ptr::without_provenance(3),
                options: rmw_subscription_options_t {
                    rmw_specific_subscription_payload: ptr::null_mut(),
                    ignore_local_publications: true,
                    require_unique_network_flow_endpoints: 0,
                    content_filter_options: ptr::null_mut(),
                },
                can_loan_messages: true,
                is_cft_enabled: false,
                is_cft_supported: true,
            }
            .into_raw(of);
            let flags = if name == "lyrical" { 56 } else { 48 };
            // SAFETY: the subscription was made for this distribution, and this test frees it.
            unsafe {
                SubscriptionObject::set_cft_enabled(of, raw, true);
                let bytes = raw.cast::<u8>();
                assert_eq!(bytes.add(32).read(), 1, "{name}: ignore_local_publications");
                for flag in flags..flags + 3 {
                    assert_eq!(bytes.add(flag).read(), 1, "{name}: the flag at {flag}");
                }
                drop(Box::from_raw(raw.cast::<SubscriptionMemory>()));
            }
        }
    }
}
