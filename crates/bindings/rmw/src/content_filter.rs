//! Content filters. The receiving process applies them: a message that the filter rejects does not
//! wake the subscription and is never taken.
//!
//! The words in brackets in SAFETY comments are clauses of `contract`.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use feros_message::dynamic::{ContentFilter, DynamicType};
use feros_sync::RwLock;

use crate::allocation::Allocator;
use crate::error::Failure;
use crate::ffi::description::TypeDescription;
use crate::ffi::{rmw_subscription_content_filter_options_t, rosidl_message_type_support_t};

/// The filter of a subscription's messages.
pub(crate) struct Filter {
    /// The type support of the messages; it lives as long as the subscription.
    support: *const rosidl_message_type_support_t,
    current: RwLock<Option<Arc<Current>>>,
}

// SAFETY: the type support is a static in its library, and is never changed.
unsafe impl Send for Filter {}
// SAFETY: as for `Send`.
unsafe impl Sync for Filter {}

struct Current {
    ty: DynamicType,
    filter: ContentFilter,
    expression: CString,
    parameters: Vec<CString>,
}

/// A string of the filter options; `None` if the pointer is null.
///
/// # Safety
/// The pointer is null or points to a string that lives as long as the options.
unsafe fn read(text: *const std::ffi::c_char) -> Option<CString> {
    // SAFETY: [strings] the string ends with NUL and lives as long as the options.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_owned())
}

fn utf8(text: &CStr) -> Result<&str, Failure> {
    text.to_str().map_err(|_| Failure::invalid("the content filter is not UTF-8"))
}

impl Filter {
    /// Accepts every message until a filter is set.
    ///
    /// # Safety
    /// The type support lives as long as this value.
    pub(crate) unsafe fn new(support: *const rosidl_message_type_support_t) -> Self {
        Self { support, current: RwLock::new(None) }
    }

    /// Whether there is a filter.
    pub(crate) fn is_set(&self) -> bool {
        self.current.read().is_some()
    }

    fn current(&self) -> Option<Arc<Current>> {
        self.current.read().clone()
    }

    /// Whether a serialized message passes the filter. True for a message that cannot be decoded,
    /// so that taking the message reports the error.
    pub(crate) fn wants(&self, bytes: &[u8]) -> bool {
        let Some(current) = self.current() else { return true };
        current.ty.decode(bytes).map_or(true, |message| current.filter.matches(&message))
    }

    /// Replaces the filter; an empty expression removes it.
    ///
    /// # Safety
    /// The options are initialized.
    pub(crate) unsafe fn set(
        &self,
        options: &rmw_subscription_content_filter_options_t,
    ) -> Result<(), Failure> {
        // SAFETY: [strings] the expression is null or ends with NUL.
        let expression = unsafe { read(options.filter_expression) };
        let expression =
            expression.ok_or_else(|| Failure::invalid("the content filter has no expression"))?;
        let given = &options.expression_parameters;
        let count = if given.data.is_null() { 0 } else { given.size };
        // SAFETY: [arrays] the array has `size` strings. [strings] Each is null or ends with NUL.
        let parameters: Option<Vec<CString>> =
            (0..count).map(|index| unsafe { read(*given.data.add(index)) }).collect();
        let parameters = parameters
            .ok_or_else(|| Failure::invalid("a parameter of the content filter is null"))?;
        let replaced = if expression.is_empty() {
            None
        } else {
            Some(Arc::new(self.compile(expression, parameters)?))
        };
        let former = std::mem::replace(&mut *self.current.write(), replaced);
        drop(former); // after the lock is released
        Ok(())
    }

    /// A copy of the options that the filter was set with, in memory of the host program.
    pub(crate) fn options(
        &self,
        allocator: &Allocator,
    ) -> Result<rmw_subscription_content_filter_options_t, Failure> {
        let current = self
            .current()
            .ok_or_else(|| Failure::unsupported("the subscription has no content filter"))?;
        let filter_expression = allocator.c_text(&current.expression)?;
        let parameters: Vec<&str> =
            current.parameters.iter().map(|text| utf8(text)).collect::<Result<_, _>>()?;
        let expression_parameters = allocator.texts(parameters.into_iter()).inspect_err(|_| {
            // SAFETY: the string was just allocated.
            unsafe { allocator.free(filter_expression) };
        })?;
        Ok(rmw_subscription_content_filter_options_t { filter_expression, expression_parameters })
    }

    fn compile(&self, expression: CString, parameters: Vec<CString>) -> Result<Current, Failure> {
        let ty = self.describe()?;
        let texts: Vec<&str> =
            parameters.iter().map(|text| utf8(text)).collect::<Result<_, _>>()?;
        let filter = ContentFilter::parse(&ty, utf8(&expression)?, &texts);
        let filter = filter.map_err(|error| Failure::invalid(error.to_string()))?;
        Ok(Current { ty, filter, expression, parameters })
    }

    /// The type of the messages, read from the description in their type support.
    fn describe(&self) -> Result<DynamicType, Failure> {
        // SAFETY: [type supports] the type support outlives `self`, and its function returns a
        // static.
        let description = unsafe {
            let find = (*self.support).get_type_description_func;
            find.and_then(|find| find(self.support).cast::<TypeDescription>().as_ref())
        };
        let description = description.ok_or_else(|| {
            Failure::unsupported("the type support has no description, which a filter needs")
        })?;
        // SAFETY: rosidl generated the description.
        let description = unsafe { description.read() };
        DynamicType::from_description(&description).map_err(Failure::error)
    }
}
