/* SPDX-License-Identifier: MIT
 *
 * From what -b says to what can be run: each name or path is found, read and classified, and
 * nothing is loaded. A back end that is absent or the wrong kind of library is not an error here:
 * it stays in the list with its reason, and the others run.
 */
#ifndef AB_BACKEND_SELECTION_H
#define AB_BACKEND_SELECTION_H

#include "allocators/ab_backend.h"
#include "base/limits.h"
#include "base/litter.h"
#include "core/status.h"
#include "wire/kinds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ab_selection_state {
    AB_SELECTION_OK,
    AB_SELECTION_ABSENT,        /* no such file, or not installed; see package */
    AB_SELECTION_WRONG_LIBRARY, /* a file, but none that can be measured */
};

enum { AB_SELECTION_ENV_MAX = 8 };

struct ab_selection {
    char name[128]; /* as shown: "glibc", "arena:reserve=1GiB", "jemalloc{MALLOC_CONF=…}", or a
                       file's stem and its settings; or the name that it was given */
    char full_name
        [512]; /* with a given name: what it stands for, "jemalloc{MALLOC_CONF=…}"; "" = name */
    enum ab_source source; /* absent or wrong: what it would have been, as far as known */
    enum ab_selection_state state;
    char reason[1024]; /* "" when OK; else the end of a sentence that begins with the name */
    bool was_named;    /* asked for by name, not by the default list */
    bool is_along;     /* measured along, to show what the machine does: no gate is about it */
    bool is_file;      /* named by its path: whoever wrote the path has its code run */
    bool never_frees;  /* AB_TRAIT_NO_FREE of a built-in */
    bool is_checked;   /* checked+NAME: every call is proven, nothing is measured */
    uint64_t fault_n;  /* fault+NAME:n=N: the N-th allocation fails; 0 = none does */
    char path[4096];   /* absolute, links resolved; "" for built-ins and the C library */
    uint64_t dev, ino; /* of path */
    char build_id[41], version[64]; /* "" = unknown */
    char package[64];               /* Debian package of a preset; "" = none */
    const struct ab_backend *builtin;
    bool is_placement; /* a row of several back ends, "@map": not one that can be opened */
    bool is_inline;    /* "inline+NAME", "cursor+NAME": a built-in, compiled into the loop */
    bool has_cursor;   /* "cursor+NAME" */
    uint64_t values[AB_PARAMS_MAX];
    char params[256];  /* plug-ins: "PARAM=VALUE:…", which only the worker can check; of
                          AB_SOURCE_PREFIX the functions of init=, "A+B" */
    char prefix[32];   /* of AB_SOURCE_PREFIX, "mi_" */
    uint64_t purge_ns; /* of the work's time: each time it is told to give memory back; 0 = never */
    struct ab_litter_request litter;     /* its seed is not set here */
    char env[AB_SELECTION_ENV_MAX][256]; /* "VARIABLE=VALUE" for its workers alone */
    uint32_t n_env;
};

struct ab_selection_list {
    struct ab_selection *items; /* malloc'ed */
    size_t n;
};

enum { AB_SELECTION_MAX = 64 };

/* Each argument is a comma-separated list of names or paths (anything with a '/' or ending in ".so"
 * or ".so.N"), each with a name of its own in front of it if wanted (OWN=NAME, OWN=PATH) and with settings: NAME:PARAM=VALUE…, {VARIABLE=VALUE;…} of its environment, and of
 * a library ":prefix=mi_" (":prefix=mm_:init=mm_init") or, of a malloc, ":purge=10s" (of the C library ":trim=10s" too), and of all
 * that free single blocks ":litter=0.75x2" (backend/litter.h); an argument that is a file as a whole is one path, commas and all.
 * `folders` ("DIR:DIR", may be NULL): where names that are neither built in nor presets are looked
 * for, as libNAME.so or NAME.so. "libraries" stands for the malloc libraries that are installed, "all"
 * for these and the built-in allocators (presets.h), with was_named false; no arguments: libraries. Fails with
 * AB_USAGE on an unknown name or parameter, when two would be shown under one name, and when two
 * are the same with the same settings, however they are spelled. */
enum ab_status ab_selection_parse(const char *const *args, size_t n_args, const char *folders,
                                  struct ab_selection_list *out, struct ab_err *err);
/* A built-in or library by its name, at the end, with was_named false; nothing where it is not installed
 * or in the list already. `list` is of ab_selection_parse. */
enum ab_status ab_selection_add(struct ab_selection_list *list, const char *name,
                                struct ab_err *err);
void ab_selection_list_fini(struct ab_selection_list *list);

/* As it is shown: what precedes an allocator is a heap. */
enum ab_boundary ab_selection_boundary(const struct ab_selection *selection);
/* "libjemalloc.so.2" → "jemalloc": the file name without lib and .so…, other characters than
 * [A-Za-z0-9._-] as '_'. Always terminates; returns buf. */
const char *ab_selection_stem(const char *path, char *buf, size_t cap);

#endif
