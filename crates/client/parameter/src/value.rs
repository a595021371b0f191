//! Values of parameters and their types, as in `rcl_interfaces/msg/ParameterValue`.

use std::fmt;

use feros_msgs::rcl_interfaces::msg::ParameterValue as ParameterValueMessage;

/// The type of a parameter's value, with the numbers of `rcl_interfaces/msg/ParameterType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum ParameterType {
    /// No value.
    #[default]
    NotSet = 0,
    /// A boolean.
    Bool = 1,
    /// A 64-bit signed integer.
    Integer = 2,
    /// A 64-bit floating point number.
    Double = 3,
    /// A string.
    String = 4,
    /// Bytes.
    ByteArray = 5,
    /// Booleans.
    BoolArray = 6,
    /// 64-bit signed integers.
    IntegerArray = 7,
    /// 64-bit floating point numbers.
    DoubleArray = 8,
    /// Strings.
    StringArray = 9,
}

impl ParameterType {
    /// All types, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::NotSet,
        Self::Bool,
        Self::Integer,
        Self::Double,
        Self::String,
        Self::ByteArray,
        Self::BoolArray,
        Self::IntegerArray,
        Self::DoubleArray,
        Self::StringArray,
    ];

    /// Returns the type that has this number; `None` for an unknown number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Returns the number of the type, as in messages.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns the name of the type for people, as in `rclcpp`: `double_array`.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotSet => "not set",
            Self::Bool => "bool",
            Self::Integer => "integer",
            Self::Double => "double",
            Self::String => "string",
            Self::ByteArray => "byte_array",
            Self::BoolArray => "bool_array",
            Self::IntegerArray => "integer_array",
            Self::DoubleArray => "double_array",
            Self::StringArray => "string_array",
        }
    }
}

impl fmt::Display for ParameterType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The name of a parameter, with a value for that parameter.
pub type NamedValue = (String, ParameterValue);

/// The value of a parameter.
///
/// ```
/// use feros_parameter::ParameterValue;
/// assert_eq!(ParameterValue::from(1.5), ParameterValue::Double(1.5));
/// assert_eq!(ParameterValue::from_yaml("[1, 2]")?, ParameterValue::IntegerArray(vec![1, 2]));
/// # Ok::<(), feros_parameter::YamlError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ParameterValue {
    /// No value.
    #[default]
    NotSet,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// A floating point number.
    Double(f64),
    /// A string.
    String(String),
    /// Bytes.
    ByteArray(Vec<u8>),
    /// Booleans.
    BoolArray(Vec<bool>),
    /// Integers.
    IntegerArray(Vec<i64>),
    /// Floating point numbers.
    DoubleArray(Vec<f64>),
    /// Strings.
    StringArray(Vec<String>),
}

impl ParameterValue {
    /// The type.
    pub fn parameter_type(&self) -> ParameterType {
        match self {
            Self::NotSet => ParameterType::NotSet,
            Self::Bool(_) => ParameterType::Bool,
            Self::Integer(_) => ParameterType::Integer,
            Self::Double(_) => ParameterType::Double,
            Self::String(_) => ParameterType::String,
            Self::ByteArray(_) => ParameterType::ByteArray,
            Self::BoolArray(_) => ParameterType::BoolArray,
            Self::IntegerArray(_) => ParameterType::IntegerArray,
            Self::DoubleArray(_) => ParameterType::DoubleArray,
            Self::StringArray(_) => ParameterType::StringArray,
        }
    }

