/* SPDX-License-Identifier: MIT
 *
 * Notes the call sites of calls: the stack, and the modules that contain its addresses, as
 * events of the thread's own stream (spool.h). Hidden from the recorded program.
 */
#ifndef AB_RECORD_PRELOAD_PRELOAD_SITES_H
#define AB_RECORD_PRELOAD_PRELOAD_SITES_H

#include "record/preload/preload.h"

#include <stdbool.h>
#include <stdint.h>

/* caller of an exported function of the recorder: its return address, and its frame */
struct ab_here {
    uintptr_t pc, frame;
};

struct ab_sites; /* per thread slot */

/* Looks up the functions of the C library that are needed. Call this once, before the first call is
 * recorded. */
void ab_sites_find_real(void) AB_HIDDEN;

/* True if stacks of `depth` frames are requested (0 = none) and can be recorded. */
bool ab_sites_can(uint32_t depth) AB_HIDDEN;

/* Function that writes an event without a stamp to a stream. */
typedef void ab_sites_put(struct ab_spool_tail *tail, enum ab_spool_kind kind, uint64_t address,
                          uint64_t size);

/* Prepares a thread that has taken a slot. `tls` points to a thread-local variable. Call it with
 * all signals blocked. *s stays NULL if there is no memory. */
void ab_sites_begin(struct ab_sites **s, uint32_t thread, const void *tls,
                    ab_sites_put *put) AB_HIDDEN;

/* Notes the stack of a call, before the call itself is noted. Keeps errno. */
void ab_sites_note(struct ab_sites *s, struct ab_spool_tail *tail, struct ab_here here) AB_HIDDEN;

/* ---- unloaded modules ----
 *
 * The dynamic linker frees its record of a module (struct link_map) after it has unmapped the
 * module and before it maps another. It frees it with the program's free, which the recorder
 * defines. The recorder therefore sees every unloading, even by libc itself. */
enum { AB_SITES_WATCHED = 1024 };
/* addresses of the records of loaded modules, each at the index of its hash or soon after it; 0 =
 * never used */
extern uintptr_t ab_sites_watched[AB_SITES_WATCHED] AB_HIDDEN;
void ab_sites_forget(const void *map) AB_HIDDEN;

static inline unsigned ab_sites_home(uintptr_t map)
{
    return (unsigned)(map * UINT64_C(0x9e3779b97f4a7c15) >> 54) % AB_SITES_WATCHED;
}

static inline void ab_sites_see_free(const void *p)
{
    if (__builtin_expect(ab_sites_watched[ab_sites_home((uintptr_t)p)] != 0, 0))
        ab_sites_forget(p);
}

#endif
