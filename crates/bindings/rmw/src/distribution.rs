//! The distributions of ROS 2 that the library serves, and everything in which the C interface of
//! rmw differs between them. The rest of the crate does not know distributions.
//!
//! `loaded` finds the distribution of the process from the libraries of ROS 2 that are loaded, and
//! `layout` has the objects of rmw whose fields differ.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

mod layout;
mod loaded;

use std::ffi::{CStr, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use feros_typesupport::Layout;

use crate::arguments::{Out, given, ours};
use crate::error::{Failure, guarded};
use crate::ffi::{RMW_EVENT_LIVELINESS_CHANGED, rmw_context_t, rmw_ret_t};
use crate::qos::copy_text;

#[cfg(test)]
pub(crate) use layout::{Absent, RMW_LOCALHOST_ONLY_DEFAULT, WithBackends};
pub(crate) use layout::{
    ContextObject, InitOptions, RMW_LOCALHOST_ONLY_ENABLED, SubscriptionMemory, SubscriptionObject,
};
pub(crate) use loaded::loaded;

/// A distribution of ROS 2, with what differs in its C interface.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Distribution {
    /// The name, as in `ROS_DISTRO`.
    pub(crate) name: &'static str,
    /// The major and minor version of the package rmw.
    rmw: &'static str,
    /// Whether init options have the field `localhost_only`, which Kilted removed.
    has_localhost_only: bool,
    /// The number of the first kind of event. Since Kilted, 0 stands for no event.
    first_event: u32,
    /// Whether the options of a subscription have the field `acceptable_buffer_backends`, and
    /// subscriptions `is_cft_supported`.
    has_buffer_backends: bool,
    /// Whether `rmw_destroy_wait_set` and `rmw_service_server_is_available` return `RMW_RET_ERROR`
    /// for a null argument. The headers of Jazzy and Kilted say `RMW_RET_INVALID_ARGUMENT`, but
    /// Jazzy's `rmw_fastrtps_cpp` and its suite for implementations differ from the header.
    null_is_error: bool,
    /// The layouts of type supports and of sequences.
    pub(crate) of_types: Layout,
    /// Whether the library has been run with the distribution itself. Otherwise, the support for
    /// the distribution was written from published information only.
    was_run: bool,
}

static SERVED: [Distribution; 3] = [
    Distribution {
        name: "jazzy",
        rmw: "7.3",
        has_localhost_only: true,
        first_event: 0,
        null_is_error: true,
        has_buffer_backends: false,
        of_types: Layout::JAZZY_AND_KILTED,
        was_run: true,
    },
    Distribution {
        name: "kilted",
        rmw: "7.8",
        has_localhost_only: false,
        first_event: 1,
        null_is_error: false,
        has_buffer_backends: false,
        of_types: Layout::JAZZY_AND_KILTED,
        was_run: true,
    },
    Distribution {
        name: "lyrical",
        rmw: "7.10",
        has_localhost_only: false,
        first_event: 1,
        null_is_error: false,
        has_buffer_backends: true,
        of_types: Layout::LYRICAL,
        was_run: false,
    },
];

/// The distributions that the library does not serve, with the version of their package rmw.
const NOT_SERVED: [(&str, &str); 2] = [("6.1", "humble"), ("7.1", "iron")];

/// The names of the distributions that the library serves, for messages.
const NAMES: &str = "jazzy, kilted and lyrical";

impl Distribution {
    /// The distribution with this name; `None` if the library does not serve it.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        SERVED.iter().find(|served| served.name == name)
    }

    /// The distribution with this version of the package rmw. If the library does not serve it, the
    /// error has the name of the distribution, as far as it is known.
    fn with_rmw(version: &str) -> Result<&'static Self, Option<&'static str>> {
        let is_of =
            |series: &str| version.strip_prefix(series).is_some_and(|rest| rest.starts_with('.'));
        let refused = || NOT_SERVED.iter().find(|(series, _)| is_of(series)).map(|(_, name)| *name);
        SERVED.iter().find(|served| is_of(served.rmw)).ok_or_else(refused)
    }

    /// The kind of an event, such as [`RMW_EVENT_LIVELINESS_CHANGED`], from its number in the host
    /// program. Unknown numbers become unknown kinds.
    pub(crate) fn event_kind(&self, number: u32) -> u32 {
        // The kinds are in the same order in all distributions.
        number.saturating_add(RMW_EVENT_LIVELINESS_CHANGED - self.first_event)
    }

    /// The failure of a null argument of a function that `null_is_error` names.
    fn of_null(&self, what: &str) -> Failure {
        let text = format!("the argument `{what}` is null");
        if self.null_is_error { Failure::error(text) } else { Failure::invalid(text) }
    }
}

/// Refuses a null argument of `rmw_destroy_wait_set` and `rmw_service_server_is_available`.
pub(crate) fn refuse_null<T>(pointer: *const T, what: &str) -> Result<(), Failure> {
    if pointer.is_null() { Err(loaded()?.of_null(what)) } else { Ok(()) }
}

