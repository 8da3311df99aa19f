// SPDX-License-Identifier: GPL-2.0

//! Output of fields. For each way to print a field, this file has the C expression that readers of
//! the `format` file evaluate, and the equivalent value for the kernel's own output.

use core::{
    ffi::CStr,
    mem::size_of,
    ptr::addr_of_mut, //
};

use kernel::prelude::*;

use super::{
    field::{
        Address,
        Bitmask,
        CpuSet,
        DynArray,
        Field,
        FixedStr,
        Integer,
        Pid,
        Slot,
        Str, //
    },
    format::{
        Argument,
        Expression,
        Family, //
    },
};
use crate::ktrace::{
    private::{
        abi,
        cstr_ext::CStrExt,
        trace_options, //
    },
    task::Comm,
    value_names::Names, //
};

/// Names of values or bits in the kernel's representation.
#[repr(transparent)]
pub struct Table<const N: usize>([abi::trace_print_flags; N]);

// SAFETY: The table is constant, as are the strings that it points to.
unsafe impl<const N: usize> Sync for Table<N> {}

impl<const N: usize> Table<N> {
    /// Converts `names`. `N` must be their number.
    pub const fn new(names: Names) -> Self {
        assert!(names.len() == N);
        let mut table = [const {
            abi::trace_print_flags {
                mask: 0,
                name: core::ptr::null(),
            }
        }; N];
        let mut i = 0;
        while i < N {
            table[i].mask = names[i].0 as kernel::ffi::c_ulong;
            table[i].name = names[i].1.to_bytes_with_nul().as_ptr();
            i += 1;
        }
        Self(table)
    }

    /// Returns the table as a slice.
    pub fn as_slice(&'static self) -> &'static [abi::trace_print_flags] {
        &self.0
    }
}

// Some structs behind these pointers have no members in some configurations.
#[allow(improper_ctypes)]
extern "C" {
    fn trace_print_symbols_seq(
        p: *mut abi::trace_seq,
        val: c_ulong,
        symbols: *const abi::trace_print_flags,
        size: usize,
    ) -> *const c_char;
    fn trace_print_flags_seq(
        p: *mut abi::trace_seq,
        delim: *const c_char,
        flags: c_ulong,
        names: *const abi::trace_print_flags,
        size: usize,
    ) -> *const c_char;
    fn trace_seq_printf(s: *mut abi::trace_seq, fmt: *const c_char, ...);
    fn trace_seq_putmem(s: *mut abi::trace_seq, mem: *const c_void, len: c_uint);
    fn trace_seq_putc(s: *mut abi::trace_seq, c: u8);
    fn ktrace_seq_position(s: *mut abi::trace_seq) -> *const c_char;
    fn trace_print_hex_seq(
        p: *mut abi::trace_seq,
        buf: *const u8,
        len: c_int,
        concatenate: bool,
    ) -> *const c_char;
    fn trace_print_array_seq(
        p: *mut abi::trace_seq,
        buf: *const c_void,
        count: c_int,
        el_size: usize,
    ) -> *const c_char;
    /// Prints with a C format.
    pub fn trace_event_printf(iter: *mut abi::trace_iterator, fmt: *const c_char, ...);
}

/// A record that is being printed.
///
/// # Invariants
///
/// `iter` is at a record of the event that the user of this value prints.
pub struct Printer(*mut abi::trace_iterator);

impl Printer {
    /// Wraps an iterator.
    ///
    /// # Safety
    ///
    /// `iter` must be at a record of the event that will be printed, and stay valid during that.
    pub unsafe fn new(iter: *mut abi::trace_iterator) -> Self {
        // INVARIANT: The caller guarantees that `iter` is at such a record.
        Self(iter)
    }

    /// Returns the iterator.
    pub fn as_ptr(&self) -> *mut abi::trace_iterator {
        self.0
    }

    /// Returns the record.
    pub fn record(&self) -> *mut u8 {
        // SAFETY: By the type invariant, the iterator is valid and at a record.
        unsafe { (*self.0).ent.cast() }
    }

    /// Returns the buffer for texts that are then passed to a conversion.
    fn seq(&self) -> *mut abi::trace_seq {
        // SAFETY: By the type invariant, the iterator is valid; this only computes an address.
        unsafe { addr_of_mut!((*self.0).tmp_seq) }
    }

