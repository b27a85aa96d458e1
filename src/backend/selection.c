/* SPDX-License-Identifier: MIT
 *
 * Looks names up among the built-in allocators first, then among presets, then in folders. Whether
 * a text is a path depends on its form only, not on files in the current directory.
 */
#include "backend/selection.h"

#include "allocators/builtin.h"
#include "backend/aged_rows.h"
#include "backend/presets.h"
#include "backend/settings.h"
#include "base/bits.h"
#include "base/malloc_names.h"
#include "base/nearest.h"
#include "base/units.h"
#include "core/alloc.h"
#include "core/elf.h"
#include "core/text.h"

#include <ctype.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAMES_MAX = 64 };
/* words that stand for several back ends */
static const char all[] = "all", libraries[] = "libraries";

/* Returns the last ".so" in the name that is at its end or before a version number; NULL = none. */
static const char *find_so(const char *name)
{
    const char *found = NULL;
    for (const char *p = name; (p = strstr(p, ".so")) != NULL; p++)
        if (p[3] == 0 || (p[3] == '.' && isdigit((unsigned char)p[4])))
            found = p;
    return found;
}

static bool is_path(const char *text)
{
    return strchr(text, '/') != NULL || find_so(text) != NULL;
}

const char *ab_selection_stem(const char *path, char *buf, size_t cap)
{
    const char *begin = basename(path), *so = find_so(begin),
               *end = so != NULL && so > begin ? so : begin + strlen(begin);
    if (strncmp(begin, "lib", 3) == 0 && begin + 3 < end)
        begin += 3;
    size_t n = 0;
    for (; begin < end && n + 1 < cap && n < 64; begin++, n++)
        buf[n] = isalnum((unsigned char)*begin) || strchr("._-", *begin) != NULL ? *begin : '_';
    buf[n] = 0;
    return buf;
}

enum ab_boundary ab_selection_boundary(const struct ab_selection *s)
{
    return s->is_placement                   ? AB_BOUNDARY_PLACED
           : s->has_cursor                   ? AB_BOUNDARY_CURSOR
           : s->is_inline                    ? AB_BOUNDARY_INLINE
           : s->is_checked || s->fault_n > 0 ? AB_BOUNDARY_HEAP
                                             : ab_source_boundary(s->source);
}

/* Lists all names that -b knows. Returns the number of names. */
static size_t list_names(const char *names[NAMES_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < ab_preset_count() && n + 2 < NAMES_MAX; i++)
        names[n++] = ab_preset_at(i)->name;
    for (size_t i = 0; i < ab_builtin_count() && n + 2 < NAMES_MAX; i++)
        names[n++] = ab_builtin_at(i)->name;
    names[n++] = all;
    names[n++] = libraries;
    return n;
}

/* Allocators that have no Debian package, and the file that the build of each one makes. */
static const struct {
    const char *name, *file;
} unpackaged[] = {
    {"snmalloc", "libsnmallocshim.so"},
    {"rpmalloc", "librpmallocwrap.so"},
    {"hoard", "libhoard.so"},
    {"mesh", "libmesh.so"},
    {"hardened_malloc", "libhardened_malloc.so"},
    {"supermalloc", "libsupermalloc_pthread.so"},
    {"lockless", "libllalloc.so"},
    {"ltalloc", "libltalloc.so"},
};

static const char *find_unpackaged(const char *name)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(unpackaged); i++)
        if (strcmp(unpackaged[i].name, name) == 0)
            return unpackaged[i].file;
    return NULL;
}

static enum ab_status fail_unknown(const char *name, const char *folders, struct ab_err *err)
{
    const char *names[NAMES_MAX];
    char shown[256];
    size_t n = list_names(names);
    const char *nearest = ab_text_nearest(name, names, n);
    struct ab_text t = {0};
    ab_text_addf(&t, "unknown back end \"%s\"", ab_text_printable(shown, sizeof shown, name));
    const char *file = find_unpackaged(name);
    if (file != NULL)
        nearest = NULL;
    if (file != NULL)
        ab_text_addf(&t, ": Debian has no package of it; build it and give its path: -b ./%s",
                     file);
    if (nearest != NULL)
        ab_text_addf(&t, "; did you mean \"%s\"?", nearest);
    ab_text_add(&t, nearest != NULL ? " Known:" : ". Known:");
    for (size_t i = 0; i < n; i++)
        ab_text_addf(&t, "%s %s", i == 0 ? "" : ",", names[i]);
    ab_text_add(&t, "; give a library by its path");
    if (folders != NULL)
        ab_text_addf(&t, "; neither lib%s.so nor %s.so is in %s", shown, shown,
                     AB_SHOWN(512, folders));
    enum ab_status status = ab_fail(err, AB_USAGE, "%s", t.s);
    ab_text_fini(&t);
    return status;
}

