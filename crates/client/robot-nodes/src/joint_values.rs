//! The values of joints that `joint_state_publisher` publishes: defaults, values from other topics,
//! joints that follow others, and a movement through all positions.

use std::collections::{BTreeMap, HashMap};
use std::f64::consts::PI;

use feros::msgs::sensor_msgs::msg::JointState;
use feros_wording::did_you_mean;

use crate::description::{Joint, JointKind, Limits, Robot};

/// A joint that follows another joint: `factor * position + offset`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dependent {
    /// The name of the other joint.
    pub(crate) parent: String,
    pub(crate) factor: f64,
    pub(crate) offset: f64,
}

/// The parameters of the node that decide the values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    /// The positions at the start, by joint.
    pub(crate) zeros: BTreeMap<String, f64>,
    /// Joints that follow others, in addition to those that mimic others.
    pub(crate) dependent: BTreeMap<String, Dependent>,
    pub(crate) use_mimic_tags: bool,
    pub(crate) use_smallest_joint_limits: bool,
    pub(crate) publish_default_positions: bool,
    pub(crate) publish_default_velocities: bool,
    pub(crate) publish_default_efforts: bool,
}

/// The reason why the joints of a robot have no values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ValuesError {
    /// This is absent for a joint that turns or slides within limits.
    #[error(
        "the joint {joint:?} has no {missing} limit: write <limit lower=\"...\" upper=\"...\"/> in it, \
         or make it continuous"
    )]
    NoLimit { joint: String, missing: &'static str },
    /// A joint follows a joint that has no value.
    #[error(
        "the joint {joint:?} follows the joint {parent:?}, which does not exist or does not \
         move{suggestion}"
    )]
    NoParent { joint: String, parent: String, suggestion: String },
    /// Joints follow each other.
    #[error("the joint {joint:?} follows itself, through <mimic> or dependent_joints")]
    Loop { joint: String },
}

/// A joint that follows no other joint.
#[derive(Debug, Clone)]
struct Free {
    min: f64,
    max: f64,
    is_continuous: bool,
    is_forward: bool,
    position: Option<f64>,
    velocity: Option<f64>,
    effort: Option<f64>,
}

/// A joint of the message: the free joint that it follows, which may be itself.
#[derive(Debug, Clone)]
struct Follower {
    name: String,
    free: usize,
    factor: f64,
    offset: f64,
}

/// The values of the movable joints of a robot.
#[derive(Debug, Clone, Default)]
pub(crate) struct JointValues {
    free: Vec<Free>,
    places: HashMap<String, usize>,
    followers: Vec<Follower>,
    has_dependents: bool,
}

impl JointValues {
    pub(crate) fn new(robot: &Robot, settings: &Settings) -> Result<Self, ValuesError> {
        let joints: Vec<&Joint> =
            robot.joints().iter().filter(|joint| joint.kind.is_movable()).collect();
        let dependents = dependents(&joints, settings);
        let (mut free, mut places) = (Vec::new(), HashMap::new());
        for joint in &joints {
            let (min, max) = range(joint, settings.use_smallest_joint_limits)?;
            if !dependents.contains_key(joint.name.as_str()) {
                places.insert(joint.name.clone(), free.len());
                free.push(Free::new(joint, min, max, settings));
            }
        }
        let follower = |joint: &&Joint| {
            let (parent, factor, offset) = leader(&joint.name, &dependents)?;
            let place = places.get(parent).copied().ok_or_else(|| ValuesError::NoParent {
                joint: joint.name.clone(),
                parent: parent.to_owned(),
                suggestion: did_you_mean(parent, places.keys().map(String::as_str)),
            })?;
            Ok(Follower { name: joint.name.clone(), free: place, factor, offset })
        };
        let followers = joints.iter().map(follower).collect::<Result<_, _>>()?;
        Ok(Self { free, followers, has_dependents: !dependents.is_empty(), places })
    }