    /// Returns the text of a set of bits, in the format that the trace array's option
    /// `bitmask-list` selects.
    ///
    /// This is like the kernel's `trace_print_bitmask_seq()`, which however resets the buffer at
    /// each call, so that all texts but the last of a record are overwritten.
    ///
    /// # Safety
    ///
    /// `bits` must point to `len` valid bytes, which are whole words.
    unsafe fn bitmask(&self, bits: *const u8, len: usize) -> *const c_char {
        let seq = self.seq();
        // SAFETY: By the type invariant, the iterator and its trace array are valid while the
        // record is printed. The caller guarantees that the bits are valid.
        unsafe {
            let as_list = trace_options::flags((*self.0).tr) & trace_options::BITMASK_LIST != 0;
            let format = if as_list { c"%*pbl" } else { c"%*pb" };
            let text = ktrace_seq_position(seq);
            let bit_count = len.saturating_mul(8) as c_int;
            trace_seq_printf(seq, format.as_chars(), bit_count, bits);
            trace_seq_putc(seq, 0);
            text
        }
    }

    /// Returns the name of `value`.
    pub fn symbol(&self, value: usize, names: &'static [abi::trace_print_flags]) -> *const c_char {
        // SAFETY: The table has the given length. The text is written to the iterator's own buffer.
        unsafe { trace_print_symbols_seq(self.seq(), value, names.as_ptr(), names.len()) }
    }

    /// Copies `bytes` to the iterator's own buffer, and returns them as a C string.
    fn text(&self, bytes: &[u8]) -> *const c_char {
        let seq = self.seq();
        // SAFETY: By the type invariant, the iterator is valid while the record is printed. The
        // bytes are copied.
        unsafe {
            let text = ktrace_seq_position(seq);
            trace_seq_putmem(seq, bytes.as_ptr().cast(), bytes.len() as c_uint);
            trace_seq_putc(seq, 0);
            text
        }
    }

    /// Returns the start and the length in bytes of the data that a `__data_loc` field refers to.
    ///
    /// # Safety
    ///
    /// `location` must be such a field of the record.
    unsafe fn dynamic(&self, location: *const u32) -> (*mut u8, usize) {
        // SAFETY: The caller guarantees that this is a field of the record. No alignment is
        // assumed.
        let location = unsafe { location.read_unaligned() };
        let offset = (location & 0xffff) as usize;
        let start = self.record().wrapping_add(offset);
        (start, (location >> 16) as usize)
    }
}

/// A field that can be printed without a special way ([`ways`]).
///
/// # Safety
///
/// `value()` must return a value of the type that the conversion of `FAMILY` takes.
pub unsafe trait Show: Field {
    /// The conversion for the value.
    const FAMILY: Family;
    /// The C expression for the value.
    const EXPRESSION: Expression = Expression::new().code("REC->").field();

    /// The type that is passed to C's output function, after the promotions that C applies to
    /// `...`.
    type Value;

    /// Returns the value to print.
    ///
    /// # Safety
    ///
    /// `stored` must be this field in the record that `printer` is at. It need not be aligned.
    unsafe fn value(printer: &Printer, stored: *const Self::Stored) -> Self::Value;
}

macro_rules! show_integers {
    ($($type:ty => $value:ty, $family:expr;)*) => {$(
        // SAFETY: The conversion is that of the value's type.
        unsafe impl Show for $type {
            const FAMILY: Family = $family;
            type Value = $value;

            #[inline]
            unsafe fn value(_: &Printer, stored: *const $type) -> $value {
                // SAFETY: The caller guarantees that `stored` is a field of this type in the
                // record.
                <$value>::from(unsafe { stored.read_unaligned() })
            }
        }
    )*};
}

show_integers! {
    u8 => c_uint, Family::Unsigned("");
    u16 => c_uint, Family::Unsigned("");
    u32 => c_uint, Family::Unsigned("");
    u64 => u64, Family::Unsigned("ll");
    usize => usize, Family::Unsigned("l");
    i8 => c_int, Family::Signed("");
    i16 => c_int, Family::Signed("");
    i32 => c_int, Family::Signed("");
    i64 => i64, Family::Signed("ll");
    isize => isize, Family::Signed("l");
}

// SAFETY: A `bool` is passed as an `int`.
unsafe impl Show for bool {
    const FAMILY: Family = Family::Signed("");
    type Value = c_int;

