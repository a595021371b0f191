//! Tests that the generated code compiles, which is the larger part of this test, and that it
//! agrees with the definitions.
#![allow(clippy::unwrap_used)]

use feros_codegen_corner_cases::corner_cases::action::Self_;
use feros_codegen_corner_cases::corner_cases::msg::{
    Image, ImageView, ImageView_, Names, NoBorrow, OneLarge, Shapes,
};
use feros_codegen_corner_cases::corner_cases::srv::Result_Request;
use feros_codegen_corner_cases::dwb_msgs::srv::{GetCriticScore, GetCriticScore_Request};
use feros_codegen_corner_cases::r#move;
use feros_codegen_corner_cases::nav_2d_msgs::msg::Path2D;
use feros_interface::shipped;
use feros_message::{
    Action, EncodeError, Message, PrimitiveSlice, Service, WString, from_bytes, to_vec, view,
};
use feros_msgs::geometry_msgs::msg::Pose2D;

fn check<M: Message>(message: &M) {
    let bytes = to_vec(message).unwrap();
    assert_eq!(&from_bytes::<M>(&bytes).unwrap(), message);
    let view = view::<M>(&bytes).unwrap();
    let plain = |text: String| {
        text.replace("View {", " {").replace("View_ {", " {").replace("Self_ {", "Self {")
    };
    assert_eq!(plain(format!("{view:?}")), plain(format!("{message:?}")));
    assert_eq!(M::TYPE_DESCRIPTION.to_interface().type_hash(), M::TYPE_HASH);
}

#[test]
fn every_message_survives() {
    check(&Names {
        r#type: 1,
        self_: 2,
        super_: 3,
        crate_: 4,
        r#async: 5,
        r#gen: 6,
        r: 7,
        ..Names::default()
    });
    check(&Shapes::default());
    check(&NoBorrow { b: [2.5; 100], ..NoBorrow::default() });
    check(&OneLarge { samples: [9; 4000] });
    check(&Image { data: vec![1, 2, 3] });
    check(&Result_Request {});
    check(&r#move::msg::Self_::default());
}

#[test]
fn packages_of_robots_are_generated_with_the_packages_that_they_need() {
    let known = |name: &str| shipped().type_hash(&name.parse().unwrap()).unwrap();
    assert_eq!(Path2D::TYPE_HASH, known("nav_2d_msgs/msg/Path2D"));
    assert_eq!(GetCriticScore::TYPE_HASH, known("dwb_msgs/srv/GetCriticScore"));
    let mut path = Path2D { poses: vec![Pose2D::default(); 3], ..Path2D::default() };
    path.header.frame_id = "map".into();
    path.poses[2].theta = 1.5;
    assert_eq!(from_bytes::<Path2D>(&to_vec(&path).unwrap()).unwrap(), path);
    let mut request = GetCriticScore_Request::default();
    request.pose.header.frame_id = "odom".into();
    request.velocity.theta = -0.25;
    request.critic_name = "BaseObstacle".into();
    let bytes = to_vec(&request).unwrap();
    assert_eq!(from_bytes::<GetCriticScore_Request>(&bytes).unwrap(), request);
}

#[test]
fn constants_keep_their_values() {
    assert_eq!((Names::TYPE_NAME, <Names as Message>::TYPE_NAME), (1, "corner_cases/msg/Names"));
    assert_eq!(Names::SELF, r#"it's "quoted""#);
    assert_eq!((Names::WIDE, Names::LETTER, Names::OCTET), ("wide 語", 65, 255));
    assert_eq!((Names::LEAST, Names::GREATEST), (i64::MIN, u64::MAX));
    assert_eq!((Names::HUGE_VALUE, Names::INFINITE), (1e300, f64::INFINITY));
    assert!(Names::NO_NUMBER.is_nan() && Names::NEGATIVE_ZERO.is_sign_negative());
}

#[test]
fn defaults_of_every_shape() {
    let shapes = Shapes::default();
    assert_eq!(shapes.bounded, [1.5, -2.5, f32::INFINITY]);
    assert_eq!(
        (&shapes.texts[..], &shapes.few[..]),
        (&["a, b".into(), "c".into()][..], &["x".into()][..])
    );
    assert_eq!((shapes.wide, shapes.least), (WString::from("語"), -128));
    assert_eq!((shapes.large.len(), shapes.headers.len()), (1000, 40));
    assert_eq!(shapes.other_crate, own_package::robot_interfaces::msg::JointTarget::default());
}

#[test]
fn bounds_hold_inside_of_sequences() {
    let mut shapes = Shapes::default();
    shapes.short_strings[2] = "12345".into();
    assert_eq!(
        to_vec(&shapes),
        Err(EncodeError::BoundExceeded { field: "short_strings", len: 5, bound: 4 })
    );
    let shapes = Shapes { short_wides: vec!["ab".into(), "abc".into()], ..Shapes::default() };
    assert_eq!(
        to_vec(&shapes),
        Err(EncodeError::BoundExceeded { field: "short_wides", len: 3, bound: 2 })
    );
}

/// If a definition has the name of a view, the view gets another name.
#[test]
fn views_do_not_collide_with_definitions() {
    let bytes = to_vec(&ImageView { data: vec![5] }).unwrap();
    let of_image: ImageView_<'_> = view::<Image>(&bytes).unwrap();
    assert_eq!(of_image.data, [5]);
}

#[test]
fn large_arrays_are_borrowed_and_small_ones_copied() {
    let bytes = to_vec(&Shapes {
        few_points: Default::default(),
        flags: [true; 2000],
        ..Shapes::default()
    })
    .unwrap();
    let view = view::<Shapes>(&bytes).unwrap();
    let large: PrimitiveSlice<'_, f64> = view.large;
    let image: &[u8; 100_000] = view.image;
    assert_eq!(
        (large.len(), image.len(), view.few_points.len(), view.letters),
        (1000, 100_000, 2, [0; 4])
    );
    assert_eq!(view.flags.as_slice(), Some(&[true; 2000][..]));
    assert!(bytes.as_ptr_range().contains(&image.as_ptr()));
    assert_eq!(view.poses.iter().len(), 50);
}

#[test]
fn names_of_the_prelude_are_free() {
    assert_eq!(<Self_ as Action>::SendGoal::TYPE_NAME, "corner_cases/action/Self_SendGoal");
}
