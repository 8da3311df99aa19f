// SPDX-License-Identifier: GPL-2.0

//! The words of a pack: how a call becomes a word of 64 bits, and a word a call.
//!
//! Times are told by how many counts of the CPU's counter went by since the item before, addresses by how far they lie
//! from the beginning of the kernel's text. What lies elsewhere, as modules do, has its address in
//! a word of its own, which others name by its place in the pack. A pack says all that it takes to
//! read it, so nothing that is told of it can be overwritten before it is.
//!
//! ```text
//! 63   61  59      58
//! 11 | index 6, delta 24 | 1 | 0 | index 6, delta 24    once more that function, twice
//! 10 | ip 23 | parent_ip 25 | delta 14                  a function was called
//! 01 | 0 0 | func 23 | depth 6 | ns 15 | delta 16       a call that returned, with no beginning
//! 01 | 0 1 | func 23 | depth 6 | ns 15 | delta 16       the beginning of a call, ns before
//! 01 | 1 0 | func 23 | depth 6 | ns 19 | delta 12       the return of a call that has one
//! 00 | 0 1 | address 60                                 an address for others to name
//! 00 | 1 0 | context 16 | 0 | delta 24                      in this context from here on
//! 0                                                     nothing yet
//! ```

/// What a count of the counter takes, in ns, is told times 2 to this.
pub const MULT_SHIFT: u32 = 22;

/// Words that a pack has at most.
pub const MAX_WORDS: usize = 120;

/// Those that others can name: as many as there are numbers of six bits.
pub const NAMED_WORDS: usize = 64;

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// A function was called.
    Function {
        /// Where the call to ftrace stands.
        ip: usize,
        /// Where it returns to.
        parent_ip: usize,
    },
    /// A call returned whose beginning is not recorded.
    Leaf(Call),
    /// A call began, so many ns before.
    Begin(Call),
    /// A call returned whose beginning is recorded.
    Return(Call),
}

impl Item {
    /// Whether it is the beginning of a call, and that its return.
    pub fn is_ended_by(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Begin(begin), Self::Return(ret)) => {
                begin.func == ret.func && begin.depth == ret.depth
            }
            _ => false,
        }
    }
}

/// A call in the call graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call {
    /// The function.
    pub func: usize,
    /// How deep it is.
    pub depth: i32,
    /// How long it took, or how many ns before its record it began.
    pub ns: u64,
}

const KIND: u32 = 62;
const AGAIN: u64 = 0b11 << KIND;
const FUNCTION: u64 = 0b10 << KIND;
const CALL: u64 = 0b01 << KIND;
const SUBKIND: u32 = 60;
const LEAF: u64 = CALL;
const BEGIN: u64 = CALL | 1 << SUBKIND;
const RETURN: u64 = CALL | 2 << SUBKIND;
const ADDRESS: u64 = 1 << SUBKIND;
const CONTEXT: u64 = 2 << SUBKIND;
const LONG: u64 = 3 << SUBKIND;
const TOP: u64 = 0b1111 << SUBKIND;

/// Room for how much later a function is than the item before, in half a word.
pub const DELTA_BITS: u32 = 24;
const SHORT_BITS: u32 = 30;
/// Of a word with two halves: the second is there.
const SECOND: u64 = 1 << 31;

/// A number in so many bits, if it fits.
const fn fits(value: u64, bits: u32) -> bool {
    value >> bits == 0
}

const fn field(word: u64, at: u32, bits: u32) -> u64 {
    word >> at & ((1 << bits) - 1)
}

/// A kind of field for addresses: so many bits, for multiples of so many bytes.
#[derive(Clone, Copy)]
pub struct Place {
    bits: u32,
    shift: u32,
}

/// Of a function.
pub const FUNC: Place = Place { bits: 23, shift: 2 };
/// Of an instruction.
pub const SITE: Place = site(SITE_SHIFT);

/// How many bits of an instruction's address are 0, on the architecture that this is built for.
pub const SITE_SHIFT: u32 = if cfg!(target_arch = "aarch64") { 2 } else { 0 };

const fn site(shift: u32) -> Place {
    Place { bits: 25, shift }
}

/// What addresses of the kernel that made a pack are told by.
#[derive(Clone, Copy)]
pub struct Text {
    /// Where it begins, more or less.
    pub base: usize,
    /// Its [`SITE_SHIFT`].
    pub site_shift: u32,
}

impl Place {
    const fn first_index(self) -> u64 {
        (1 << self.bits) - NAMED_WORDS as u64
    }

