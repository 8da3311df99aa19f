// SPDX-License-Identifier: GPL-2.0

//! Filter decisions.

use crate::filter::decision::Cgroups;
use crate::filter::decision::Filter;
use crate::filter::decision::Inherited;
use crate::filter::decision::TaskAttributes;
use crate::filter::input::Input;
use crate::filter::input::ListName;
use crate::names::NAMES;

/// The ids of a cgroup and of those above it.
struct CgroupIds(&'static [u64]);

impl Cgroups for CgroupIds {
    fn any(&self, test: &dyn Fn(u64) -> bool) -> bool {
        self.0.iter().any(|id| test(*id))
    }
}

const ROOT: CgroupIds = CgroupIds(&[1]);

const TASK: TaskAttributes<'static> = TaskAttributes {
    pid: 101,
    tgid: 100,
    comm: b"worker\0\0\0\0\0\0\0\0\0",
    cgroups: &CgroupIds(&[102, 101, 1]),
};

const NOTHING_INHERITED: Inherited = Inherited {
    traced: false,
    excluded: false,
};

/// Returns the filter after these writes to its files.
fn filter(lists: &[(ListName, &str)], follow_fork: bool) -> Filter {
    let mut filter = Filter::default();
    for (name, text) in lists {
        let mut input = Input::new(*name, &NAMES);
        input.write(text.as_bytes()).unwrap();
        input.finish().unwrap();
        filter = input.take(true, &filter).unwrap();
    }
    filter.follow_fork = follow_fork;
    filter
}

fn all_inherited() -> impl Iterator<Item = Inherited> {
    (0..4).map(|bits| Inherited {
        traced: bits & 1 != 0,
        excluded: bits & 2 != 0,
    })
}

#[test]
fn all_combinations_follow_the_rules() {
    // Each list is empty, selects other tasks, or selects the task.
    let choices = [
        (ListName::Pid, ["", "100 7", "101"]),
        (ListName::Tgid, ["", "101 8", "100"]),
        (ListName::Comm, ["", "work wor*x", "w*"]),
        (ListName::Cgroup, ["", "103 7 100", "/a/b"]),
        (ListName::NotracePid, ["", "100", "9 101"]),
        (ListName::NotraceTgid, ["", "101", "100 3"]),
        (ListName::NotraceComm, ["", "w", "x w??ker"]),
        (ListName::NotraceCgroup, ["", "/with\\ space", "9 /a"]),
    ];
    let mut decisions = [0, 0];
    for combination in 0..3_usize.pow(8) {
        let state = |list: usize| combination / 3_usize.pow(list as u32) % 3;
        let lists: Vec<(ListName, &str)> = choices
            .iter()
            .enumerate()
            .map(|(list, (name, texts))| (*name, texts[state(list)]))
            .collect();

        let selecting = (0..4).any(|list| state(list) != 0);
        let excluding = (4..8).any(|list| state(list) != 0);
        let named = (0..4).any(|list| state(list) == 2);
        let named_not = (4..8).any(|list| state(list) == 2);

        for follow_fork in [false, true] {
            let filter = filter(&lists, follow_fork);
            assert_eq!(filter.is_empty(), !selecting && !excluding);
            assert_eq!(filter.needs_comm(), state(2) != 0 || state(6) != 0);
            assert_eq!(filter.needs_cgroups(), state(3) != 0 || state(7) != 0);
            for inherited in all_inherited() {
                let selected = named || selecting && inherited.traced;
                let excluded = named_not || excluding && inherited.excluded;
                let traced = (selected || !selecting) && !excluded;
                let shown = format!("{lists:?}, {inherited:?}, follow_fork {follow_fork}");

                let copy = filter.try_clone().unwrap();
                for filter in [&filter, &copy] {
                    assert_eq!(filter.evaluate(&TASK, inherited), traced, "{shown}");
                    let expected = Inherited {
                        traced: follow_fork && selected,
                        excluded: follow_fork && excluded,
                    };
                    assert_eq!(filter.child(&TASK, inherited), expected, "{shown}");
                }
                decisions[usize::from(traced)] += 1;
            }
        }
    }
    assert_eq!(decisions[0] + decisions[1], 6561 * 2 * 4);
    assert!(decisions.iter().all(|count| *count > 500), "{decisions:?}");
}

#[test]
fn without_lists_everything_is_traced() {
    for follow_fork in [false, true] {
        let filter = filter(&[], follow_fork);
        assert!(filter.is_empty());
        assert!(!filter.needs_comm());
        for inherited in all_inherited() {
            assert!(filter.evaluate(&TASK, inherited));
            assert_eq!(filter.child(&TASK, inherited), NOTHING_INHERITED);
        }
    }
}

#[test]
fn ids_of_one_kind_are_not_taken_for_the_other() {
    let thread = filter(&[(ListName::Pid, "100")], false);
    let process = filter(&[(ListName::Tgid, "100")], false);
    let leader = TaskAttributes { pid: 100, ..TASK };
    assert!(!thread.evaluate(&TASK, NOTHING_INHERITED));
    assert!(thread.evaluate(&leader, NOTHING_INHERITED));
    assert!(process.evaluate(&TASK, NOTHING_INHERITED));
    assert!(process.evaluate(&leader, NOTHING_INHERITED));

    let idle = TaskAttributes {
        pid: 0,
        tgid: 0,
        comm: b"swapper/1",
        cgroups: &ROOT,
    };
    assert!(!process.evaluate(&idle, NOTHING_INHERITED));
    assert!(filter(&[(ListName::Pid, "0")], false).evaluate(&idle, NOTHING_INHERITED));
}