    /// Takes the values of free joints from a message. Values that are missing or not finite change
    /// nothing.
    pub(crate) fn take(&mut self, state: &JointState) {
        for (at, name) in state.name.iter().enumerate() {
            let Some(place) = self.places.get(name) else { continue };
            let free = &mut self.free[*place];
            let taken = |values: &[f64]| values.get(at).copied().filter(|value| value.is_finite());
            free.position = taken(&state.position).or(free.position);
            free.velocity = taken(&state.velocity).or(free.velocity);
            free.effort = taken(&state.effort).or(free.effort);
        }
    }

    /// Moves each free joint by `delta`, forth and back between its limits.
    pub(crate) fn step(&mut self, delta: f64) {
        self.free.iter_mut().for_each(|free| free.step(delta));
    }

    /// Writes the values into a message; returns whether there is something to publish.
    pub(crate) fn write(&self, state: &mut JointState) -> bool {
        let any = |value: fn(&Free) -> Option<f64>| self.free.iter().any(|f| value(f).is_some());
        let write = |is_used: bool, values: &mut Vec<f64>, value: &dyn Fn(&Follower) -> f64| {
            values.clear();
            if is_used {
                values.extend(self.followers.iter().map(value));
            }
        };
        write(self.has_dependents || any(|free| free.position), &mut state.position, &|follower| {
            let position = self.free[follower.free].position;
            position.map_or(0.0, |position| position * follower.factor + follower.offset)
        });
        write(any(|free| free.velocity), &mut state.velocity, &|follower| {
            self.free[follower.free].velocity.map_or(0.0, |velocity| velocity * follower.factor)
        });
        write(any(|free| free.effort), &mut state.effort, &|follower| {
            self.free[follower.free].effort.unwrap_or(0.0)
        });
        let names = self.followers.iter().map(|follower| &follower.name);
        if !state.name.iter().eq(names.clone()) {
            state.name = names.cloned().collect();
        }
        !state.name.is_empty()
    }
}

impl Free {
    fn new(joint: &Joint, min: f64, max: f64, settings: &Settings) -> Self {
        let zero = settings.zeros.get(&joint.name).copied().unwrap_or(if min > 0.0 || max < 0.0 {
            f64::midpoint(min, max)
        } else {
            0.0
        });
        Self {
            min,
            max,
            is_continuous: joint.kind == JointKind::Continuous,
            is_forward: true,
            position: settings.publish_default_positions.then_some(zero),
            velocity: settings.publish_default_velocities.then_some(0.0),
            effort: settings.publish_default_efforts.then_some(0.0),
        }
    }

    fn step(&mut self, delta: f64) {
        let position = self.position.unwrap_or(0.0);
        self.position = Some(if self.is_forward {
            let next = position + delta;
            match (next > self.max, self.is_continuous) {
                (true, true) => self.min,
                (true, false) => {
                    self.is_forward = false;
                    self.max
                }
                (false, _) => next,
            }
        } else {
            let next = position - delta;
            self.is_forward = next < self.min;
            next.max(self.min)
        });
    }
}

/// The range of a joint's positions. A continuous joint has a whole turn.
fn range(joint: &Joint, use_smallest: bool) -> Result<(f64, f64), ValuesError> {
    let no_limit = |missing| ValuesError::NoLimit { joint: joint.name.clone(), missing };
    let (mut min, mut max) = match (joint.kind, joint.limits) {
        (JointKind::Continuous, _) => (-PI, PI),
        (_, Limits { lower, upper }) => {
            (lower.ok_or_else(|| no_limit("lower"))?, upper.ok_or_else(|| no_limit("upper"))?)
        }
    };
    if use_smallest {
        min = joint.soft_limits.lower.map_or(min, |soft| min.max(soft));
        max = joint.soft_limits.upper.map_or(max, |soft| max.min(soft));
    }
    Ok((min, max))
}

/// The joints that follow others. The parameter takes precedence over the description.
fn dependents<'a>(joints: &[&'a Joint], settings: &Settings) -> HashMap<&'a str, Dependent> {
    let dependent = |joint: &&'a Joint| {
        let mimic = joint.mimic.as_ref().filter(|_| settings.use_mimic_tags);
        let mimic = mimic.map(|mimic| Dependent {
            parent: mimic.joint.clone(),
            factor: mimic.multiplier,
            offset: mimic.offset,
        });
        Some((joint.name.as_str(), settings.dependent.get(&joint.name).cloned().or(mimic)?))
    };
    joints.iter().filter_map(dependent).collect()
}

