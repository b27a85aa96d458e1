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
    AB_SELECTION_ABSENT,        /* no such file, or not installed; see package */
    AB_SELECTION_WRONG_LIBRARY, /* a file that cannot be measured */
};

enum { AB_SELECTION_ENV_MAX = 8 };

struct ab_selection {
    char name[128]; /* shown name: "glibc", "arena:reserve=1GiB", "jemalloc{MALLOC_CONF=…}", or a
                       file's stem and settings; or the name that the user gave */
    char full_name
        [512]; /* if the user gave a name: the full one, "jemalloc{MALLOC_CONF=…}"; "" = same as
                  name */
    enum ab_source source; /* if absent or wrong: the expected source, if known */
    enum ab_selection_state state;
    char reason[1024]; /* "" if OK; else the end of a sentence that begins with the name */
    bool was_named;    /* True if the user named it, False if a default list did */
    bool is_control;   /* True for a control that shows changes of the machine; no gate applies */
    bool is_file;      /* True if named by a path: the author of the path chooses the code that
                          runs */
    bool never_frees;  /* AB_TRAIT_NO_FREE of a built-in */
    bool is_checked;   /* checked+NAME: every call is checked, nothing is measured */
    uint64_t fault_n;  /* fault+NAME:n=N: the N-th allocation fails; 0 = none */
    char path[4096];   /* absolute, links resolved; "" for built-ins and the C library */
    uint64_t dev, ino; /* device and inode of `path` */
    char build_id[41], version[64]; /* "" = unknown */
    char package[64];               /* Debian package of a preset; "" = none */
    const struct ab_backend *builtin;
    bool is_placement; /* True for "@map", a row of several back ends that cannot be opened
                          itself */
    bool is_inline;    /* True for "inline+NAME" and "cursor+NAME": a built-in compiled into the
                          loop */
    bool has_cursor;   /* "cursor+NAME" */
    uint64_t values[AB_PARAMS_MAX];
    char params[256];              /* plug-ins: "PARAM=VALUE:…", checked only by the worker; for
                          AB_SOURCE_PREFIX the functions of init=, "A+B" */
    char prefix[32];               /* of AB_SOURCE_PREFIX, "mi_" */
    uint64_t purge_ns;             /* interval of periodic purges, in the work's time; 0 = never */
    struct ab_aging_request aging; /* without its seed, which is set later */
    char env[AB_SELECTION_ENV_MAX][256]; /* "VARIABLE=VALUE", only for its workers */
    uint32_t n_env;
};

struct ab_selection_list {
    struct ab_selection *items; /* malloc'ed */
    size_t n;
};

enum { AB_SELECTION_MAX = 64 };

/* Parses the arguments of -b. Each is a comma-separated list of names or paths (texts with '/' or
 * ending in ".so" or ".so.N"). An argument that is a file as a whole is one path, commas included.
 * 
 * An entry may begin with a name to show, OWN=NAME or OWN=PATH. It may end with settings:
 * NAME:PARAM=VALUE… or environment variables {VARIABLE=VALUE;…}. A library takes ":prefix=mi_"
 * (":prefix=mm_:init=mm_init"), a malloc ":purge=10s" (the C library ":trim=10s" too). Every back
 * end that frees single blocks takes ":litter=0.75x2" (backend/aged_rows.h).
 * 
 * Names that are neither built in nor presets are searched as libNAME.so or NAME.so in `folders`
 * ("DIR:DIR", may be NULL). "libraries" stands for the installed malloc libraries, "all" for these
 * and the built-in allocators (presets.h), with was_named false. No arguments mean "libraries".
 * 
 * Fails with AB_USAGE on an unknown name or parameter, if two rows would have one name, and if two
 * rows have equal settings, however they are spelled. */
enum ab_status ab_selection_parse(const char *const *args, size_t n_args, const char *folders,
                                  struct ab_selection_list *out, struct ab_err *err);
/* Appends a built-in or library by its name, with was_named false. Does nothing if it is not
 * installed or is in the list. `list` comes from ab_selection_parse(). */
enum ab_status ab_selection_add(struct ab_selection_list *list, const char *name,
                                struct ab_err *err);
void ab_selection_list_fini(struct ab_selection_list *list);

/* Returns the boundary to show for a back end. With a prefix such as checked+, it is a heap. */
enum ab_boundary ab_selection_boundary(const struct ab_selection *selection);
/* Writes the name of a library file to buf and returns buf: "libjemalloc.so.2" → "jemalloc". Drops
 * lib and .so…, and replaces characters outside [A-Za-z0-9._-] by '_'. Always terminates buf. */
const char *ab_selection_stem(const char *path, char *buf, size_t cap);

#endif