    #[inline]
    unsafe fn value(_: &Printer, stored: *const bool) -> c_int {
        // SAFETY: The caller guarantees that `stored` is a field of this type. It is read as a
        // byte, because the record may have been modified.
        c_int::from(unsafe { stored.cast::<u8>().read() } != 0)
    }
}

// SAFETY: A `pid_t` is passed as an `int`.
unsafe impl Show for Pid {
    const FAMILY: Family = Family::Signed("");
    type Value = c_int;

    #[inline]
    unsafe fn value(_: &Printer, stored: *const Pid) -> c_int {
        // SAFETY: The caller guarantees that `stored` is a field of this type in the record.
        unsafe { stored.read_unaligned() }.0
    }
}

// SAFETY: `%pS` takes a pointer.
unsafe impl Show for Address {
    const FAMILY: Family = Family::Symbol;
    const EXPRESSION: Expression = Expression::new().code("(void *)REC->").field();
    type Value = *const c_void;

    #[inline]
    unsafe fn value(_: &Printer, stored: *const Address) -> *const c_void {
        // SAFETY: The caller guarantees that `stored` is a field of this type in the record.
        unsafe { stored.read_unaligned() }.0 as *const c_void
    }
}

macro_rules! show_texts {
    ($([$($generic:tt)*] $type:ty;)*) => {$(
        // SAFETY: The value is a pointer to an array of bytes that ends with a zero.
        unsafe impl<$($generic)*> Show for $type {
            const FAMILY: Family = Family::Str;
            type Value = *const c_char;

            #[inline]
            unsafe fn value(_: &Printer, stored: *const Self::Stored) -> *const c_char {
                stored.cast()
            }
        }
    )*};
}

show_texts! {
    [const N: usize] FixedStr<N>;
}

// SAFETY: The value is a C string: an array of bytes that ends with a zero, or a text in the
// printer's buffer.
unsafe impl Show for Comm {
    const FAMILY: Family = Family::Str;
    type Value = *const c_char;

    #[inline]
    unsafe fn value(printer: &Printer, stored: *const Self::Stored) -> *const c_char {
        // SAFETY: The caller guarantees that `stored` is a field of this type in the record.
        let comm = Comm::new(&unsafe { stored.read_unaligned() });
        let escaped = comm.escaped();
        if escaped.as_bytes() == comm.as_bytes() {
            return stored.cast();
        }
        printer.text(escaped.as_bytes())
    }
}

// SAFETY: A string has at least one byte in every record, and `store()` ends it with a zero.
unsafe impl Show for Str {
    const FAMILY: Family = Family::Str;
    const EXPRESSION: Expression = Expression::new().code("__get_str(").field().code(")");
    type Value = *const c_char;

    #[inline]
    unsafe fn value(printer: &Printer, stored: *const u32) -> *const c_char {
        // SAFETY: The caller guarantees that `stored` is a `__data_loc` field of the record.
        unsafe { printer.dynamic(stored) }.0.cast()
    }
}

macro_rules! show_bits {
    ($($type:ty, $get:literal;)*) => {$(
        // SAFETY: `bitmask()` returns a C string.
        unsafe impl Show for $type {
            const FAMILY: Family = Family::Str;
            const EXPRESSION: Expression = Expression::new().code($get).field().code(")");
            type Value = *const c_char;

            unsafe fn value(printer: &Printer, stored: *const u32) -> *const c_char {
                // SAFETY: The caller guarantees that `stored` is a `__data_loc` field of the
                // record. `store()` has stored whole words there.
                unsafe {
                    let (bits, len) = printer.dynamic(stored);
                    printer.bitmask(bits, len)
                }
            }
        }
    )*};
}

show_bits! {
    Bitmask, "__get_bitmask(";
    CpuSet, "__get_cpumask(";
}

/// A field with several items, for output functions that print items.
pub trait Items: Field {
    /// The C expression for the address of the items.
    const START: Expression;
    /// The C expression for the size of all items in bytes.
    const BYTES: Expression;
    /// The size of one item in bytes.
    const SIZE: usize;

    /// Returns the address of the items and their size in bytes.
    ///
    /// # Safety
    ///
    /// `stored` must be this field in the record that `printer` is at. It need not be aligned.
    unsafe fn items(printer: &Printer, stored: *const Self::Stored) -> (*const u8, usize);
}

impl<T: Integer, const N: usize> Items for [T; N] {
    const START: Expression = Expression::new().code("REC->").field();
    const BYTES: Expression = Expression::new().number(size_of::<T>() * N);
    const SIZE: usize = size_of::<T>();

