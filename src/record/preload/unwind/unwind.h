/* SPDX-License-Identifier: MIT
 *
 * Who called: the return addresses of a thread's stack, by the tables of the modules (eh_frame.h)
 * and, where there are none, by frame pointers. It takes no lock, calls no malloc, and reads
 * nothing of a stack that is not known to be readable: whatever the program has made of its stack,
 * the walk ends. Compiled into the recorder too: of libc only syscall(2).
 *
 * One thread uses it. A signal handler that comes between goes without the cache (is_nested).
 */
#ifndef AB_RECORD_PRELOAD_UNWIND_UNWIND_H
#define AB_RECORD_PRELOAD_UNWIND_UNWIND_H

#include "record/preload/unwind/eh_frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AB_STACK_DEPTH_MAX = 64, AB_UNWIND_RULES = 4096 };

struct ab_code_place { /* the registers where a call returns to */
    uintptr_t pc, sp, fp;
};

enum ab_stack_end {                     /* where the frames of a stack end, and why */
                    AB_STACK_WHOLE,     /* the thread begins there */
                    AB_STACK_DEPTH,     /* as many as were asked for */
                    AB_STACK_NO_TABLE,  /* cut: code without tables or frame pointers */
                    AB_STACK_NO_RULE,   /* cut: the tables say what is not known here */
                    AB_STACK_NO_MEMORY, /* cut: the stack goes on where nothing can be read */
                    AB_STACK_END_COUNT
};

struct ab_unwind_module { /* the loaded file that an address lies in */
    uintptr_t low, high;  /* the part of it that its tables can be read in; 0, 0 = none */
    uintptr_t table;      /* .eh_frame_hdr; 0 = none */
    uintptr_t map;        /* its struct link_map: names it as long as it is loaded; 0 = no module */
    uintptr_t begin;      /* of its first segment */
};

struct ab_unwind_entry { /* of the cache */
    uintptr_t key;       /* 0 = empty */
    struct ab_frame_rule rule;
};

struct ab_unwinder {                 /* of a thread; begins as {0} */
    void *find_object;               /* the C library's _dl_find_object; NULL = it has none */
    struct ab_unwind_entry *cache;   /* AB_UNWIND_RULES of them; NULL = none */
    uintptr_t stack_low, stack_high; /* of the thread's own, as far as seen; 0, 0 = not known */
    uintptr_t stack_tops[2];         /* addresses of which one lies above all its frames */
};

/* Fills addresses[0..depth) with return addresses, the last call first; the first is that of
 * `place`. Returns how many there are, at least one. */
size_t ab_unwind(struct ab_unwinder *u, bool is_nested, struct ab_code_place place,
                 uintptr_t *addresses, size_t depth, enum ab_stack_end *end) AB_EH_HIDDEN;

/* The module that an address lies in, without low and high. */
struct ab_unwind_module ab_unwind_module(const struct ab_unwinder *u, uintptr_t pc) AB_EH_HIDDEN;

/* Sets low and high: the readable segment that the tables are in. Its headers are read for it. */
void ab_unwind_find_tables(struct ab_unwind_module *m) AB_EH_HIDDEN;

/* After a module is gone another one may be at its place. */
void ab_unwind_forget(struct ab_unwinder *u) AB_EH_HIDDEN;

/* Can the page of an address be read? */
bool ab_unwind_can_read(uintptr_t address) AB_EH_HIDDEN;

#endif
