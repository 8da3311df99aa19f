// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The words of a pack: encodes an item as 64-bit words and decodes it.
//!
//! Times are stored as the number of counter ticks since the previous item, addresses as the offset
//! from the start of the kernel text. An address outside the kernel text (modules) has a word of
//! its own, and other words refer to it by its index in the pack. A pack contains everything that
//! is needed to decode it, so it never depends on another record, which may have been overwritten.
//!
//! ```text
//! 63   61  59      58
//! 11 | index 6, delta 24 | 1 | 0 | index 6, delta 24    two functions that the pack already has
//! 10 | ip 23 | parent_ip 25 | delta 14                  a function was called
//! 01 | 0 0 | func 23 | depth 6 | ns 15 | delta 16       a call that returned, without entry item
//! 01 | 0 1 | func 23 | depth 6 | ns 15 | delta 16       the entry of a call, `ns` after its start
//! 01 | 1 0 | func 23 | depth 6 | ns 19 | delta 12       the return of a call with entry item
//! 00 | 0 1 | address 60                                 an address that other words refer to
//! 00 | 1 0 | context 16 | 0 | delta 24                      the context from here on
//! 00 | 1 1 | ns 60                                      upper bits of the `ns` of the next call
//! 0                                                     not used yet
//! ```

/// Fixed-point shift: ns per counter tick are stored as `ns << MULT_SHIFT`.
pub const MULT_SHIFT: u32 = 22;

/// Maximum number of words in a pack.
pub const MAX_WORDS: usize = 120;

/// Number of words that other words can refer to: an index has six bits.
pub const NAMED_WORDS: usize = 64;

/// An event in a pack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// A function was called.
    Function {
        /// The address of the call to ftrace in the function.
        ip: usize,
        /// The return address of the function.
        parent_ip: usize,
    },
    /// A call returned that has no entry item.
    Leaf(PackedCall),
    /// A call began, [`PackedCall::ns`] before the time of this item.
    Begin(PackedCall),
    /// A call returned that has an entry item.
    Return(PackedCall),
}

impl Item {
    /// Returns whether `self` is the entry of a call and `other` the return of that call.
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
pub struct PackedCall {
    /// The function.
    pub func: usize,
    /// Its depth.
    pub depth: i32,
    /// Its duration in ns; for [`Item::Begin`], the ns between the start of the call and the item.
    pub ns: u64,
}

pub(super) const KIND: u32 = 62;
pub(super) const AGAIN: u64 = 0b11 << KIND;
pub(super) const FUNCTION: u64 = 0b10 << KIND;
const CALL: u64 = 0b01 << KIND;
pub(super) const SUBKIND: u32 = 60;
pub(super) const LEAF: u64 = CALL;
/// The upper bits of the word of an [`Item::Begin`].
pub const BEGIN: u64 = CALL | 1 << SUBKIND;
/// The upper bits of the word of an [`Item::Return`].
pub const RETURN: u64 = CALL | 2 << SUBKIND;
const ADDRESS: u64 = 1 << SUBKIND;
pub(super) const CONTEXT: u64 = 2 << SUBKIND;
const LONG: u64 = 3 << SUBKIND;
const TOP: u64 = 0b1111 << SUBKIND;

/// Number of bits for the time delta in half a word.
pub const DELTA_BITS: u32 = 24;
const SHORT_BITS: u32 = 30;
/// In a word of two halves: the second half is used.
const SECOND: u64 = 1 << SECOND_SHIFT;
pub(super) const SECOND_SHIFT: u32 = 31;
/// In the word of a function: the place of its address and of the caller's, and the number of bits
/// for the time delta.
pub(super) const FUNCTION_IP_SHIFT: u32 = 39;
pub(super) const FUNCTION_PARENT_SHIFT: u32 = 14;
pub(super) const FUNCTION_DELTA_BITS: u32 = 14;
/// In the word of a context: the place of the context.
pub(super) const CONTEXT_SHIFT: u32 = 40;
/// In the word of a call: the place of the function, and the place and width of the depth.
pub(super) const CALL_FUNC_SHIFT: u32 = 37;
pub(super) const CALL_DEPTH_SHIFT: u32 = 31;
pub(super) const CALL_DEPTH_BITS: u32 = 6;

/// Returns whether `value` fits in `bits` bits.
const fn fits(value: u64, bits: u32) -> bool {
    value >> bits == 0
}

const fn field(word: u64, at: u32, bits: u32) -> u64 {
    word >> at & ((1 << bits) - 1)
}

/// A field for addresses: its width, and the number of low bits that it omits.
#[derive(Clone, Copy)]
pub struct AddrField {
    /// The width in bits.
    pub bits: u32,
    /// The number of low bits that are omitted.
    pub shift: u32,
}

/// The field for the address of a function.
pub const FUNC: AddrField = AddrField { bits: 23, shift: 2 };
/// The field for the address of an instruction.
pub const SITE: AddrField = site(SITE_SHIFT);

/// Number of low bits that are 0 in each instruction address of the target architecture.
pub const SITE_SHIFT: u32 = if cfg!(target_arch = "aarch64") { 2 } else { 0 };

const fn site(shift: u32) -> AddrField {
    AddrField { bits: 25, shift }
}

/// The parameters to decode the addresses in a pack, of the kernel that wrote it.
#[derive(Clone, Copy)]
pub struct TextLayout {
    /// The start of the kernel text, rounded down.
    pub base: usize,
    /// [`SITE_SHIFT`] of that kernel.
    pub site_shift: u32,
}

impl AddrField {
    const fn first_index(self) -> u64 {
        (1 << self.bits) - NAMED_WORDS as u64
    }

