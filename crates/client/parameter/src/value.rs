//! Values of parameters and their types, as in `rcl_interfaces/msg/ParameterValue`.

use std::fmt;

use feros_msgs::rcl_interfaces::msg::ParameterValue as ParameterValueMessage;

/// Defines the types with their numbers and names.
macro_rules! parameter_types {
    ($($(#[$attribute:meta])* $variant:ident = $number:literal => $name:literal,)*) => {
        /// The type of a parameter's value, with the numbers of `rcl_interfaces/msg/ParameterType`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #[repr(u8)]
        pub enum ParameterType {
            $($(#[$attribute])* $variant = $number,)*
        }

        impl ParameterType {
            /// All types, in the order of their numbers.
            pub const ALL: [Self; 10] = [$(Self::$variant),*];

            /// Returns the name of the type for people, as in `rclcpp`: `double_array`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

parameter_types! {
    /// No value.
    #[default]
    NotSet = 0 => "not set",
    /// A boolean.
    Bool = 1 => "bool",
    /// A 64-bit signed integer.
    Integer = 2 => "integer",
    /// A 64-bit floating point number.
    Double = 3 => "double",
    /// A string.
    String = 4 => "string",
    /// Bytes.
    ByteArray = 5 => "byte_array",
    /// Booleans.
    BoolArray = 6 => "bool_array",
    /// 64-bit signed integers.
    IntegerArray = 7 => "integer_array",
    /// 64-bit floating point numbers.
    DoubleArray = 8 => "double_array",
    /// Strings.
    StringArray = 9 => "string_array",
}

impl ParameterType {
    /// Returns the type that has this number; `None` for an unknown number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Returns the number of the type, as in messages.
    pub fn number(self) -> u8 {
        self as u8
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
            (Self::StringArray(list), _) if list.is_empty() => match declared {
                ParameterType::ByteArray => Self::ByteArray(Vec::new()),
                ParameterType::BoolArray => Self::BoolArray(Vec::new()),
                ParameterType::IntegerArray => Self::IntegerArray(Vec::new()),
                ParameterType::DoubleArray => Self::DoubleArray(Vec::new()),
                _ => self,
            },
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

/// Defines the conversions between values and messages, in which each type has a field.
macro_rules! message_fields {
    ($($variant:ident => $field:ident,)*) => {
        impl ParameterValue {
            /// The type.
            pub fn parameter_type(&self) -> ParameterType {
                match self {
                    Self::NotSet => ParameterType::NotSet,
                    $(Self::$variant(_) => ParameterType::$variant,)*
                }
            }
        }

        /// A message with an unknown type number becomes `NotSet`.
        impl From<ParameterValueMessage> for ParameterValue {
            fn from(message: ParameterValueMessage) -> Self {
                match ParameterType::from_number(message.r#type) {
                    None | Some(ParameterType::NotSet) => Self::NotSet,
                    $(Some(ParameterType::$variant) => Self::$variant(message.$field),)*
                }
            }
        }

        impl From<ParameterValue> for ParameterValueMessage {
            fn from(value: ParameterValue) -> Self {
                let message = Self { r#type: value.parameter_type().number(), ..Self::default() };
                match value {
                    ParameterValue::NotSet => message,
                    $(ParameterValue::$variant($field) => Self { $field, ..message },)*
                }
            }
        }
    };
}

message_fields! {
    Bool => bool_value,
    Integer => integer_value,
    Double => double_value,
    String => string_value,
    ByteArray => byte_array_value,
    BoolArray => bool_array_value,
    IntegerArray => integer_array_value,
    DoubleArray => double_array_value,
    StringArray => string_array_value,
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
