//! Dynamic messages: values of types that are known only at run time.
//!
//! A [`DynamicType`] is resolved once from an [`InterfaceSet`](feros_interface::InterfaceSet). It
//! then decodes samples into [`DynamicMessage`]s. These can be written as YAML and JSON, in the
//! notation of the `ros2` command, and read back.
//!
//! ```
//! use feros_message::dynamic::{DynamicMessage, DynamicType, PrintOptions};
//!
//! let ty = DynamicType::resolve(feros_interface::shipped(), &"geometry_msgs/msg/Point".parse()?)?;
//! let point = DynamicMessage::from_yaml(&ty, "{x: 1, z: -2.5}")?;
//! let sample = point.to_cdr()?;
//! assert_eq!(ty.decode(&sample)?, point);
//! assert_eq!(point.to_yaml(&PrintOptions::default()), "x: 1.0\ny: 0.0\nz: -2.5\n");
//! assert_eq!(point.to_json(&PrintOptions::default()), r#"{"x":1.0,"y":0.0,"z":-2.5}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Values that are not finite numbers
//!
//! YAML has `.nan`, `.inf` and `-.inf`. JSON has no such numbers, so they are written as the
//! strings `"NaN"`, `"Infinity"` and `"-Infinity"`. Both readers accept all of these.

mod codec;
mod filter;
mod input;
mod input_error;
mod input_tree;
mod json;
mod path;
mod print;
mod scalar;
mod stamp;
mod types;
mod value;
mod yaml;

pub use codec::{DynamicDecodeError, DynamicEncodeError};
pub use filter::{ContentFilter, ContentFilterError};
pub use input_error::{InputError, InputErrorKind};
pub use path::{PathError, Selected};
pub use print::PrintOptions;
pub use stamp::StampFields;
pub use types::{DynamicField, DynamicType, DynamicTypeError, MAX_FIXED_BYTES};
pub use value::{Array, DynamicMessage, SetError, Value, ValueRef};