    unsafe fn items(_: &Printer, stored: *const Self) -> (*const u8, usize) {
        (stored.cast(), size_of::<Self>())
    }
}

const LEN: Expression = Expression::new()
    .code("__get_dynamic_array_len(")
    .field()
    .code(")");

impl<T: Integer + 'static> Items for DynArray<T> {
    const START: Expression = Expression::new()
        .code("__get_dynamic_array(")
        .field()
        .code(")");
    const BYTES: Expression = LEN;
    const SIZE: usize = size_of::<T>();

    unsafe fn items(printer: &Printer, stored: *const u32) -> (*const u8, usize) {
        // SAFETY: The caller guarantees that `stored` is a `__data_loc` field of the record.
        let (start, len) = unsafe { printer.dynamic(stored) };
        (start, len)
    }
}

macro_rules! show_items {
    ($([$($generic:tt)*] $type:ty;)*) => {$(
        // SAFETY: `trace_print_array_seq()` returns a C string.
        unsafe impl<$($generic)*> Show for $type {
            const FAMILY: Family = Family::Str;
            const EXPRESSION: Expression = Expression::new()
                .code("__print_array(")
                .then(Self::START)
                .code(", ")
                .then(Self::BYTES)
                .code(match size_of::<T>() {
                    1 => " / 1, 1)",
                    2 => " / 2, 2)",
                    4 => " / 4, 4)",
                    _ => " / 8, 8)",
                });
            type Value = *const c_char;

            unsafe fn value(printer: &Printer, stored: *const Self::Stored) -> *const c_char {
                // SAFETY: The caller guarantees that `stored` is a field of this type in the
                // record, so `items()` returns as many bytes. The text is written to the iterator's
                // own buffer.
                unsafe {
                    let (items, bytes) = Self::items(printer, stored);
                    let count = bytes.checked_div(Self::SIZE).unwrap_or(0) as c_int;
                    trace_print_array_seq(printer.seq(), items.cast(), count, Self::SIZE)
                }
            }
        }
    )*};
}

