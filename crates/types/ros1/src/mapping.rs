//! Pairs the fields of a ROS 1 type with the fields of a ROS 2 type, and creates the plans for both
//! directions.
//!
//! The rules are those of `ros1_bridge` (`ros1_bridge/__init__.py:determine_field_mapping`): fields
//! are paired by their names in lower case, and a field that exists on only one side is skipped in
//! one direction and filled with zeros in the other. If both sides have unpaired fields, a field
//! was probably renamed, and a rule must name the pair.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use feros_interface::{
    BaseType, EMPTY_MESSAGE_FIELD, Field, FieldType, InterfaceSet, MessageDefinition, Shape,
    TypeName,
};

use crate::definition::type_text;
use crate::plan::{Body, Direction, Form, Plan, Step};
use crate::ros1_type::Ros1Type;
use crate::rules::Rules;

/// The reason why a ROS 1 type and a ROS 2 type do not belong together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    /// The ROS 2 type, or a type that it refers to, is unknown.
    #[error("{0}")]
    Ros2(#[from] feros_interface::ResolveError),
    /// Each type has fields that the other type does not have.
    #[error(
        "the fields of {ros1} of ROS 1 and {ros2} of ROS 2 differ: {} only in ROS 1, {} only in ROS 2; a mapping rule \
         with fields_1_to_2 can pair them",
        only_ros1.join(", "), only_ros2.join(", ")
    )]
    Fields {
        /// The type of ROS 1.
        ros1: String,
        /// The type of ROS 2.
        ros2: String,
        /// The fields that only ROS 1 has.
        only_ros1: Vec<String>,
        /// The fields that only ROS 2 has.
        only_ros2: Vec<String>,
    },
    /// Fields with the same name have different types.
    #[error(
        "the field {field} is {ros1_type} in {ros1} of ROS 1 and {ros2_type} in {ros2} of ROS 2"
    )]
    Type {
        /// The field.
        field: String,
        /// The type of ROS 1.
        ros1: String,
        /// The type of ROS 2.
        ros2: String,
        /// The field's type in ROS 1.
        ros1_type: String,
        /// The field's type in ROS 2.
        ros2_type: String,
    },
    /// A rule names a field that does not exist.
    #[error(
        "the rule for {ros1} of ROS 1 and {ros2} of ROS 2 names the field {field}, which does not \
         exist"
    )]
    Rule {
        /// The type of ROS 1.
        ros1: String,
        /// The type of ROS 2.
        ros2: String,
        /// The field.
        field: String,
    },
}

/// The plans for both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Plans {
    /// The plan that converts from ROS 1 to ROS 2.
    pub to_ros2: Plan,
    /// The plan that converts from ROS 2 to ROS 1.
    pub to_ros1: Plan,
}

impl Plans {
    /// Creates the plans between a ROS 1 type and a ROS 2 type.
    ///
    /// # Errors
    /// Returns an error if the types do not belong together.
    pub fn new(
        ros1: &Ros1Type,
        set: &InterfaceSet,
        ros2: &TypeName,
        rules: &Rules,
    ) -> Result<Self, MappingError> {
        set.references(ros2)?;
        let plan = |direction| {
            let mut maker = Maker { ros1, set, rules, direction, known: BTreeMap::new() };
            let body = maker.body(&ros1.name, ros2)?;
            Ok::<_, MappingError>(Plan { body, direction })
        };
        Ok(Self { to_ros2: plan(Direction::OneToTwo)?, to_ros1: plan(Direction::TwoToOne)? })
    }
}

/// A field of the message, or a nested field that a rule names.
struct Leaf {
    path: String,
    ty: FieldType,
}

struct Maker<'a> {
    ros1: &'a Ros1Type,
    set: &'a InterfaceSet,
    rules: &'a Rules,
    direction: Direction,
    known: BTreeMap<(TypeName, TypeName), Arc<Body>>,
}

