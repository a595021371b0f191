//! The items that [`register!`](crate::register) uses, and the symbols that a container looks up in
//! a library.

pub use feros::{Context, NodeOptions};

use crate::component::Component;
use crate::stamp::STAMP;

/// The result of a constructor.
pub type Constructed = Result<Box<dyn Component>, feros::Error>;

/// A constructor as a library exports it. Call it only if the library's stamp fits this program.
pub type Constructor = fn(&Context, NodeOptions) -> Constructed;

/// The start of the name of a constructor's symbol, before the plugin's name.
pub const CONSTRUCTOR_PREFIX: &str = "feros_component_new::";

/// The start of the name of a stamp's symbol, before the plugin's name.
pub const STAMP_PREFIX: &str = "feros_component_stamp::";

/// Whether a plugin may have this name. Only letters, digits, `_` and `:` are allowed, because the
/// index separates entries with `;` and line breaks.
pub const fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if !(bytes[i].is_ascii_alphanumeric() || bytes[i] == b'_' || bytes[i] == b':') {
            return false;
        }
        i += 1;
    }
    i > 0
}

/// Fails the compilation of a `register!` with a name that is not allowed.
#[doc(hidden)]
pub const fn check_name(name: &str) {
    assert!(
        is_name(name),
        "a plugin's name has only letters, digits, _ and :, such as \"pipeline::Camera\""
    );
}

/// The content of the stamp's symbol.
#[doc(hidden)]
pub const fn stamp_bytes() -> [u8; STAMP.len()] {
    let mut bytes = [0; STAMP.len()];
    bytes.copy_from_slice(STAMP.as_bytes());
    bytes
}

/// Creates a component for a caller that does not know the component's type.
#[doc(hidden)]
pub fn construct<C: Component>(context: &Context, options: NodeOptions) -> Constructed {
    C::new(context, options).map(|component| Box::new(component) as Box<dyn Component>)
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names_that_the_index_can_hold() {
        assert!(is_name("pipeline::Camera_2"));
        for bad in ["", "a;b", "a b", "a\nb", "ä"] {
            assert!(!is_name(bad), "{bad:?}");
        }
    }
}
