// SPDX-License-Identifier: GPL-2.0

//! The types of trace event fields.
//!
//! | in Rust | in `format` | assigned from |
//! | --- | --- | --- |
//! | `u8` to `u64`, `i8` to `i64`, `usize`, `isize`, `bool` | the kernel's name of the type |
//! itself |
//! | [`Pid`] | `pid_t` | [`Pid`] |
//! | [`Address`] | `unsigned long`, printed as a symbol | [`Address`] |
//! | an enum of [`trace_symbols!`](crate::trace_symbols) | its integer type, printed by name |
//! itself |
//! | `[T; N]` of integers | `T[N]` | itself |
//! | [`FixedStr<N>`] | `char[N]` | bytes, truncated to `N - 1` |
//! | [`Comm`] | `char[16]` | itself |
//! | [`DynArray<T>`] | `__data_loc T[]` | `&[T]` |
//! | [`Str`] | `__data_loc char[]` | bytes, up to the first zero |
//! | [`Bitmask`] | `__data_loc unsigned long[]` | `&[usize]` |
//! | [`CpuSet`] | `__data_loc cpumask_t` | `&Cpumask` |
//!
//! Fields of variable length are in the dynamic part of the record, which follows the fixed part,
//! like C's `__data_loc` fields.

use core::{
    ffi::CStr,
    marker::PhantomData,
    mem::size_of, //
};

use kernel::{
    cpu::nr_cpu_ids,
    cpumask::Cpumask, //
};

use super::layout::DynSize;
use crate::ktrace::task::comm::{
    Comm,
    COMM_LEN, //
};

/// The description of a field's type for the kernel.
#[derive(Clone, Copy)]
pub struct FieldType {
    /// The name of the C type.
    pub name: TypeName,
    /// The size in the fixed part of the record, in bytes.
    pub size: usize,
    /// The alignment of the C type, in bytes.
    pub align: usize,
    /// Whether the type is a signed integer or an array of signed integers.
    pub signed: bool,
    /// The number of elements of an array, otherwise 0.
    pub len: usize,
}

/// The name of a type, as a C string.
#[derive(Clone, Copy)]
pub struct TypeName([u8; 48]);

impl TypeName {
    /// Concatenates `parts`, and appends `len` in brackets if it is given.
    const fn new(parts: &[&CStr], len: Option<usize>) -> Self {
        let mut bytes = [0; 48];
        let mut at = 0;
        let mut i = 0;
        while i < parts.len() {
            let part = parts[i].to_bytes();
            let mut j = 0;
            while j < part.len() {
                bytes[at] = part[j];
                at += 1;
                j += 1;
            }
            i += 1;
        }
        if let Some(len) = len {
            bytes[at] = b'[';
            let mut digits = 1;
            let mut rest = len;
            while rest >= 10 {
                rest /= 10;
                digits += 1;
            }
            rest = len;
            let mut i = 0;
            while i < digits {
                bytes[at + digits - i] = b'0' + (rest % 10) as u8;
                rest /= 10;
                i += 1;
            }
            bytes[at + digits + 1] = b']';
        }
        // This fails if no terminating zero is left; a longer name is an index error above.
        assert!(bytes[47] == 0);
        Self(bytes)
    }

    /// Returns the name as a C string, which is valid as long as `self` is.
    pub const fn as_ptr(&self) -> *const kernel::ffi::c_char {
        self.0.as_ptr()
    }
}

/// The type of a field.
///
/// # Safety
///
/// `SHAPE` must describe `Stored` correctly: its size, its alignment and how C reads it.
pub unsafe trait Field {
    /// The description of the type for the kernel.
    const SHAPE: FieldType;

    /// The content in the fixed part of the record.
    type Stored: Copy;

    /// The type that the field is assigned from.
    type Source<'a>: Copy;

    /// Returns the space that the field needs in the dynamic part: none, unless `Stored` is a `u32`
    /// that contains the location of that space.
    #[inline]
    fn dyn_size(_source: Self::Source<'_>) -> DynSize {
        dyn_size_of::<u8>(&[])
    }

    /// Returns the value to store in the fixed part, and writes the dynamic part to `extra`.
    /// `extra` has the requested length, or is shorter if the record would have been too long.
    /// `location` is its location as a `__data_loc` value.
    fn store(source: Self::Source<'_>, extra: &mut [u8], location: u32) -> Self::Stored;
}

/// A field in a record. Its type parameter keeps the type of the field.
#[repr(transparent)]
pub struct StoredField<F: Field + ?Sized>(F::Stored, PhantomData<F>);

/// An integer type of a field or of the elements of an array.
///
/// # Safety
///
/// `NAME` must be a C type of the same size, alignment and sign.
pub unsafe trait Integer: Copy {
    /// The name of the C type.
    const NAME: &'static CStr;
    /// Whether the type is signed.
    const SIGNED: bool;

