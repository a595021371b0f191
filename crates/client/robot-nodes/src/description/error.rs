//! Why a text is not the description of a robot.

/// The reason why a robot description cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DescriptionError {
    /// The text is empty.
    #[error("the robot description is empty: it has to be the text of a URDF file")]
    Empty,
    /// The text is longer than the limit.
    #[error(
        "the robot description has {bytes} bytes, more than the limit of {limit}: refer to meshes as \
         files instead of including their data"
    )]
    TooLong {
        /// The length of the text.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// An element has more attributes than the limit.
    #[error(
        "line {line}: an element has more than {limit} attributes, which no URDF element needs"
    )]
    TooManyAttributes {
        /// The line of the element.
        line: usize,
        /// The limit.
        limit: usize,
    },
    /// The text is not XML.
    #[error("the robot description is not well-formed XML: {reason}{hint}")]
    NotXml {
        /// The reason, with the place in the text.
        reason: String,
        /// How to get a description; empty if the text looks like XML.
        hint: &'static str,
    },
    /// The outermost element is not `robot`.
    #[error(
        "the robot description begins with <{found}>, not <robot>: only URDF is supported, so SDF \
         and COLLADA have to be converted"
    )]
    NotUrdf {
        /// The name of the outermost element.
        found: String,
    },
    /// The text has elements of xacro. This is an error if the links do not form a tree.
    #[error(
        "line {line}: <{element}> is an element of xacro: run xacro first, and pass its output as the \
         robot description (pip install xacro; in a launch file, Command(['xacro ', file]))"
    )]
    Xacro {
        /// The line of the element.
        line: usize,
        /// The name of the element.
        element: String,
    },
    /// An element lacks an attribute or an element.
    #[error("line {line}: {element} has no {missing}")]
    Missing {
        /// The line of the element.
        line: usize,
        /// The element, such as `the joint "elbow"`.
        element: String,
        /// The element or attribute that it has to have, such as `<parent link="...">`.
        missing: &'static str,
    },
    /// A text is not the number or the numbers that it has to be.
    #[error("line {line}: {attribute}=\"{text}\" of {element}: expected {expected}{hint}")]
    Numbers {
        /// The line of the element.
        line: usize,
        /// The element.
        element: String,
        /// The name of the attribute.
        attribute: &'static str,
        /// Its text, shortened.
        text: String,
        /// The numbers that were expected.
        expected: &'static str,
        /// The probable cause; empty if it is unknown.
        hint: &'static str,
    },
    /// The type of a joint is unknown.
    #[error("line {line}: the joint \"{joint}\" has the unknown type \"{kind}\"{suggestion}")]
    UnknownType {
        /// The line of the joint.
        line: usize,
        /// The joint.
        joint: String,
        /// Its type.
        kind: String,
        /// The types that there are.
        suggestion: String,
    },
    /// The axis of a joint has no direction.
    #[error(
        "line {line}: the axis of the joint \"{joint}\" is 0 0 0, which has no direction: write \
         <axis xyz=\"1 0 0\"/> for the x axis"
    )]
    NoDirection {
        /// The line of the joint.
        line: usize,
        /// The joint.
        joint: String,
    },
    /// Two links or two joints have the same name.
    #[error("line {line}: there is another {what} \"{name}\" before: rename one of them")]
    Duplicate {
        /// The line of the second.
        line: usize,
        /// `link` or `joint`.
        what: &'static str,
        /// The name of both.
        name: String,
    },
    /// A joint names a link that does not exist.
    #[error(
        "line {line}: the joint \"{joint}\" has the {role} link \"{link}\", which the robot does not \
         have: add this link, or correct the name{suggestion}"
    )]
    UnknownLink {
        /// The line of the joint.
        line: usize,
        /// The joint.
        joint: String,
        /// `parent` or `child`.
        role: &'static str,
        /// The name of the link.
        link: String,
        /// A similar name, if there is any.
        suggestion: String,
    },
    /// The robot has more links than the limit.
    #[error(
        "the robot has {links} links, more than the limit of {limit}: describe it as several robots, \
         each with its own robot_state_publisher and frame_prefix"
    )]
    TooManyLinks {
        /// The number of links.
        links: usize,
        /// The limit.
        limit: usize,
    },
    /// The robot has no link.
    #[error("the robot \"{robot}\" has no <link>")]
    NoLinks {
        /// The name of the robot.
        robot: String,
    },
    /// A link is the child of two joints.
    #[error(
        "line {line}: the link \"{link}\" is the child of two joints, \"{first}\" and \"{second}\": a \
         robot is a tree, so a closed chain has to be cut at one of them"
    )]
    TwoParents {
        /// The line of the second joint.
        line: usize,
        /// The link.
        link: String,
        /// The first joint.
        first: String,
        /// The second joint.
        second: String,
    },
    /// Links are their own ancestors.
    #[error(
        "line {line}: the links {links} form a loop, but a robot is a tree: cut the loop at one of its \
         joints, such as \"{joint}\" of this line"
    )]
    Loop {
        /// The line of a joint of the loop.
        line: usize,
        /// This joint.
        joint: String,
        /// Some of the links, in their order.
        links: String,
    },
    /// Several links are the child of no joint.
    #[error(
        "line {line}: the robot has several root links, {links}: connect them with joints to a single root, for \
         example with fixed joints"
    )]
    SeveralRoots {
        /// The line of the second of them.
        line: usize,
        /// Some of the links.
        links: String,
    },
    /// Joints mimic each other.
    #[error(
        "line {line}: the joints {joints} mimic each other in a loop: one of them must not mimic"
    )]
    MimicLoop {
        /// The line of the first of them.
        line: usize,
        /// Some of the joints, in their order.
        joints: String,
    },
}

/// The limit on the names and texts of others in an error.
const LONGEST: usize = 80;

/// A text of the description as an error shows it.
pub(crate) fn shown(text: &str) -> String {
    beginning(text, LONGEST)
}

/// The first characters of a text of others, as a message shows them.
pub(crate) fn beginning(text: &str, most: usize) -> String {
    let mut shown: String = text.chars().take(most).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    feros_wording::harmless(&shown).into_owned()
}

/// Some names as an error shows them.
pub(super) fn listed<'a>(names: impl Iterator<Item = &'a str>, separator: &str) -> String {
    const MOST: usize = 5;
    let mut names = names.map(|name| format!("\"{}\"", shown(name)));
    let mut shown: Vec<String> = names.by_ref().take(MOST).collect();
    if names.next().is_some() {
        shown.push("...".to_owned());
    }
    shown.join(separator)
}
