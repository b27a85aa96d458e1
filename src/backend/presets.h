/* SPDX-License-Identifier: MIT
 *
 * Malloc libraries that are known by name, and where they lie. The list is presets.def.
 */
#ifndef AB_BACKEND_PRESETS_H
#define AB_BACKEND_PRESETS_H

#include <stdbool.h>
#include <stddef.h>

struct ab_preset {
    const char *name, *package, *summary;
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

#endif