    /// Reads a value from a record and converts it to C's `unsigned long`, with the rules of C.
    ///
    /// # Safety
    ///
    /// `stored` must be valid for reads of a value of this size. It need not be aligned, and may
    /// contain any bytes.
    unsafe fn word(stored: *const Self) -> usize;
}

// SAFETY: C's `bool` is an unsigned byte, like Rust's.
unsafe impl Integer for bool {
    const NAME: &'static CStr = c"bool";
    const SIGNED: bool = false;

    #[inline]
    unsafe fn word(stored: *const Self) -> usize {
        // SAFETY: The caller guarantees that the byte can be read. Not every byte is a `bool`.
        usize::from(unsafe { stored.cast::<u8>().read() } != 0)
    }
}

// SAFETY: `scalar()` returns the size and alignment of `bool`, which are those of C's `bool`.
unsafe impl Field for bool {
    const SHAPE: FieldType = scalar::<Self>(c"bool", false);
    type Stored = Self;
    type Source<'a> = Self;

    #[inline]
    fn store(source: Self, _: &mut [u8], _: u32) -> Self {
        source
    }
}

macro_rules! integers {
    ($($type:ty, $name:literal, $signed:literal;)*) => {$(
        // SAFETY: The kernel's type with this name has the same size, alignment and sign on all
        // 64-bit architectures.
        unsafe impl Integer for $type {
            const NAME: &'static CStr = $name;
            const SIGNED: bool = $signed;

            #[inline]
            unsafe fn word(stored: *const Self) -> usize {
                // SAFETY: The caller guarantees that the value can be read.
                unsafe { stored.read_unaligned() as usize }
            }
        }

        // SAFETY: `scalar()` returns the size and alignment of the type, which are those of the C
        // type.
        unsafe impl Field for $type {
            const SHAPE: FieldType =
                scalar::<Self>(<Self as Integer>::NAME, <Self as Integer>::SIGNED);
            type Stored = Self;
            type Source<'a> = Self;

            #[inline]
            fn store(source: Self, _: &mut [u8], _: u32) -> Self {
                source
            }
        }
    )*};
}

/// Returns the description of a type that is stored unchanged in the fixed part.
pub const fn scalar<T>(name: &CStr, signed: bool) -> FieldType {
    FieldType {
        name: TypeName::new(&[name], None),
        size: size_of::<T>(),
        align: align_of::<T>(),
        signed,
        len: 0,
    }
}

integers! {
    u8, c"u8", false;
    u16, c"u16", false;
    u32, c"unsigned int", false;
    u64, c"u64", false;
    usize, c"unsigned long", false;
    i8, c"s8", true;
    i16, c"s16", true;
    i32, c"int", true;
    i64, c"s64", true;
    isize, c"long", true;
}

/// The ID of a task or process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Pid(pub i32);

// SAFETY: `pid_t` is an `int`, and `Pid` is transparent.
unsafe impl Field for Pid {
    const SHAPE: FieldType = scalar::<i32>(c"pid_t", true);
    type Stored = Self;
    type Source<'a> = Self;

    #[inline]
    fn store(source: Self, _: &mut [u8], _: u32) -> Self {
        source
    }
}

/// An address in the kernel's text, which is printed as a symbol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Address(pub usize);

// SAFETY: `Address` is transparent, and `usize` has the layout of `unsigned long`.
unsafe impl Field for Address {
    const SHAPE: FieldType = scalar::<usize>(c"unsigned long", false);
    type Stored = Self;
    type Source<'a> = Self;

    #[inline]
    fn store(source: Self, _: &mut [u8], _: u32) -> Self {
        source
    }
}

const fn array<T>(name: &CStr, signed: bool, len: usize) -> FieldType {
    FieldType {
        name: TypeName::new(&[name], Some(len)),
        size: size_of::<T>() * len,
        align: align_of::<T>(),
        signed,
        len,
    }
}

// SAFETY: Rust arrays have the layout of C arrays.
unsafe impl<T: Integer, const N: usize> Field for [T; N] {
    const SHAPE: FieldType = array::<T>(T::NAME, T::SIGNED, N);
    type Stored = Self;
    type Source<'a> = Self;

    #[inline]
    fn store(source: Self, _: &mut [u8], _: u32) -> Self {
        source
    }
}

/// A string in an array of `N` bytes, the last of which is always zero.
pub struct FixedStr<const N: usize>;

// SAFETY: An array of bytes has the layout of an array of `char`.
unsafe impl<const N: usize> Field for FixedStr<N> {
    const SHAPE: FieldType = array::<u8>(c"char", CHAR_IS_SIGNED, N);
    type Stored = [u8; N];
    type Source<'a> = &'a [u8];

