/* SPDX-License-Identifier: MIT
 *
 * Unwinds the stack of a thread: finds the return addresses by the tables of the modules
 * (eh_frame.c), or by frame pointers where there are no tables. Takes no lock, calls no malloc, and
 * reads only memory that is known to be readable, so the walk ends whatever the stack contains. It
 * is also compiled into the recorder, and therefore uses only syscall(2) of libc.
 *
 * An unwinder belongs to one thread. A signal handler that interrupts the unwinder works without
 * its cache (is_nested).
 */
#ifndef AB_RECORD_PRELOAD_UNWIND_UNWIND_H
#define AB_RECORD_PRELOAD_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- eh_frame.c: finds the registers of the caller. Uses the tables that compilers write for
 * exceptions (.eh_frame, Linux Standard Base, and DWARF 4, section 6.4). For x86-64 only; on other
 * machines it finds no rule. Uses no libc and keeps no state ---- */

#define AB_EH_HIDDEN __attribute__((visibility("hidden")))

/* how to find the canonical frame address (CFA), which is the value of the stack pointer before the
 * call */
enum ab_frame_base {
    AB_CFA_UNKNOWN,   /* no table, or an unsupported rule */
    AB_CFA_OUTERMOST, /* there is no caller: the thread begins here */
    AB_CFA_SP,        /* stack pointer + offset */
    AB_CFA_FP,        /* frame pointer (rbp) + offset */
    AB_CFA_AT_FP,     /* value stored at frame pointer + offset */
    /* sp + 8; in the second half of a 16-byte stub of the procedure linkage table sp + 16 */
    AB_CFA_PLT,
    /* the frame is one that the kernel made for a signal; the registers are stored in it */
    AB_CFA_SIGNAL,
};

enum ab_frame_pointer { /* how to find the caller's frame pointer */
                        AB_FP_SAME,
                        AB_FP_AT_CFA, /* stored at CFA + offset */
                        AB_FP_AT_FP,  /* stored at the current frame pointer + offset */
                        AB_FP_LOST,
};

struct ab_frame_rule {
    int32_t cfa_offset;
    int16_t fp_offset;
    uint8_t cfa, fp; /* cfa: enum ab_frame_base; fp: enum ab_frame_pointer */
};

/* Returns the rule that applies at `pc`. For a return address, pass an address within the call
 * instruction. `table` is the .eh_frame_hdr of the module. Reads only addresses from low to high -
 * 1. */
struct ab_frame_rule ab_eh_frame_rule(uintptr_t table, uintptr_t low, uintptr_t high,
                                      uintptr_t pc) AB_EH_HIDDEN;

/* ---- unwind.c: walks the stack ---- */

enum { AB_STACK_DEPTH_MAX = 64, AB_UNWIND_RULES = 4096 };

struct ab_code_place { /* registers directly after a call returned */
    uintptr_t pc, sp, fp;
};

enum ab_stack_end { /* reason why the list of frames ends */
                    /* complete: the last frame is the beginning of the thread */
                    AB_STACK_WHOLE,
                    AB_STACK_DEPTH,     /* the requested number of frames was found */
                    AB_STACK_NO_TABLE,  /* cut: the code has neither tables nor frame pointers */
                    AB_STACK_NO_RULE,   /* cut: the tables have a rule that is not supported */
                    AB_STACK_NO_MEMORY, /* cut: the next frame is not in readable memory */
                    AB_STACK_END_COUNT
};

struct ab_unwind_module { /* a loaded file, found by an address in it */
    uintptr_t low, high;  /* readable range with its tables; 0, 0 = unknown */
    uintptr_t table;      /* address of .eh_frame_hdr; 0 = none */
    /* address of its struct link_map, valid while the file is loaded; 0 = no module found */
    uintptr_t map;
    uintptr_t begin; /* address of its first segment */
};

struct ab_unwind_entry { /* one cached rule */
    uintptr_t key;       /* 0 = empty */
    struct ab_frame_rule rule;
};

struct ab_unwinder { /* state for one thread; zero-initialize it */
    /* function _dl_find_object of the C library; NULL = the library has none */
    void *find_object;
    struct ab_unwind_entry *cache; /* array of AB_UNWIND_RULES entries; NULL = no cache */
    /* known readable part of the stack that the thread began on; 0, 0 = not known */
    uintptr_t stack_low, stack_high;
    uintptr_t stack_tops[2]; /* two addresses, one of which is above all frames of the thread */
};

/* Writes up to `depth` return addresses, from the innermost call outwards; the first is place.pc.
 * Sets *end to the reason why they end. Returns their number, at least one. */
size_t ab_unwind(struct ab_unwinder *u, bool is_nested, struct ab_code_place place,
                 uintptr_t *addresses, size_t depth, enum ab_stack_end *end) AB_EH_HIDDEN;

/* Finds the module that contains an address. Does not set low and high. */
struct ab_unwind_module ab_unwind_module(const struct ab_unwinder *u, uintptr_t pc) AB_EH_HIDDEN;

/* Sets low and high to the readable segment that contains m->table, by the program headers of the
 * module. Leaves them unchanged if there is none. */
void ab_unwind_find_tables(struct ab_unwind_module *m) AB_EH_HIDDEN;

/* Empties the cache. Call it after a module was unloaded, because another module may be loaded at
 * its address. */
void ab_unwind_forget(struct ab_unwinder *u) AB_EH_HIDDEN;

/* True if the page of an address can be read. */
bool ab_unwind_can_read(uintptr_t address) AB_EH_HIDDEN;

#endif
