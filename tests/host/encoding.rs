// SPDX-License-Identifier: GPL-2.0

//! Words of packs: reading returns what was written.

use crate::random::Random;
use crate::words::*;

const BASE: usize = 0xffff_ffff_8100_0000;
const TEXT: TextLayout = TextLayout {
    base: BASE,
    site_shift: SITE_SHIFT,
};
/// One count of the counter is 2 ns.
const MULT: u32 = 2 << MULT_SHIFT;

fn read(words: &[u64]) -> Vec<DecodedItem> {
    items(WordReader::new(TEXT, 1000, MULT, (0x14, 0x21)), words).collect()
}

fn function(ip: usize, parent_ip: usize, delta: u64) -> u64 {
    let ip = FUNC.near(BASE, ip).unwrap();
    function_word(ip, SITE.near(BASE, parent_ip).unwrap(), delta)
}

fn function_word(ip: u64, parent_ip: u64, delta: u64) -> u64 {
    crate::words::function(ip, parent_ip, delta).unwrap()
}

#[test]
fn functions() {
    let (ip, parent_ip) = (BASE + 0x12344, BASE + 0x1f_fffc);
    let said = read(&[function(ip, parent_ip, 7), function(ip, parent_ip, 0), 0, 0]);
    let item = Item::Function { ip, parent_ip };
    let at = |time| DecodedItem {
        item,
        time,
        flags: 0x14,
        preempt_count: 0x21,
    };
    assert_eq!(said, [at(1014), at(1014)]);
}

#[test]
fn once_more() {
    let (ip, parent_ip) = (BASE + 0x40, BASE + 0x80);
    let half = first_half(first_again(0), 3).unwrap();
    let whole = half | second_half(second_again(0), 5).unwrap();
    let times = |words: &[u64]| {
        let said = read(words);
        assert!(said
            .iter()
            .all(|said| said.item == Item::Function { ip, parent_ip }));
        said.iter().map(|said| said.time).collect::<Vec<_>>()
    };
    assert_eq!(times(&[function(ip, parent_ip, 0), half, 0]), [1000, 1006]);
    assert_eq!(
        times(&[function(ip, parent_ip, 0), whole, 0]),
        [1000, 1006, 1016]
    );
    assert_eq!(
        times(&[function(ip, parent_ip, 0), whole, half]),
        [1000, 1006, 1016, 1022]
    );
    assert_eq!(first_half(first_again(0), 1 << 24), None);
    assert_eq!(second_half(second_again(0), 1 << 24), None);
    assert_eq!(index_of(second_again(63)), 63);
}

#[test]
fn far_addresses() {
    let (module, other) = (0xffff_ffff_c012_3456, 0xffff_8000_1234_5678);
    assert_eq!(FUNC.near(BASE, module), None);
    assert_eq!(SITE.near(BASE, other), None);
    let words = [
        address(module).unwrap(),
        address(other).unwrap(),
        function_word(FUNC.far(0), SITE.far(1), 1),
        0,
    ];
    let item = Item::Function {
        ip: module,
        parent_ip: other,
    };
    assert_eq!(
        read(&words)
            .iter()
            .map(|said| said.item)
            .collect::<Vec<_>>(),
        [item]
    );
    // An address in user space, which no kernel function has.
    assert_eq!(address(0x7fff_1234_5678), None);
    // Words that contain no address refer to no function.
    assert_eq!(read(&[function_word(FUNC.far(5), SITE.far(1), 1), 0]), []);
}

#[test]
fn near_is_exact() {
    for offset in [0, 4, 0x1ff_fe00 - 4] {
        let near = FUNC.near(BASE, BASE + offset).unwrap();
        let said = read(&[function_word(near, 0, 0), 0]);
        assert!(matches!(said[0].item, Item::Function { ip, .. } if ip == BASE + offset));
    }
    assert_eq!(FUNC.near(BASE, BASE + 2), None);
    assert_eq!(FUNC.near(BASE, BASE - 4), None);
    assert_eq!(FUNC.near(BASE, BASE + (1 << 25)), None);
}

#[test]
fn contexts() {
    let packed = 0x05 << 16 | 0x32;
    let words = [
        function(BASE, BASE, 0),
        context(packed, 10).unwrap(),
        function(BASE, BASE, 1),
        0,
    ];
    let said = read(&words);
    let contexts: Vec<_> = said
        .iter()
        .map(|said| (said.flags, said.preempt_count))
        .collect();
    assert_eq!(contexts, [(0x14, 0x21), (0x05, 0x32)]);
    assert_eq!(said[1].time, 1022);
    assert_eq!(context(packed, 1 << 24), None);
}

/// Returns the words of a call, as `encode.rs` selects them.
fn call_words(item: &Item) -> Vec<u64> {
    let mut words = Vec::new();
    let mut item = *item;
    if let Some((word, rest)) = long(&item) {
        words.push(word);
        item = rest;
    }
    let (Item::Leaf(of) | Item::Begin(of) | Item::Return(of)) = item else {
        panic!("not a call");
    };
    words.push(call(&item, FUNC.near(BASE, of.func).unwrap(), 9).unwrap());
    words.push(0);
    words
}

#[test]
fn calls() {
    let mut random = Random::new(7);
    for _ in 0..100_000 {
        let of = PackedCall {
            func: BASE + random.below(1 << 22) * 4,
            depth: random.below(64) as i32,
            ns: ((random.below(1 << 32) as u64) << 28) >> random.below(60),
        };
        for item in [Item::Leaf(of), Item::Begin(of), Item::Return(of)] {
            let said = read(&call_words(&item));
            assert_eq!(said.len(), 1);
            assert_eq!((said[0].item, said[0].time), (item, 1018));
        }
    }
    let deep = PackedCall {
        func: BASE,
        depth: 64,
        ns: 0,
    };
    assert_eq!(call(&Item::Leaf(deep), 0, 0), None);
    assert_eq!(
        call(&Item::Leaf(PackedCall { depth: -1, ..deep }), 0, 0),
        None
    );
}

#[test]
fn anything_can_be_read() {
    // Any contents can be read without a panic, and reading ends.
    let mut random = Random::new(11);
    for _ in 0..20_000 {
        let words: Vec<u64> = (0..MAX_WORDS)
            .map(|_| (random.below(1 << 32) << 32 | random.below(1 << 32)) as u64)
            .collect();
        assert!(read(&words).len() <= 2 * MAX_WORDS);
    }
}