    #[inline]
    fn store(source: &[u8], _: &mut [u8], _: u32) -> [u8; N] {
        let mut text = [0; N];
        let room = text.len().saturating_sub(1);
        let bytes = source.iter().take_while(|&&byte| byte != 0);
        for (to, from) in text.iter_mut().take(room).zip(bytes) {
            *to = *from;
        }
        text
    }
}

/// Whether `char` is signed: the kernel is built with `-funsigned-char`.
const CHAR_IS_SIGNED: bool = false;

// SAFETY: `Comm` has the layout of `char[16]`.
unsafe impl Field for Comm {
    const SHAPE: FieldType = array::<u8>(c"char", CHAR_IS_SIGNED, COMM_LEN);
    type Stored = [u8; COMM_LEN];
    type Source<'a> = Comm;

    #[inline]
    fn store(source: Comm, _: &mut [u8], _: u32) -> [u8; COMM_LEN] {
        source.to_array()
    }
}

const fn dynamic(parts: &[&CStr], signed: bool) -> FieldType {
    FieldType {
        name: TypeName::new(parts, None),
        size: size_of::<u32>(),
        align: align_of::<u32>(),
        signed,
        len: 0,
    }
}

/// Requests space for all items, or for a whole number of them if it is limited.
#[inline]
fn dyn_size_of<T>(items: &[T]) -> DynSize {
    DynSize {
        len: core::mem::size_of_val(items),
        piece: size_of::<T>(),
        never_empty: false,
    }
}

fn copy(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// Returns the bytes of integers.
fn bytes_of<T: Integer>(items: &[T]) -> &[u8] {
    // SAFETY: Integers have no padding, and each of their bytes may be read.
    unsafe { core::slice::from_raw_parts(items.as_ptr().cast(), core::mem::size_of_val(items)) }
}

/// An array whose length may be different in each record.
pub struct DynArray<T>(PhantomData<T>);

// SAFETY: The fixed part contains the location of the array in the format of `__data_loc`.
unsafe impl<T: Integer + 'static> Field for DynArray<T> {
    const SHAPE: FieldType = dynamic(&[c"__data_loc ", T::NAME, c"[]"], T::SIGNED);
    type Stored = u32;
    type Source<'a> = &'a [T];

    #[inline]
    fn dyn_size(source: &[T]) -> DynSize {
        dyn_size_of(source)
    }

    #[inline]
    fn store(source: &[T], extra: &mut [u8], location: u32) -> u32 {
        copy(extra, bytes_of(source));
        location
    }
}

/// A string whose length may be different in each record.
pub struct Str;

fn before_zero(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&byte| byte == 0);
    end.and_then(|end| bytes.get(..end)).unwrap_or(bytes)
}

// SAFETY: The fixed part contains the location of the string in the format of `__data_loc`.
unsafe impl Field for Str {
    const SHAPE: FieldType = dynamic(&[c"__data_loc char[]"], CHAR_IS_SIGNED);
    type Stored = u32;
    type Source<'a> = &'a [u8];

    #[inline]
    fn dyn_size(source: &[u8]) -> DynSize {
        DynSize {
            len: before_zero(source).len().saturating_add(1),
            piece: 1,
            // Output functions look for the terminating zero, whatever the length.
            never_empty: true,
        }
    }

    #[inline]
    fn store(source: &[u8], extra: &mut [u8], location: u32) -> u32 {
        copy(extra, before_zero(source));
        if let Some(last) = extra.last_mut() {
            *last = 0;
        }
        location
    }
}

/// A set of bits, the lowest one first.
pub struct Bitmask;

// SAFETY: The fixed part contains the location of the bits in the format of `__data_loc`.
unsafe impl Field for Bitmask {
    const SHAPE: FieldType = dynamic(&[c"__data_loc unsigned long[]"], false);
    type Stored = u32;
    type Source<'a> = &'a [usize];

    #[inline]
    fn dyn_size(source: &[usize]) -> DynSize {
        dyn_size_of(source)
    }

    #[inline]
    fn store(source: &[usize], extra: &mut [u8], location: u32) -> u32 {
        copy(extra, bytes_of(source));
        location
    }
}

/// A set of CPUs.
pub struct CpuSet;

fn cpumask_words(mask: &Cpumask) -> &[usize] {
    let words = (nr_cpu_ids() as usize).div_ceil(usize::BITS as usize);
    // SAFETY: A cpumask consists of words, with at least one bit for each possible CPU. The bits
    // may change at any time, so they are only copied byte by byte.
    unsafe { core::slice::from_raw_parts(mask.as_raw().cast(), words) }
}

// SAFETY: The fixed part contains the location of the bits in the format of `__data_loc`.
unsafe impl Field for CpuSet {
    const SHAPE: FieldType = dynamic(&[c"__data_loc cpumask_t"], false);
    type Stored = u32;
    type Source<'a> = &'a Cpumask;

    #[inline]
    fn dyn_size(source: &Cpumask) -> DynSize {
        dyn_size_of(cpumask_words(source))
    }

    #[inline]
    fn store(source: &Cpumask, extra: &mut [u8], location: u32) -> u32 {
        copy(extra, bytes_of(cpumask_words(source)));
        location
    }
}
