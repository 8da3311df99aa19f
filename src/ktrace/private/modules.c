// SPDX-License-Identifier: GPL-2.0
/*
 * Notifies modules.rs when the text of a module is about to be freed.
 *
 * Built without ftrace's call at function entry (see Kbuild).
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/notifier.h>

#include "../helpers.h"

static ktrace_text_leaves_t ktrace_text_leaves;

static int ktrace_module_changes(struct notifier_block *unused, unsigned long state, void *data)
{
	struct module *module = data;

	/* The init text of a module is freed once the module is live. */
	if (module != THIS_MODULE && (state == MODULE_STATE_LIVE || state == MODULE_STATE_GOING))
		ktrace_text_leaves(module, state == MODULE_STATE_LIVE);
	return NOTIFY_DONE;
}

static struct notifier_block ktrace_module_block = { .notifier_call = ktrace_module_changes };

int ktrace_watch_modules(ktrace_text_leaves_t leaves)
{
	int ret = ktrace_set_callbacks(&ktrace_text_leaves, leaves);

	return ret ?: register_module_notifier(&ktrace_module_block);
}

void ktrace_unwatch_modules(void)
{
	unregister_module_notifier(&ktrace_module_block);
}

bool ktrace_module_has(const struct module *module, bool init_only, unsigned long address)
{
	return within_module_init(address, module) ||
	       (!init_only && within_module_core(address, module));
}

size_t ktrace_symbol_name(char *text, size_t size, unsigned long address)
{
	return scnprintf(text, size, "%ps", (void *)address);
}