    /// Converts a value from a parameter file for a parameter of type `declared`. In YAML, an empty
    /// list has no element type, and bytes do not exist. So an empty list becomes an empty list of
    /// the declared type, and integers from 0 to 255 become bytes. Other values stay as they are.
    ///
    /// ```
    /// use feros_parameter::{ParameterType, ParameterValue};
    /// let none = ParameterValue::from_yaml("[]")?.as_declared(ParameterType::DoubleArray);
    /// assert_eq!(none, ParameterValue::DoubleArray(vec![]));
    /// let bytes = ParameterValue::from_yaml("[1, 255]")?.as_declared(ParameterType::ByteArray);
    /// assert_eq!(bytes, ParameterValue::ByteArray(vec![1, 255]));
    /// # Ok::<(), feros_parameter::YamlError>(())
    /// ```
    #[must_use]
    pub fn as_declared(self, declared: ParameterType) -> Self {
        match (&self, declared) {
            (Self::StringArray(list), ParameterType::ByteArray) if list.is_empty() => {
                Self::ByteArray(Vec::new())
            }
            (Self::StringArray(list), ParameterType::BoolArray) if list.is_empty() => {
                Self::BoolArray(Vec::new())
            }
            (Self::StringArray(list), ParameterType::IntegerArray) if list.is_empty() => {
                Self::IntegerArray(Vec::new())
            }
            (Self::StringArray(list), ParameterType::DoubleArray) if list.is_empty() => {
                Self::DoubleArray(Vec::new())
            }
            (Self::IntegerArray(list), ParameterType::ByteArray) => {
                let bytes = list.iter().map(|&integer| u8::try_from(integer));
                bytes.collect::<Result<_, _>>().map_or(self, Self::ByteArray)
            }
            _ => self,
        }
    }

    /// Whether there is no value.
    pub fn is_not_set(&self) -> bool {
        matches!(self, Self::NotSet)
    }

    /// The boolean, if the value is a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(*value) } else { None }
    }

    /// The integer, if the value is an integer.
    pub fn as_integer(&self) -> Option<i64> {
        if let Self::Integer(value) = self { Some(*value) } else { None }
    }

    /// The floating point number, if the value is a floating point number. An integer is not
    /// converted, as in `rclcpp`.
    pub fn as_double(&self) -> Option<f64> {
        if let Self::Double(value) = self { Some(*value) } else { None }
    }

    /// The string, if the value is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(value) = self { Some(value) } else { None }
    }

    /// The bytes, if the value is a list of bytes.
    pub fn as_byte_array(&self) -> Option<&[u8]> {
        if let Self::ByteArray(value) = self { Some(value) } else { None }
    }

    /// The booleans, if the value is a list of booleans.
    pub fn as_bool_array(&self) -> Option<&[bool]> {
        if let Self::BoolArray(value) = self { Some(value) } else { None }
    }

    /// The integers, if the value is a list of integers.
    pub fn as_integer_array(&self) -> Option<&[i64]> {
        if let Self::IntegerArray(value) = self { Some(value) } else { None }
    }

    /// The floating point numbers, if the value is a list of floating point numbers.
    pub fn as_double_array(&self) -> Option<&[f64]> {
        if let Self::DoubleArray(value) = self { Some(value) } else { None }
    }

    /// The strings, if the value is a list of strings.
    pub fn as_string_array(&self) -> Option<&[String]> {
        if let Self::StringArray(value) = self { Some(value) } else { None }
    }
}

macro_rules! convert {
    ($($from:ty => $variant:ident, $value:ident => $into:expr;)*) => {$(
        impl From<$from> for ParameterValue {
            fn from($value: $from) -> Self {
                Self::$variant($into)
            }
        }
    )*};
}

convert! {
    bool => Bool, value => value;
    i64 => Integer, value => value;
    i32 => Integer, value => value.into();
    u32 => Integer, value => value.into();
    f64 => Double, value => value;
    f32 => Double, value => value.into();
    String => String, value => value;
    &str => String, value => value.to_owned();
    Vec<u8> => ByteArray, value => value;
    &[u8] => ByteArray, value => value.to_vec();
    Vec<bool> => BoolArray, value => value;
    &[bool] => BoolArray, value => value.to_vec();
    Vec<i64> => IntegerArray, value => value;
    Vec<i32> => IntegerArray, value => value.into_iter().map(i64::from).collect();
    &[i64] => IntegerArray, value => value.to_vec();
    Vec<f64> => DoubleArray, value => value;
    &[f64] => DoubleArray, value => value.to_vec();
    Vec<String> => StringArray, value => value;
    Vec<&str> => StringArray, value => value.into_iter().map(str::to_owned).collect();
    &[&str] => StringArray, value => value.iter().map(|&text| text.to_owned()).collect();
}