static enum ab_status select_builtin(const struct ab_backend *b, const char *params,
                                     struct ab_selection *s, struct ab_err *err)
{
    s->source = AB_SOURCE_BUILTIN;
    s->builtin = b;
    AB_TRY(ab_params_parse(b, params, s->values, err));
    s->never_frees = (ab_backend_variant(b, s->values)->traits & AB_TRAIT_NO_FREE) != 0;
    return AB_OK;
}

/* Functions to look for in a library: first all functions of malloc, then the symbol of a plug-in.
 * A malloc library must define all functions of malloc. Otherwise blocks of one allocator would be
 * freed by another. */

static const char *const symbols[] = {
#define AB_MALLOC_SERVED(name, flags) #name,
#define AB_MALLOC_NAME(name, flags)
#include "base/malloc_names.def"
    AB_BACKEND_SYMBOL,
};

enum { N_MALLOC = AB_SERVED_COUNT, ALL_OF_MALLOC = (1 << N_MALLOC) - 1, PLUGIN = 1 << N_MALLOC };
_Static_assert(AB_ARRAY_LEN(symbols) == N_MALLOC + 1, "the plug-in's symbol is the last");

static void refuse(struct ab_selection *s, enum ab_selection_state state, const char *reason)
{
    struct ab_err text;
    ab_fail(&text, AB_BACKEND, "%s", reason);
    s->state = state;
    memcpy(s->reason, text.text, sizeof s->reason);
}

static void refuse_part(struct ab_selection *s, uint64_t defined)
{
    struct ab_text t = {0};
    ab_text_add(&t, "defines malloc, but not");
    const char *separator = " ";
    for (size_t i = 0; i < N_MALLOC; i++)
        if ((defined >> i & 1) == 0) {
            ab_text_addf(&t, "%s%s", separator, symbols[i]);
            separator = ", ";
        }
    ab_text_add(&t, ": its blocks would mix with those of the C library");
    refuse(s, AB_SELECTION_WRONG_LIBRARY, t.s);
    ab_text_fini(&t);
}

/* Classifies a library whose functions have the prefix s->prefix. PREFIXmalloc and PREFIXfree are
 * required, all others are optional. */
static void classify_prefix(const char *path, struct ab_selection *s)
{
    char names[2][64];
    const char *const wanted[] = {names[0], names[1]};
    struct ab_elf elf;
    struct ab_err err;
    AB_FIT(names[0], "%smalloc", s->prefix);
    AB_FIT(names[1], "%sfree", s->prefix);
    s->source = AB_SOURCE_PREFIX;
    if (ab_elf_read(path, wanted, 2, &elf, &err) == AB_OK && elf.defined == 3)
        return;
    ab_fail(&err, AB_BACKEND, "does not define %s and %s", names[0], names[1]);
    refuse(s, AB_SELECTION_WRONG_LIBRARY, err.text);
}

/* Refuses a library that has no malloc. If it has malloc and free with a well-known prefix or with
 * its file name as prefix, the reason suggests to use this prefix. */
static void refuse_without_malloc(struct ab_selection *s)
{
    static const char *const known[] = {"mm_", "my_", "my", "mi_", "je_", "tc_", "sn_", "rp", "dl"};
    enum { KNOWN = AB_ARRAY_LEN(known), TRIED = KNOWN + 2 };
    char stem[128], names[2 * TRIED][80];
    const char *wanted[2 * TRIED];
    struct ab_elf elf;
    struct ab_err err;
    ab_selection_stem(s->path, stem, sizeof stem);
    for (size_t i = 0; i < TRIED; i++) {
        const char *prefix = i < KNOWN ? known[i] : stem;
        for (size_t k = 0; k < 2; k++) {
            snprintf(names[2 * i + k], sizeof names[0], "%.60s%s%s", prefix, i == KNOWN ? "_" : "",
                     k == 0 ? "malloc" : "free");
            wanted[2 * i + k] = names[2 * i + k];
        }
    }
    bool is_read = ab_elf_read(s->path, wanted, 2 * TRIED, &elf, &err) == AB_OK;
    for (size_t i = 0; is_read && i < TRIED; i++)
        if ((elf.defined >> (2 * i) & 3) == 3) {
            ab_fail(&err, AB_BACKEND, "has no malloc, but %s and %s: give it as %s:prefix=%.*s",
                    names[2 * i], names[2 * i + 1], s->path,
                    (int)(strlen(names[2 * i]) - strlen("malloc")), names[2 * i]);
            refuse(s, AB_SELECTION_WRONG_LIBRARY, err.text);
            return;
        }
    refuse(s, AB_SELECTION_WRONG_LIBRARY,
           "has no malloc and no " AB_BACKEND_SYMBOL ": nothing to measure");
}

