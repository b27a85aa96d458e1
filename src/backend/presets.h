/* SPDX-License-Identifier: MIT
 *
 * Malloc libraries known by name, and their locations. The list is presets.def. Also the back ends
 * that are measured by default, and the usual settings of allocators.
 */
#ifndef AB_BACKEND_PRESETS_H
#define AB_BACKEND_PRESETS_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_preset {
    const char *name;
    const char *package; /* Debian package, under its name in this release */
    const char *summary;
    const char *const *files; /* file names, ends with NULL; empty if no file is needed */
};

size_t ab_preset_count(void);
const struct ab_preset *ab_preset_at(size_t index);
/* Returns the preset of this name; NULL = none. */
const struct ab_preset *ab_preset_find(const char *name);

/* True if the library comes with allocbench. */
bool ab_preset_is_own(const struct ab_preset *preset);

/* Finds the first file that is a library for this machine. If there are only other files, finds the
 * first of them, so that the caller can say what is wrong with it. `dirs` ends with NULL; NULL =
 * the standard directories. LD_LIBRARY_PATH is ignored, because measurements should not depend on
 * it. Returns false and leaves `path` unchanged if there is no file. */
bool ab_preset_locate(const struct ab_preset *preset, const char *const *dirs, char *path,
                      size_t cap);

/* Writes the version of a library to buf and returns buf, always terminated. For LLVM it comes from
 * the path (…/clang/14.0.6/…), else from the preset's package; "" = unknown. */
const char *ab_preset_version(const struct ab_preset *preset, const char *path, char *buf,
                              size_t cap);

/* Writes the version of an installed Debian package, without epoch, to buf and returns buf; "" =
 * unknown. It is read from dpkg's status file; status_file NULL = the system's. Always terminates
 * buf. */
const char *ab_package_version(const char *package, const char *status_file, char *buf, size_t cap);

/* Back ends that are measured if none is named. The rule is in defaults.def. It uses only sums over
 * the work, so that the same work gets the same rows on every machine with the same libraries. */

struct ab_work {                          /* sums over the whole tape, unmeasured parts included */
    uint64_t n_requests, requested_bytes; /* allocations, and resizes with their new size */
    uint64_t largest_bytes;               /* largest request */
    uint64_t live_peak_bytes;
    uint64_t stretch_bytes; /* most bytes requested between two bulk resets, or the tape's ends */
};

struct ab_default {
    const char *name;                          /* name of a built-in, or of a library of
                                                  allocbench */
    bool (*is_suited)(const struct ab_work *); /* NULL = on request only */
    const char *why, *rule; /* "small mixed sizes"; a sentence without its stop */
};

/* Limit of the default list, because the time grows with each back end. */
enum { AB_DEFAULT_MOST = 8 };

size_t ab_default_count(void);
const struct ab_default *ab_default_at(size_t index);
/* True if the built-in at `index` suits the work. Without requests, none does. */
bool ab_default_suits(size_t index, const struct ab_work *work);
/* True if the library is measured by default. False for a library of allocbench. Also false if
 * an earlier preset stands for the same allocator, because that preset accepts this one's first
 * file. */
bool ab_default_has_library(const struct ab_preset *preset);

/* Usual settings of an allocator, as rows to measure side by side. The table is sweeps.def. */

struct ab_sweep_row {
    const char *backend;  /* "jemalloc" */
    const char *spelling; /* as -b takes it: "jemalloc{MALLOC_CONF=narenas:1}" */
    const char *settings; /* the settings within `spelling`; "" = none */
    const char *says;     /* effect of the settings */
};

/* Returns the rows of a back end, the first without settings; NULL = none. */
const struct ab_sweep_row *ab_sweep_rows(const char *backend, size_t *n);
/* Returns the name of the index-th back end that has rows; NULL past the end. */
const char *ab_sweep_name(size_t index);
/* Finds the rows of a back end. Fails with AB_USAGE if there are none, and lists the names with the
 * nearest. */
enum ab_status ab_sweep_find(const char *backend, const struct ab_sweep_row **rows, size_t *n,
                             struct ab_err *err);

#endif
