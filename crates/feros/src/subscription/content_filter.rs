//! Content filters of a subscription, applied where messages are received: the engine delivers all
//! of them, whichever transport they take.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use feros_message::Message;
use feros_message::dynamic::{
    ContentFilter, ContentFilterError, DynamicMessage, DynamicType, DynamicTypeError,
};
use feros_message::interface::TypeDescription;
use feros_sync::RwLock;

use crate::content::Content;

/// Which messages of a topic a subscription wants.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContentFilterOptions {
    /// The expression, as DDS has it: `percentage < %0 AND location LIKE 'slot %'`. The empty one
    /// wants all messages.
    pub expression: String,
    /// What `%0` and its siblings stand for: numbers, `TRUE`, `FALSE`, or texts as `'text'`.
    pub parameters: Vec<String>,
}

impl ContentFilterOptions {
    /// This expression with these parameters.
    pub fn new<P: Into<String>>(expression: &str, parameters: impl IntoIterator<Item = P>) -> Self {
        let parameters = parameters.into_iter().map(Into::into).collect();
        Self { expression: expression.to_owned(), parameters }
    }
}

/// Why a content filter was not set.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SetContentFilterError {
    /// The subscription takes messages in a form that is not filtered.
    #[error(
        "the subscription of {topic} was made without a content filter: make it with one, which may be empty, to set it later"
    )]
    NotFiltered {
        /// The topic.
        topic: String,
    },
    /// The expression is no filter for the messages of the topic.
    #[error(transparent)]
    Filter(#[from] ContentFilterError),
}

/// The content filter of one subscription, for those whose type is known at run time; a
/// [`Subscription`](crate::Subscription) has its own by
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

/// Why there is no filter.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum SerializedFilterError {
    /// The description is none of a message.
    Type(#[from] DynamicTypeError),
    /// The expression is no filter for messages of the type.
    Filter(#[from] ContentFilterError),
}

impl SerializedFilter {
    /// For messages of a type.
    ///
    /// # Errors
    /// When the description is none of a message, or the expression no filter for it.
    pub fn new(
        description: &TypeDescription,
        options: ContentFilterOptions,
    ) -> Result<Self, SerializedFilterError> {
        let ty = DynamicType::from_description(description)?;
        let current = RwLock::new(Arc::new(Current::new(&ty, options)?));
        Ok(Self { ty, current, filtered: AtomicU64::new(0) })
    }

    /// For messages of the type `M`.
    pub(super) fn of<M: Message>(options: ContentFilterOptions) -> Result<Self, String> {
        let filter = Self::new(&M::TYPE_DESCRIPTION.to_interface(), options);
        filter.map_err(|error| error.to_string())
    }

    /// Replaces the filter, from the next message on.
    ///
    /// # Errors
    /// When the expression is no filter for messages of the type; the former one stays.
    pub fn set(&self, options: ContentFilterOptions) -> Result<(), ContentFilterError> {
        let new = Arc::new(Current::new(&self.ty, options)?);
        let former = std::mem::replace(&mut *self.current.write(), new);
        drop(former); // outside the lock
        Ok(())
    }

    /// The filter as it was given.
    pub fn options(&self) -> ContentFilterOptions {
        self.current.read().options.clone()
    }

    /// Messages that were not wanted.
    pub fn filtered(&self) -> u64 {
        self.filtered.load(Ordering::Relaxed)
    }

    /// Whether a serialized message, with its header of 4 bytes, is wanted; one that is not is
    /// counted. What is no message at all is, so that it is refused in words.
    pub fn wants_bytes(&self, message: &[u8]) -> bool {
        self.note(self.ty.decode(message).ok())
    }

    /// As [`Self::wants_bytes`], in whichever form a message is.
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