static void classify_symbols(const struct ab_elf *elf, struct ab_selection *s)
{
    if (elf->is_executable)
        refuse(s, AB_SELECTION_WRONG_LIBRARY, "is a program, not a shared library");
    else if (!elf->is_dynamic)
        refuse(s, AB_SELECTION_WRONG_LIBRARY, "has no dynamic symbols");
    else if (s->prefix[0] != 0)
        classify_prefix(s->path, s);
    else if ((elf->defined & PLUGIN) != 0)
        s->source = AB_SOURCE_PLUGIN;
    else if ((elf->defined & ALL_OF_MALLOC) == ALL_OF_MALLOC)
        s->source = AB_SOURCE_PRELOAD;
    else if ((elf->defined & 1) != 0)
        refuse_part(s, elf->defined);
    else
        refuse_without_malloc(s);
}

/* Reads the file `path` and sets path, dev, ino, build_id, source, state and reason in *s. */
static void library_classify(const char *path, struct ab_selection *s)
{
    struct ab_elf elf;
    struct ab_err err;
    s->source = AB_SOURCE_PRELOAD;
    char *real = realpath(path, NULL);
    if (real == NULL || strlen(real) >= sizeof s->path) {
        bool is_absent = real == NULL && (errno == ENOENT || errno == ENOTDIR);
        ab_fail(&err, AB_BACKEND, "%s", real != NULL ? "has too long a path" : strerror(errno));
        refuse(s, is_absent ? AB_SELECTION_ABSENT : AB_SELECTION_WRONG_LIBRARY,
               is_absent ? "no such file" : err.text);
        goto out;
    }
    strcpy(s->path, real);
    if (ab_elf_read(real, symbols, AB_ARRAY_LEN(symbols), &elf, &err) != AB_OK) {
        refuse(s, AB_SELECTION_WRONG_LIBRARY, err.text);
        goto out;
    }
    s->dev = elf.dev;
    s->ino = elf.ino;
    memcpy(s->build_id, elf.build_id, sizeof s->build_id);
    classify_symbols(&elf, s);
out:
    free(real);
}

#define PURGE_LEAST_NS UINT64_C(1000000)

/* Parses the settings of a malloc library: "purge=10s" or nothing. The C library also accepts
 * "trim=10s", which means the same. */
static enum ab_status settings_purge(const char *params, bool is_libc, struct ab_selection *s,
                                     struct ab_err *err)
{
    struct ab_number period;
    size_t n = strcspn(params, "=");
    const char *value = params[n] == '=' ? params + n + 1 : params + n;
    bool is_purge = n == 5 && strncmp(params, "purge", n) == 0;
    if (*params == 0)
        return AB_OK;
    if (!is_purge && !(is_libc && n == 4 && strncmp(params, "trim", n) == 0))
        return ab_fail(
            err, AB_USAGE,
            "%s: a malloc library takes no parameters except %spurge=TIME, at which periods "
            "of the work's time it gives memory back%s; environment variables stand in "
            "braces: {VARIABLE=VALUE}",
            s->name, is_libc ? "trim=TIME or " : "", is_libc ? "" : ", and prefix=NAME");
    const char *wrong = ab_units_parse(value, strlen(value), AB_UNIT_TIME, &period);
    if (wrong == NULL && period.whole < PURGE_LEAST_NS)
        wrong = "must be at least 1ms";
    if (wrong != NULL)
        return ab_fail(err, AB_USAGE, "%s: %.*s=%s: %s", s->name, (int)n, params,
                       AB_SHOWN(64, value), wrong);
    s->purge_ns = period.whole;
    return AB_OK;
}

