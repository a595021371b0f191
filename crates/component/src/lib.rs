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
//! The crate with this code, say `pipeline`, is an ordinary library: a program composes it with
//! `Camera::new` and [`Executor::add_node`](feros::Executor::add_node). For containers, it becomes
//! a library that shares one Feros with the container: `feros component build` makes and installs
//! both. By hand, that is a second crate of one line: crate-type `["rlib", "cdylib"]`, and in
//! `src/lib.rs` `use {feros_shared as _, pipeline as _};`. With two crates, a program composed by
//! hand needs no shared library; one crate can also be both.
//!
//! [`index`] finds libraries by package and plugin, [`install`] puts them there, [`library`] reads
//! a library's components without running it, [`stamp`] decides whether a library fits its
//! container, and [`remote`] talks to a running container.
//!
//! # Invariants
//!
//! No code of a library runs before its build stamp was compared.
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
/// This defines two symbols, which a library exports and which do no harm in a program: the
/// constructor, and the stamp of the library's build.
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
