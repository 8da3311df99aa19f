// SPDX-License-Identifier: GPL-2.0

//! Events with every kind of field, and every way to print it.

use kernel::cpumask::Cpumask;

use crate::ktrace::{
    event::{
        field::{
            Address,
            Bitmask,
            CpuSet,
            DynArray,
            FixedStr,
            Pid,
            Str, //
        },
        trace_event,
        trace_event_class,
        trace_symbols, //
    },
    task::{
        Comm,
        Task, //
    },
};

/// The arguments of [`foo_bar`].
pub(crate) struct Foo<'a> {
    pub(crate) foo: &'a [u8],
    pub(crate) bar: i32,
    pub(crate) list: &'a [i32],
    pub(crate) string: &'a [u8],
    pub(crate) bits: &'a [usize],
    pub(crate) mask: &'a Cpumask,
    pub(crate) formatted: &'a [u8],
    pub(crate) cut: &'a [u8],
}

trace_event! {
    system ktrace_test;

    /// An event with the fields of the kernel's own sample
    /// (samples/trace_events/trace-events-sample.h).
    #[allow(clippy::disallowed_names)] // the sample uses these names
    pub(crate) event foo_bar(sample: &Foo<'_>);

    record {
        foo: FixedStr<10> = sample.foo,
        bar: i32 = sample.bar,
        list: DynArray<i32> = sample.list,
        str: Str = sample.string,
        cpus: Bitmask = sample.bits,
        cpum: CpuSet = sample.mask,
        vstr: Str = sample.formatted,
        lstr: Str = sample.cut,
    }

    print "foo {} {} {} {} {} {} {} {} ({}) ({}) {} [{}]",
        foo, bar,
        symbolic(bar, &[(0, c"zero"), (2, c"TWO"), (4, c"FOUR"), (8, c"EIGHT"), (10, c"TEN")]),
        flags(bar, c"|", &[(1, c"BIT1"), (2, c"BIT2"), (4, c"BIT3"), (8, c"BIT4")]),
        list, list, str, lstr, cpus, cpum, vstr, len(cpus);
}

trace_event! {
    system ktrace_test;

    /// An event with every integer type.
    pub(crate) event integers(number: i64, flag: bool);

    record {
        a_u8: u8 = number as u8,
        a_u64: u64 = number as u64,
        a_u16: u16 = number as u16,
        a_i8: i8 = number as i8,
        a_u32: u32 = number as u32,
        a_i16: i16 = number as i16,
        a_usize: usize = number as usize,
        a_i32: i32 = number as i32,
        a_bool: bool = flag,
        a_i64: i64 = number,
        an_isize: isize = number as isize,
    }

    print "{} {} {} {} {} {} {} {} {} {} {} hex {:#x} {:08x} {:#x} {:X} wide [{:6}] [{:<6}] [{:06}]",
        a_u8, a_u16, a_u32, a_u64, a_usize, a_i8, a_i16, a_i32, a_i64, an_isize, a_bool,
        a_u8, a_u16, a_u64, a_i8, a_i32, a_i32, a_i32;
}

trace_symbols! {
    /// A direction, which is printed as a text.
    #[allow(dead_code)] // only one variant is used
    pub(crate) enum Direction: u16 {
        /// To the left.
        Left = 1 => c"left",
        /// To the right.
        Right = 0x100 => c"to the \"right\"",
    }
}

trace_event! {
    system ktrace_test;

    /// An event with all other kinds of fields.
    pub(crate) event others(task: Task<'_>, at: usize, bytes: &&[u8]);

    record {
        comm: Comm = task.comm(),
        pid: Pid = Pid(task.pid()),
        at: Address = Address(at),
        direction: Direction = Direction::Right,
        fixed: [u8; 4] = [1, 2, 0xab, 0xff],
        shorts: [i16; 3] = [-1, 0, 1],
        longs: [u64; 2] = [1, u64::MAX],
        bytes: DynArray<u8> = bytes,
        words: DynArray<u64> = &[5, 6],
        empty: DynArray<u16> = &[],
        text: Str = b"cut\0off",
    }

    print "{} {} {} {} 100% {{{}}} {} {} [{}] [{}] [{}] [{}] {} {} \"{:>8}\"",
        comm, pid, at, direction, fixed, shorts, longs, hex(bytes), hex_str(bytes), hex(fixed),
        hex_str(fixed), words, empty, text;
}

trace_event! {
    system ktrace_test;

    /// An event with a string of any length, after which there may be no space for the other
    /// fields.
    pub(crate) event long_one(text: &&[u8]);

    record {
        text: Str = text,
        words: DynArray<u64> = &[5, 6],
        after: DynArray<u8> = text,
        last: Str = b"the end",
        bits: Bitmask = &[0b1011],
        very_last: Str = b"of all",
    }

    print "{} {} {} {} {} {} {} ({}) <{}> <{}>",
        len(text), len(words), len(after), len(last), len(bits), len(very_last), words, bits, last,
        very_last;
}

trace_event_class! {
    system ktrace_test;

    /// A class of events about a thing with a number.
    pub(crate) class thing(number: u32);

    record {
        number: u32 = number,
    }

    print "number={}", number;

    events {
        /// The thing was created.
        thing_made;
        /// The thing was removed.
        thing_gone;
    }
}

trace_event! {
    system ktrace_test;

    /// An event that is recorded for even numbers only, and not in the top trace array.
    pub(crate) event even(number: u32);

    only if |tr| number % 2 == 0 && !tr.is_top();

    record {
        number: u32 = number,
    }

    print "number={}", number;
}

/// Fires only an event: a test inspects the code that runs while the event is disabled.
#[no_mangle]
extern "C" fn ktrace_test_bare(number: u32) {
    thing::thing_made::trace(number);
}
