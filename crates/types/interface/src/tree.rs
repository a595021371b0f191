//! The tree that the parser makes. Type hashes, generated code and dynamic messages are derived
//! from it.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::name::{Namespace, TypeName};

/// The member that stock ROS 2 puts into a message without fields, on the wire and in the type
/// hash.
pub const EMPTY_MESSAGE_FIELD: &str = "structure_needs_at_least_one_member";

/// The type of a constant, or of one element of a field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BaseType {
    /// `bool`
    Bool,
    /// `byte`: an opaque octet.
    Byte,
    /// `char`, which is an unsigned 8-bit number in ROS 2.
    Char,
    /// `int8`
    Int8,
    /// `uint8`
    Uint8,
    /// `int16`
    Int16,
    /// `uint16`
    Uint16,
    /// `int32`
    Int32,
    /// `uint32`
    Uint32,
    /// `int64`
    Int64,
    /// `uint64`
    Uint64,
    /// `float32`
    Float32,
    /// `float64`
    Float64,
    /// `string`, or `string<=bound`.
    String {
        /// The maximum length, if there is a bound. It is never 0.
        bound: Option<u32>,
    },
    /// `wstring`, or `wstring<=bound`: text in UTF-16.
    WString {
        /// The maximum length, if there is a bound. It is never 0.
        bound: Option<u32>,
    },
    /// Another message.
    Nested(TypeName),
}

/// The number of elements of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One element: `T`.
    Single,
    /// Exactly this many elements, never 0: `T[N]`.
    Array(u32),
    /// At most this many elements, never 0: `T[<=N]`.
    BoundedSequence(u32),
    /// Any number of elements: `T[]`.
    Sequence,
}

/// The type of a field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldType {
    /// The type of one element.
    pub base: BaseType,
    /// The number of elements.
    pub shape: Shape,
}

impl FieldType {
    /// The type of a field with one element.
    pub fn single(base: BaseType) -> Self {
        Self { base, shape: Shape::Single }
    }
}

/// The value of a constant, or the default of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// The value of a `bool`.
    Bool(bool),
    /// The value of an integer type, `byte` or `char`. It is always in the range of the type.
    Integer(i128),
    /// The value of a `float32` or `float64` as it is written. A `float32` has not been rounded
    /// yet. The value may be infinite or NaN.
    Float(f64),
    /// The value of a `string` or `wstring`.
    String(String),
    /// The elements of an array or sequence, as many as the type allows.
    Array(Vec<Literal>),
}

/// A field of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The name, which is unique in its message.
    pub name: String,
    /// The type.
    pub ty: FieldType,
    /// The declared default. A field without a default is zero, empty or false.
    pub default: Option<Literal>,
    /// The lines of the comment, without `#` and without the space after it.
    pub comment: Vec<String>,
}

impl Field {
    /// Makes a field with neither default nor comment.
    pub fn new(name: impl Into<String>, ty: FieldType) -> Self {
        Self { name: name.into(), ty, default: None, comment: Vec::new() }
    }
}

/// A named value of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// The name, which is unique among the constants of its message.
    pub name: String,
    /// The type, which is never a message and never has a bound.
    pub ty: BaseType,
    /// The value, which is never an array.
    pub value: Literal,
    /// The lines of the comment, as in [`Field::comment`].
    pub comment: Vec<String>,
}

/// A message. It is from a `.msg` file, or it is a part of a service or action.
#[derive(Clone, Debug, PartialEq)]
pub struct MessageDefinition {
    /// The full name.
    pub name: TypeName,
    /// The fields in the order of the wire.
    pub fields: Vec<Field>,
    /// The constants in the order of the file.
    pub constants: Vec<Constant>,
    /// The lines of the comment at the start of the file.
    pub comment: Vec<String>,
    /// The lines of the comment after the last field or constant.
    pub closing_comment: Vec<String>,
}

impl MessageDefinition {
    /// Makes a message without constants and comments.
    pub fn new(name: TypeName, fields: Vec<Field>) -> Self {
        let (comment, closing_comment) = (Vec::new(), Vec::new());
        Self { name, fields, constants: Vec::new(), comment, closing_comment }
    }

    /// The fields on the wire and in the type hash. For a message without fields, this is the
    /// single `uint8` field [`EMPTY_MESSAGE_FIELD`].
    pub fn wire_fields(&self) -> Cow<'_, [Field]> {
        if self.fields.is_empty() {
            Cow::Owned(vec![Field::new(EMPTY_MESSAGE_FIELD, FieldType::single(BaseType::Uint8))])
        } else {
            Cow::Borrowed(&self.fields)
        }
    }

    /// The names of the messages to which the fields refer, in the order of the fields, without
    /// duplicates.
    pub fn references(&self) -> Vec<&TypeName> {
        let mut seen = HashSet::new();
        let nested = self.fields.iter().filter_map(|field| match &field.ty.base {
            BaseType::Nested(name) => Some(name),
            _ => None,
        });
        nested.filter(|name| seen.insert(*name)).collect()
    }
}