    /// Returns the field value for an address; `None` if it is out of range or not aligned.
    #[inline(always)]
    pub fn near(self, base: usize, address: usize) -> Option<u64> {
        let offset = address.wrapping_sub(base) as u64;
        let value = offset >> self.shift;
        (value < self.first_index() && value << self.shift == offset).then_some(value)
    }

    /// Returns the field value that refers to the address word at `index`.
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

/// Returns an address word; `None` if the address is not a kernel address.
pub fn address(address: usize) -> Option<u64> {
    let address = address as u64;
    (address & TOP == TOP).then_some(address & !TOP | ADDRESS)
}

/// Returns a context word: the context changes to `packed` (as the kernel packs it for a record),
/// `delta` ticks after the previous item. `None` if `delta` does not fit.
pub fn context(packed: u32, delta: u64) -> Option<u64> {
    fits(delta, DELTA_BITS).then_some(CONTEXT | context_bits(packed) << CONTEXT_SHIFT | delta)
}

const fn context_bits(packed: u32) -> u64 {
    (packed >> 16 & 0xff) as u64 | ((packed & 0xff) as u64) << 8
}

/// Returns the word for a function; `ip` and `parent_ip` are values of the fields [`FUNC`] and
/// [`SITE`]. `None` if `delta` does not fit.
#[inline]
pub fn function(ip: u64, parent_ip: u64, delta: u64) -> Option<u64> {
    fits(delta, FUNCTION_DELTA_BITS)
        .then_some(FUNCTION | ip << FUNCTION_IP_SHIFT | parent_ip << FUNCTION_PARENT_SHIFT | delta)
}

/// Returns a word whose first half repeats the function at `index`, and whose second half is free.
pub fn first_again(index: usize) -> u64 {
    AGAIN | half(index) << 32
}

/// Returns a second half that repeats the function at `index`. Combine it with the word by `|`.
pub fn second_again(index: usize) -> u64 {
    SECOND | half(index)
}

fn half(index: usize) -> u64 {
    ((index % NAMED_WORDS) as u64) << DELTA_BITS
}

/// Adds a time delta to a word of [`first_again`]; `None` if it does not fit.
pub fn first_half(word: u64, delta: u64) -> Option<u64> {
    fits(delta, DELTA_BITS).then_some(word | delta << 32)
}

/// Adds a time delta to a half of [`second_again`]; `None` if it does not fit.
pub fn second_half(half: u64, delta: u64) -> Option<u64> {
    fits(delta, DELTA_BITS).then_some(half | delta)
}

/// Returns the index in a half.
pub fn index_of(half: u64) -> usize {
    field(half, DELTA_BITS, 6) as usize
}

/// Number of bits in the word of a call for `ns` and delta together; then those of the delta.
pub(super) const TIME_BITS: u32 = 31;
pub(super) const DELTA_OF_RETURN: u32 = 12;
pub(super) const DELTA_OF_CALL: u32 = 16;

/// Splits a call whose `ns` does not fit in its word: returns the word with the upper bits, which
/// precedes the call, and the call with the other bits. `None` if `ns` fits.
pub fn long(item: &Item) -> Option<(u64, Item)> {
    let split = |call: &PackedCall, delta_bits: u32| {
        let bits = TIME_BITS - delta_bits;
        let upper = call.ns >> bits;
        let rest = PackedCall {
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

/// Returns the word for a call; `func` is a value of the field [`FUNC`]. `None` if a value does not
/// fit.
#[inline]
pub fn call(item: &Item, func: u64, delta: u64) -> Option<u64> {
    let (kind, call, delta_bits) = match item {
        Item::Leaf(call) => (LEAF, call, DELTA_OF_CALL),
        Item::Begin(call) => (BEGIN, call, DELTA_OF_CALL),
        Item::Return(call) => (RETURN, call, DELTA_OF_RETURN),
        Item::Function { .. } => return None,
    };
    let depth = u64::try_from(call.depth).ok()?;
    let ok = fits(delta, delta_bits)
        && fits(call.ns, TIME_BITS - delta_bits)
        && fits(depth, CALL_DEPTH_BITS);
    let place = func << CALL_FUNC_SHIFT | depth << CALL_DEPTH_SHIFT;
    ok.then_some(kind | place | call.ns << delta_bits | delta)
}

/// A position in a pack, with the state that is needed to decode the next word.
#[derive(Clone, Copy)]
pub struct WordReader {
    text: TextLayout,
    at: usize,
    /// Whether the second half of a word comes next.
    second: bool,
    start: u64,
    counts: u64,
    mult: u32,
    context: u64,
    /// Upper bits of the `ns` of the next call; see [`long`].
    long: u64,
}

/// The words of a pack, wherever they are stored.
pub trait Words {
    /// Returns the word at `index`, or 0 if there is none.
    fn word(&self, index: usize) -> u64;
}

impl Words for [u64] {
    fn word(&self, index: usize) -> u64 {
        self.get(index).copied().unwrap_or(0)
    }
}

/// A decoded item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DecodedItem {
    /// The event.
    pub item: Item,
    /// Its time in ns.
    pub time: u64,
    /// The flags of its context.
    pub flags: u8,
    /// The nesting depth of disabled preemption and migration.
    pub preempt_count: u8,
}

impl WordReader {
    /// Creates a reader of a pack that begins at `time` (in ns) in the context of its record. A
    /// counter tick is `mult` ns, divided by 2^[`MULT_SHIFT`].
    pub fn new(text: TextLayout, time: u64, mult: u32, (flags, preempt_count): (u8, u8)) -> Self {
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
        let TextLayout { base, site_shift } = self.text;
        Some(Item::Function {
            ip: FUNC.address(base, field(word, FUNCTION_IP_SHIFT, FUNC.bits), words)?,
            parent_ip: site(site_shift).address(
                base,
                field(word, FUNCTION_PARENT_SHIFT, SITE.bits),
                words,
            )?,
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
        let call = PackedCall {
            func: FUNC.address(
                self.text.base,
                field(word, CALL_FUNC_SHIFT, FUNC.bits),
                words,
            )?,
            depth: field(word, CALL_DEPTH_SHIFT, CALL_DEPTH_BITS) as i32,
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

    /// Decodes the next word, or half of one. `None` if it holds no item.
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
                self.counts = self
                    .counts
                    .wrapping_add(field(word, 0, FUNCTION_DELTA_BITS));
                self.functions(words, word)
            }
            CALL => self.call(words, word),
            _ => {
                match word & TOP {
                    CONTEXT => {
                        self.context = field(word, CONTEXT_SHIFT, 16);
                        self.counts = self.counts.wrapping_add(field(word, 0, DELTA_BITS));
                    }
                    LONG => self.long = field(word, 0, SUBKIND),
                    _ => {}
                }
                None
            }
        }
    }

    /// Returns the next item; `None` at the end of the pack.
    pub fn next(&mut self, words: &(impl Words + ?Sized)) -> Option<DecodedItem> {
        while words.word(self.at) != 0 {
            if let Some(item) = self.step(words) {
                return Some(DecodedItem {
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

/// Iterates over the items of a pack, from the position of `reader` on.
pub fn items(
    mut reader: WordReader,
    words: &(impl Words + ?Sized),
) -> impl Iterator<Item = DecodedItem> + '_ {
    core::iter::from_fn(move || reader.next(words))
}
