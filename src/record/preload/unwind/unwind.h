/* SPDX-License-Identifier: MIT
 *
 * Who called: the return addresses of a thread's stack, by the tables of the modules (eh_frame.c)
 * and, where there are none, by frame pointers. It takes no lock, calls no malloc, and reads
 * nothing of a stack that is not known to be readable: whatever the program has made of its stack,
 * the walk ends. Compiled into the recorder too: of libc only syscall(2).
 *
 * One thread uses it. A signal handler that comes between goes without the cache (is_nested).
 */
#ifndef AB_RECORD_PRELOAD_UNWIND_UNWIND_H
#define AB_RECORD_PRELOAD_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- eh_frame.c: where the frame of a function is, by the tables that compilers write for exceptions
 * (.eh_frame, Linux Standard Base, and DWARF 4, section 6.4): what a caller's registers are at one
 * address. x86-64; elsewhere there is never a rule. No libc, no state ---- */

#define AB_EH_HIDDEN __attribute__((visibility("hidden")))

enum ab_frame_base { /* the canonical frame address (CFA): the stack pointer before the call */
                     AB_CFA_UNKNOWN,   /* no table, or a rule that is not known here */
                     AB_CFA_OUTERMOST, /* no caller: the begin of a thread */
                     AB_CFA_SP,        /* stack pointer + offset */
                     AB_CFA_FP,        /* frame pointer (rbp) + offset */
                     AB_CFA_AT_FP,     /* what lies at frame pointer + offset */
                     AB_CFA_PLT,       /* sp + 8, in the second half of a 16-byte stub sp + 16 */
                     AB_CFA_SIGNAL,    /* the kernel's frame: the registers lie there */
};

enum ab_frame_pointer { /* the caller's frame pointer */
                        AB_FP_SAME,
                        AB_FP_AT_CFA, /* it lies at CFA + offset */
                        AB_FP_AT_FP,  /* at our frame pointer + offset */
                        AB_FP_LOST,
};

struct ab_frame_rule {
    int32_t cfa_offset;
    int16_t fp_offset;
    uint8_t cfa, fp; /* of the two enums */
};

/* The rule at `pc`, an address within the instruction. `table`: the .eh_frame_hdr of its module;
 * nothing outside low ≤ address < high is read. */
struct ab_frame_rule ab_eh_frame_rule(uintptr_t table, uintptr_t low, uintptr_t high,
                                      uintptr_t pc) AB_EH_HIDDEN;

/* ---- unwind.c: the stack ---- */

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
