# SPDX-License-Identifier: GPL-2.0
#
# The commands for users. The scripts in scripts/ and qemu/ implement them; Kbuild describes the
# module to the kernel's build system.

# Pass CMD to the guest unchanged: without this, make would expand each $ in it.
override CMD := $(value CMD)
export CMD
export ARCH KERNEL KDIR PLUGINS EXTRA OUT CLIENTS SMP LOAD TIMEOUT MEM T JSON RETRY BRIEF DEADLINE \
	VIEWERS SHARE ALSO SEED MINUTES ROUNDS ONLY ROWS BIN DATADIR

MAKEFLAGS += --no-print-directory

.PHONY: all module tools run run-guest demo test test-all host-test bench \
	bench-compare bench-scale bench-docs check viewers-test setup clean distclean help
.NOTPARALLEL:

all:
	@scripts/build.sh --install

module:
	@scripts/build.sh

tools:
	@scripts/tools.sh --install

# make exits with the status of the command in the guest: see scripts/make-exit.c.
ifneq ($(filter run,$(MAKECMDGOALS)),)
build/make-exit.so: scripts/make-exit.c
	@mkdir -p build
	@scripts/env.sh gcc -shared -fPIC -O2 -Wall -o $@ $<
-load build/make-exit.so(make_exit_gmk_setup)
endif

run-status = build/run-status.$(shell echo $$PPID)
run: run-guest
	@$(exit-from $(run-status))
run-guest: module
	@mkdir -p build
	@qemu/run.sh; echo $$? >$(run-status)

demo:
	@scripts/demo.sh

test:
	@scripts/test.sh

test-all:
	@scripts/test-all.sh

host-test:
	@scripts/host-test.sh

bench:
	@scripts/bench.sh

bench-compare:
	@scripts/bench.sh compare

bench-scale:
	@scripts/bench.sh scale

bench-docs:
	@scripts/env.sh python3 bench/docs.py write $(JSON)

viewers-test:
	@scripts/viewers-test.sh

check:
	@scripts/check.sh

setup:
	@scripts/setup.sh

clean:
	rm -rf build ferrotrace.ko

distclean: clean
	@scripts/distclean.sh

help:
	@sed -n 's/^#: \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

#: make                build ferrotrace.ko for the running kernel if it is a Debian kernel with
#:                     Rust, otherwise for the pinned kernel
#: make demo           trace a workload in a virtual machine, show the trace and a summary, and make
#:                     build/demo.html and build/demo.pftrace
#: make run            start a shell in a virtual machine with the module loaded
#: make run CMD='...'  run a command there and exit with its status
#: make test           run all tests, each kernel in a virtual machine
#: make test T=pattern run the tests whose path below tests/cases matches the pattern ('filter/*').
#:                     Special values select other tests, which have a boot of their own:
#:                     T=clients: tests with trace-cmd, perf and bpftrace;
#:                     T=record: tests of `ferrotrace record` and `top`;
#:                     T=lockdown: tests under lockdown;
#:                     T=oops: the test of a kernel oops;
#:                     T=reboot: the test of a buffer that survives a crash;
#:                     T=upstream: the kernel's own tracing tests, before ferrotrace is loaded,
#:                     with it idle, while it is recording, and after it was unloaded;
#:                     ONLY=ftrace/func_hotplug.tc selects one of them,
#:                     ONLY=-ftrace/func_hotplug.tc all except this one;
#:                     T=rounds: ROUNDS=n (1000) rounds of insmod and rmmod;
#:                     T=soak: all features at once, in random order, for MINUTES=n (30);
#:                     SEED=n repeats an order
#: make test RETRY=1   for busy machines: run a failed test twice more; it passes if both runs
#:                     pass; the failure is shown
#: make test SHARE=2/5 run the second fifth of the tests; ALSO='graph/*,filter/comm' adds tests
#: make test BRIEF=1   take half the time: a tenth of the rounds that wait for rare faults, and
#:                     tests of many minutes on one architecture only (ci/run sets RETRY=1 BRIEF=1)
#: make test-all       run all tests on all kernels one after the other (many hours). A row that
#:                     has passed on the same code, in any clone, is not run again. The results
#:                     are in build/test-all.md. ROWS='lts soak-memory' selects rows. BRIEF=1 runs
#:                     all rounds only on the stock kernel and in tests of failing allocations
#: make host-test      run the tests that need no kernel
#: make viewers-test   show recordings in Perfetto, speedscope, Chromium and KernelShark
#: make bench          count the instructions that tracing adds, compare with the kernel's own
#:                     tracers, and measure the time; JSON=file writes the results as JSON
#: make bench-compare  count the instructions that other tools (perf, trace-cmd, bpftrace, a BPF
#:                     program) and ferrotrace add when they answer the same question
#: make bench-scale    measure costs and memory for 1 to 100,000 traced tasks, 1 to 32 trace arrays,
#:                     1 to 64 CPUs and 1 to 256 patterns; needs 7 GB of memory per architecture
#: make bench-docs     replace the numbers in all documents by those of JSON='file...', results of
#:                     make bench, make bench-compare and make bench-scale
#: make check          rustfmt, clippy, rustdoc, shellcheck, checkpatch, style, layers, and the
#:                     messages, commands and numbers in documents
#: make tools          build the command `ferrotrace` and the plugin of trace-cmd, and install them
#:                     in ~/.local, or in PLUGINS=directory, BIN=directory, DATADIR=directory
#: make setup          only fetch and build the tools and kernels that the other commands need
#: make clean          remove all build results from this directory
#: make distclean      also empty the cache: the tool chain, the kernels, and test results
#:
#: Variables:
#: ARCH=x86_64|arm64   architecture (x86_64; make test: both)
#: KERNEL=debian       the unmodified Debian kernel pinned in qemu/kernel.pin (the default)
#: KERNEL=mainline     a vanilla kernel with hardening options as on production machines. This and
#:                     the following kernels are built with a configuration in qemu/KERNEL.config
#: KERNEL=lockdep      with checks of locks, RCU, contexts and objects (slow)
#: KERNEL=memory       with KASAN, kmemleak, UBSAN and failing allocations (slow)
#: KERNEL=rt           with PREEMPT_RT
#: KERNEL=up           for one CPU, without SMP (x86_64)
#: KERNEL=lts          6.18, a long-term support kernel
#: KERNEL=debug        lockdep and memory (make test, make setup)
#: KERNEL=release      any other Debian kernel in the archive, as named by `uname -r`
#: KDIR=dir            build for this kernel tree (make only)
#: EXTRA=dir           copy the files of a directory to /extra in the guest (run)
#: OUT=dir             copy the files in /out of the guest to this directory at the end (run)
#: CLIENTS=1           install trace-cmd, perf and bpftrace in the guest; trace-cmd: only this (run)
#: SMP=n MEM=n         number of processors (2) and MiB of memory (run)
#: LOAD=0              do not load the module, which is $MODULE in the guest (run)
#: TIMEOUT=n           seconds until a guest with CMD is stopped (120; exit status 124)
