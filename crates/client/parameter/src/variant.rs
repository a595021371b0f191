//! The Rust types that parameters can have.

use crate::descriptor::ParameterDescriptor;
use crate::slot::Slot;
use crate::value::{ParameterType, ParameterValue};
use feros_msgs::rcl_interfaces::msg::{FloatingPointRange, IntegerRange};

/// A Rust type that corresponds to one type of parameters: `bool`, `i64`, `f64`, `String`, and
/// vectors of these and of `u8`.
pub trait ParameterVariant: Clone + Into<ParameterValue> + Send + Sync + 'static {
    /// The parameter's type.
    const TYPE: ParameterType;

    /// Returns a reference to the content of a value; `None` if the value is of another type.
    fn of(value: &ParameterValue) -> Option<&Self>;
}

/// A type that a [`Parameter`](crate::Parameter) may read: a [`ParameterVariant`], an `Option` of
/// such a type if the parameter may have no value, or a [`ParameterValue`] of any type.
///
/// The trait is sealed.
pub trait ParameterForm:
    Clone + Into<ParameterValue> + Send + Sync + 'static + sealed::Read
{
    /// The parameter's type; `None` if the parameter is dynamically typed.
    const STATIC_TYPE: Option<ParameterType>;
}

pub(crate) mod sealed {
    use crate::slot::Slot;

    /// Reads the value; returns `None` only if the value is of another type, which never happens
    /// for a declared parameter.
    pub trait Read: Sized {
        #[doc(hidden)]
        #[expect(private_interfaces, reason = "sealed")]
        fn read(slot: &Slot) -> Option<Self>;
    }
}

/// A type that can be given as the default when a parameter is declared: the type itself, `&str`
/// for `String`, slices and arrays for vectors.
///
/// `i64` and `f64` are the only numbers, so that `10` and `1.0` are understood without a suffix.
pub trait IntoParameter {
    /// The parameter's Rust type.
    type Form: ParameterVariant;

    /// Converts the value.
    fn into_parameter(self) -> Self::Form;
}

macro_rules! variants {
    ($($rust:ty => $variant:ident, $slot:ident => $read:expr;)*) => {$(
        impl ParameterVariant for $rust {
            const TYPE: ParameterType = ParameterType::$variant;

            fn of(value: &ParameterValue) -> Option<&Self> {
                match value {
                    ParameterValue::$variant(value) => Some(value),
                    _ => None,
                }
            }
        }

        impl ParameterForm for $rust {
            const STATIC_TYPE: Option<ParameterType> = Some(ParameterType::$variant);
        }

        impl sealed::Read for $rust {
            #[expect(private_interfaces, reason = "sealed")]
            fn read($slot: &Slot) -> Option<Self> {
                $read
            }
        }

        impl IntoParameter for $rust {
            type Form = Self;

            fn into_parameter(self) -> Self {
                self
            }
        }
    )*};
}

fn shared<T: ParameterVariant>(slot: &Slot) -> Option<T> {
    T::of(&slot.value()).cloned()
}

variants! {
    bool => Bool, slot => Some(slot.scalar() != 0);
    i64 => Integer, slot => Some(slot.scalar().cast_signed());
    f64 => Double, slot => Some(f64::from_bits(slot.scalar()));
    String => String, slot => shared(slot);
    Vec<u8> => ByteArray, slot => shared(slot);
    Vec<bool> => BoolArray, slot => shared(slot);
    Vec<i64> => IntegerArray, slot => shared(slot);
    Vec<f64> => DoubleArray, slot => shared(slot);
    Vec<String> => StringArray, slot => shared(slot);
}

impl ParameterForm for ParameterValue {
    const STATIC_TYPE: Option<ParameterType> = None;
}

impl sealed::Read for ParameterValue {
    #[expect(private_interfaces, reason = "sealed")]
    fn read(slot: &Slot) -> Option<Self> {
        Some((*slot.value()).clone())
    }
}

impl<T: ParameterVariant> From<Option<T>> for ParameterValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::NotSet, Into::into)
    }
}

impl<T: ParameterVariant> ParameterForm for Option<T> {
    const STATIC_TYPE: Option<ParameterType> = Some(T::TYPE);
}

impl<T: ParameterVariant> sealed::Read for Option<T> {
    #[expect(private_interfaces, reason = "sealed")]
    fn read(slot: &Slot) -> Option<Self> {
        Some(shared(slot))
    }
}

macro_rules! stand_for {
    ($($given:ty => $form:ty, $value:ident => $into:expr;)*) => {$(
        impl IntoParameter for $given {
            type Form = $form;

            fn into_parameter(self) -> $form {
                let $value = self;
                $into
            }
        }
    )*};
}

stand_for! {
    &str => String, value => value.to_owned();
    &[u8] => Vec<u8>, value => value.to_vec();
    &[bool] => Vec<bool>, value => value.to_vec();
    &[i64] => Vec<i64>, value => value.to_vec();
    &[f64] => Vec<f64>, value => value.to_vec();
    &[&str] => Vec<String>, value => value.iter().map(|&text| text.to_owned()).collect();
    Vec<&str> => Vec<String>, value => value.into_iter().map(str::to_owned).collect();
}

macro_rules! arrays {
    ($($element:ty => $form:ty;)*) => {$(
        impl<const N: usize> IntoParameter for [$element; N] {
            type Form = Vec<$form>;

            fn into_parameter(self) -> Vec<$form> {
                self.map(<$form>::from).into()
            }
        }
    )*};
}

arrays! {
    bool => bool;
    i64 => i64;
    f64 => f64;
    &str => String;
    String => String;
}

/// A type of parameter whose values may have bounds: numbers, and lists of numbers.
pub trait RangedForm: ParameterForm {
    /// The type of the bounds.
    type Bound: Copy + 'static;
    /// The type of the step between values. A step of zero allows every value between the bounds.
    type Step: Copy + Default + 'static;

    #[doc(hidden)]
    fn bound(
        descriptor: &mut ParameterDescriptor,
        from: Self::Bound,
        to: Self::Bound,
        step: Self::Step,
    );
}

macro_rules! ranged {
    ($($form:ty => $bound:ty, $step:ty, $field:ident: $range:ident;)*) => {$(
        impl RangedForm for $form {
            type Bound = $bound;
            type Step = $step;

            fn bound(descriptor: &mut ParameterDescriptor, from_value: $bound, to_value: $bound, step: $step) {
                descriptor.$field = Some($range { from_value, to_value, step });
            }
        }
    )*};
}

ranged! {
    i64 => i64, u64, integer_range: IntegerRange;
    Vec<i64> => i64, u64, integer_range: IntegerRange;
    Option<i64> => i64, u64, integer_range: IntegerRange;
    f64 => f64, f64, floating_point_range: FloatingPointRange;
    Vec<f64> => f64, f64, floating_point_range: FloatingPointRange;
    Option<f64> => f64, f64, floating_point_range: FloatingPointRange;
}