/// The joint at the end of the chain that a joint follows, with the factor and the offset.
fn leader<'a>(
    joint: &'a str,
    dependents: &'a HashMap<&str, Dependent>,
) -> Result<(&'a str, f64, f64), ValuesError> {
    let (mut name, mut factor, mut offset) = (joint, 1.0, 0.0);
    // A chain without a loop has each joint once.
    for _ in 0..=dependents.len() {
        let Some(dependent) = dependents.get(name) else { return Ok((name, factor, offset)) };
        offset += factor * dependent.offset;
        factor *= dependent.factor;
        name = &dependent.parent;
    }
    Err(ValuesError::Loop { joint: joint.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            use_mimic_tags: true,
            use_smallest_joint_limits: true,
            publish_default_positions: true,
            ..Settings::default()
        }
    }

    /// A robot whose links hang on one base, with these joints.
    fn robot(joints: &[(&str, &str, &str)]) -> Robot {
        let mut text = String::from("<robot name=\"r\"><link name=\"base\"/>");
        for (name, kind, more) in joints {
            text += &format!(
                "<link name=\"{name}_link\"/><joint name=\"{name}\" type=\"{kind}\">\
                 <parent link=\"base\"/><child link=\"{name}_link\"/>{more}</joint>"
            );
        }
        (text + "</robot>").parse().unwrap()
    }

    fn limit(lower: f64, upper: f64) -> String {
        format!("<limit lower=\"{lower}\" upper=\"{upper}\"/>")
    }

    fn written(values: &JointValues) -> JointState {
        let mut state = JointState::default();
        assert!(values.write(&mut state));
        state
    }

    #[test]
    fn a_joint_begins_at_zero_or_in_the_middle_of_its_range() {
        let limits = [limit(-1.0, 1.0), limit(1.0, 2.0), limit(-3.0, -1.0)];
        let soft = limit(-1.0, 1.0) + "<safety_controller soft_lower_limit=\"0.5\"/>";
        let robot = robot(&[
            ("a", "revolute", &limits[0]),
            ("fixed", "fixed", ""),
            ("b", "prismatic", &limits[1]),
            ("c", "revolute", &limits[2]),
            ("d", "continuous", ""),
            ("floating", "floating", ""),
            ("e", "revolute", &soft),
            ("f", "continuous", ""),
        ]);
        let zeros = [("f".to_owned(), 3.0), ("unknown".to_owned(), 1.0)].into();
        let with_zeros = Settings { zeros, ..settings() };
        let state = written(&JointValues::new(&robot, &with_zeros).unwrap());
        assert_eq!(state.name, ["a", "b", "c", "d", "e", "f"]);
        assert_eq!(state.position, [0.0, 1.5, -2.0, 0.0, 0.75, 3.0]);
        assert_eq!((state.velocity.len(), state.effort.len()), (0, 0));
        let loose = Settings { use_smallest_joint_limits: false, ..settings() };
        assert_eq!(written(&JointValues::new(&robot, &loose).unwrap()).position[4], 0.0);
    }

    #[test]
    fn velocities_and_efforts_are_published_if_wanted_or_known() {
        let robot = robot(&[("a", "continuous", ""), ("b", "continuous", "")]);
        let wanted = Settings {
            publish_default_positions: false,
            publish_default_velocities: true,
            publish_default_efforts: true,
            ..settings()
        };
        let state = written(&JointValues::new(&robot, &wanted).unwrap());
        assert_eq!(
            (state.position.len(), state.velocity, state.effort),
            (0, vec![0.0; 2], vec![0.0; 2])
        );
        let mut values = JointValues::new(&robot, &settings()).unwrap();
        values.take(&JointState {
            name: vec!["b".into(), "other".into(), "a".into()],
            position: vec![0.5, 1.0, f64::NAN],
            effort: vec![7.0],
            ..JointState::default()
        });
        let state = written(&values);
        assert_eq!((state.position, state.velocity.len()), (vec![0.0, 0.5], 0));
        assert_eq!(state.effort, [0.0, 7.0]);
    }

    #[test]
    fn joints_follow_others_through_chains() {
        let mimic =
            |joint: &str| format!("<mimic joint=\"{joint}\" multiplier=\"2\" offset=\"1\"/>");
        let (of_a, of_b) = (mimic("a"), mimic("b"));
        let robot = robot(&[
            ("c", "continuous", &of_b),
            ("b", "continuous", &of_a),
            ("a", "continuous", ""),
            ("d", "continuous", ""),
        ]);
        let mut values = JointValues::new(&robot, &settings()).unwrap();
        values.take(&JointState {
            name: vec!["a".into(), "b".into()],
            position: vec![0.5, 9.0],
            velocity: vec![0.25],
            ..JointState::default()
        });
        let state = written(&values);
        // b = 2 a + 1, and c = 2 b + 1.
        assert_eq!(state.position, [5.0, 2.0, 0.5, 0.0]);
        assert_eq!(state.velocity, [1.0, 0.5, 0.25, 0.0]);

        let own = Dependent { parent: "d".into(), factor: -1.0, offset: 0.5 };
        let dependent = [("b".to_owned(), own)].into();
        let by_parameter = Settings { dependent, ..settings() };
        let state = written(&JointValues::new(&robot, &by_parameter).unwrap());
        assert_eq!(state.position, [2.0, 0.5, 0.0, 0.0], "the parameter comes before the tag");
        let free = Settings { use_mimic_tags: false, ..settings() };
        assert_eq!(written(&JointValues::new(&robot, &free).unwrap()).position, [0.0; 4]);
    }

    #[test]
    fn what_has_no_value_is_named() {
        let error = |joints: &[(&str, &str, &str)], settings: &Settings| {
            JointValues::new(&robot(joints), settings).unwrap_err().to_string()
        };
        let no_limit = error(&[("a", "revolute", "")], &settings());
        assert!(no_limit.contains("\"a\" has no lower limit"), "{no_limit}");
        let half = error(&[("a", "prismatic", "<limit lower=\"0\"/>")], &settings());
        assert!(half.contains("no upper limit"), "{half}");
        let joints = [("elbow", "continuous", ""), ("b", "continuous", "<mimic joint=\"elbov\"/>")];
        let parent = error(&joints, &settings());
        assert!(
            parent.contains("\"elbov\"") && parent.contains("did you mean `elbow`"),
            "{parent}"
        );
        let follow = |parent: &str| Dependent { parent: parent.into(), factor: 1.0, offset: 0.0 };
        let dependent = [("a".to_owned(), follow("b")), ("b".to_owned(), follow("a"))].into();
        let joints = [("a", "continuous", ""), ("b", "continuous", "")];
        let cycle = error(&joints, &Settings { dependent, ..settings() });
        assert!(cycle.contains("\"a\" follows itself"), "{cycle}");
        let fixed = [("f", "fixed", ""), ("b", "continuous", "<mimic joint=\"f\"/>")];
        assert!(error(&fixed, &settings()).contains("does not move"));
    }

    #[test]
    fn joints_move_forth_and_back_between_their_limits() {
        let limits = limit(-0.5, 1.0);
        let robot = robot(&[("a", "revolute", &limits), ("b", "continuous", "")]);
        let mut values = JointValues::new(&robot, &settings()).unwrap();
        let mut seen = Vec::new();
        for _ in 0..8 {
            values.step(0.75);
            seen.push(written(&values).position[0]);
        }
        assert_eq!(seen, [0.75, 1.0, 0.25, -0.5, -0.5, 0.25, 1.0, 1.0]);
        let mut turns = Vec::new();
        let mut values = JointValues::new(&robot, &settings()).unwrap();
        for _ in 0..3 {
            values.step(2.0);
            turns.push(written(&values).position[1]);
        }
        assert_eq!(turns, [2.0, -PI, 2.0 - PI], "a continuous joint turns on");
    }

    #[test]
    fn a_robot_without_movable_joints_publishes_nothing() {
        let values = JointValues::new(&robot(&[("a", "fixed", "")]), &settings()).unwrap();
        assert!(!values.write(&mut JointState::default()));
        assert!(!JointValues::default().write(&mut JointState::default()));
    }
}
