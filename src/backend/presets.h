/* SPDX-License-Identifier: MIT
 *
 * Malloc libraries that are known by name, and where they lie. The list is presets.def.
 */
#ifndef AB_BACKEND_PRESETS_H
#define AB_BACKEND_PRESETS_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_preset {
    const char *name;
    const char *package; /* of Debian, as this release calls it */
    const char *summary;
    const char *const *files; /* ends with NULL; empty for what needs no file */
};

size_t ab_preset_count(void);
const struct ab_preset *ab_preset_at(size_t index);
/* NULL when there is none of this name. */
const struct ab_preset *ab_preset_find(const char *name);

/* Does it come with allocbench? */
bool ab_preset_is_own(const struct ab_preset *preset);

/* The first file that is a library for this machine; when there are only others, the first of
 * those, so that the caller can say what is wrong with it. `dirs` ends with NULL; NULL = the
 * standard directories (LD_LIBRARY_PATH is not honoured: what is measured should not depend on
 * it). False when there is nothing; path untouched. */
bool ab_preset_locate(const struct ab_preset *preset, const char *const *dirs, char *path,
                      size_t cap);

/* Version of a library that was found: of LLVM by its path (…/clang/14.0.6/…), else that of the
 * preset's package; "" when neither is known. Always terminates; returns buf. */
const char *ab_preset_version(const struct ab_preset *preset, const char *path, char *buf,
                              size_t cap);

/* Version of an installed Debian package by dpkg's status file (NULL = the system's), without its
 * epoch; "" when it is not known. Always terminates; returns buf. */
const char *ab_package_version(const char *package, const char *status_file, char *buf, size_t cap);

/* Which back ends are measured where none is named. The rule is in defaults.def; it is decided by
 * sums over the work alone, so that the same work gets the same rows on every machine that has the
 * same libraries. */

struct ab_work {                          /* of the whole tape, what is not measured included */
    uint64_t n_requests, requested_bytes; /* allocations, and resizes with their new size */
    uint64_t largest_bytes;               /* largest request */
    uint64_t live_peak_bytes;
    uint64_t stretch_bytes; /* most that is requested between two bulk resets, or the ends */
};

struct ab_default {
    const char *name;                          /* of a built-in, or of a library of allocbench's */
    bool (*is_suited)(const struct ab_work *); /* NULL = never by itself */
    const char *why, *rule; /* "small mixed sizes"; a sentence without its stop */
};

/* More would take too long: time is per back end. */
enum { AB_DEFAULT_MOST = 8 };

size_t ab_default_count(void);
const struct ab_default *ab_default_at(size_t index);
/* Is the built-in at `index` one of those that the work gets? Of no work (no request): none. */
bool ab_default_suits(size_t index, const struct ab_work *work);
/* Is the library measured by default? Not when it is allocbench's own, nor when it stands for the same
 * allocator as one before it: its first file is one that the other takes in place of its own. */
bool ab_default_has_library(const struct ab_preset *preset);

/* The usual settings of an allocator, as rows to be measured side by side. The table is sweeps.def. */

struct ab_sweep_row {
    const char *backend;  /* "jemalloc" */
    const char *spelling; /* as -b takes it: "jemalloc{MALLOC_CONF=narenas:1}" */
    const char *settings; /* the end of it; "" = none */
    const char *says;     /* what it does */
};

/* The rows of a back end, the first without settings. NULL where there are none. */
const struct ab_sweep_row *ab_sweep_rows(const char *backend, size_t *n);
/* The names that have rows, one after the other; NULL past the end. */
const char *ab_sweep_name(size_t index);
/* AB_USAGE where there are none, with the nearest name and the list. */
enum ab_status ab_sweep_find(const char *backend, const struct ab_sweep_row **rows, size_t *n,
                             struct ab_err *err);

#endif