#[test]
fn a_rename_counts_at_once() {
    let filter = filter(&[(ListName::Comm, "cc1* ld")], false);
    for (comm, traced) in [
        (b"sh".as_slice(), false),
        (b"cc1plus", true),
        (b"ld", true),
        (b"ld.bfd", false),
    ] {
        assert_eq!(
            filter.evaluate(&TaskAttributes { comm, ..TASK }, NOTHING_INHERITED),
            traced
        );
    }
}

/// Forks a task: returns its inherited, and whether it is traced.
fn fork(
    filter: &Filter,
    parent: &TaskAttributes<'_>,
    inherited: Inherited,
    child: &TaskAttributes<'_>,
) -> (Inherited, bool) {
    let inherited = filter.child(parent, inherited);
    (inherited, filter.evaluate(child, inherited))
}

#[test]
fn children_are_followed_through_the_generations() {
    let mother = TaskAttributes {
        pid: 10,
        tgid: 10,
        comm: b"make",
        cgroups: &ROOT,
    };
    let child = TaskAttributes {
        pid: 11,
        tgid: 11,
        comm: b"make",
        cgroups: &ROOT,
    };
    let grandchild = TaskAttributes {
        pid: 12,
        tgid: 12,
        comm: b"cc1",
        cgroups: &ROOT,
    };
    let stranger = TaskAttributes {
        pid: 20,
        tgid: 20,
        comm: b"sh",
        cgroups: &ROOT,
    };

    for list in [
        (ListName::Pid, "10"),
        (ListName::Tgid, "10"),
        (ListName::Comm, "mak?"),
    ] {
        let following = filter(&[list], true);
        let (inherited, traced) = fork(&following, &mother, NOTHING_INHERITED, &child);
        assert!(traced);
        // The child has another name now, and its own child is still followed.
        let renamed = TaskAttributes {
            comm: b"gcc",
            ..child
        };
        assert!(following.evaluate(&renamed, inherited));
        let (inherited, traced) = fork(&following, &renamed, inherited, &grandchild);
        assert!(traced && inherited.traced);
        assert!(!fork(&following, &stranger, NOTHING_INHERITED, &stranger).1);

        let not_following = filter(&[list], false);
        let (inherited, _) = fork(&not_following, &mother, NOTHING_INHERITED, &child);
        assert_eq!(inherited, NOTHING_INHERITED);
        assert!(!not_following.evaluate(&renamed, inherited));
    }
}

#[test]
fn exclusion_is_followed_and_wins() {
    let server = TaskAttributes {
        pid: 10,
        tgid: 10,
        comm: b"server",
        cgroups: &ROOT,
    };
    let noisy = TaskAttributes {
        pid: 11,
        tgid: 11,
        comm: b"noisy",
        cgroups: &ROOT,
    };
    let helper = TaskAttributes {
        pid: 12,
        tgid: 12,
        comm: b"helper",
        cgroups: &ROOT,
    };

    // The server and its descendants are traced, but not the noisy task and its descendants.
    let both = filter(
        &[(ListName::Pid, "10"), (ListName::NotraceComm, "noisy")],
        true,
    );
    let (inherited, traced) = fork(&both, &server, NOTHING_INHERITED, &noisy);
    assert!(!traced && inherited.traced && !inherited.excluded);
    let (inherited, traced) = fork(&both, &noisy, inherited, &helper);
    assert!(!traced && inherited.traced && inherited.excluded);
    let (_, traced) = fork(&both, &helper, inherited, &server);
    assert!(
        !traced,
        "a list that names a task does not undo its exclusion"
    );
    let (_, traced) = fork(&both, &server, NOTHING_INHERITED, &helper);
    assert!(traced);

    // All tasks are traced, except the noisy one and its descendants.
    let all_but = filter(&[(ListName::NotracePid, "11")], true);
    let (inherited, traced) = fork(&all_but, &noisy, NOTHING_INHERITED, &helper);
    assert!(!traced && !inherited.traced && inherited.excluded);
    let (inherited, traced) = fork(&all_but, &server, NOTHING_INHERITED, &helper);
    assert!(traced);
    assert_eq!(inherited, NOTHING_INHERITED);
}

#[test]
fn a_lineage_from_lists_that_are_gone_is_ignored() {
    let orphan = Inherited {
        traced: true,
        excluded: true,
    };
    let selecting = filter(&[(ListName::Pid, "1")], true);
    assert!(selecting.evaluate(&TASK, orphan));
    assert!(!selecting.child(&TASK, orphan).excluded);
    let excluding = filter(&[(ListName::NotracePid, "1")], true);
    assert!(!excluding.evaluate(&TASK, orphan));
    assert!(!excluding.child(&TASK, orphan).traced);
}

#[test]
fn all_below_a_cgroup_are_in_it() {
    let of = |cgroups| TaskAttributes { cgroups, ..TASK };
    let below = filter(&[(ListName::Cgroup, "/a")], false);
    for (ids, traced) in [
        (&CgroupIds(&[101, 1]), true),
        (&CgroupIds(&[102, 101, 1]), true),
        (&CgroupIds(&[103, 1]), false),
        (&CgroupIds(&[1]), false),
        (&CgroupIds(&[]), false),
    ] {
        assert_eq!(below.evaluate(&of(ids), NOTHING_INHERITED), traced);
    }
    let all = filter(&[(ListName::Cgroup, "/")], false);
    assert!(all.evaluate(&of(&ROOT), NOTHING_INHERITED));
    let none = filter(&[(ListName::NotraceCgroup, "/")], false);
    assert!(!none.evaluate(&TASK, NOTHING_INHERITED));
}
