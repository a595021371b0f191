//! The numbers of CDR, and their conversion to and from bytes, either one number at a time or in
//! blocks.

use std::fmt::Debug;

/// A fixed-size value of CDR. Only the integers, the floats and `bool` implement this trait.
pub trait Primitive:
    Copy + Default + PartialEq + Debug + Send + Sync + 'static + sealed::Wire
{
}

/// Keeps the byte-level methods out of the public interface, and prevents implementations in other
/// crates.
pub(crate) mod sealed {
    /// The form of a primitive on the wire. `swap` is true if the byte order on the wire is not
    /// that of the machine.
    pub trait Wire: Sized + Copy {
        /// The size and the alignment on the wire, in bytes.
        const SIZE: usize;
        /// The name in error messages.
        const NAME: &'static str;
        /// Whether all patterns of bytes are values of this type.
        const IS_ANY_BYTE_VALID: bool;
        /// Writes the value to `out`, which has `SIZE` bytes.
        fn store(self, out: &mut [u8], swap: bool);
        /// Reads a value from `bytes`, which has `SIZE` bytes.
        fn load(bytes: &[u8], swap: bool) -> Self;
        /// Writes all of `items` to `out`, which has `SIZE * items.len()` bytes.
        fn store_block(items: &[Self], out: &mut [u8], swap: bool);
        /// Fills `items` from `bytes`, which has `SIZE * items.len()` bytes.
        fn load_block(bytes: &[u8], items: &mut [Self], swap: bool);
        /// Reads all of `bytes`, whose length is a multiple of `SIZE`, into a new vector.
        fn load_vec(bytes: &[u8], swap: bool) -> Vec<Self>;
        /// Returns the bytes as a slice of values, if they are aligned and need no conversion.
        fn cast(bytes: &[u8], swap: bool) -> Option<&[Self]>;
        /// Returns bytes in the machine's byte order as a mutable slice of values, if they are
        /// aligned and valid.
        fn cast_mut(bytes: &mut [u8]) -> Option<&mut [Self]>;
    }
}

use sealed::Wire;

macro_rules! number {
    ($($type:ident $name:literal),+) => {$(
        impl Primitive for $type {}

        impl Wire for $type {
            const SIZE: usize = size_of::<$type>();
            const NAME: &'static str = $name;
            const IS_ANY_BYTE_VALID: bool = true;

            #[inline]
            fn store(self, out: &mut [u8], swap: bool) {
                let mut bytes = self.to_ne_bytes();
                if swap {
                    bytes.reverse();
                }
                out.copy_from_slice(&bytes);
            }

            #[inline]
            fn load(wire: &[u8], swap: bool) -> Self {
                let mut bytes = [0; size_of::<$type>()];
                bytes.copy_from_slice(wire);
                if swap {
                    bytes.reverse();
                }
                Self::from_ne_bytes(bytes)
            }

            #[inline]
            fn store_block(items: &[Self], out: &mut [u8], swap: bool) {
                if swap && Self::SIZE > 1 {
                    for (item, chunk) in items.iter().zip(out.chunks_exact_mut(Self::SIZE)) {
                        item.store(chunk, true);
                    }
                } else {
                    out.copy_from_slice(bytemuck::cast_slice(items));
                }
            }

            #[inline]
            fn load_block(bytes: &[u8], items: &mut [Self], swap: bool) {
                if swap && Self::SIZE > 1 {
                    for (item, chunk) in items.iter_mut().zip(bytes.chunks_exact(Self::SIZE)) {
                        *item = Self::load(chunk, true);
                    }
                } else {
                    bytemuck::cast_slice_mut(items).copy_from_slice(bytes);
                }
            }

            #[inline]
            fn load_vec(bytes: &[u8], swap: bool) -> Vec<Self> {
                if swap && Self::SIZE > 1 {
                    return bytes.chunks_exact(Self::SIZE).map(|chunk| Self::load(chunk, true)).collect();
                }
                match bytemuck::try_cast_slice(bytes) {
                    Ok(items) => items.to_vec(),
                    Err(_) => bytemuck::pod_collect_to_vec(bytes),
                }
            }

            #[inline]
            fn cast(bytes: &[u8], swap: bool) -> Option<&[Self]> {
                if swap && Self::SIZE > 1 { None } else { bytemuck::try_cast_slice(bytes).ok() }
            }

            #[inline]
            fn cast_mut(bytes: &mut [u8]) -> Option<&mut [Self]> {
                bytemuck::try_cast_slice_mut(bytes).ok()
            }
        }
    )+};
}

number!(
    u8 "uint8", i8 "int8", u16 "uint16", i16 "int16", u32 "uint32", i32 "int32", u64 "uint64", i64 "int64",
    f32 "float32", f64 "float64"
);

impl Primitive for bool {}

impl Wire for bool {
    const SIZE: usize = 1;
    const NAME: &'static str = "bool";
    const IS_ANY_BYTE_VALID: bool = false;

    #[inline]
    fn store(self, out: &mut [u8], _swap: bool) {
        out.copy_from_slice(&[u8::from(self)]);
    }

    #[inline]
    fn load(bytes: &[u8], _swap: bool) -> Self {
        bytes.first().is_some_and(|&byte| byte != 0)
    }

    #[inline]
    fn store_block(items: &[Self], out: &mut [u8], _swap: bool) {
        out.copy_from_slice(bytemuck::cast_slice(items));
    }

    #[inline]
    fn load_block(bytes: &[u8], items: &mut [Self], _swap: bool) {
        for (item, &byte) in items.iter_mut().zip(bytes) {
            *item = byte != 0;
        }
    }

    #[inline]
    fn load_vec(bytes: &[u8], _swap: bool) -> Vec<Self> {
        bytes.iter().map(|&byte| byte != 0).collect()
    }

    /// Only the bytes 0 and 1 are Rust bools, so this checks every byte.
    fn cast(bytes: &[u8], _swap: bool) -> Option<&[Self]> {
        bytemuck::checked::try_cast_slice(bytes).ok()
    }

    /// Checks every byte, like [`cast`](Wire::cast).
    fn cast_mut(bytes: &mut [u8]) -> Option<&mut [Self]> {
        bytemuck::checked::try_cast_slice_mut(bytes).ok()
    }
}