/// A message with an unknown type number becomes `NotSet`.
impl From<ParameterValueMessage> for ParameterValue {
    fn from(message: ParameterValueMessage) -> Self {
        match ParameterType::from_number(message.r#type) {
            None | Some(ParameterType::NotSet) => Self::NotSet,
            Some(ParameterType::Bool) => Self::Bool(message.bool_value),
            Some(ParameterType::Integer) => Self::Integer(message.integer_value),
            Some(ParameterType::Double) => Self::Double(message.double_value),
            Some(ParameterType::String) => Self::String(message.string_value),
            Some(ParameterType::ByteArray) => Self::ByteArray(message.byte_array_value),
            Some(ParameterType::BoolArray) => Self::BoolArray(message.bool_array_value),
            Some(ParameterType::IntegerArray) => Self::IntegerArray(message.integer_array_value),
            Some(ParameterType::DoubleArray) => Self::DoubleArray(message.double_array_value),
            Some(ParameterType::StringArray) => Self::StringArray(message.string_array_value),
        }
    }
}

impl From<ParameterValue> for ParameterValueMessage {
    fn from(value: ParameterValue) -> Self {
        let message = Self { r#type: value.parameter_type().number(), ..Self::default() };
        match value {
            ParameterValue::NotSet => message,
            ParameterValue::Bool(bool_value) => Self { bool_value, ..message },
            ParameterValue::Integer(integer_value) => Self { integer_value, ..message },
            ParameterValue::Double(double_value) => Self { double_value, ..message },
            ParameterValue::String(string_value) => Self { string_value, ..message },
            ParameterValue::ByteArray(byte_array_value) => Self { byte_array_value, ..message },
            ParameterValue::BoolArray(bool_array_value) => Self { bool_array_value, ..message },
            ParameterValue::IntegerArray(integer_array_value) => {
                Self { integer_array_value, ..message }
            }
            ParameterValue::DoubleArray(double_array_value) => {
                Self { double_array_value, ..message }
            }
            ParameterValue::StringArray(string_array_value) => {
                Self { string_array_value, ..message }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_their_messages() {
        let values = [
            ParameterValue::NotSet,
            true.into(),
            i64::MIN.into(),
            f64::NEG_INFINITY.into(),
            "text".into(),
            vec![0_u8, 255].into(),
            vec![true, false].into(),
            vec![i64::MAX].into(),
            vec![0.5, -0.0].into(),
            vec!["a", ""].into(),
        ];
        for (value, ty) in values.into_iter().zip(ParameterType::ALL) {
            let message = ParameterValueMessage::from(value.clone());
            assert_eq!((message.r#type, value.parameter_type()), (ty.number(), ty));
            assert_eq!(ParameterValue::from(message), value);
        }
    }

    #[test]
    fn each_accessor_sees_its_own_type_only() {
        let values: [ParameterValue; 9] = [
            true.into(),
            7.into(),
            0.5.into(),
            "text".into(),
            vec![1_u8].into(),
            vec![true].into(),
            vec![7_i64].into(),
            vec![0.5].into(),
            vec!["a"].into(),
        ];
        for (number, value) in values.iter().enumerate() {
            let seen = [
                value.as_bool() == Some(true),
                value.as_integer() == Some(7),
                value.as_double() == Some(0.5),
                value.as_str() == Some("text"),
                value.as_byte_array() == Some(&[1]),
                value.as_bool_array() == Some(&[true]),
                value.as_integer_array() == Some(&[7]),
                value.as_double_array() == Some(&[0.5]),
                value.as_string_array() == Some(&["a".to_owned()]),
            ];
            let expected: Vec<bool> = (0..9).map(|other| other == number).collect();
            assert_eq!(seen[..], expected[..], "{value:?}");
        }
    }

    #[test]
    fn a_type_that_does_not_exist_is_no_value() {
        let message = ParameterValueMessage { r#type: 10, bool_value: true, ..Default::default() };
        assert_eq!(ParameterValue::from(message), ParameterValue::NotSet);
    }
}
