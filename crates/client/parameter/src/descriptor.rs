//! Descriptors of parameters: type, range and other properties.

use feros_msgs::rcl_interfaces::msg::{
    FloatingPointRange, IntegerRange, ParameterDescriptor as ParameterDescriptorMessage,
};

use crate::error::SetParameterError;
use crate::value::{ParameterType, ParameterValue};

/// The properties of a parameter, as `rcl_interfaces/msg/ParameterDescriptor`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParameterDescriptor {
    /// The name.
    pub name: String,
    /// The type of the parameter; with dynamic typing, the type of its present value.
    pub parameter_type: ParameterType,
    /// The description for people.
    pub description: String,
    /// Other constraints on the value, for people.
    pub additional_constraints: String,
    /// Whether the value cannot be changed.
    pub read_only: bool,
    /// Whether the value may be of any type.
    pub dynamic_typing: bool,
    /// The bounds of a floating point number, or of each number in a list.
    pub floating_point_range: Option<FloatingPointRange>,
    /// The bounds of an integer, or of each integer in a list.
    pub integer_range: Option<IntegerRange>,
}

impl From<ParameterDescriptorMessage> for ParameterDescriptor {
    fn from(message: ParameterDescriptorMessage) -> Self {
        Self {
            name: message.name,
            parameter_type: ParameterType::from_number(message.r#type).unwrap_or_default(),
            description: message.description,
            additional_constraints: message.additional_constraints,
            read_only: message.read_only,
            dynamic_typing: message.dynamic_typing,
            floating_point_range: message.floating_point_range.into_iter().next(),
            integer_range: message.integer_range.into_iter().next(),
        }
    }
}

impl From<ParameterDescriptor> for ParameterDescriptorMessage {
    fn from(descriptor: ParameterDescriptor) -> Self {
        Self {
            name: descriptor.name,
            r#type: descriptor.parameter_type.number(),
            description: descriptor.description,
            additional_constraints: descriptor.additional_constraints,
            read_only: descriptor.read_only,
            dynamic_typing: descriptor.dynamic_typing,
            floating_point_range: descriptor.floating_point_range.into_iter().collect(),
            integer_range: descriptor.integer_range.into_iter().collect(),
        }
    }
}

impl ParameterDescriptor {
    /// Checks the type and the range of a value for the parameter `name`.
    pub(crate) fn check(
        &self,
        name: &str,
        value: &ParameterValue,
    ) -> Result<(), SetParameterError> {
        let given = value.parameter_type();
        if !self.dynamic_typing && given != self.parameter_type {
            return Err(SetParameterError::WrongType {
                name: name.to_owned(),
                expected: self.parameter_type,
                given,
            });
        }
        let in_range = match (value, &self.integer_range, &self.floating_point_range) {
            (ParameterValue::Integer(value), Some(range), _) => has_integer(range, *value),
            (ParameterValue::IntegerArray(values), Some(range), _) => {
                values.iter().all(|value| has_integer(range, *value))
            }
            (ParameterValue::Double(value), _, Some(range)) => has_double(range, *value),
            (ParameterValue::DoubleArray(values), _, Some(range)) => {
                values.iter().all(|value| has_double(range, *value))
            }
            _ => true,
        };
        let range_type = match value {
            ParameterValue::Integer(_) | ParameterValue::IntegerArray(_) => "integer",
            _ => "floating point",
        };
        if in_range {
            Ok(())
        } else {
            Err(SetParameterError::OutOfRange { name: name.to_owned(), range_type })
        }
    }
}

/// Whether `value` is in `range`. Both ends belong to a range, regardless of its step.
fn has_integer(range: &IntegerRange, value: i64) -> bool {
    let IntegerRange { from_value, to_value, step } = *range;
    if value == from_value || value == to_value {
        return true;
    }
    let offset = i128::from(value) - i128::from(from_value);
    from_value < value && value < to_value && (step == 0 || offset % i128::from(step) == 0)
}

fn has_double(range: &FloatingPointRange, value: f64) -> bool {
    let FloatingPointRange { from_value, to_value, step } = *range;
    if nearly_equal(value, from_value) || nearly_equal(value, to_value) {
        return true;
    }
    // A NaN is in no range.
    if !(from_value <= value && value <= to_value) {
        return false;
    }
    step == 0.0 || nearly_equal(value, from_value + ((value - from_value) / step).round() * step)
}

/// Whether two numbers are equal up to rounding. The tolerance is that of `rclcpp`: 100 units in
/// the last place.
fn nearly_equal(a: f64, b: f64) -> bool {
    let difference = (a - b).abs();
    a == b || (difference.is_finite() && difference <= f64::EPSILON * (a + b).abs() * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_ranges_have_both_ends_and_steps_from_the_first() {
        let range = |from_value, to_value, step| IntegerRange { from_value, to_value, step };
        let check = |range: IntegerRange, inside: &[i64], outside: &[i64]| {
            for value in inside {
                assert!(has_integer(&range, *value), "{value} in {range:?}");
            }
            for value in outside {
                assert!(!has_integer(&range, *value), "{value} in {range:?}");
            }
        };
        check(range(0, 10, 0), &[0, 1, 10], &[-1, 11, i64::MIN]);
        check(range(1, 10, 3), &[1, 4, 7, 10], &[2, 0, 13]);
        check(range(-5, 4, 5), &[-5, 0, 4], &[-4, 5]);
        check(range(i64::MIN, i64::MAX, u64::MAX), &[i64::MIN, i64::MAX], &[0]);
        check(range(5, 1, 1), &[5, 1], &[3]);
    }

    #[test]
    fn floating_point_ranges_forgive_rounding() {
        let range = |from_value, to_value, step| FloatingPointRange { from_value, to_value, step };
        let check = |range: FloatingPointRange, inside: &[f64], outside: &[f64]| {
            for value in inside {
                assert!(has_double(&range, *value), "{value} in {range:?}");
            }
            for value in outside {
                assert!(!has_double(&range, *value), "{value} in {range:?}");
            }
        };
        check(
            range(0.0, 1.0, 0.0),
            &[0.0, 0.5, 1.0, 1.0 + f64::EPSILON],
            &[-0.1, 1.1, f64::NAN, f64::INFINITY],
        );
        check(range(0.0, 1.0, 0.1), &[0.1 + 0.2, 0.7, 1.0], &[0.25]);
        check(range(0.0, f64::INFINITY, 0.5), &[0.5, f64::INFINITY], &[0.3, -1.0]);
        check(range(f64::NAN, f64::NAN, f64::NAN), &[], &[0.0, f64::NAN]);
    }
}
