# SPDX-License-Identifier: GPL-2.0
#
# The way in: what a user can ask for. The work is done by scripts/ and qemu/; the module itself
# is described to the kernel's build system by Kbuild.

# CMD reaches the guest as it was typed: without this, make would expand every $ in it.
override CMD := $(value CMD)
export CMD
export ARCH KERNEL KDIR PLUGINS EXTRA CLIENTS SMP LOAD TIMEOUT MEM T JSON RETRY BRIEF DEADLINE SHARE ALSO SEED MINUTES ROUNDS ONLY ROWS

MAKEFLAGS += --no-print-directory

.PHONY: all module tools run run-guest demo test test-all host-test bench check setup clean distclean help
.NOTPARALLEL:

all:
	@scripts/build.sh --install

module:
	@scripts/build.sh

# The status of the command in the guest is to be make's own: see scripts/make-exit.c.
tools:
	@scripts/tools.sh --install

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

demo: module
	@scripts/demo.sh

test:
	@scripts/test.sh

test-all:
	@scripts/test-all.sh

host-test:
	@scripts/host-test.sh

bench:
	@scripts/bench.sh

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

#: make                build ferrotrace.ko: for the running kernel if that is a Debian kernel with
#:                     Rust, else for the pinned one
#: make demo           trace a workload in a virtual machine and show the trace
#: make run            a shell in a virtual machine with the module loaded
#: make run CMD='...'  run that there instead; exits with its status
#: make test           all tests, each kernel in a virtual machine
#: make test T=pattern the tests whose path under tests/cases the pattern matches ('filter/*');
#:                     T=clients: those with trace-cmd, perf and bpftrace, and T=lockdown: those
#:                     under lockdown, T=oops: that while the kernel oopses, and T=reboot: that of a
#:                     buffer that outlives a crash, which have boots of their own;
#:                     T=upstream: the kernel's own tests of tracing, without ferrotrace,
#:                     with it, beside it and after it, or one of them: ONLY=ftrace/func_hotplug.tc,
#:                     or all but one: ONLY=-ftrace/func_hotplug.tc;
#:                     T=rounds: ROUNDS=n (1000) of insmod and rmmod;
#:                     T=soak: everything at once for MINUTES=n (30), by chance, as SEED=n has it
#: make test RETRY=1   on a busy machine: a case that fails is run twice more, and passes if it does
#:                     both times; how it failed is shown
#: make test SHARE=2/5 a fifth of the tests, the second; ALSO='graph/*,filter/comm': these cases as well
#: make test BRIEF=1   in half the time: a tenth of the rounds that wait for a rare fault, and on one
#:                     architecture what takes many minutes (ci/run has both)
#: make test-all       all tests on all kernels, one after the other (many hours; what has passed on the
#:                     same code, in whichever clone, is not run again); the table of what came of
#:                     it is build/test-all.md; ROWS='lts soak-memory': only these of its rows;
#:                     BRIEF=1: in full only on the stock kernel, and where allocations can fail
#: make host-test      the tests that need no kernel
#: make bench          count the instructions that tracing adds, beside the kernel's own tracers, and
#:                     measure the time; JSON=file writes the same as JSON
#: make check          rustfmt, clippy, rustdoc, shellcheck, checkpatch, style, layers
#: make tools          build the plugin with which trace-cmd reads compact records, and put it into
#:                     ~/.local/lib/traceevent/plugins; PLUGINS=directory: there instead
#: make setup          only fetch and build what the others need
#: make clean          remove what was built here
#: make distclean      empty the cache too: the tool chain, the kernels, what is known of tests
#:
#: Variables:
#: ARCH=x86_64|arm64   machine (x86_64; make test: both)
#: KERNEL=debian       the unmodified Debian kernel pinned in qemu/kernel.pin (the default)
#: KERNEL=mainline     a vanilla kernel with the defences of real machines, built with the configuration
#:                     under qemu/; so are the next ones, each with its own, qemu/KERNEL.config
#: KERNEL=lockdep      with what finds mistakes with locks, RCU, contexts and objects (slow)
#: KERNEL=memory       with KASAN, kmemleak, UBSAN and failing allocations (slow)
#: KERNEL=rt           with PREEMPT_RT
#: KERNEL=up           for one CPU, without SMP (x86_64)
#: KERNEL=lts          6.18, which has long-term support
#: KERNEL=debug        lockdep and memory (make test, make setup)
#: KERNEL=release      any other Debian kernel that still is in the archive, as `uname -r` says it
#: KDIR=dir            build for this kernel tree (make only)
#: EXTRA=dir           put the files of a folder into the guest, as /extra (run)
#: CLIENTS=1           put trace-cmd, perf and bpftrace into the guest (run)
#: SMP=n MEM=n         processors (2) and MiB of memory (run)
#: LOAD=0              do not insmod the module, which is $MODULE in the guest (run)
#: TIMEOUT=n           seconds until a guest with CMD is stopped (120; exit status 124)
