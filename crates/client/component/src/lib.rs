//! Components: nodes that a program composes by hand, or that a container loads from a library by
//! name.
//!
//! ```
//! use feros::{Context, Error, Node, NodeOptions};
//! use feros_component::Component;
//!
//! struct Camera {
//!     node: Node,
//! }
//!
//! impl Component for Camera {
//!     fn new(context: &Context, options: NodeOptions) -> Result<Self, Error> {
//!         Ok(Self { node: context.create_node_with(options.name("camera"))? })
//!     }
//!
//!     fn node(&self) -> &Node {
//!         &self.node
//!     }
//! }
//!
//! feros_component::register!(Camera, "pipeline::Camera");
//! ```
//!
//! The crate with this code, say `pipeline`, is an ordinary library: a program creates the
//! component with `Camera::new` and runs it with [`Executor::add_node`](feros::Executor::add_node).
//! A container needs a library that is linked with the container's own Feros; `feros component
//! build` builds and installs both. To build that library by hand, write a second crate with the
//! crate types `["rlib", "cdylib"]` and one line in `src/lib.rs`:
//! `use {feros_shared as _, pipeline as _};`. With this second crate, a program that uses
//! `pipeline` directly needs no shared library. One crate can also serve both purposes.
//!
//! [`index`] finds libraries by package and plugin, [`install`] puts them into a prefix,
//! [`library`] reads a library's components without running it, [`stamp`] decides whether a library
//! fits its container, and [`remote`] talks to a running container.
//!
//! # Invariants
//!
//! No code of a library runs before its build stamp has been compared.
#![forbid(unsafe_code)]

mod component;
pub mod index;
pub mod install;
pub mod library;
pub mod plugin;
pub mod remote;
pub mod stamp;

pub use component::Component;

/// Lets containers load a component by a name, such as `"pipeline::Camera"`.
///
/// The macro defines two symbols: the constructor, and the stamp of the library's build. A library
/// exports both symbols; in a program they do no harm.
#[macro_export]
macro_rules! register {
    ($component:ty, $plugin:literal) => {
        const _: () = {
            const _: () = $crate::plugin::check_name($plugin);

            #[unsafe(export_name = concat!("feros_component_stamp::", $plugin))]
            pub static STAMP: [u8; $crate::stamp::STAMP.len()] = $crate::plugin::stamp_bytes();

            #[unsafe(export_name = concat!("feros_component_new::", $plugin))]
            pub fn construct(
                context: &$crate::plugin::Context,
                options: $crate::plugin::NodeOptions,
            ) -> $crate::plugin::Constructed {
                $crate::plugin::construct::<$component>(context, options)
            }
        };
    };
}