    /// What stands for an address, if it can be said so.
    #[inline(always)]
    pub fn near(self, base: usize, address: usize) -> Option<u64> {
        let offset = address.wrapping_sub(base) as u64;
        let value = offset >> self.shift;
        (value < self.first_index() && value << self.shift == offset).then_some(value)
    }

    /// What stands for the address in that word of the pack.
    #[inline]
    pub fn far(self, index: usize) -> u64 {
        self.first_index() + (index % NAMED_WORDS) as u64
    }

    fn address(self, base: usize, value: u64, words: &(impl Words + ?Sized)) -> Option<usize> {
        let Some(index) = value.checked_sub(self.first_index()) else {
            return Some(base.wrapping_add((value << self.shift) as usize));
        };
        let word = words.word(index as usize);
        (word & TOP == ADDRESS).then_some((word | TOP) as usize)
    }
}

/// An address for others to name, if it is one of the kernel's.
pub fn address(address: usize) -> Option<u64> {
    let address = address as u64;
    (address & TOP == TOP).then_some(address & !TOP | ADDRESS)
}

/// Another context, as the kernel packs it for a record, and so many counts later.
pub fn context(packed: u32, delta: u64) -> Option<u64> {
    fits(delta, DELTA_BITS).then_some(CONTEXT | context_bits(packed) << 40 | delta)
}

const fn context_bits(packed: u32) -> u64 {
    (packed >> 16 & 0xff) as u64 | ((packed & 0xff) as u64) << 8
}

/// A function was called; the addresses as [`FUNC`] and [`SITE`] have them.
#[inline]
pub fn function(ip: u64, parent_ip: u64, delta: u64) -> Option<u64> {
    fits(delta, 14).then_some(FUNCTION | ip << 39 | parent_ip << 14 | delta)
}

/// What stands in that word of the pack once more, as a word with room for another half.
pub fn first_again(index: usize) -> u64 {
    AGAIN | half(index) << 32
}

/// The same as the other half, to be put to such a word by `|`.
pub fn second_again(index: usize) -> u64 {
    SECOND | half(index)
}

fn half(index: usize) -> u64 {
    ((index % NAMED_WORDS) as u64) << DELTA_BITS
}

/// A word of [`first_again`], so much later.
pub fn first_half(word: u64, delta: u64) -> Option<u64> {
    fits(delta, DELTA_BITS).then_some(word | delta << 32)
}

/// A half of [`second_again`], so much later.
pub fn second_half(half: u64, delta: u64) -> Option<u64> {
    fits(delta, DELTA_BITS).then_some(half | delta)
}

/// The word that a half is about.
pub fn index_of(half: u64) -> usize {
    field(half, DELTA_BITS, 6) as usize
}

/// How many bits of a call's word are for times, and how many of these for what went by.
const TIME_BITS: u32 = 31;
const DELTA_OF_RETURN: u32 = 12;
const DELTA_OF_CALL: u32 = 16;

/// What stands before a call that took longer than its word can tell, and the rest of it.
pub fn long(item: &Item) -> Option<(u64, Item)> {
    let split = |call: &Call, delta_bits: u32| {
        let bits = TIME_BITS - delta_bits;
        let upper = call.ns >> bits;
        let rest = Call {
            ns: field(call.ns, 0, bits),
            ..*call
        };
        fits(upper, SUBKIND).then_some((LONG | upper, rest))
    };
    let (word, item) = match item {
        Item::Leaf(call) => split(call, DELTA_OF_CALL).map(|(word, call)| (word, Item::Leaf(call))),
        Item::Begin(call) => {
            split(call, DELTA_OF_CALL).map(|(word, call)| (word, Item::Begin(call)))
        }
        Item::Return(call) => {
            split(call, DELTA_OF_RETURN).map(|(word, call)| (word, Item::Return(call)))
        }
        Item::Function { .. } => None,
    }?;
    (word != LONG).then_some((word, item))
}

/// A call; the function as [`FUNC`] has it.
#[inline]
pub fn call(item: &Item, func: u64, delta: u64) -> Option<u64> {
    let (kind, call, delta_bits) = match item {
        Item::Leaf(call) => (LEAF, call, DELTA_OF_CALL),
        Item::Begin(call) => (BEGIN, call, DELTA_OF_CALL),
        Item::Return(call) => (RETURN, call, DELTA_OF_RETURN),
        Item::Function { .. } => return None,
    };
    let depth = u64::try_from(call.depth).ok()?;
    let ok = fits(delta, delta_bits) && fits(call.ns, TIME_BITS - delta_bits) && fits(depth, 6);
    ok.then_some(kind | func << 37 | depth << 31 | call.ns << delta_bits | delta)
}