static enum ab_status select_preset(const struct ab_preset *p, const char *params,
                                    struct ab_selection *s, struct ab_err *err)
{
    char path[sizeof s->path];
    AB_TRY(settings_purge(params, p->files[0] == NULL, s, err));
    AB_COPY(s->package, p->package);
    if (p->files[0] == NULL) {
        s->source = AB_SOURCE_LIBC;
        AB_COPY(s->version, gnu_get_libc_version());
        return AB_OK;
    }
    s->source = AB_SOURCE_PRELOAD;
    if (!ab_preset_locate(p, NULL, path, sizeof path)) {
        s->state = AB_SELECTION_ABSENT;
        AB_FIT(s->reason, "is not installed (Debian package %s)", p->package);
        return AB_OK;
    }
    library_classify(path, s);
    ab_preset_version(p, path, s->version, sizeof s->version);
    return AB_OK;
}

/* Selects a library file. Its settings are "PARAM=VALUE:…" for a plug-in, "prefix=mi_", or
 * "purge=10s" for a malloc. */
static enum ab_status select_file(const char *path, const char *params, struct ab_selection *s,
                                  struct ab_err *err)
{
    AB_TRY(ab_settings_library(params, s, err));
    library_classify(path, s);
    if (s->state == AB_SELECTION_OK && s->source == AB_SOURCE_PRELOAD && s->params[0] != 0) {
        /* a malloc library has no parameters of its own, only the setting purge */
        s->params[0] = 0;
        return settings_purge(params, false, s, err);
    }
    if (s->state == AB_SELECTION_ABSENT)
        AB_FIT(s->reason, "no such file: %s", AB_SHOWN(512, path));
    return AB_OK;
}

/* Looks for DIR/libNAME.so and DIR/NAME.so in each of the folders "DIR:DIR". Returns true and the
 * path of the first file that exists. */
static bool find_in_folders(const char *folders, const char *name, char *out, size_t cap)
{
    for (const char *p = folders; p != NULL && *p != 0; p += *p == ':') {
        size_t n = strcspn(p, ":");
        for (int is_bare = 0; is_bare < 2 && n > 0; is_bare++) {
            int used = snprintf(out, cap, "%.*s/%s%s.so", (int)n, p, is_bare ? "" : "lib", name);
            if (used > 0 && (size_t)used < cap && access(out, F_OK) == 0)
                return true;
        }
        p += n;
    }
    return false;
}

static enum ab_status select_name(const struct ab_spelling *spelling, const char *folders,
                                  struct ab_selection *s, struct ab_err *err)
{
    const struct ab_backend *builtin = ab_builtin_find(spelling->name);
    const struct ab_preset *preset = ab_preset_find(spelling->name);
    char path[sizeof s->path];
    if (builtin != NULL)
        return select_builtin(builtin, spelling->params, s, err);
    if (preset != NULL)
        return select_preset(preset, spelling->params, s, err);
    if (find_in_folders(folders, spelling->name, path, sizeof path))
        return select_file(path, spelling->params, s, err);
    return fail_unknown(spelling->name, folders, err);
}

/* Removes a prefix such as "checked+" or "inline+" from *name and returns the prefix; "" = there is
 * none. */
static const char *take_decorator(char **name)
{
    static const char *const decorators[] = {"checked+", "fault+", "inline+", "cursor+"};
    for (size_t i = 0; i < AB_ARRAY_LEN(decorators); i++) {
        size_t n = strlen(decorators[i]);
        if (strncmp(*name, decorators[i], n) == 0) {
            *name += n;
            return decorators[i];
        }
    }
    return "";
}

/* Checks the name that the user gives to a row: its characters, and that it does not already mean
 * another back end. */
static enum ab_status check_own(const struct ab_spelling *spelling, struct ab_err *err)
{
    char stem[128];
    const char *own = AB_SHOWN(128, spelling->own);
    if (*own == 0 || strcmp(ab_selection_stem(own, stem, sizeof stem), own) != 0)
        return ab_fail(err, AB_USAGE, "%s=: a name has 1 to 64 letters, digits, '.', '_' and '-'",
                       own);
    if (ab_builtin_find(own) != NULL || ab_preset_find(own) != NULL || strcmp(own, all) == 0 ||
        strcmp(own, libraries) == 0)
        return ab_fail(err, AB_USAGE, "%s=: this name belongs to a known back end", own);
    return AB_OK;
}