/// The distribution below an installation prefix. Writes its name or, if the library cannot serve
/// the distribution, the reason. The scripts that install the library call this function, so that
/// there is one table of distributions.
///
/// Returns `RMW_RET_OK`, or `RMW_RET_UNSUPPORTED` if the library cannot serve the distribution, or
/// `RMW_RET_ERROR` if the prefix does not show its distribution.
///
/// # Safety
/// The prefix is null or ends with NUL; `text` is null or has room for `size` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn feros_rmw_distribution(
    prefix: *const c_char,
    text: *mut c_char,
    size: usize,
) -> rmw_ret_t {
    guarded(|| {
        // SAFETY: [pointers] the prefix is null or valid for the whole call. [outputs] There is
        // memory for the text.
        unsafe {
            given(prefix, "prefix")?;
            Out::new(text, "text")?;
        }
        // SAFETY: [strings] the prefix ends with NUL.
        let prefix = unsafe { CStr::from_ptr(prefix) };
        let found = loaded::below(Path::new(OsStr::from_bytes(prefix.to_bytes())));
        let (said, result) = match found {
            Ok(distribution) => (distribution.name.to_owned(), Ok(())),
            // The text goes to the caller, so no text remains for rcutils.
            Err(Failure { code, text }) => (text, Err(Failure { code, text: String::new() })),
        };
        // SAFETY: [arrays] `text` has room for `size` bytes. [outputs] Only this call uses it.
        unsafe { copy_text(&said, text, size) };
        result
    })
}

/// The `impl_` pointer of a context. The context keeps this pointer after shutdown.
///
/// # Safety
/// The contract of [`given`].
pub(crate) unsafe fn initialized(context: *const rmw_context_t) -> Result<*mut c_void, Failure> {
    // SAFETY: [pointers] the context is null or valid for the whole call.
    unsafe { ours(context) }?;
    // SAFETY: [handles] the library made the context, so it is not null.
    let held = unsafe { ContextObject::read(loaded()?, context) }.impl_;
    if held.is_null() {
        return Err(Failure::invalid("the context was not initialized, or was already finalized"));
    }
    Ok(held)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi::{
        RMW_EVENT_INVALID, RMW_EVENT_PUBLICATION_MATCHED, RMW_RET_ERROR, RMW_RET_INVALID_ARGUMENT,
        RMW_RET_OK, RMW_RET_UNSUPPORTED,
    };

    #[test]
    fn distributions_are_known_by_the_version_of_rmw() {
        let name = |version| Distribution::with_rmw(version).map(|found| found.name);
        assert_eq!(name("7.3.2"), Ok("jazzy"));
        assert_eq!(name("7.8.2"), Ok("kilted"));
        assert_eq!(name("7.10.0"), Ok("lyrical"));
        assert_eq!(name("6.1.2"), Err(Some("humble")));
        assert_eq!(name("7.1.0"), Err(Some("iron")));
        for unknown in ["7.80.1", "7.11.0", "7.3", "17.3.2", ""] {
            assert_eq!(name(unknown), Err(None), "{unknown}");
        }
    }

    #[test]
    fn messages_name_every_distribution() {
        assert_eq!(
            SERVED.each_ref().map(|served| served.name).join(", "),
            "jazzy, kilted, lyrical"
        );
        assert!(SERVED.iter().all(|served| NAMES.contains(served.name)));
    }

    #[test]
    fn kinds_of_events_have_the_numbers_of_the_distribution() {
        let kind = |name, number| Distribution::named(name).expect(name).event_kind(number);
        assert_eq!(kind("jazzy", 0), RMW_EVENT_LIVELINESS_CHANGED);
        assert_eq!(kind("jazzy", 10), RMW_EVENT_PUBLICATION_MATCHED);
        for name in ["kilted", "lyrical"] {
            assert_eq!(kind(name, 0), RMW_EVENT_INVALID);
            assert_eq!(kind(name, 1), RMW_EVENT_LIVELINESS_CHANGED);
            assert_eq!(kind(name, 11), RMW_EVENT_PUBLICATION_MATCHED);
        }
        for (name, number) in [("jazzy", 11), ("jazzy", u32::MAX), ("kilted", 12)] {
            assert!(kind(name, number) > RMW_EVENT_PUBLICATION_MATCHED, "{name} {number}");
        }
    }

    #[test]
    fn jazzy_has_its_own_code_for_null_arguments_of_two_functions() {
        let code = |name| Distribution::named(name).expect(name).of_null("node").code;
        assert_eq!(code("jazzy"), RMW_RET_ERROR);
        assert_eq!(code("kilted"), RMW_RET_INVALID_ARGUMENT);
        assert_eq!(code("lyrical"), RMW_RET_INVALID_ARGUMENT);
    }

    #[test]
    fn the_distribution_of_a_prefix_is_its_name_or_a_refusal() {
        let prefix = tempfile::tempdir().expect("a folder");
        let ask = || {
            let path =
                std::ffi::CString::new(prefix.path().as_os_str().as_bytes()).expect("no NUL");
            let mut text = [1; 512];
            // SAFETY: the path ends with NUL, and the text has this size.
            let code =
                unsafe { feros_rmw_distribution(path.as_ptr(), text.as_mut_ptr(), text.len()) };
            // SAFETY: the function has written a NUL.
            let said = unsafe { CStr::from_ptr(text.as_ptr()) };
            (code, said.to_str().expect("UTF-8").to_owned())
        };
        let (code, said) = ask();
        assert_eq!(code, RMW_RET_ERROR);
        assert!(said.contains("share/rmw/package.xml"), "{said}");
        std::fs::create_dir_all(prefix.path().join("share/rmw")).expect("a folder");
        let write = |version: &str| {
            let manifest = format!("<version>{version}</version>");
            let path = prefix.path().join("share/rmw/package.xml");
            std::fs::write(path, manifest).expect("written");
        };
        write("7.3.2");
        assert_eq!(ask(), (RMW_RET_OK, "jazzy".to_owned()));
        write("6.1.2");
        let (code, said) = ask();
        assert_eq!(code, RMW_RET_UNSUPPORTED);
        assert!(said.contains("humble, with rmw 6.1.2"), "{said}");
        // SAFETY: null is refused.
        let code = unsafe { feros_rmw_distribution(std::ptr::null(), std::ptr::null_mut(), 0) };
        assert_eq!(code, RMW_RET_INVALID_ARGUMENT);
    }
}