show_items! {
    [T: Integer, const N: usize] [T; N];
    [T: Integer + 'static] DynArray<T>;
}

/// A field that is an integer, for output functions that need one.
pub trait AsInteger: Field {
    /// Returns the field as an `unsigned long`.
    ///
    /// # Safety
    ///
    /// `stored` must be this field in a record. It need not be aligned.
    unsafe fn integer(stored: *const Self::Stored) -> usize;
}

impl<T: Integer + Field<Stored = T>> AsInteger for T {
    #[inline]
    unsafe fn integer(stored: *const T) -> usize {
        // SAFETY: The caller guarantees that `stored` is a field of this type in the record.
        unsafe { stored.read_unaligned() }.to_word()
    }
}

/// A field in the dynamic part of the record, whose length may be different in each record.
pub trait Dynamic: Field<Stored = u32> {}

impl<T: Integer + 'static> Dynamic for DynArray<T> {}
impl Dynamic for Str {}
impl Dynamic for Bitmask {}
impl Dynamic for CpuSet {}

/// Returns the C expression for the name of a field's value.
pub const fn symbolic_expression(names: Names) -> Expression {
    Expression::new()
        .code("__print_symbolic(REC->")
        .field()
        .names(names)
        .code(")")
}

/// The ways to print a field that an argument can select with `way(field, ...)`; `plain` is used if
/// it selects none. Each has two functions: `describe()` returns the argument for the format, and
/// `value()` returns the value to print.
pub mod ways {
    use super::Slot;

    /// A function from a record to one of its fields, which determines the type of the field.
    pub type Path<R, F> = fn(&R) -> &Slot<F>;

    /// Prints the field in the way that is usual for its type.
    pub mod plain {
        use super::{
            super::*,
            Path, //
        };

        #[doc(hidden)]
        pub const fn describe<R, F: Show>(field: &'static str, _: Path<R, F>) -> Argument {
            Argument::new(F::FAMILY, field, F::EXPRESSION)
        }

        /// # Safety
        ///
        /// `slot` must be this field in the record that `printer` is at. It need not be aligned.
        #[doc(hidden)]
        pub unsafe fn value<F: Show>(printer: &Printer, slot: *const Slot<F>) -> F::Value {
            // SAFETY: The caller guarantees what `Show::value()` requires; a `Slot<F>` has the
            // layout of `F::Stored`.
            unsafe { F::value(printer, slot.cast()) }
        }
    }

    /// Prints the name of the field's value.
    pub mod symbolic {
        use super::{
            super::*,
            Path, //
        };

        #[doc(hidden)]
        pub const fn describe<R, F: AsInteger>(
            field: &'static str,
            _: Path<R, F>,
            names: Names,
        ) -> Argument {
            let expression = symbolic_expression(names);
            Argument::new(Family::Str, field, expression)
        }

        /// # Safety
        ///
        /// `slot` must be this field in the record that `printer` is at. It need not be aligned.
        #[doc(hidden)]
        pub unsafe fn value<F: AsInteger>(
            printer: &Printer,
            slot: *const Slot<F>,
            names: &'static [abi::trace_print_flags],
        ) -> *const c_char {
            // SAFETY: The caller guarantees that `slot` is a field of this type in the record.
            printer.symbol(unsafe { F::integer(slot.cast()) }, names)
        }
    }

    /// Prints the names of the field's bits, with a delimiter.
    pub mod flags {
        use super::{
            super::*,
            Path, //
        };

        #[doc(hidden)]
        pub const fn describe<R, F: AsInteger>(
            field: &'static str,
            _: Path<R, F>,
            delimiter: &'static CStr,
            names: Names,
        ) -> Argument {
            let expression = Expression::new()
                .code("__print_flags(REC->")
                .field()
                .code(", ")
                .literal(delimiter)
                .names(names)
                .code(")");
            Argument::new(Family::Str, field, expression)
        }

        /// # Safety
        ///
        /// `slot` must be this field in the record that `printer` is at. It need not be aligned.
        #[doc(hidden)]
        pub unsafe fn value<F: AsInteger>(
            printer: &Printer,
            slot: *const Slot<F>,
            delimiter: &'static CStr,
            names: &'static [abi::trace_print_flags],
        ) -> *const c_char {
            let delimiter = delimiter.as_chars();
            // SAFETY: The caller guarantees that `slot` is a field of this type in the record. The
            // text is written to the iterator's own buffer.
            unsafe {
                let value = F::integer(slot.cast());
                let (names, len) = (names.as_ptr(), names.len());
                trace_print_flags_seq(printer.seq(), delimiter, value, names, len)
            }
        }
    }

    /// Defines a way to print bytes in hexadecimal.
    macro_rules! hexadecimal {
        ($(#[$meta:meta])* $way:ident, $function:literal, $concatenate:literal) => {
            $(#[$meta])*
            pub mod $way {
                use super::{
                    super::*,
                    Path, //
                };

                #[doc(hidden)]
                pub const fn describe<R, F: Items>(
                    field: &'static str,
                    _: Path<R, F>,
                ) -> Argument {
                    let expression = Expression::new()
                        .code($function)
                        .then(F::START)
                        .code(", ")
                        .then(F::BYTES)
                        .code(")");
                    Argument::new(Family::Str, field, expression)
                }

                /// # Safety
                ///
                /// `slot` must be this field in the record that `printer` is at. It need not be
                /// aligned.
                #[doc(hidden)]
                pub unsafe fn value<F: Items>(
                    printer: &Printer,
                    slot: *const Slot<F>,
                ) -> *const c_char {
                    // SAFETY: The caller guarantees that `slot` is a field of this type in the
                    // record. The text is written to the iterator's own buffer.
                    unsafe {
                        let (bytes, len) = F::items(printer, slot.cast());
                        trace_print_hex_seq(printer.seq(), bytes, len as c_int, $concatenate)
                    }
                }
            }
        };
    }

    hexadecimal! {
        /// Prints the field's bytes in hexadecimal, with spaces between them.
        hex, "__print_hex(", false
    }

    hexadecimal! {
        /// Prints the field's bytes in hexadecimal, without spaces.
        hex_str, "__print_hex_str(", true
    }

    /// Prints the length of the field in bytes.
    pub mod len {
        use super::{
            super::*,
            Path, //
        };

        #[doc(hidden)]
        pub const fn describe<R, F: Dynamic>(field: &'static str, _: Path<R, F>) -> Argument {
            Argument::new(Family::Signed(""), field, LEN)
        }

        /// # Safety
        ///
        /// `slot` must be this field in the record that `printer` is at. It need not be aligned.
        #[doc(hidden)]
        pub unsafe fn value<F: Dynamic>(printer: &Printer, slot: *const Slot<F>) -> c_int {
            // SAFETY: The caller guarantees that `slot` is a `__data_loc` field of the record.
            unsafe { printer.dynamic(slot.cast()) }.1 as c_int
        }
    }
}
