/* SPDX-License-Identifier: MIT
 *
 * Finds what a recording has missed, as far as possible: modules that call another malloc than the
 * recorder's, and the memory of the process at its end.
 */
#ifndef AB_RECORD_BYPASS_H
#define AB_RECORD_BYPASS_H

#include "base/places.h"
#include "core/alloc.h"
#include "record/spool_reader.h"
#include "trace/event.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

/* Set of the 64 KiB places that have contained blocks of the process, for addresses below 2^47. */
enum { AB_PLACES = 65536, AB_PLACE_REGIONS = 32767 };
struct ab_places { /* zero-initialize it */
    /* one bit per place, in regions of AB_PLACES places each; NULL = no blocks */
    uint8_t **regions;
    uint64_t last; /* place that was last added */
};

static inline bool ab_places_has(const struct ab_places *p, uint64_t place)
{
    const uint8_t *bits = p->regions == NULL || place / AB_PLACES >= AB_PLACE_REGIONS
                              ? NULL
                              : p->regions[place / AB_PLACES];
    return bits != NULL && (bits[place % AB_PLACES / 8] >> place % 8 & 1) != 0;
}

static inline void ab_places_add(struct ab_places *p, uint64_t place, uint64_t end)
{
    if (p->regions == NULL)
        p->regions = (uint8_t **)ab_alloc_zeroed(AB_PLACE_REGIONS, sizeof p->regions[0]);
    p->last = place;
    for (; place <= end && place / AB_PLACES < AB_PLACE_REGIONS; place++) {
        uint8_t **bits = &p->regions[place / AB_PLACES];
        if (*bits == NULL)
            *bits = ab_alloc_zeroed(AB_PLACES / 8, 1);
        (*bits)[place % AB_PLACES / 8] |= (uint8_t)(1 << place % 8);
    }
}

static inline void ab_places_note(struct ab_places *p, uint64_t address, uint64_t size)
{
    uint64_t place = address >> AB_PLACE_LOG2, end = (address + size) >> AB_PLACE_LOG2;
    if (place != p->last || end != place)
        ab_places_add(p, place, end);
}

static inline void ab_places_fini(struct ab_places *p)
{
    for (size_t i = 0; p->regions != NULL && i < AB_PLACE_REGIONS; i++)
        free(p->regions[i]);
    free((void *)p->regions);
    *p = (struct ab_places){.regions = NULL};
}

enum ab_bypass_kind {
    AB_BYPASS_LIBRARY, /* loaded with RTLD_DEEPBIND, so that it calls the C library's malloc */
    /* loaded with dlmopen, so that it calls the malloc of a second C library */
    AB_BYPASS_NAMESPACE,
    AB_BYPASS_OWN, /* calls a malloc that the program contains */
};
struct ab_bypass_report {
    bool is_looked_into;      /* True if the process could be examined when it was about to exit */
    enum ab_bypass_kind kind; /* kind of the first module that calls another malloc */
    char path[PATH_MAX];      /* path of the module that `kind` describes; "" = none */
    /* places that have contained blocks; set it before ab_bypass_read() */
    const struct ab_places *places;
    /* bytes that the recorder has mapped for itself; set it before ab_bypass_read() */
    uint64_t own_bytes;
};

/* Finds the modules of a process that call another malloc than the recorder's, because they were
 * loaded with RTLD_DEEPBIND or dlmopen, or because the program has a malloc of its own. The process
 * waits for this, either at its end (is_end) or before it closes a library. Bound symbols are read
 * from outside, because the process itself would need the linker's locks. Appends the findings to
 * the file `name` in `folder`; writes nothing if the process may not be read. */
#define AB_BYPASS_FILE "bypass" /* name in a spool: bypass.PID.K */
void ab_bypass_look(pid_t pid, bool is_end, int folder, const char *name);

/* Appends the places of the anonymous memory of a running process to the file `name`. Does nothing
 * if the process has less than 16 MiB, or less than 1.5 times *sampled_bytes. Sets *sampled_bytes
 * to the current size. */
void ab_bypass_sample(pid_t pid, int folder, const char *name, uint64_t *sampled_bytes);

/* Reads the findings of the two functions above. The most_bytes of *out and the memory of *whole
 * are unknown if the process ended by _exit or a signal, because it could not be examined then. */
void ab_bypass_read(const char *folder, const struct ab_spool_entry *image,
                    struct ab_bypass_report *report, struct ab_trace_bypass *out,
                    struct ab_trace_whole *whole);

#endif
