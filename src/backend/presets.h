/* SPDX-License-Identifier: MIT
 *
 * Malloc libraries that are known by name (presets.def), and where their files are. Also the back
 * ends that are measured by default (defaults.def), and the usual settings of allocators
 * (sweeps.def).
 */
#ifndef AB_BACKEND_PRESETS_H
#define AB_BACKEND_PRESETS_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_preset {
    const char *name;
    const char *package; /* name of the Debian package in this release */
    const char *summary;
    /* names or patterns of files to try, ends with NULL; empty if no file is needed */
    const char *const *files;
};

size_t ab_preset_count(void);
const struct ab_preset *ab_preset_at(size_t index);
/* Returns the preset of this name; NULL = none. */
const struct ab_preset *ab_preset_find(const char *name);

/* True if the library is part of allocbench. */
bool ab_preset_is_own(const struct ab_preset *preset);

/* Finds the first file of the preset that is a library for this machine. If no file is one, finds
 * the first file that exists, so that the caller can say what is wrong with it. `dirs` ends with
 * NULL; NULL = the standard directories. LD_LIBRARY_PATH is ignored, because measurements should
 * not depend on it. Returns false if no file exists. */
bool ab_preset_locate(const struct ab_preset *preset, const char *const *dirs, char *path,
                      size_t cap);

/* Writes the version of the preset's library at `path` to buf and returns buf; "" = unknown. For
 * LLVM the version is in the path (…/clang/14.0.6/…); otherwise it is the version of the installed
 * package. Always terminates buf. */
const char *ab_preset_version(const struct ab_preset *preset, const char *path, char *buf,
                              size_t cap);

/* Writes the version of an installed Debian package to buf, without its epoch, and returns buf; ""
 * = unknown. The version is in dpkg's status file; status_file NULL = the file of the system.
 * Always terminates buf. */
const char *ab_package_version(const char *package, const char *status_file, char *buf, size_t cap);

/* Back ends that are measured if the user names none. defaults.def has the rules. They use only
 * sums over the work, so that the same work gets the same back ends on every machine with the same
 * libraries. */

/* sums over the whole tape, including phases that are not measured */
struct ab_work {
    /* number and bytes of allocations and resizes; a resize counts with its new size */
    uint64_t n_requests, requested_bytes;
    uint64_t largest_bytes; /* size of the largest request */
    uint64_t live_peak_bytes;
    /* most bytes requested between two bulk resets; the beginning and the end of the tape count as
     * resets */
    uint64_t stretch_bytes;
};

struct ab_default {
    /* name of a built-in allocator, or of a library that is part of allocbench */
    const char *name;
    /* test whether the allocator suits the work; NULL = measured on request only */
    bool (*is_suited)(const struct ab_work *);
    /* why: short reason, as in "small mixed sizes"; rule: a sentence without its full stop */
    const char *why, *rule;
};

/* Largest number of back ends that are measured by default, because each takes time. */
enum { AB_DEFAULT_MOST = 8 };

size_t ab_default_count(void);
const struct ab_default *ab_default_at(size_t index);
/* True if the allocator at `index` suits the work. Without requests, no allocator does. */
bool ab_default_suits(size_t index, const struct ab_work *work);
/* True if the preset is measured by default. False for a library that is part of allocbench. Also
 * false if an earlier preset accepts the first file of this preset, because both are then the same
 * allocator. */
bool ab_default_has_library(const struct ab_preset *preset);

/* Usual settings of an allocator, as rows to measure side by side. The table is in sweeps.def. */

struct ab_sweep_row {
    const char *backend; /* "jemalloc" */
    /* back end with its settings, in the notation of -b: "jemalloc{MALLOC_CONF=narenas:1}" */
    const char *spelling;
    const char *settings; /* settings alone; "" = none */
    const char *says;     /* effect of the settings, in words */
};

/* Returns the rows of a back end and sets *n to their number. The first row has no settings.
 * Returns NULL if there are none. */
const struct ab_sweep_row *ab_sweep_rows(const char *backend, size_t *n);
/* Returns the name of the back end at `index` among those that have rows; NULL if `index` is too
 * large. */
const char *ab_sweep_name(size_t index);
/* Sets *rows and *n to the rows of a back end. If it has none, fails with AB_USAGE; the message
 * lists the back ends that have rows and suggests the most similar name. */
enum ab_status ab_sweep_find(const char *backend, const struct ab_sweep_row **rows, size_t *n,
                             struct ab_err *err);

#endif