impl Maker<'_> {
    fn body(&mut self, one: &TypeName, two: &TypeName) -> Result<Arc<Body>, MappingError> {
        let key = (one.clone(), two.clone());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let (ones, twos, pairs) = self.pairs(one, two)?;
        let body = Arc::new(match self.direction {
            Direction::OneToTwo => self.steps((one, two), &ones, &twos, &pairs)?,
            Direction::TwoToOne => {
                let swapped: Vec<_> = pairs.iter().map(|&(one, two)| (two, one)).collect();
                self.steps((one, two), &twos, &ones, &swapped)?
            }
        });
        self.known.insert(key, body.clone());
        Ok(body)
    }

    /// Returns the definition of a type in ROS 1. For this purpose, time and duration count as
    /// message types.
    fn ros1_definition(&self, name: &TypeName) -> Option<MessageDefinition> {
        match self.ros1.message(name) {
            Some(message) => Some(message.definition.clone()),
            // Time and duration consist of numbers of the same width on both sides.
            None if name.package == "builtin_interfaces" => {
                feros_interface::shipped().message(name).map(|found| (**found).clone())
            }
            None => None,
        }
    }

    fn ros2_definition(&self, name: &TypeName) -> Option<MessageDefinition> {
        self.set.message(name).map(|found| {
            let fields = found.wire_fields().into_owned();
            MessageDefinition::new(name.clone(), fields)
        })
    }

    /// Returns the fields of both sides, and the pairs as indices into them.
    #[allow(clippy::type_complexity)]
    fn pairs(
        &self,
        one: &TypeName,
        two: &TypeName,
    ) -> Result<(Vec<Leaf>, Vec<Leaf>, Vec<(usize, usize)>), MappingError> {
        let rule = self.rules.fields(one, two);
        let paths = |first: bool| -> BTreeSet<&str> {
            let all = rule.into_iter().flatten();
            all.map(|(one, two)| if first { one.as_str() } else { two.as_str() }).collect()
        };
        let ones =
            leaves("", self.ros1_definition(one), &paths(true), &|name| self.ros1_definition(name));
        let twos = leaves("", self.ros2_definition(two), &paths(false), &|name| {
            self.ros2_definition(name)
        });
        let place = |all: &[Leaf], path: &str| all.iter().position(|leaf| leaf.path == path);
        let mut pairs = Vec::new();
        if let Some(rule) = rule {
            for (field_one, field_two) in rule {
                match (place(&ones, field_one), place(&twos, field_two)) {
                    (Some(one), Some(two)) => pairs.push((one, two)),
                    (found, _) => {
                        let field = if found.is_none() { field_one } else { field_two };
                        let (ros1, ros2) = (type_text(one), two.to_string());
                        return Err(MappingError::Rule { ros1, ros2, field: field.clone() });
                    }
                }
            }
            return Ok((ones, twos, pairs));
        }
        for (index, leaf) in ones.iter().enumerate() {
            pairs.extend(place(&twos, &leaf.path.to_ascii_lowercase()).map(|two| (index, two)));
        }
        let alone = |all: &[Leaf], has: &dyn Fn(usize) -> bool| -> Vec<String> {
            let own = all.iter().enumerate().filter(|(index, _)| !has(*index));
            let own = own.filter(|(_, leaf)| leaf.path != EMPTY_MESSAGE_FIELD);
            own.map(|(_, leaf)| leaf.path.clone()).collect()
        };
        let only_ros1 = alone(&ones, &|index| pairs.iter().any(|pair| pair.0 == index));
        let only_ros2 = alone(&twos, &|index| pairs.iter().any(|pair| pair.1 == index));
        if !only_ros1.is_empty() && !only_ros2.is_empty() {
            let (ros1, ros2) = (type_text(one), two.to_string());
            return Err(MappingError::Fields { ros1, ros2, only_ros1, only_ros2 });
        }
        Ok((ones, twos, pairs))
    }

    /// Returns the steps, in the order of the destination's fields. Each element of `pairs` is an
    /// index into `sources` and an index into `destinations`.
    fn steps(
        &mut self,
        names: (&TypeName, &TypeName),
        sources: &[Leaf],
        destinations: &[Leaf],
        pairs: &[(usize, usize)],
    ) -> Result<Body, MappingError> {
        let source_of: Vec<Option<usize>> = (0..destinations.len())
            .map(|index| pairs.iter().find(|pair| pair.1 == index).map(|pair| pair.0))
            .collect();
        // This is true if one pass over the source fields is enough. The order must be strict,
        // because one pass cannot read a field twice, and two ROS 1 fields that differ only in case
        // are paired with the same ROS 2 field.
        let is_ordered = source_of.iter().flatten().is_sorted_by(|one, two| one < two);
        let to_ros2 = self.direction == Direction::OneToTwo;
        let mut body = Body::default();
        if !is_ordered {
            body.index = sources.iter().map(|leaf| self.form(&leaf.ty, to_ros2)).collect();
        }
        let mut next = 0;
        for (leaf, source) in destinations.iter().zip(source_of) {
            let Some(index) = source else {
                body.push(Step::Fill(self.form(&leaf.ty, !to_ros2)));
                continue;
            };
            if is_ordered {
                for skipped in &sources[next..index] {
                    body.push(Step::Skip(self.form(&skipped.ty, to_ros2)));
                }
                next = index + 1;
            } else {
                body.push(Step::Seek(index));
            }
            let source = &sources[index];
            let (one, two) = if to_ros2 { (source, leaf) } else { (leaf, source) };
            let step = self.step(names, one, two)?;
            body.push(step);
        }
        if is_ordered {
            for skipped in &sources[next..] {
                body.push(Step::Skip(self.form(&skipped.ty, to_ros2)));
            }
        }
        Ok(body)
    }

    fn step(
        &mut self,
        names: (&TypeName, &TypeName),
        one: &Leaf,
        two: &Leaf,
    ) -> Result<Step, MappingError> {
        let fault = || MappingError::Type {
            field: one.path.clone(),
            ros1: type_text(names.0),
            ros2: names.1.to_string(),
            ros1_type: one.ty.to_string(),
            ros2_type: two.ty.to_string(),
        };
        let most = match two.ty.shape {
            Shape::BoundedSequence(most) => Some(most),
            _ => None,
        };
        let is_level = names.1.package == "rcl_interfaces" && names.1.name == "Log";
        let element = match (&one.ty.base, &two.ty.base) {
            (BaseType::Byte, BaseType::Uint8) if is_level && two.path == "level" => Step::Level,
            (BaseType::Bool, BaseType::Bool) => Step::Bool { count: 1 },
            (BaseType::String { .. }, BaseType::String { bound }) => Step::Text { most: *bound },
            (BaseType::Nested(one), BaseType::Nested(two)) => {
                if !self.rules.of_ros1(one).contains(two) {
                    return Err(fault());
                }
                Step::Struct(self.body(one, two)?)
            }
            (one, two) => match (kind(one), kind(two)) {
                (Some(one), Some(two)) if one == two => Step::Run { width: one.1, count: 1 },
                _ => return Err(fault()),
            },
        };
        match (one.ty.shape, two.ty.shape) {
            (Shape::Single, Shape::Single) => Ok(element),
            (Shape::Array(a), Shape::Array(b)) if a == b => Ok(repeated(element, a as usize)),
            (Shape::Sequence, Shape::Sequence | Shape::BoundedSequence(_)) => {
                Ok(sequence(element, most))
            }
            _ => Err(fault()),
        }
    }

    /// Returns the layout of a field in ROS 1 or in CDR.
    fn form(&self, ty: &FieldType, is_ros1: bool) -> Form {
        let element = match &ty.base {
            BaseType::String { .. } => Form::Text,
            BaseType::WString { .. } => Form::Sequence(Box::new(Form::Run { width: 4, count: 1 })),
            BaseType::Bool => Form::Run { width: 1, count: 1 },
            BaseType::Nested(name) => {
                let definition =
                    if is_ros1 { self.ros1_definition(name) } else { self.ros2_definition(name) };
                let fields: Vec<Field> = definition.map(|found| found.fields).unwrap_or_default();
                Form::Struct(fields.iter().map(|field| self.form(&field.ty, is_ros1)).collect())
            }
            base => Form::Run { width: kind(base).map_or(1, |kind| kind.1), count: 1 },
        };
        match ty.shape {
            Shape::Single => element,
            Shape::Array(count) => match element {
                Form::Run { width, .. } => Form::Run { width, count: count as usize },
                element => Form::Repeat(count as usize, Box::new(element)),
            },
            Shape::Sequence | Shape::BoundedSequence(_) => Form::Sequence(Box::new(element)),
        }
    }
}