/* Removes the setting that begins with `key` ("KEY=") from the parameters and copies its value.
 * Returns false if it is missing. */
static bool take_param(char *params, const char *key, char *value, size_t cap)
{
    for (char *p = params; *p != 0; p += *p == ':') {
        size_t n = strcspn(p, ":"), n_key = strlen(key);
        if (strncmp(p, key, n_key) == 0) {
            snprintf(value, cap, "%.*s", (int)(n - n_key), p + n_key);
            memmove(p, p + n + (p[n] == ':'), strlen(p + n + (p[n] == ':')) + 1);
            if (*p == 0 && p > params)
                p[-1] = 0;
            return true;
        }
        p += n;
    }
    return false;
}

static enum ab_status read_decorator(struct ab_spelling *spelling, const char *decorator,
                                     struct ab_selection *s, struct ab_err *err)
{
    struct ab_number number;
    if (*decorator != 0 && *take_decorator(&(char *){spelling->name}) != 0)
        return ab_fail(err, AB_USAGE,
                       "%s: only one of checked+, fault+, inline+ and cursor+ may precede a name",
                       AB_SHOWN(128, s->name));
    s->is_checked = strcmp(decorator, "checked+") == 0;
    s->has_cursor = strcmp(decorator, "cursor+") == 0;
    s->is_inline = s->has_cursor || strcmp(decorator, "inline+") == 0;
    if (s->has_cursor && !ab_builtin_has_cursor(spelling->name))
        return ab_fail(err, AB_USAGE, "%s: only arena, pool and null have a cursor",
                       AB_SHOWN(128, s->name));
    if (s->is_inline && !ab_builtin_has_inline(spelling->name))
        return ab_fail(err, AB_USAGE, "%s: only arena, pool, slab and null can be inlined",
                       AB_SHOWN(128, s->name));
    if (s->is_checked || s->is_inline || *decorator == 0)
        return AB_OK;
    char value[32];
    if (!take_param(spelling->params, "n=", value, sizeof value))
        return ab_fail(err, AB_USAGE, "%s: which allocation should fail? fault+NAME:n=100",
                       AB_SHOWN(128, s->name));
    const char *bad = ab_units_parse(value, strlen(value), AB_UNIT_COUNT, &number);
    if (bad == NULL && number.whole == 0)
        bad = "calls count from 1";
    if (bad != NULL)
        return ab_fail(err, AB_USAGE, "%s: n=%s: %s", s->name, AB_SHOWN(128, value), bad);
    s->fault_n = number.whole;
    return AB_OK;
}

/* Writes the name of the back end as requested, with its settings. A path is replaced by the stem
 * of its file name. */
static enum ab_status spell_out(const struct ab_spelling *spelling, const char *decorator,
                                bool is_file, char *to, size_t cap, struct ab_err *err)
{
    char stem[128], printable[4 * sizeof((struct ab_selection *)0)->full_name];
    const char *base = is_file ? ab_selection_stem(spelling->name, stem, sizeof stem)
                               : spelling->name;
    int n = snprintf(to, cap, "%s%s%s%s%s%s%s", decorator, base,
                     spelling->params[0] != 0 ? ":" : "", spelling->params,
                     spelling->env[0] != 0 ? "{" : "", spelling->env,
                     spelling->env[0] != 0 ? "}" : "");
    const char *settings = to + strcspn(to, ":{");
    if (strcmp(ab_text_printable(printable, sizeof printable, settings), settings) != 0)
        return ab_fail(err, AB_USAGE, "settings must be printable text, found \"%s\"", printable);
    if (n < (int)cap)
        return AB_OK;
    return ab_fail(err, AB_USAGE, "a back end's name may have at most %zu characters: %s…%s",
                   cap - 1, AB_SHOWN(64, to),
                   spelling->own[0] == 0 ? "; give it a short one: NAME=…" : "");
}

/* Sets s->name, and s->full_name if the user gave the row a name. A given name hides the settings
 * except `litter`, because --aged makes several rows of one back end. */
