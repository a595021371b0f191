//! The trait for structs whose fields are the handles of parameters.

use feros_parameter::DeclareParameterError;

use crate::node::Node;

/// A struct whose fields are the handles of parameters that are declared together.
///
/// Derive the trait. The documentation of a field becomes the description of the parameter, and
/// `#[parameter(...)]` sets its other properties: `default`, `name` if it differs from the field's
/// name, `range = 10..=60`, `step`, `constraints` (a text), `read_only` and `ignore_override`. A
/// field of the type `Parameter<Option<T>>` needs no default. A field with `nested` is itself a
/// struct of parameters, whose names begin with the field's name and a dot.
///
/// A handle always returns the value that was set last, by any node or program, so the code need
/// not copy values when a parameter changes.
///
/// ```no_run
/// # let node: feros::Node = unimplemented!();
/// use feros::{Parameter, Parameters};
///
/// #[derive(Parameters)]
/// struct Camera {
///     /// Images per second
///     #[parameter(default = 30, range = 10..=60, step = 10)]
///     rate: Parameter<i64>,
///     /// Where the camera is
///     #[parameter(name = "frame_id", default = "camera", read_only)]
///     frame: Parameter<String>,
///     /// Seconds; the camera chooses if nobody does
///     exposure: Parameter<Option<f64>>,
///     #[parameter(nested)]
///     lens: Lens,
/// }
///
/// #[derive(Parameters)]
/// struct Lens {
///     #[parameter(default = 0.5, range = 0.0..=1.0)]
///     focus: Parameter<f64>,
/// }
///
/// let camera = Camera::declare(&node)?; // `rate`, `frame_id`, `exposure`, `lens.focus`
/// println!("{} Hz, focus {}", camera.rate.get(), camera.lens.focus.get());
/// # Ok::<(), feros::Error>(())
/// ```
pub trait Parameters: Sized {
    /// Declares all parameters of the struct.
    ///
    /// # Errors
    /// When a parameter cannot be declared (see [`Node::declare_parameter`]). The parameters that
    /// were declared before it stay declared.
    fn declare(node: &Node) -> Result<Self, DeclareParameterError> {
        Self::declare_below(node, "")
    }

    /// Declares all parameters of the struct, and puts a prefix such as `lens.` before their names.
    ///
    /// # Errors
    /// See [`Parameters::declare`].
    fn declare_below(node: &Node, prefix: &str) -> Result<Self, DeclareParameterError>;
}
