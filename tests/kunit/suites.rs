// SPDX-License-Identifier: GPL-2.0

//! The KUnit suites.

// The macro generates unsafe code for each test.
#![allow(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

use kernel::prelude::*;

#[kunit_tests(ferrotrace_filter)]
mod filter {
    use super::*;
    use crate::filter::{
        decision::{
            Cgroups,
            Filter,
            Inherited,
            TaskAttributes, //
        },
        ids::MAX_IDS,
        input::{
            Input,
            ListName, //
        },
        list::Lookup,
    };

    /// All tasks exist, and there are no cgroups.
    static NAMES: Lookup = Lookup {
        pid: Some,
        cgroup: |_| Err(ENOENT),
    };

    struct NoCgroups;

    impl Cgroups for NoCgroups {
        fn any(&self, _: &dyn Fn(u64) -> bool) -> bool {
            false
        }
    }

    /// Returns `current` after the text is written to one of its lists, which it replaces or
    /// extends.
    fn written(name: ListName, text: &[u8], replace: bool, current: &Filter) -> Result<Filter> {
        let mut input = Input::new(name, &NAMES);
        input.write(text).map_err(|error| error.errno())?;
        input.finish().map_err(|error| error.errno())?;
        input.take(replace, current).map_err(|error| error.errno())
    }

    /// Formats a number and a newline at the end of `bytes`.
    fn line(mut number: usize, bytes: &mut [u8; 8]) -> &[u8] {
        let mut at = 7;
        bytes[at] = b'\n';
        while number > 0 || at == 7 {
            at -= 1;
            bytes[at] = b'0' + (number % 10) as u8;
            number /= 10;
        }
        &bytes[at..]
    }

    fn evaluated(filter: &Filter, pid: i32, comm: &[u8]) -> bool {
        let task = TaskAttributes {
            pid,
            tgid: 7,
            comm,
            cgroups: &NoCgroups,
        };
        filter.evaluate(&task, Inherited::default())
    }

    #[test]
    fn ids_are_sorted_and_kept_once() -> Result {
        let filter = written(ListName::Pid, b"5 3 4194304 5\n", true, &Filter::default())?;
        assert_eq!(filter.pid.as_slice(), [3, 5, 4194304]);
        let more = written(ListName::Pid, b"4\n3\n", false, &filter)?;
        assert_eq!(more.pid.as_slice(), [3, 4, 5, 4194304]);
        assert_eq!(filter.pid.as_slice().len(), 3);
        Ok(())
    }

    #[test]
    fn a_bad_word_refuses_all_of_it() {
        let current = Filter::default();
        for (text, errno) in [
            (b"1 2 x".as_slice(), EINVAL),
            (b"0x10", EINVAL),
            (b"1 -1", ERANGE),
            (b"4194305", ERANGE),
            (b"99999999999999999999", ERANGE),
        ] {
            let refused = written(ListName::Tgid, text, true, &current).err();
            assert_eq!(refused, Some(errno));
        }
    }

    #[test]
    fn words_may_come_in_pieces() -> Result {
        let mut input = Input::new(ListName::Pid, &NAMES);
        for piece in [b"1".as_slice(), b"2", b"3 4", b"5\n"] {
            input.write(piece).map_err(|error| error.errno())?;
        }
        let filter = input
            .take(true, &Filter::default())
            .map_err(|error| error.errno())?;
        assert_eq!(filter.pid.as_slice(), [45, 123]);
        Ok(())
    }

    #[test]
    fn lists_have_an_end() -> Result {
        let mut input = Input::new(ListName::Pid, &NAMES);
        let mut bytes = [0; 8];
        for id in (0..MAX_IDS).rev() {
            input
                .write(line(id, &mut bytes))
                .map_err(|error| error.errno())?;
        }
        let full = input
            .take(true, &Filter::default())
            .map_err(|error| error.errno())?;
        assert_eq!(full.pid.as_slice().len(), MAX_IDS);
        assert!(full.pid.contains(0) && full.pid.contains(MAX_IDS as i32 - 1));
        assert!(!full.pid.contains(MAX_IDS as i32));
        let one_more = written(ListName::Pid, line(MAX_IDS, &mut bytes), false, &full);
        assert_eq!(one_more.err(), Some(ENOSPC));
        assert_eq!(full.try_clone()?.pid.as_slice().len(), MAX_IDS);
        Ok(())
    }

    #[test]
    fn decisions() -> Result {
        let none = Filter::default();
        assert!(evaluated(&none, 1, b"sh"));
        let named = written(ListName::Comm, b"s* [x-z]?\n", true, &none)?;
        assert!(evaluated(&named, 1, b"sh\0junk") && evaluated(&named, 1, b"x1"));
        assert!(!evaluated(&named, 1, b"bash"));
        let but = written(ListName::NotracePid, b"1", true, &named)?;
        assert!(!evaluated(&but, 1, b"sh") && evaluated(&but, 2, b"sh"));
        Ok(())
    }

    #[test]
    fn children_are_followed() -> Result {
        let mut filter = written(ListName::Pid, b"1", true, &Filter::default())?;
        let parent = TaskAttributes {
            pid: 1,
            tgid: 1,
            comm: b"a",
            cgroups: &NoCgroups,
        };
        assert!(!filter.child(&parent, Inherited::default()).traced);
        filter.follow_fork = true;
        let inherited = filter.child(&parent, Inherited::default());
        assert!(inherited.traced && !inherited.excluded);
        assert!(filter.evaluate(&TaskAttributes { pid: 2, ..parent }, inherited));
        Ok(())
    }
}