/// How far a pack was read, and what is to be known of what stands before.
#[derive(Clone, Copy)]
pub struct Reader {
    text: Text,
    at: usize,
    /// The second half of a word comes next.
    second: bool,
    start: u64,
    counts: u64,
    mult: u32,
    context: u64,
    /// See [`long`].
    long: u64,
}

/// The words of a pack, wherever they are.
pub trait Words {
    /// One of them; 0 if it is not there.
    fn word(&self, index: usize) -> u64;
}

impl Words for [u64] {
    fn word(&self, index: usize) -> u64 {
        self.get(index).copied().unwrap_or(0)
    }
}

/// What a pack says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Said {
    /// What happened.
    pub item: Item,
    /// When.
    pub time: u64,
    /// Flags of the context.
    pub flags: u8,
    /// How deep preemption and migration were disabled.
    pub preempt_count: u8,
}

impl Reader {
    /// Of a pack that was begun at `time`, in ns, in the context that its record tells. A count takes
    /// `mult` ns, divided by 2 to [`MULT_SHIFT`].
    pub fn new(text: Text, time: u64, mult: u32, (flags, preempt_count): (u8, u8)) -> Self {
        Self {
            text,
            at: 0,
            second: false,
            start: time,
            counts: 0,
            mult,
            context: u64::from(flags) | u64::from(preempt_count) << 8,
            long: 0,
        }
    }

    fn time(&self) -> u64 {
        let ns = self.counts.wrapping_mul(u64::from(self.mult)) >> MULT_SHIFT;
        self.start.wrapping_add(ns)
    }

    fn functions(&self, words: &(impl Words + ?Sized), word: u64) -> Option<Item> {
        let Text { base, site_shift } = self.text;
        Some(Item::Function {
            ip: FUNC.address(base, field(word, 39, 23), words)?,
            parent_ip: site(site_shift).address(base, field(word, 14, 25), words)?,
        })
    }

    fn short(&mut self, words: &(impl Words + ?Sized), half: u64) -> Option<Item> {
        self.counts = self.counts.wrapping_add(field(half, 0, DELTA_BITS));
        let word = words.word(field(half, DELTA_BITS, 6) as usize);
        match word & AGAIN {
            FUNCTION => self.functions(words, word),
            _ => None,
        }
    }

    fn call(&mut self, words: &(impl Words + ?Sized), word: u64) -> Option<Item> {
        let delta_bits = match word & TOP {
            RETURN => DELTA_OF_RETURN,
            _ => DELTA_OF_CALL,
        };
        self.counts = self.counts.wrapping_add(field(word, 0, delta_bits));
        let call = Call {
            func: FUNC.address(self.text.base, field(word, 37, 23), words)?,
            depth: field(word, 31, 6) as i32,
            ns: field(word, delta_bits, TIME_BITS - delta_bits)
                | core::mem::take(&mut self.long) << (TIME_BITS - delta_bits),
        };
        match word & TOP {
            LEAF => Some(Item::Leaf(call)),
            BEGIN => Some(Item::Begin(call)),
            RETURN => Some(Item::Return(call)),
            _ => None,
        }
    }

    /// The item of the next word or half of one, if that is one that tells of something.
    fn step(&mut self, words: &(impl Words + ?Sized)) -> Option<Item> {
        let word = words.word(self.at);
        if self.second {
            self.second = false;
            self.at += 1;
            return self.short(words, field(word, 0, SHORT_BITS));
        }
        if word & AGAIN == AGAIN && word & SECOND != 0 {
            self.second = true;
        } else {
            self.at += 1;
        }
        match word & AGAIN {
            AGAIN => self.short(words, field(word, 32, SHORT_BITS)),
            FUNCTION => {
                self.counts = self.counts.wrapping_add(field(word, 0, 14));
                self.functions(words, word)
            }
            CALL => self.call(words, word),
            _ => {
                match word & TOP {
                    CONTEXT => {
                        self.context = field(word, 40, 16);
                        self.counts = self.counts.wrapping_add(field(word, 0, DELTA_BITS));
                    }
                    LONG => self.long = field(word, 0, SUBKIND),
                    _ => {}
                }
                None
            }
        }
    }

    /// What is said next.
    pub fn next(&mut self, words: &(impl Words + ?Sized)) -> Option<Said> {
        while words.word(self.at) != 0 {
            if let Some(item) = self.step(words) {
                return Some(Said {
                    item,
                    time: self.time(),
                    flags: self.context as u8,
                    preempt_count: (self.context >> 8) as u8,
                });
            }
        }
        None
    }
}

/// All that a pack says.
pub fn items(mut reader: Reader, words: &(impl Words + ?Sized)) -> impl Iterator<Item = Said> + '_ {
    core::iter::from_fn(move || reader.next(words))
}
