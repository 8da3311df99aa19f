// SPDX-License-Identifier: GPL-2.0
/*
 * Calls to functions that the kernel does not export, and the lookup of their
 * addresses. symbols.rs lists the functions.
 */
#include <linux/kprobes.h>
#include <linux/security.h>
#include <linux/static_call.h>
#include <linux/types.h>

#include "../helpers.h"

/*
 * Calls to functions that the kernel does not export
 *
 * Their addresses come from kallsyms. An ordinary indirect call cannot reach them:
 * because the kernel never takes their address, their landing pads may have been
 * sealed (IBT) or left out (BTI), or they have no hash (kCFI). Allowed are a direct
 * branch, which is what the trampoline of a static call becomes, and a return, which
 * the thunk for the other architectures uses. In both cases the callee finds the
 * caller's arguments and stack unchanged, and Rust can declare it as a function with
 * a C prototype.
 */
typedef void (ktrace_any_fn)(void);

#define KTRACE_THUNK(name, ...) \
	asm(".pushsection .text, \"ax\"\n\t" \
	    KTRACE_ALIGN \
	    ".globl ktrace_call_" #name "\n\t" \
	    ".type ktrace_call_" #name ", %function\n" \
	    "ktrace_call_" #name ":\n\t" \
	    __VA_ARGS__ \
	    ".size ktrace_call_" #name ", . - ktrace_call_" #name "\n\t" \
	    ".popsection")

/* On other architectures, the trampoline of a static call may be an indirect branch itself. */
#ifdef CONFIG_X86

/* The layout of functions where calls may have to be patched. */
#ifdef CONFIG_FUNCTION_PADDING_BYTES
#define KTRACE_ALIGN ".balign 16\n\t.skip " \
	__stringify(CONFIG_FUNCTION_PADDING_BYTES) ", 0x90\n\t"
#else
#define KTRACE_ALIGN ".balign 16\n\t"
#endif

#define KTRACE_DEFINE_CALL(name) \
	DEFINE_STATIC_CALL_RET0(ktrace_##name, ktrace_any_fn)

#define KTRACE_DEFINE_TRAMP(name) \
	KTRACE_THUNK(name, "jmp " STATIC_CALL_TRAMP_STR(ktrace_##name) "\n\t")

#define KTRACE_SET_TARGET(name, addr) \
	__static_call_update(&STATIC_CALL_KEY(ktrace_##name), \
			     STATIC_CALL_TRAMP_ADDR(ktrace_##name), (void *)(addr))

#else

#define KTRACE_ALIGN ".balign 4\n\t"

#define KTRACE_DEFINE_CALL(name) \
	unsigned long ktrace_addr_##name

#define KTRACE_DEFINE_TRAMP(name) \
	KTRACE_THUNK(name, \
		     "hint #34\n\t" /* bti c */ \
		     "adrp x16, ktrace_addr_" #name "\n\t" \
		     "ldr x16, [x16, :lo12:ktrace_addr_" #name "]\n\t" \
		     "ret x16\n\t")

#define KTRACE_SET_TARGET(name, addr) WRITE_ONCE(ktrace_addr_##name, addr)

#endif

#define KTRACE_FUNCTION(name) KTRACE_DEFINE_CALL(name)
#include "unexported.h"
#undef KTRACE_FUNCTION

#define KTRACE_FUNCTION(name) KTRACE_DEFINE_TRAMP(name)
#include "unexported.h"
#undef KTRACE_FUNCTION

void ktrace_bind(unsigned int index, unsigned long addr)
{
	unsigned int n = 0;

#define KTRACE_FUNCTION(name) \
	do { \
		if (index == n++) \
			KTRACE_SET_TARGET(name, addr); \
	} while (0)
#include "unexported.h"
#undef KTRACE_FUNCTION
}

/*
 * Finds kallsyms_lookup_name(), whose address only a kprobe can look up for modules.
 * The kprobe is registered as disabled: this sets its address as well, patches no
 * code, and can always be undone. To disarm an armed kprobe needs memory; if that
 * fails, the kernel keeps using a kprobe that no longer exists.
 */
int ktrace_find_kallsyms(unsigned long *addr)
{
	struct kprobe probe = {
		.symbol_name = "kallsyms_lookup_name",
		.flags = KPROBE_FLAG_DISABLED,
	};
	int ret = register_kprobe(&probe);

	if (ret)
		return ret;
	*addr = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	return 0;
}

/* Defined by KTRACE_DEFINE_TRAMP() above. */
int ktrace_call_kallsyms_on_each_match_symbol(int (*fn)(void *data, unsigned long addr),
					      const char *name, void *data);

struct ktrace_data_search {
	unsigned long text;
	unsigned long text_end;
	unsigned long found;
};

static int ktrace_match_data(void *data, unsigned long addr)
{
	struct ktrace_data_search *search = data;

	if (addr >= search->text && addr < search->text_end)
		return 0;
	search->found = addr;
	return 1;
}

/* Returns the first symbol with that name outside the kernel's text; 0 if there is none. */
unsigned long ktrace_find_data(const char *name, unsigned long text, unsigned long text_end)
{
	struct ktrace_data_search search = { .text = text, .text_end = text_end };

	ktrace_call_kallsyms_on_each_match_symbol(ktrace_match_data, name, &search);
	return search.found;
}

int ktrace_locked_down(void)
{
	return security_locked_down(LOCKDOWN_TRACEFS);
}
