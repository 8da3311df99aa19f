// SPDX-License-Identifier: MIT OR Apache-2.0

//! Selects tasks and a time of a recording. The model gets all events, so that it stays correct;
//! only what it finds about the selection is passed on.

mod filter;
mod window;

use std::{
    fmt,
    ops::ControlFlow,
    path::Path, //
};

use anyhow::bail;
use rustc_hash::{
    FxHashMap,
    FxHashSet, //
};

use crate::{
    glob,
    model::{
        Call,
        Interval,
        Model,
        Task,
        TaskId,
        Visitor, //
    },
    recording::{
        Event,
        Kind,
        TaskName, //
    },
    source::Source,
    units::{
        self,
        Moment, //
    },
};

/// The number of bytes of a name that the kernel keeps.
const NAME_LEN: usize = 15;

/// The tasks and the time that the user selects. The words are those of `ferrotrace record`.
#[derive(clap::Args)]
pub struct Select {
    /// Shows a process only: its main thread, and those of its threads whose start was recorded.
    /// Can be repeated.
    #[arg(
        short,
        long = "pid",
        value_name = "PID",
        value_delimiter = ',',
        value_parser = units::task
    )]
    pids: Vec<u32>,

    /// Shows a single thread only. Can be repeated.
    #[arg(
        short,
        long = "tid",
        value_name = "TID",
        value_delimiter = ',',
        value_parser = units::task
    )]
    tids: Vec<u32>,

    /// Shows only the threads whose last name (comm) matches a pattern of *, ? and [a-z]. Can be
    /// repeated.
    #[arg(short, long = "name", value_name = "GLOB")]
    names: Vec<String>,

    /// Shows only what happened after this time: 500ms or 1.5s since the beginning of the
    /// recording; or, without a unit, the timestamp that 'ferrotrace report' prints.
    #[arg(long, value_name = "TIME", value_parser = units::moment)]
    from: Option<Moment>,

    /// Shows only what happened before this time, as for --from.
    #[arg(long, value_name = "TIME", value_parser = units::moment)]
    to: Option<Moment>,
}

impl fmt::Display for Select {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pids = self.pids.iter().map(|pid| format!("-p {pid}"));
        let tids = self.tids.iter().map(|tid| format!("-t {tid}"));
        let names = self.names.iter().map(|name| format!("-n '{name}'"));
        let from = self.from.iter().map(|from| format!("--from {from}"));
        let to = self.to.iter().map(|to| format!("--to {to}"));
        let words: Vec<_> = pids
            .chain(tids)
            .chain(names)
            .chain(from)
            .chain(to)
            .collect();
        f.write_str(&words.join(" "))
    }
}

impl Select {
    /// Returns the text for a selection, unless it is all of the recording.
    pub fn text(&self) -> Option<String> {
        Some(self.to_string()).filter(|text| !text.is_empty())
    }

    /// Reads a recording to find the selected tasks.
    ///
    /// # Errors
    ///
    /// If an option selects no task, or if the recording is damaged.
    pub fn find(&self, file: &Path) -> anyhow::Result<Selection> {
        if self.pids.is_empty() && self.tids.is_empty() && self.names.is_empty() {
            return Ok(self.of(None));
        }
        let recording = Source::open(file)?;
        let mut tasks = Tasks::default();
        let mut model = Model::default();
        let mut symbols = recording.symbols();
        recording.for_each(&mut symbols, |event, symbols| {
            tasks.event(event);
            model.event(event, symbols, &mut tasks);
            ControlFlow::Continue(())
        })?;
        model.finish(&mut tasks);
        recording.in_file(self.among(&tasks))
    }

    fn among(&self, tasks: &Tasks) -> anyhow::Result<Selection> {
        let mut selected = FxHashSet::default();
        let mut add = |is_selected: &dyn Fn(&TaskName) -> bool| {
            let found = tasks.names.iter().filter(|(_, name)| is_selected(name));
            let found: Vec<_> = found.map(|(id, _)| *id).collect();
            let is_any = !found.is_empty();
            selected.extend(found);
            is_any
        };
        for pid in &self.pids {
            let process = |task: &TaskName| tasks.tgids.get(&task.pid).copied().unwrap_or(task.pid);
            if !add(&|task| u32::try_from(process(task)).is_ok_and(|id| id == *pid)) {
                bail!("the recording has no process {pid} (-p; -t selects a thread)");
            }
        }
        for tid in &self.tids {
            if !add(&|task| u32::try_from(task.pid).is_ok_and(|id| id == *tid)) {
                bail!("the recording has no thread {tid} (-t)");
            }
        }
        for name in &self.names {
            let pattern = kept(name);
            if !add(&|task| glob::matches(pattern, task.comm.as_bytes())) {
                bail!(
                    "the recording has no task with the name '{name}' (expected -n GLOB, such as \
                     'nginx*')"
                );
            }
        }
        Ok(self.of(Some(selected)))
    }

