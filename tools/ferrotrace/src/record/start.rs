// SPDX-License-Identifier: MIT OR Apache-2.0

//! Prepares a recording: checks, the instance, the command, and the recorder.

use std::sync::mpsc::{
    channel,
    Receiver,
    Sender, //
};

use anyhow::bail;

use super::{
    args::Args,
    child::Stopped,
    command::Command,
    filter,
    flight::Flight,
    progress::Progress,
    recorder::{
        directory,
        Change,
        Recorder, //
    },
    session::{
        finish,
        free_space,
        Event,
        Interrupted,
        Session,
        RESERVE, //
    },
};
use crate::{
    control, leftovers, signals,
    tracefs::{
        Instance,
        Tracefs, //
    },
};

/// Records. Returns the exit status of the program.
pub fn run(args: &Args) -> anyhow::Result<u8> {
    let (sender, events) = channel();
    let to = sender.clone();
    // Nothing receives the events when the recording has ended.
    signals::receive(move |signal| drop(to.send(Event::Signal(signal))))?;

    let tracefs = Tracefs::find()?;
    if !tracefs.has_tracer("ferrotrace")? {
        bail!("the module is not loaded: sudo modprobe ferrotrace (or: sudo insmod ferrotrace.ko)");
    }
    filter::check(args)?;
    let disk = directory(&args.output);
    if free_space(disk).is_ok_and(|free| free < RESERVE) {
        bail!(
            "{}: less than 8 MB are free on the disk",
            args.output.display()
        );
    }
    leftovers::remove(&tracefs)?;
    let instance = leftovers::create(&tracefs)?;
    filter::configure(&instance, args)?;
    let stopped = if args.command.is_empty() {
        None
    } else {
        Some(Stopped::start(&args.command, args.user.as_deref())?)
    };
    if let Some(stopped) = stopped.as_ref().filter(|_| !args.all) {
        control::add_process(&instance, stopped.pid())?;
    }

    let progress = Progress::start(args);
    progress.say("starting");
    if !args.on.is_empty() {
        return fly(args, instance, &events, &progress, stopped, sender);
    }
    let recorder = start_recorder(args, &instance, &sender, &events)?;
    let command = match stopped {
        Some(stopped) => Some(Command::watch(stopped.execute()?, move |status| {
            drop(sender.send(Event::Command(status)));
        })),
        None => None,
    };
    let mut session = Session::new(args, instance, events, progress, command);
    let result = session.record(recorder);
    session.finish(result)
}

/// Records into memory until the end, and writes a file when a rule fires.
fn fly(
    args: &Args,
    instance: Instance,
    events: &Receiver<Event>,
    progress: &Progress,
    stopped: Option<Stopped>,
    sender: Sender<Event>,
) -> anyhow::Result<u8> {
    let mut flight = Flight::start(args, &instance, events, progress)?;
    let mut command = match stopped {
        Some(stopped) => Some(Command::watch(stopped.execute()?, move |status| {
            drop(sender.send(Event::Command(status)));
        })),
        None => None,
    };
    let result = flight.record(&mut command);
    finish(args, instance, events, progress, command, result)
}

/// Starts trace-cmd, and returns when it records.
fn start_recorder(
    args: &Args,
    instance: &Instance,
    sender: &Sender<Event>,
    events: &Receiver<Event>,
) -> anyhow::Result<Recorder> {
    let mut options = Vec::new();
    if !args.no_calls {
        options.extend(["-p", "ferrotrace"]);
    }
    if !args.no_events {
        options.extend(["-e", "ferrotrace"]);
    }
    for event in &args.events {
        options.extend(["-e", event]);
    }
    // Nothing is started after a signal.
    while let Ok(event) = events.try_recv() {
        if let Event::Signal(signal) = event {
            return Err(Interrupted(signal).into());
        }
    }
    let sender = sender.clone();
    let recorder = Recorder::start(instance.name(), &options, &args.output, move |change| {
        drop(sender.send(Event::Recorder(change)));
    })?;
    loop {
        match events.recv()? {
            Event::Recorder(Change::Started) => return Ok(recorder),
            Event::Recorder(Change::Ended(status)) => {
                recorder.finish(status)?;
                bail!("trace-cmd has recorded nothing");
            }
            Event::Signal(signal) => return Err(Interrupted(signal).into()),
            Event::Command(_) => {}
        }
    }
}
