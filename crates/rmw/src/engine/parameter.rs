//! Values of parameters as engines see them, whose own world may keep them.

/// The value of a node's parameter, of the types of `rcl_interfaces/msg/ParameterType`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParameterData<'a> {
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Double(f64),
    /// A text.
    String(&'a str),
    /// Bytes.
    ByteArray(&'a [u8]),
    /// Truth values.
    BoolArray(&'a [bool]),
    /// Whole numbers.
    IntegerArray(&'a [i64]),
    /// Numbers.
    DoubleArray(&'a [f64]),
    /// Texts.
    StringArray(&'a [String]),
}
