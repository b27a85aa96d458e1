/* SPDX-License-Identifier: MIT
 *
 * Marks at calls of functions that the user has named (`record --mark-function`, `--marks`). Nothing is
 * defined in their place: the entries by which modules reach them are changed, so that a program
 * which looks for such a function finds what there is and nothing else. Calls within a module that
 * do not go by such an entry are not seen. Hidden from the recorded program.
 */
#ifndef AB_RECORD_PRELOAD_PRELOAD_MARKS_HOOKS_H
#define AB_RECORD_PRELOAD_PRELOAD_MARKS_HOOKS_H

#include "record/preload/preload_files.h"

/* Once, when all modules of the start are loaded. Modules that come later are seen when a function
 * in them is looked up. */
void ab_hooks_start(void) AB_HIDDEN;

/* For the trampolines: that of number `i` was called. Returns where its function is. */
uintptr_t ab_hooks_enter(uint32_t i) AB_HIDDEN;

/* Puts `to` into each entry of a module's tables by which it reaches the function `name` at `real`;
 * an entry that leads elsewhere stays as it is. */
struct ab_entries_wish {
    const char *name;
    uintptr_t real, to;
    bool takes_unbound; /* entries that are bound at their first call, too */
};
struct dl_phdr_info;
void ab_entries_change(const struct dl_phdr_info *module,
                       const struct ab_entries_wish *wish) AB_HIDDEN;

/* Where a module has a function of this name, in the version that programs are linked with; 0 = it
 * has none. */
uintptr_t ab_entries_find(const struct dl_phdr_info *module, const char *name) AB_HIDDEN;

enum { AB_HOOKS_PLACES = 8 }; /* addresses of a function; a trampoline each */
/* Code that calls ab_hooks_enter(i), i < AB_SPOOL_HOOKS × AB_HOOKS_PLACES, and goes on where it says with all arguments as they were; 0
 * where there is none for this CPU. */
uintptr_t ab_hooks_trampoline(uint32_t i) AB_HIDDEN;

#endif
