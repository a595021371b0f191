//! Content filters of subscriptions. A filter is applied on reception: every transport delivers all
//! messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use feros_message::Message;
use feros_message::dynamic::{
    ContentFilter, ContentFilterError, DynamicMessage, DynamicType, DynamicTypeError,
};
use feros_message::interface::TypeDescription;
use feros_sync::RwLock;

use crate::messages::content::Content;

/// The options of a content filter, which selects the messages that a subscription wants.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContentFilterOptions {
    /// The expression, as in DDS: `percentage < %0 AND location LIKE 'slot %'`. The empty
    /// expression selects all messages.
    pub expression: String,
    /// The values of `%0`, `%1` and so on: numbers, `TRUE`, `FALSE`, or strings in the form
    /// `'text'`.
    pub parameters: Vec<String>,
}

impl ContentFilterOptions {
    /// The options of a filter with this expression and these parameters.
    pub fn new<P: Into<String>>(expression: &str, parameters: impl IntoIterator<Item = P>) -> Self {
        let parameters = parameters.into_iter().map(Into::into).collect();
        Self { expression: expression.to_owned(), parameters }
    }
}

/// The reason why a content filter was not set.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SetContentFilterError {
    /// The subscription was made without a content filter.
    #[error(
        "the subscription of {topic} was created without a content filter: create it with a \
         filter, even an empty one, to be able to change the filter"
    )]
    NotFiltered {
        /// The topic.
        topic: String,
    },
    /// The expression does not fit the messages of the topic.
    #[error(transparent)]
    Filter(#[from] ContentFilterError),
}

/// The content filter of one subscription to a type that is known only at run time. A
/// [`Subscription`](crate::Subscription) has a built-in filter, which is set with
/// [`SubscriptionOptions::content_filter`](crate::SubscriptionOptions::content_filter).
///
/// ```
/// use feros::message::Message as _;
/// use feros::msgs::std_msgs::msg::UInt8;
/// use feros::{ContentFilterOptions, SerializedFilter};
///
/// let description = UInt8::TYPE_DESCRIPTION.to_interface();
/// let above = ContentFilterOptions::new("data > %0", ["5"]);
/// let filter = SerializedFilter::new(&description, above)?;
/// assert!(filter.wants_bytes(&[0, 1, 0, 0, 6]) && !filter.wants_bytes(&[0, 1, 0, 0, 5]));
/// assert_eq!(filter.filtered(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SerializedFilter {
    ty: DynamicType,
    current: RwLock<Arc<Current>>,
    filtered: AtomicU64,
}

struct Current {
    options: ContentFilterOptions,
    filter: ContentFilter,
}

impl Current {
    fn new(ty: &DynamicType, options: ContentFilterOptions) -> Result<Self, ContentFilterError> {
        let filter = ContentFilter::parse(ty, &options.expression, &options.parameters)?;
        Ok(Self { options, filter })
    }
}

/// The reason why a filter could not be made.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum SerializedFilterError {
    /// The description is not the description of a message.
    Type(#[from] DynamicTypeError),
    /// The expression does not fit messages of the type.
    Filter(#[from] ContentFilterError),
}

impl SerializedFilter {
    /// Makes a filter for messages of a type.
    ///
    /// # Errors
    /// When the description is not the description of a message, or the expression does not fit the
    /// message.
    pub fn new(
        description: &TypeDescription,
        options: ContentFilterOptions,
    ) -> Result<Self, SerializedFilterError> {
        let ty = DynamicType::from_description(description)?;
        let current = RwLock::new(Arc::new(Current::new(&ty, options)?));
        Ok(Self { ty, current, filtered: AtomicU64::new(0) })
    }

    /// Makes a filter for messages of the type `M`.
    pub(super) fn of<M: Message>(options: ContentFilterOptions) -> Result<Self, String> {
        let filter = Self::new(&M::TYPE_DESCRIPTION.to_interface(), options);
        filter.map_err(|error| error.to_string())
    }

    /// Replaces the filter, from the next message on.
    ///
    /// # Errors
    /// When the expression does not fit messages of the type; the old filter then stays.
    pub fn set(&self, options: ContentFilterOptions) -> Result<(), ContentFilterError> {
        let new = Arc::new(Current::new(&self.ty, options)?);
        let former = std::mem::replace(&mut *self.current.write(), new);
        drop(former); // outside the lock
        Ok(())
    }

    /// The options with which the filter was set.
    pub fn options(&self) -> ContentFilterOptions {
        self.current.read().options.clone()
    }

    /// The number of messages that the filter has rejected.
    pub fn filtered(&self) -> u64 {
        self.filtered.load(Ordering::Relaxed)
    }

    /// Returns whether the filter selects a serialized message, with its 4-byte header; counts the
    /// message if not. Bytes that are not a message are selected, so that decoding them fails later
    /// and is logged.
    pub fn wants_bytes(&self, message: &[u8]) -> bool {
        self.note(self.ty.decode(message).ok())
    }

    /// The form of [`Self::wants_bytes`] for a message in any form.
    pub(super) fn wants<M: Message>(&self, content: &Content<M>) -> bool {
        let decoded = match content {
            Content::Bytes(payload) => self.ty.decode(payload).ok(),
            Content::Owned(message) => self.read(message),
            Content::Shared(message) => self.read(&**message),
        };
        self.note(decoded)
    }

    fn note(&self, decoded: Option<DynamicMessage>) -> bool {
        let current = self.current.read().clone();
        let is_wanted = decoded.is_none_or(|message| current.filter.matches(&message));
        if !is_wanted {
            self.filtered.fetch_add(1, Ordering::Relaxed);
        }
        is_wanted
    }

    fn read<M: Message>(&self, message: &M) -> Option<DynamicMessage> {
        self.ty.decode(&feros_message::to_vec(message).ok()?).ok()
    }
}