/// A service. It is from a `.srv` file, or it is derived from an action.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceDefinition {
    /// The full name.
    pub name: TypeName,
    /// `<name>_Request`.
    pub request: MessageDefinition,
    /// `<name>_Response`.
    pub response: MessageDefinition,
}

impl ServiceDefinition {
    /// `<name>_Event`, the message that service introspection publishes.
    pub fn event(&self) -> MessageDefinition {
        let at_most_one = |message: &MessageDefinition| FieldType {
            base: BaseType::Nested(message.name.clone()),
            shape: Shape::BoundedSequence(1),
        };
        let info = BaseType::Nested(TypeName::message("service_msgs", "ServiceEventInfo"));
        MessageDefinition::new(
            self.name.with_suffix("_Event"),
            vec![
                Field::new("info", FieldType::single(info)),
                Field::new("request", at_most_one(&self.request)),
                Field::new("response", at_most_one(&self.response)),
            ],
        )
    }

    /// The request, the response and the event.
    pub fn messages(&self) -> Vec<MessageDefinition> {
        vec![self.request.clone(), self.response.clone(), self.event()]
    }
}

/// An action from an `.action` file.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionDefinition {
    /// The full name.
    pub name: TypeName,
    /// `<name>_Goal`.
    pub goal: MessageDefinition,
    /// `<name>_Result`.
    pub result: MessageDefinition,
    /// `<name>_Feedback`.
    pub feedback: MessageDefinition,
}

impl ActionDefinition {
    /// `<name>_SendGoal`, the service that starts a goal.
    pub fn send_goal(&self) -> ServiceDefinition {
        let name = self.name.with_suffix("_SendGoal");
        let stamp = BaseType::Nested(TypeName::message("builtin_interfaces", "Time"));
        service(
            name,
            vec![goal_id(), Field::new("goal", nested(&self.goal))],
            vec![
                Field::new("accepted", FieldType::single(BaseType::Bool)),
                Field::new("stamp", FieldType::single(stamp)),
            ],
        )
    }

    /// `<name>_GetResult`, the service that returns the result when the goal has ended.
    pub fn get_result(&self) -> ServiceDefinition {
        service(
            self.name.with_suffix("_GetResult"),
            vec![goal_id()],
            vec![
                Field::new("status", FieldType::single(BaseType::Int8)),
                Field::new("result", nested(&self.result)),
            ],
        )
    }

    /// `<name>_FeedbackMessage`, the message of the feedback topic.
    pub fn feedback_message(&self) -> MessageDefinition {
        MessageDefinition::new(
            self.name.with_suffix("_FeedbackMessage"),
            vec![goal_id(), Field::new("feedback", nested(&self.feedback))],
        )
    }

    /// The two derived services.
    pub fn services(&self) -> [ServiceDefinition; 2] {
        [self.send_goal(), self.get_result()]
    }

    /// All messages of the action: goal, result, feedback, feedback message, and the messages of
    /// the derived services.
    pub fn messages(&self) -> Vec<MessageDefinition> {
        let mut all = vec![
            self.goal.clone(),
            self.result.clone(),
            self.feedback.clone(),
            self.feedback_message(),
        ];
        all.extend(self.services().iter().flat_map(ServiceDefinition::messages));
        all
    }
}

/// The interface that one definition file declares.
#[derive(Clone, Debug, PartialEq)]
pub enum Interface {
    /// A `.msg` file.
    Message(MessageDefinition),
    /// A `.srv` file.
    Service(ServiceDefinition),
    /// An `.action` file.
    Action(ActionDefinition),
}

impl Interface {
    /// The full name.
    pub fn name(&self) -> &TypeName {
        match self {
            Interface::Message(message) => &message.name,
            Interface::Service(service) => &service.name,
            Interface::Action(action) => &action.name,
        }
    }

    /// All messages that the file declares or that are derived from it.
    pub fn messages(&self) -> Vec<MessageDefinition> {
        match self {
            Interface::Message(message) => vec![message.clone()],
            Interface::Service(service) => service.messages(),
            Interface::Action(action) => action.messages(),
        }
    }

    /// All services that the file declares or that are derived from it.
    pub fn services(&self) -> Vec<ServiceDefinition> {
        match self {
            Interface::Message(_) => Vec::new(),
            Interface::Service(service) => vec![service.clone()],
            Interface::Action(action) => action.services().to_vec(),
        }
    }

    /// The kind, which is also the namespace of [`Interface::name`].
    pub fn namespace(&self) -> Namespace {
        self.name().namespace
    }
}

fn goal_id() -> Field {
    let uuid = TypeName::message("unique_identifier_msgs", "UUID");
    Field::new("goal_id", FieldType::single(BaseType::Nested(uuid)))
}

fn nested(message: &MessageDefinition) -> FieldType {
    FieldType::single(BaseType::Nested(message.name.clone()))
}

fn service(name: TypeName, request: Vec<Field>, response: Vec<Field>) -> ServiceDefinition {
    ServiceDefinition {
        request: MessageDefinition::new(name.with_suffix("_Request"), request),
        response: MessageDefinition::new(name.with_suffix("_Response"), response),
        name,
    }
}
