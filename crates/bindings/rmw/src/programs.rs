//! The compiled type supports of the process: one program per type, shared by all its users.
//!
//! A host program passes the same few type supports many times, for example with each call of
//! `rmw_serialize`. It may also unload and reload their libraries, so a stored program is only used
//! if the type support at its address is still the same.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use feros_sync::Mutex;
use feros_typesupport::{MessageProgram, ServiceProgram};

use crate::distribution;
use crate::error::Failure;
use crate::ffi::{rosidl_message_type_support_t, rosidl_service_type_support_t};

/// The limit on stored programs, which exceeds the number of types in a usual process. Types beyond
/// the limit are compiled at each use.
const MOST_KEPT: usize = 4096;

/// The values that show whether the type support at an address is still the same.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Fingerprint {
    identifier: usize,
    data: usize,
    function: usize,
    hash: Option<[u8; 32]>,
}

impl Fingerprint {
    /// # Safety
    /// The type support is valid.
    unsafe fn of(support: &rosidl_message_type_support_t) -> Self {
        // SAFETY: the function belongs to the type support, and the hash is a static in its
        // library.
        let hash = unsafe { support.get_type_hash_func.and_then(|find| find(support).as_ref()) };
        Self {
            identifier: support.typesupport_identifier.addr(),
            data: support.data.addr(),
            function: support.func.map_or(0, |function| function as usize),
            hash: hash.map(|hash| hash.value),
        }
    }
}

type Known = HashMap<usize, (Fingerprint, Arc<MessageProgram>)>;

fn known() -> &'static Mutex<Known> {
    static KNOWN: OnceLock<Mutex<Known>> = OnceLock::new();
    KNOWN.get_or_init(Mutex::default)
}

/// The program of a message type.
///
/// # Safety
/// The pointer is null or points to a type support whose library stays loaded while the program is
/// in use.
pub(crate) unsafe fn of_message(
    support: *const rosidl_message_type_support_t,
) -> Result<Arc<MessageProgram>, Failure> {
    // This comes first, because the type supports of a distribution that is not served may have
    // other fields. In Humble, they end before the function that finds the hash.
    let layout = distribution::loaded()?.of_types;
    // SAFETY: [type supports] the type support is null or valid.
    let fingerprint = unsafe { Fingerprint::of(crate::arguments::given(support, "type_support")?) };
    let address = support.addr();
    if let Some((of_before, program)) = known().lock().get(&address)
        && *of_before == fingerprint
    {
        return Ok(Arc::clone(program));
    }
    // SAFETY: [type supports] the type support is valid, it has the layouts of the host program's
    // distribution, and its library stays loaded.
    let program = unsafe { MessageProgram::compile(support, layout) };
    let program = Arc::new(program.map_err(Failure::error)?);
    let mut known = known().lock();
    let former = if known.len() < MOST_KEPT || known.contains_key(&address) {
        known.insert(address, (fingerprint, Arc::clone(&program)))
    } else {
        None
    };
    drop(known);
    drop(former);
    Ok(program)
}

/// The programs of a service type.
///
/// # Safety
/// The contract of [`of_message`].
pub(crate) unsafe fn of_service(
    support: *const rosidl_service_type_support_t,
) -> Result<ServiceProgram, Failure> {
    let layout = distribution::loaded()?.of_types;
    // SAFETY: [type supports] the type support is null or valid, it has the layouts of the host
    // program's distribution, and its library stays loaded.
    unsafe {
        crate::arguments::given(support, "type_support")?;
        ServiceProgram::compile(support, layout).map_err(Failure::error)
    }
}