#[kunit_tests(ferrotrace_histograms)]
mod histograms {
    use crate::histograms::{
        Histogram, //
        HistogramSnapshot,
    };

    #[test]
    fn quantiles() {
        let histogram = Histogram::default();
        for ns in 1..=1000 {
            histogram.add(ns * 1000);
        }
        histogram.add(u64::MAX >> 8);
        let mut sum = pin_init::zeroed::<HistogramSnapshot>();
        sum.merge(&histogram);
        assert_eq!(sum.count, 1001);
        assert_eq!(sum.min_ns(), 1000);
        let median = sum.quantile_ns(500);
        assert!((460_000..=540_000).contains(&median));
        assert_eq!(sum.quantile_ns(0), 1000);
    }
}

#[kunit_tests(ferrotrace_words)]
mod words {
    use crate::words::*;

    const BASE: usize = 0xffff_ffff_8100_0000;

    fn reader() -> WordReader {
        let text = TextLayout {
            base: BASE,
            site_shift: SITE_SHIFT,
        };
        WordReader::new(text, 1000, 2 << MULT_SHIFT, (0x14, 0x21))
    }

    #[test]
    fn what_is_read_was_written() {
        for (step, delta) in [(0, 0), (0x40, 7), (0x1000, 1 << 13), (0x10_0000, 100)] {
            let (ip, parent_ip) = (BASE + step, BASE + 0x1f_fffc);
            let word = FUNC
                .near(BASE, ip)
                .zip(SITE.near(BASE, parent_ip))
                .and_then(|(ip, parent_ip)| function(ip, parent_ip, delta));
            let mut words = [0; 2];
            words[0] = word.unwrap_or(0);
            let mut said = items(reader(), &words[..]);
            let first = said.next();
            assert!(first.is_some_and(|said| {
                said.item == Item::Function { ip, parent_ip } && said.time == 1000 + 2 * delta
            }));
            assert!(said.next().is_none());
        }
    }

    #[test]
    fn any_word_can_be_read() {
        let mut words = [0; MAX_WORDS];
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..2000 {
            for word in &mut words {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                *word = state;
            }
            assert!(items(reader(), &words[..]).count() <= 2 * MAX_WORDS);
        }
    }
}

#[kunit_tests(ferrotrace_pid_map)]
mod pid_map {
    use super::*;
    use crate::ktrace::task::pid_map::{
        PidMap,
        IDS,
        LEAF, //
    };
    use kernel::sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc,
        Completion, //
    };
    use kernel::workqueue;

    struct Number(Atomic<u32>);

    impl Default for Number {
        fn default() -> Self {
            Self(Atomic::new(0))
        }
    }

    impl Number {
        fn add(&self) {
            self.0.fetch_add(1, Relaxed);
        }

        fn get(&self) -> u32 {
            self.0.load(Relaxed)
        }
    }

    #[test]
    fn what_was_put_there_is_there() -> Result {
        let map = PidMap::<Number>::new()?;
        for id in [0, 1, LEAF as u32, 32768, IDS - 1] {
            assert!(map.get(id).is_none_or(|number| number.get() == 0));
            map.get_or_insert(id, GFP_KERNEL)?.add();
            assert!(map.get(id).is_some_and(|number| number.get() == 1));
        }
        assert_eq!(map.get_or_insert(IDS, GFP_KERNEL).err(), Some(EINVAL));
        assert!(map.get(IDS).is_none() && map.get(u32::MAX).is_none());
        let (mut all, mut sum) = (0, 0);
        map.for_each(|number| {
            all += 1;
            sum += number.get();
        });
        // IDs 0 and 1 are in the same leaf.
        assert_eq!((all, sum), (4 * LEAF, 5));
        Ok(())
    }

    /// Data that several workers share.
    struct Common {
        map: PidMap<Number>,
        left: Atomic<u32>,
        failed: Atomic<u32>,
        done: Pin<KBox<Completion>>,
    }

    const WORKERS: u32 = 8;
    const ENTRIES: u32 = 3000;

    fn add_all(common: &Common, worker: u32) {
        for n in 0..ENTRIES {
            // The workers update the same entries, each in its own order.
            let id = (n * (2 * worker + 1)) % ENTRIES * 97;
            match common.map.get_or_insert(id, GFP_KERNEL) {
                Ok(number) => number.add(),
                Err(_) => common.failed.store(1, Relaxed),
            }
        }
        if common.left.fetch_sub(1, Relaxed) == 1 {
            common.done.complete_all();
        }
    }

    #[test]
    fn several_at_once_lose_nothing() -> Result {
        let common = Arc::new(
            Common {
                map: PidMap::new()?,
                left: Atomic::new(WORKERS),
                failed: Atomic::new(0),
                done: KBox::pin_init(Completion::new(), GFP_KERNEL)?,
            },
            GFP_KERNEL,
        )?;
        for worker in 0..WORKERS {
            let theirs = common.clone();
            workqueue::system_unbound().try_spawn(GFP_KERNEL, move || add_all(&theirs, worker))?;
        }
        common.done.wait_for_completion();
        assert_eq!(common.failed.load(Relaxed), 0);
        let mut sum = 0;
        common.map.for_each(|number| sum += number.get());
        assert_eq!(sum, WORKERS * ENTRIES);
        Ok(())
    }
}
