/* SPDX-License-Identifier: MIT
 *
 * Turns the arguments of -b into back ends to run. Finds, reads and classifies each name or path
 * without loading it. A back end that is missing or the wrong kind of library is not an error here:
 * it stays in the list with its reason, and the others run.
 */
#ifndef AB_BACKEND_SELECTION_H
#define AB_BACKEND_SELECTION_H

#include "allocators/ab_backend.h"
#include "base/aging.h"
#include "base/limits.h"
#include "core/status.h"
#include "wire/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ab_selection_state {
    AB_SELECTION_OK,
    AB_SELECTION_ABSENT,        /* no such file, not installed, or its heap cannot be aged */
    AB_SELECTION_WRONG_LIBRARY, /* a file that cannot be loaded as a back end */
};

enum { AB_SELECTION_ENV_MAX = 8 };

struct ab_selection {
    /* name to show: "glibc", "arena:reserve=1GiB", "jemalloc{MALLOC_CONF=…}", for a file its stem
     * and settings, or the name that the user gave to the row */
    char name[128];
    /* name with all settings, "jemalloc{MALLOC_CONF=…}", if the user gave the row a name; "" =
     * `name` has all settings */
    char full_name[512];
    enum ab_source source; /* kind of the back end; if it is absent or wrong, the expected kind */
    enum ab_selection_state state;
    /* "" if OK; otherwise the end of a sentence that begins with the name of the back end */
    char reason[1024];
    /* True if the user named the back end; false if a word such as "libraries" or the default list
     * did */
    bool was_named;
    /* True if the row is measured only to notice changes of the machine; gates do not apply to
     * it */
    bool is_control;
    /* True if named by a path, so that the author of the path decides which code runs */
    bool is_file;
    /* True if it is a built-in allocator with AB_TRAIT_NO_FREE: it frees no single blocks */
    bool never_frees;
    bool is_checked;  /* True for checked+NAME: every call is checked, nothing is measured */
    uint64_t fault_n; /* fault+NAME:n=N: number of the allocation that fails, from 1; 0 = none */
    /* absolute path without symbolic links; "" for built-ins and the C library */
    char path[4096];
    uint64_t dev, ino;              /* device and inode of `path` */
    char build_id[41], version[64]; /* "" = unknown */
    char package[64];               /* Debian package, if it is a preset; "" = none */
    const struct ab_backend *builtin;
    /* True for "@map", a row in which several back ends serve the requests. It cannot be opened
     * itself */
    bool is_placement;
    /* True for inline+NAME and cursor+NAME: a built-in allocator that is compiled into the replay
     * loop */
    bool is_inline;
    bool has_cursor; /* True for cursor+NAME */
    uint64_t values[AB_PARAMS_MAX];
    /* plug-in: "PARAM=VALUE:…", whose names and values only the worker checks. AB_SOURCE_PREFIX:
     * the functions of init=, "A+B" */
    char params[256];
    char prefix[32]; /* AB_SOURCE_PREFIX: prefix of its functions, such as "mi_" */
    /* interval of periodic purges in the time of the work, ns; 0 = no purges */
    uint64_t purge_ns;
    struct ab_aging_request aging; /* occupancy 0 = no aged heap; the seed is set later */
    /* "VARIABLE=VALUE", set for the workers of this back end only */
    char env[AB_SELECTION_ENV_MAX][256];
    uint32_t n_env;
};

struct ab_selection_list {
    struct ab_selection *items; /* malloc'ed */
    size_t n;
};

enum { AB_SELECTION_MAX = 64 };

/* Parses the arguments of -b. Each argument is a comma-separated list of names or paths. A text is
 * a path if it contains '/' or ends in ".so" or ".so.N". If a whole argument is the path of an
 * existing file, it is one path, even with commas.
 *
 * An entry may begin with a name to show: OWN=NAME or OWN=PATH. An entry may end with settings,
 * NAME:PARAM=VALUE…, or with environment variables, {VARIABLE=VALUE;…}. Settings of a library are
 * ":prefix=mi_" or ":prefix=mm_:init=mm_init"; of a malloc ":purge=10s"; of the C library also
 * ":trim=10s". Every back end that frees single blocks has ":litter=0.75x2" (backend/aged_rows.h).
 *
 * A name that is neither built in nor a preset is searched as libNAME.so or NAME.so in `folders`
 * ("DIR:DIR", may be NULL). "libraries" stands for all installed malloc libraries, and "all" for
 * these and the built-in allocators (presets.h); was_named is false in their rows. No arguments
 * mean "libraries".
 *
 * Fails with AB_USAGE on an unknown name or parameter, if two rows would have one name, and if two
 * rows have the same settings, however they are spelled. */
enum ab_status ab_selection_parse(const char *const *args, size_t n_args, const char *folders,
                                  struct ab_selection_list *out, struct ab_err *err);
/* Appends the built-in allocator or library `name` with was_named false. Does nothing if it is not
 * installed or already in the list. `list` must come from ab_selection_parse(). */
enum ab_status ab_selection_add(struct ab_selection_list *list, const char *name,
                                struct ab_err *err);
void ab_selection_list_fini(struct ab_selection_list *list);

/* Returns the boundary that is shown for a back end: the kind of interface through which it is
 * called. With checked+ or fault+ it is a heap. */
enum ab_boundary ab_selection_boundary(const struct ab_selection *selection);
/* Writes the name of a library file to buf and returns buf: "libjemalloc.so.2" becomes "jemalloc".
 * Removes "lib" and ".so…", and replaces characters outside [A-Za-z0-9._-] by '_'. Always
 * terminates buf. */
const char *ab_selection_stem(const char *path, char *buf, size_t cap);

#endif