    fn of(&self, tasks: Option<FxHashSet<TaskId>>) -> Selection {
        Selection {
            tasks,
            from: self.from,
            to: self.to,
        }
    }
}

/// Returns the part of a name that the kernel keeps. A pattern stays as it is.
fn kept(name: &str) -> &[u8] {
    match name.contains(['*', '?', '[', '\\']) {
        true => name.as_bytes(),
        false => &name.as_bytes()[..name.len().min(NAME_LEN)],
    }
}

/// The tasks of a recording.
#[derive(Default)]
struct Tasks {
    /// The last name of each task.
    names: FxHashMap<TaskId, TaskName>,
    /// The process of each thread whose start was recorded.
    tgids: FxHashMap<i32, i32>,
}

impl Tasks {
    fn event(&mut self, event: &Event<'_>) {
        match event.kind {
            Kind::Fork {
                child, child_tgid, ..
            } => {
                self.tgids.insert(child.pid, child_tgid);
            }
            Kind::Section { task, .. } | Kind::Trigger { task, .. } => {
                self.names.insert(TaskId::new(task.pid, event.cpu), task);
            }
            _ => {}
        }
    }
}

impl Visitor for Tasks {
    fn state_end(&mut self, task: &Task, _interval: &Interval) {
        self.names.insert(task.id(), task.name());
    }

    fn call_end(&mut self, task: &Task, _call: &Call) {
        self.names.insert(task.id(), task.name());
    }
}

/// The part of a recording that is shown.
#[derive(Default)]
pub struct Selection {
    /// `None` if all tasks are shown.
    tasks: Option<FxHashSet<TaskId>>,
    from: Option<Moment>,
    to: Option<Moment>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Comm;

    fn tasks() -> Tasks {
        let mut tasks = Tasks::default();
        for (pid, comm) in [
            (10, "app"),
            (11, "app-worker"),
            (12, "other"),
            (0, "swapper/1"),
        ] {
            let comm = Comm::new(comm.as_bytes());
            let name = TaskName { pid, comm };
            tasks.names.insert(TaskId::new(pid, 1), name);
        }
        tasks.tgids.extend([(11, 10), (12, 12)]);
        tasks
    }

    fn found(pids: &[u32], tids: &[u32], names: &[&str]) -> Result<Vec<i32>, String> {
        let select = Select {
            pids: pids.to_vec(),
            tids: tids.to_vec(),
            names: names.iter().map(ToString::to_string).collect(),
            from: None,
            to: None,
        };
        let selection = select.among(&tasks()).map_err(|error| error.to_string())?;
        let tasks = selection.tasks.expect("some tasks");
        let ids = [10, 11, 12, 0].into_iter();
        Ok(ids
            .filter(|pid| tasks.contains(&TaskId::new(*pid, 1)))
            .collect())
    }

    #[test]
    fn tasks_are_selected_by_any_option() {
        assert_eq!(found(&[10], &[], &[]), Ok(vec![10, 11]));
        assert_eq!(found(&[], &[10], &[]), Ok(vec![10]));
        assert_eq!(found(&[], &[], &["app*"]), Ok(vec![10, 11]));
        assert_eq!(found(&[], &[], &["app"]), Ok(vec![10]));
        assert_eq!(found(&[12], &[0], &["app"]), Ok(vec![10, 12, 0]));
        for (wrong, message) in [
            (found(&[11], &[], &[]), "no process 11 (-p; "),
            (found(&[10], &[13], &[]), "no thread 13 (-t)"),
            (found(&[13], &[], &[]), "no process 13 (-p; "),
            (found(&[10], &[], &["10"]), "no task with the name '10'"),
        ] {
            let error = wrong.expect_err(message);
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn long_names_are_those_that_the_kernel_keeps() {
        assert_eq!(kept("a-very-long-name-of-a-program"), b"a-very-long-nam");
        assert_eq!(kept("a-very-long-name-of-*"), b"a-very-long-name-of-*");
    }
}
