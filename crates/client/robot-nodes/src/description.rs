//! The description of a robot: its links, which form a tree, and the joints between them.

mod error;
mod joint;
mod read;
mod tree;

use std::collections::HashMap;
use std::str::FromStr;

pub use error::DescriptionError;
pub use joint::{Joint, JointKind, Limits, Mimic};

pub(crate) use error::{beginning, shown};
pub(crate) use joint::rotation_of;

/// The limit on the length of a description. The largest public robots have descriptions of less
/// than a megabyte.
pub(crate) const MAX_BYTES: usize = 16 << 20;
/// The limit on the elements and texts of a description.
const MAX_NODES: u32 = 2_000_000;
/// The limit on the attributes of an element.
const MAX_ATTRIBUTES: usize = 1000;
/// The limit on links. Each is a frame that all listeners of transforms keep.
const MAX_LINKS: usize = 10_000;
/// The limit on the meshes that are remembered.
const MAX_MESHES: usize = 1000;

/// A robot, as its description (URDF) says.
///
/// ```
/// use feros_robot_nodes::Robot;
/// let robot: Robot = r#"<robot name="arm">
///   <link name="base"/> <link name="hand"/>
///   <joint name="wrist" type="continuous">
///     <parent link="base"/> <child link="hand"/> <axis xyz="0 0 1"/>
///   </joint>
/// </robot>"#.parse()?;
/// assert_eq!((robot.root(), robot.joints().len()), ("base", 1));
/// # Ok::<(), feros_robot_nodes::DescriptionError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Robot {
    name: String,
    root: String,
    joints: Vec<Joint>,
    meshes: Vec<Mesh>,
    places: HashMap<String, usize>,
    unprocessed: Option<String>,
}

/// A mesh, which is a file with the shape of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mesh {
    /// The file, such as `package://arm_description/meshes/base.stl`.
    pub(crate) uri: String,
    /// The first link that has the mesh.
    pub(crate) link: String,
}

impl Robot {
    /// The name of the robot; empty if the description has none.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name of the link that is the child of no joint.
    #[must_use]
    pub fn root(&self) -> &str {
        &self.root
    }

    /// The joints, in the order of the description.
    #[must_use]
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// The meshes of the links, each once, in the order of the description.
    pub(crate) fn meshes(&self) -> &[Mesh] {
        &self.meshes
    }

    /// What to do about the first element of xacro, if the description still has any. Such elements
    /// are ignored.
    pub(crate) fn unprocessed(&self) -> Option<&str> {
        self.unprocessed.as_deref()
    }

    /// The place of a joint in [`Robot::joints`].
    #[must_use]
    pub fn place(&self, joint: &str) -> Option<usize> {
        self.places.get(joint).copied()
    }
}

impl FromStr for Robot {
    type Err = DescriptionError;

    /// Reads the text of a description.
    fn from_str(text: &str) -> Result<Self, DescriptionError> {
        let mut parts = read::parts(text)?;
        let root =
            tree::root_of(&parts, text).map_err(|error| parts.xacro.take().unwrap_or(error))?;
        let named = parts.joints.iter().enumerate();
        let places = named.map(|(place, joint)| (joint.name.clone(), place)).collect();
        tree::refuse_mimic_loops(&parts.joints, &places, text)?;
        let unprocessed = parts.xacro.map(|element| element.to_string());
        let (name, joints, meshes) = (parts.name, parts.joints, parts.meshes);
        Ok(Self { name, root, joints, meshes, places, unprocessed })
    }
}

#[cfg(test)]
mod tests;
