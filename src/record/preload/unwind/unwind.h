/* SPDX-License-Identifier: MIT
 *
 * Unwinds the stack of a thread: finds the return addresses by the tables of the modules
 * (eh_frame.c) and, without tables, by frame pointers. Takes no lock, calls no malloc, and reads
 * only memory that is known to be readable, so that the walk ends whatever the stack contains.
 * Compiled into the recorder too, and therefore uses only syscall(2) of libc.
 *
 * One thread uses an unwinder. A signal handler that interrupts it works without the cache
 * (is_nested).
 */
#ifndef AB_RECORD_PRELOAD_UNWIND_UNWIND_H
#define AB_RECORD_PRELOAD_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- eh_frame.c: finds the caller's registers at an address by the tables that compilers write
 * for exceptions (.eh_frame, Linux Standard Base, and DWARF 4, section 6.4). x86-64 only; on
 * other machines there is never a rule. No libc, no state ---- */

#define AB_EH_HIDDEN __attribute__((visibility("hidden")))

/* how to find the canonical frame address (CFA): the stack pointer before the call */
enum ab_frame_base {
    AB_CFA_UNKNOWN,   /* no table, or an unsupported rule */
    AB_CFA_OUTERMOST, /* no caller: the thread begins here */
    AB_CFA_SP,        /* stack pointer + offset */
    AB_CFA_FP,        /* frame pointer (rbp) + offset */
    AB_CFA_AT_FP,     /* the value at frame pointer + offset */
    AB_CFA_PLT,       /* sp + 8, or sp + 16 in the second half of a 16-byte stub */
    AB_CFA_SIGNAL,    /* a signal frame of the kernel, which holds the registers */
};

enum ab_frame_pointer { /* how to find the caller's frame pointer */
                        AB_FP_SAME,
                        AB_FP_AT_CFA, /* stored at CFA + offset */
                        AB_FP_AT_FP,  /* stored at our frame pointer + offset */
                        AB_FP_LOST,
};

struct ab_frame_rule {
    int32_t cfa_offset;
    int16_t fp_offset;
    uint8_t cfa, fp; /* enum ab_frame_base, enum ab_frame_pointer */
};

/* Returns the rule at `pc`, an address within the instruction. `table` is the .eh_frame_hdr of
 * its module. Reads only low ≤ address < high. */
struct ab_frame_rule ab_eh_frame_rule(uintptr_t table, uintptr_t low, uintptr_t high,
                                      uintptr_t pc) AB_EH_HIDDEN;

/* ---- unwind.c: walks the stack ---- */

enum { AB_STACK_DEPTH_MAX = 64, AB_UNWIND_RULES = 4096 };

struct ab_code_place { /* registers at the return of a call */
    uintptr_t pc, sp, fp;
};

enum ab_stack_end {                     /* why the frames of a stack end */
                    AB_STACK_WHOLE,     /* complete: the thread begins there */
                    AB_STACK_DEPTH,     /* as many frames as requested */
                    AB_STACK_NO_TABLE,  /* cut: code without tables or frame pointers */
                    AB_STACK_NO_RULE,   /* cut: unsupported rule in the tables */
                    AB_STACK_NO_MEMORY, /* cut: the rest of the stack cannot be read */
                    AB_STACK_END_COUNT
};

struct ab_unwind_module { /* the loaded file that contains an address */
    uintptr_t low, high;  /* readable range of its tables; 0, 0 = none */
    uintptr_t table;      /* .eh_frame_hdr; 0 = none */
    uintptr_t map;        /* its struct link_map, valid while it is loaded; 0 = no module */
    uintptr_t begin;      /* start of its first segment */
};

struct ab_unwind_entry { /* an entry of the cache */
    uintptr_t key;       /* 0 = empty */
    struct ab_frame_rule rule;
};

struct ab_unwinder {               /* per thread; zero-initialize it */
    void *find_object;             /* _dl_find_object of the C library; NULL = missing */
    struct ab_unwind_entry *cache; /* AB_UNWIND_RULES entries; NULL = no cache */
    /* the known part of the thread's own stack; 0, 0 = not known */
    uintptr_t stack_low, stack_high;
    uintptr_t stack_tops[2]; /* addresses of which one is above all frames of the thread */
};

/* Fills addresses[0..depth) with return addresses, the innermost call first, beginning with that
 * of `place`. Returns their number, at least one. */
size_t ab_unwind(struct ab_unwinder *u, bool is_nested, struct ab_code_place place,
                 uintptr_t *addresses, size_t depth, enum ab_stack_end *end) AB_EH_HIDDEN;

/* Finds the module that contains an address. Leaves low and high unset. */
struct ab_unwind_module ab_unwind_module(const struct ab_unwinder *u, uintptr_t pc) AB_EH_HIDDEN;

/* Sets low and high to the readable segment with the tables, which it finds by the headers of
 * the module. */
void ab_unwind_find_tables(struct ab_unwind_module *m) AB_EH_HIDDEN;

/* Empties the cache after a module is unloaded, because another may take its place. */
void ab_unwind_forget(struct ab_unwinder *u) AB_EH_HIDDEN;

/* True if the page of an address can be read. */
bool ab_unwind_can_read(uintptr_t address) AB_EH_HIDDEN;

#endif
