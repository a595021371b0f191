//! Content filters of a subscription, applied where messages are received: the engine delivers all
//! of them, whichever transport they take.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use feros_message::Message;
use feros_message::dynamic::{ContentFilter, ContentFilterError, DynamicType};
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

/// The filter of one subscription.
pub(super) struct Filter {
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

impl Filter {
    /// For messages of the type `M`.
    pub(super) fn new<M: Message>(options: ContentFilterOptions) -> Result<Self, String> {
        let ty = DynamicType::from_description(&M::TYPE_DESCRIPTION.to_interface());
        let ty = ty.map_err(|error| error.to_string())?;
        let current = Current::new(&ty, options).map_err(|error| error.to_string())?;
        Ok(Self { ty, current: RwLock::new(Arc::new(current)), filtered: AtomicU64::new(0) })
    }

    pub(super) fn set(&self, options: ContentFilterOptions) -> Result<(), ContentFilterError> {
        let new = Arc::new(Current::new(&self.ty, options)?);
        let former = std::mem::replace(&mut *self.current.write(), new);
        drop(former); // outside the lock
        Ok(())
    }

    pub(super) fn options(&self) -> ContentFilterOptions {
        self.current.read().options.clone()
    }

    /// Messages that were not wanted.
    pub(super) fn filtered(&self) -> u64 {
        self.filtered.load(Ordering::Relaxed)
    }

    /// Whether a message is wanted; one that is not is counted. What is no message at all is, so
    /// that it is refused in words.
    pub(super) fn wants<M: Message>(&self, content: &Content<M>) -> bool {
        let decoded = match content {
            Content::Bytes(payload) => self.ty.decode(payload).ok(),
            Content::Owned(message) => self.read(message),
            Content::Shared(message) => self.read(&**message),
        };
        let current = self.current.read().clone();
        let is_wanted = decoded.is_none_or(|message| current.filter.matches(&message));
        if !is_wanted {
            self.filtered.fetch_add(1, Ordering::Relaxed);
        }
        is_wanted
    }

    fn read<M: Message>(&self, message: &M) -> Option<feros_message::dynamic::DynamicMessage> {
        self.ty.decode(&feros_message::to_vec(message).ok()?).ok()
    }
}
