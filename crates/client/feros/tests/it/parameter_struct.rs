//! Structs of parameters.

use feros::{DeclareParameterError, NodeOptions, Parameter, ParameterValue, Parameters};

use crate::support::context;

#[derive(Parameters)]
struct Camera {
    /// Images per second,
    /// at most.
    #[parameter(default = 30, range = 10..=60, step = 10)]
    rate: Parameter<i64>,
    #[parameter(name = "frame_id", default = "camera", read_only, constraints = "a frame")]
    frame: Parameter<String>,
    exposure: Parameter<Option<f64>>,
    #[parameter(default = [1.0, 0.5], ignore_override)]
    gains: Parameter<Vec<f64>>,
    #[parameter(nested)]
    lens: Lens,
    #[parameter(nested, name = "second")]
    other_lens: Lens,
    #[parameter(default = true)]
    r#use: Parameter<bool>,
}

#[derive(Parameters)]
struct Lens {
    /// Focus
    #[parameter(default = 0.5, range = 0.0..=1.0)]
    focus: Parameter<f64>,
}

#[test]
fn fields_declare_parameters_and_show_their_values() {
    let options = NodeOptions::new("camera").parameter_overrides([
        ("rate", ParameterValue::from(50)),
        ("second.focus", 0.75.into()),
        ("gains", vec![9.0].into()),
    ]);
    let node = context().create_node_with(options).unwrap();
    let camera = Camera::declare(&node).unwrap();
    assert_eq!((camera.rate.get(), camera.frame.get()), (50, "camera".to_owned()));
    assert_eq!((camera.exposure.get(), camera.gains.get()), (None, vec![1.0, 0.5]));
    assert_eq!((camera.lens.focus.get(), camera.other_lens.focus.get()), (0.5, 0.75));
    assert!(camera.r#use.get() && node.has_parameter("use"));

    let names = ["rate", "frame_id", "lens.focus"].map(str::to_owned);
    let described = node.describe_parameters(&names).unwrap();
    assert_eq!(described[0].description, "Images per second, at most.");
    assert!(described[1].read_only && described[1].additional_constraints == "a frame");
    assert_eq!(described[2].description, "Focus");
    assert!(node.set_parameter("rate", 15).is_err(), "between two steps");
    assert!(node.set_parameter("lens.focus", 1.5).is_err(), "out of range");
    node.set_parameter("rate", 20).unwrap();
    node.set_parameter("exposure", 0.01).unwrap();
    assert_eq!((camera.rate.get(), camera.exposure.get()), (20, Some(0.01)));
}

#[test]
fn declarations_that_fail_return_their_errors() {
    let node = context().create_node("node").unwrap();
    let _focus = node.declare_parameter("lens.focus", 1.0).unwrap();
    let refused = Camera::declare(&node).map(drop).unwrap_err();
    assert!(matches!(refused, DeclareParameterError::AlreadyDeclared { .. }), "{refused}");
}