/// Returns whether a number is a float, and its size in bytes. Returns `None` if the type is not a
/// number.
fn kind(base: &BaseType) -> Option<(bool, usize)> {
    Some(match base {
        BaseType::Byte | BaseType::Char | BaseType::Int8 | BaseType::Uint8 => (false, 1),
        BaseType::Int16 | BaseType::Uint16 => (false, 2),
        BaseType::Int32 | BaseType::Uint32 => (false, 4),
        BaseType::Int64 | BaseType::Uint64 => (false, 8),
        BaseType::Float32 => (true, 4),
        BaseType::Float64 => (true, 8),
        _ => return None,
    })
}

fn alone(step: Step) -> Arc<Body> {
    match step {
        Step::Struct(body) => body,
        step => Arc::new(Body { steps: vec![step], index: Vec::new() }),
    }
}

fn repeated(element: Step, count: usize) -> Step {
    match element {
        Step::Bool { .. } => Step::Bool { count },
        element => {
            let element = alone(element);
            match element.as_run() {
                Some((width, each)) => Step::Run { width, count: each.saturating_mul(count) },
                None => Step::Repeat { count, element },
            }
        }
    }
}

fn sequence(element: Step, most: Option<u32>) -> Step {
    match element {
        Step::Bool { .. } => Step::BoolSequence { most },
        element => {
            let element = alone(element);
            match element.as_run() {
                Some((width, each)) => Step::RunSequence { width, each, most },
                None => Step::Sequence { most, element },
            }
        }
    }
}

/// Returns the fields of a message. If one of `paths` leads through a field, that field is replaced
/// by its own fields.
fn leaves(
    prefix: &str,
    definition: Option<MessageDefinition>,
    paths: &BTreeSet<&str>,
    find: &dyn Fn(&TypeName) -> Option<MessageDefinition>,
) -> Vec<Leaf> {
    let mut found = Vec::new();
    for field in definition.map(|definition| definition.fields).unwrap_or_default() {
        let path = format!("{prefix}{}", field.name);
        let below = format!("{path}.");
        match (&field.ty.base, field.ty.shape) {
            (BaseType::Nested(name), Shape::Single)
                if paths.iter().any(|wanted| wanted.starts_with(&below)) =>
            {
                found.extend(leaves(&below, find(name), paths, find));
            }
            _ => found.push(Leaf { path, ty: field.ty }),
        }
    }
    found
}
