//! The ten types of numbers in arrays, with their names in CDR, `array.array` and numpy.

use feros_interface::BaseType;

/// A type of number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

/// Evaluates an expression with the Rust type of a number.
macro_rules! with_number {
    (@table $number:expr, $type:ident, $body:expr, $($variant:ident: $rust:ty,)*) => {
        match $number {
            $($crate::message::number::Number::$variant => {
                type $type = $rust;
                $body
            })*
        }
    };
    ($number:expr, $type:ident => $body:expr) => {
        $crate::message::number::with_number!(
            @table $number, $type, $body,
            I8: i8, U8: u8, I16: i16, U16: u16, I32: i32, U32: u32, I64: i64, U64: u64, F32: f32,
            F64: f64,
        )
    };
}
pub(crate) use with_number;

impl Number {
    /// All types; the index of a type here is its [`index`](Self::index).
    pub(crate) const ALL: [Self; 10] = [
        Self::I8,
        Self::U8,
        Self::I16,
        Self::U16,
        Self::I32,
        Self::U32,
        Self::I64,
        Self::U64,
        Self::F32,
        Self::F64,
    ];

    /// The type of a field's numbers. `None` for `bool` and `byte`, whose arrays are lists in
    /// Python.
    pub(crate) fn of(base: &BaseType) -> Option<Self> {
        Some(match base {
            BaseType::Int8 => Self::I8,
            BaseType::Uint8 | BaseType::Char => Self::U8,
            BaseType::Int16 => Self::I16,
            BaseType::Uint16 => Self::U16,
            BaseType::Int32 => Self::I32,
            BaseType::Uint32 => Self::U32,
            BaseType::Int64 => Self::I64,
            BaseType::Uint64 => Self::U64,
            BaseType::Float32 => Self::F32,
            BaseType::Float64 => Self::F64,
            _ => return None,
        })
    }

    pub(crate) fn index(self) -> usize {
        self as usize
    }

    /// The size of one number in bytes, which is also its alignment.
    pub(crate) fn size(self) -> usize {
        with_number!(self, T => size_of::<T>())
    }

    /// The letter in `array.array` and `struct`.
    pub(crate) fn typecode(self) -> &'static str {
        ["b", "B", "h", "H", "i", "I", "q", "Q", "f", "d"][self.index()]
    }

    /// The name in numpy.
    pub(crate) fn dtype(self) -> &'static str {
        [
            "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32",
            "float64",
        ][self.index()]
    }

    /// Whether memory of this format, as in Python's `struct`, holds such numbers in the byte order
    /// of this machine.
    pub(crate) fn is_format(self, format: &str, item_size: usize) -> bool {
        let own_order = if cfg!(target_endian = "big") { '>' } else { '<' };
        let letter = format.trim_start_matches(['@', '=', own_order]);
        let fits = match self {
            Self::I8 | Self::I16 | Self::I32 | Self::I64 => "bhilqn",
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => "BHILQN",
            Self::F32 | Self::F64 => "fd",
        };
        letter.len() == 1 && fits.contains(letter) && item_size == self.size()
    }
}