static enum ab_status name_selection(const struct ab_spelling *spelling, const char *decorator,
                                     bool is_file, struct ab_selection *s, struct ab_err *err)
{
    if (spelling->own[0] == 0)
        return spell_out(spelling, decorator, is_file, s->name, sizeof s->name, err);
    char params[256], aging[32];
    AB_COPY(params, spelling->params);
    bool has_aged_heap = take_param(params, "litter=", aging, sizeof aging);
    AB_FIT(s->name, "%s%s%s%s", decorator, spelling->own, has_aged_heap ? ":litter=" : "",
           has_aged_heap ? aging : "");
    if (is_file && spelling->params[0] == 0 && spelling->env[0] == 0)
        return AB_OK;
    return spell_out(spelling, decorator, is_file, s->full_name, sizeof s->full_name, err);
}

static enum ab_status select_one(char *text, const char *folders, struct ab_selection *s,
                                 struct ab_err *err)
{
    struct ab_spelling spelling;
    if (*text == ':' || *text == '{')
        return ab_fail(err, AB_USAGE, "no back end before \"%s\"", AB_SHOWN(256, text));
    AB_TRY(ab_settings_split(text, &spelling, err));
    bool has_own = spelling.own[0] != 0;
    const char *decorator = has_own ? take_decorator(&spelling.own) : "";
    if (*decorator == 0)
        decorator = take_decorator(&spelling.name);
    bool is_file = s->is_file = is_path(spelling.name);
    if (has_own)
        AB_TRY(check_own(&spelling, err));
    AB_TRY(name_selection(&spelling, decorator, is_file, s, err));
    AB_TRY(read_decorator(&spelling, decorator, s, err));
    AB_TRY(ab_settings_env(spelling.env, s, err));
    char aging[32];
    bool has_aged_heap = take_param(spelling.params, "litter=", aging, sizeof aging);
    if (has_aged_heap)
        AB_TRY(ab_aged_rows_read(aging, s->name, &s->aging, err));
    AB_TRY(is_file ? select_file(spelling.name, spelling.params, s, err)
                   : select_name(&spelling, folders, s, err));
    if (has_aged_heap)
        ab_aged_rows_judge(s);
    return AB_OK;
}

static bool have_same_variables(const struct ab_selection *a, const struct ab_selection *b)
{
    uint32_t n_same = 0;
    for (uint32_t i = 0; i < a->n_env; i++)
        for (uint32_t k = 0; k < b->n_env; k++)
            n_same += strcmp(a->env[i], b->env[k]) == 0;
    return a->n_env == b->n_env && n_same == a->n_env; /* no variable occurs twice in a selection */
}

/* True if both selections are OK and would do exactly the same, however they are spelled. */
static bool is_twin(const struct ab_selection *a, const struct ab_selection *b)
{
    return a->is_checked == b->is_checked && a->is_inline == b->is_inline &&
           a->has_cursor == b->has_cursor && a->fault_n == b->fault_n &&
           a->state == AB_SELECTION_OK && b->state == AB_SELECTION_OK && a->source == b->source &&
           a->builtin == b->builtin && a->dev == b->dev && a->ino == b->ino &&
           a->purge_ns == b->purge_ns && a->aging.occupancy == b->aging.occupancy &&
           a->aging.multiple == b->aging.multiple &&
           memcmp(a->values, b->values, sizeof a->values) == 0 &&
           strcmp(a->params, b->params) == 0 && strcmp(a->prefix, b->prefix) == 0 &&
           have_same_variables(a, b);
}

static enum ab_status check_unique(const struct ab_selection_list *list,
                                   const struct ab_selection *s, struct ab_err *err)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct ab_selection *other = &list->items[i];
        bool has_same_name = strcmp(other->name, s->name) == 0;
        if (has_same_name && strcmp(other->full_name, s->full_name) != 0)
            return ab_fail(err, AB_USAGE, "two back ends are named %s (%s and %s); rename one",
                           s->name, other->full_name[0] != 0 ? other->full_name : other->path,
                           s->full_name[0] != 0 ? s->full_name : s->path);
        if (has_same_name && (s->path[0] == 0 || strcmp(other->path, s->path) == 0))
            return ab_fail(err, AB_USAGE, "the back end %s is given twice", s->name);
        if (has_same_name)
            return ab_fail(err, AB_USAGE,
                           "two back ends are named %s (%s and %s); rename one: NAME=PATH", s->name,
                           other->path[0] != 0 ? other->path : "the built-in", s->path);
        if (is_twin(other, s))
            return ab_fail(err, AB_USAGE,
                           "%s and %s are the same back end with the same settings; leave one out",
                           other->name, s->name);
    }
    return AB_OK;
}

/* Adds one entry to the list. Cuts `text` into parts, unless is_whole: then all of it is a path,
 * whatever characters it has. */
static enum ab_status add(struct ab_selection_list *list, char *text, bool is_whole,
                          const char *folders, struct ab_err *err)
{
    if (list->n == AB_SELECTION_MAX)
        return ab_fail(err, AB_USAGE, "more than %d back ends", AB_SELECTION_MAX);
    struct ab_selection *s = &list->items[list->n];
    *s = (struct ab_selection){.was_named = true};
    if (is_whole) {
        ab_selection_stem(text, s->name, sizeof s->name);
        s->is_file = true;
        AB_TRY(select_file(text, "", s, err));
    } else {
        AB_TRY(select_one(text, folders, s, err));
    }
    AB_TRY(check_unique(list, s, err));
    list->n++;
    return AB_OK;
}

enum ab_status ab_selection_add(struct ab_selection_list *list, const char *name,
                                struct ab_err *err)
{
    char text[64];
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return AB_OK;
    AB_COPY(text, name);
    AB_TRY(add(list, text, false, NULL, err));
    struct ab_selection *s = &list->items[list->n - 1];
    s->was_named = false;
    list->n -= s->state != AB_SELECTION_OK;
    return AB_OK;
}

static enum ab_status add_libraries(struct ab_selection_list *list, struct ab_err *err)
{
    for (size_t i = 0; i < ab_preset_count(); i++)
        if (ab_default_has_library(ab_preset_at(i)))
            AB_TRY(ab_selection_add(list, ab_preset_at(i)->name, err));
    return AB_OK;
}

static enum ab_status add_all(struct ab_selection_list *list, struct ab_err *err)
{
    AB_TRY(add_libraries(list, err));
    for (size_t i = 0; i < ab_default_count(); i++)
        AB_TRY(ab_selection_add(list, ab_default_at(i)->name, err));
    return AB_OK;
}

/* True if a word such as "libraries" has already added a row of this name. Marks that row as named
 * by the user then. */
static bool is_named_again(struct ab_selection_list *list, const char *text)
{
    for (size_t i = 0; i < list->n; i++)
        if (!list->items[i].was_named && strcmp(list->items[i].name, text) == 0)
            return list->items[i].was_named = true;
    return false;
}

static enum ab_status add_entry(struct ab_selection_list *list, char *text, bool is_whole,
                                const char *folders, struct ab_err *err)
{
    if (strcmp(text, libraries) == 0)
        return add_libraries(list, err);
    if (strcmp(text, all) == 0)
        return add_all(list, err);
    return is_named_again(list, text) ? AB_OK : add(list, text, is_whole, folders, err);
}

static enum ab_status add_argument(struct ab_selection_list *list, const char *arg,
                                   const char *folders, struct ab_err *err)
{
    char *copy = ab_strdup(arg);
    enum ab_status status = AB_OK;
    bool is_file = strchr(arg, '/') != NULL && access(arg, F_OK) == 0;
    for (char *at = copy, *next; status == AB_OK && at != NULL; at = next) {
        next = is_file ? NULL : ab_settings_comma(at);
        if (next != NULL)
            *next++ = 0;
        status = *at != 0 ? add_entry(list, at, is_file, folders, err)
                          : ab_fail(err, AB_USAGE,
                                    "an empty name in the list of back ends \"%s\"; "
                                    "the list has no blank after a comma: -b glibc,jemalloc",
                                    AB_SHOWN(256, arg));
    }
    free(copy);
    return status;
}

enum ab_status ab_selection_parse(const char *const *args, size_t n_args, const char *folders,
                                  struct ab_selection_list *out, struct ab_err *err)
{
    struct ab_selection_list list = {
        .items = ab_alloc_zeroed(AB_SELECTION_MAX, sizeof list.items[0])};
    enum ab_status status = n_args == 0 ? add_libraries(&list, err) : AB_OK;
    for (size_t i = 0; i < n_args && status == AB_OK; i++)
        status = add_argument(&list, args[i], folders, err);
    if (status == AB_OK)
        *out = list;
    else
        ab_selection_list_fini(&list);
    return status;
}

void ab_selection_list_fini(struct ab_selection_list *list)
{
    free(list->items);
    *list = (struct ab_selection_list){0};
}
