/* SPDX-License-Identifier: MIT
 *
 * Names are looked up among built-ins first, then presets. What is a path is decided by its
 * looks, not by what happens to lie in the current directory.
 */
#include "backend/selection.h"

#include "backend/builtin.h"
#include "backend/library.h"
#include "backend/presets.h"
#include "core/text.h"

#include <ctype.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const default_names[] = {"glibc", "jemalloc", "tcmalloc", "arena"};
enum { N_DEFAULT = sizeof default_names / sizeof default_names[0], NAMES_MAX = 64 };

/* Where a ".so" ends a name, alone or with a version behind it; NULL else. */
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
    const char *slash = strrchr(path, '/'), *begin = slash != NULL ? slash + 1 : path;
    const char *so = find_so(begin), *end = so != NULL && so > begin ? so : begin + strlen(begin);
    if (strncmp(begin, "lib", 3) == 0 && begin + 3 < end)
        begin += 3;
    size_t n = 0;
    for (; begin < end && n + 1 < cap && n < 64; begin++, n++)
        buf[n] = isalnum((unsigned char)*begin) || strchr("._-", *begin) != NULL ? *begin : '_';
    buf[n] = 0;
    return buf;
}

const char *ab_selection_boundary(const struct ab_selection *s)
{
    return s->source == AB_SELECTION_LIBC || s->source == AB_SELECTION_PRELOAD ? "malloc" : "heap";
}

/* All names that -b knows. */
static size_t list_names(const char *names[NAMES_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < ab_preset_count() && n < NAMES_MAX; i++)
        names[n++] = ab_preset_at(i)->name;
    for (size_t i = 0; i < ab_builtin_count() && n < NAMES_MAX; i++)
        names[n++] = ab_builtin_at(i)->name;
    return n;
}

static enum ab_status fail_unknown(const char *name, struct ab_err *err)
{
    const char *names[NAMES_MAX];
    char shown[256];
    size_t n = list_names(names);
    const char *nearest = ab_text_nearest(name, names, n);
    struct ab_text t = {0};
    ab_text_addf(&t, "unknown back end \"%s\"", ab_text_printable(shown, sizeof shown, name));
    if (nearest != NULL)
        ab_text_addf(&t, "; did you mean \"%s\"?", nearest);
    ab_text_add(&t, " Known:");
    for (size_t i = 0; i < n; i++)
        ab_text_addf(&t, "%s %s", i == 0 ? "" : ",", names[i]);
    ab_text_add(&t, "; a library is named with its path");
    enum ab_status status = ab_fail(err, AB_USAGE, "%s", t.s != NULL ? t.s : "unknown back end");
    ab_text_fini(&t);
    return status;
}

static enum ab_status select_builtin(const struct ab_backend *b, const char *params,
                                     struct ab_selection *s, struct ab_err *err)
{
    s->source = AB_SELECTION_BUILTIN;
    s->builtin = b;
    s->never_frees = (b->traits & AB_TRAIT_NO_FREE) != 0;
    return ab_params_parse(b, params, s->values, err);
}

static enum ab_status select_preset(const struct ab_preset *p, const char *params,
                                    struct ab_selection *s, struct ab_err *err)
{
    char path[sizeof s->path];
    if (*params != 0)
        return ab_fail(err, AB_USAGE, "%s takes no parameters", p->name);
    snprintf(s->package, sizeof s->package, "%s", p->package);
    if (p->files[0] == NULL) {
        s->source = AB_SELECTION_LIBC;
        snprintf(s->version, sizeof s->version, "%s", gnu_get_libc_version());
        return AB_OK;
    }
    s->source = AB_SELECTION_PRELOAD;
    if (!ab_preset_locate(p, NULL, path, sizeof path)) {
        s->state = AB_SELECTION_ABSENT;
        snprintf(s->reason, sizeof s->reason, "is not installed (Debian package %s)", p->package);
        return AB_OK;
    }
    ab_library_classify(path, s);
    ab_preset_version(p, path, s->version, sizeof s->version);
    return AB_OK;
}

static void select_file(const char *path, struct ab_selection *s)
{
    char shown[512];
    ab_selection_stem(path, s->name, sizeof s->name);
    ab_library_classify(path, s);
    if (s->state == AB_SELECTION_ABSENT)
        snprintf(s->reason, sizeof s->reason, "does not exist: %s%s",
                 ab_text_printable(shown, sizeof shown, path),
                 strstr(path, ".so:") != NULL ? " (a library takes no parameters here)" : "");
}

static enum ab_status select_name(const char *text, struct ab_selection *s, struct ab_err *err)
{
    char name[sizeof s->name], shown[64];
    if (strlen(text) >= sizeof s->name)
        return ab_fail(err, AB_USAGE, "the name of a back end has more than %zu characters: %s…",
                       sizeof s->name - 1, ab_text_printable(shown, sizeof shown, text));
    strcpy(s->name, text);
    strcpy(name, text);
    char *colon = strchr(name, ':');
    const char *params = colon != NULL ? text + (colon - name) + 1 : "";
    if (colon != NULL && *params == 0)
        return ab_fail(err, AB_USAGE, "nothing behind the ':' of \"%s\"",
                       ab_text_printable(shown, sizeof shown, text));
    if (colon != NULL)
        *colon = 0;
    const struct ab_backend *builtin = ab_builtin_find(name);
    const struct ab_preset *preset = ab_preset_find(name);
    if (builtin != NULL)
        return select_builtin(builtin, params, s, err);
    if (preset != NULL)
        return select_preset(preset, params, s, err);
    return fail_unknown(name, err);
}

static enum ab_status check_unique(const struct ab_selection_list *list,
                                   const struct ab_selection *s, struct ab_err *err)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct ab_selection *other = &list->items[i];
        if (strcmp(other->name, s->name) != 0)
            continue;
        if (s->path[0] == 0 || strcmp(other->path, s->path) == 0)
            return ab_fail(err, AB_USAGE, "the back end %s is given twice", s->name);
        return ab_fail(err, AB_USAGE, "two back ends would be called %s (%s and %s); rename one",
                       s->name, other->path[0] != 0 ? other->path : "the built-in", s->path);
    }
    return AB_OK;
}

static enum ab_status add(struct ab_selection_list *list, const char *text, struct ab_err *err)
{
    if (list->n == AB_SELECTION_MAX)
        return ab_fail(err, AB_USAGE, "more than %d back ends", AB_SELECTION_MAX);
    struct ab_selection *s = &list->items[list->n];
    *s = (struct ab_selection){.was_named = true};
    enum ab_status status = AB_OK;
    if (is_path(text))
        select_file(text, s);
    else
        status = select_name(text, s, err);
    if (status == AB_OK)
        status = check_unique(list, s, err);
    if (status == AB_OK)
        list->n++;
    return status;
}

static enum ab_status add_argument(struct ab_selection_list *list, const char *arg,
                                   struct ab_err *err)
{
    if (strchr(arg, '/') != NULL && access(arg, F_OK) == 0)
        return add(list, arg, err);
    char shown[256], *copy = strdup(arg);
    enum ab_status status = copy != NULL ? AB_OK : ab_fail(err, AB_SYSTEM, "out of memory");
    for (char *at = copy, *next; status == AB_OK && at != NULL; at = next) {
        next = strchr(at, ',');
        if (next != NULL)
            *next++ = 0;
        status = *at != 0 ? add(list, at, err)
                          : ab_fail(err, AB_USAGE, "an empty name in the list of back ends \"%s\"",
                                    ab_text_printable(shown, sizeof shown, arg));
    }
    free(copy);
    return status;
}

static enum ab_status add_default(struct ab_selection_list *list, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    for (size_t i = 0; i < N_DEFAULT && status == AB_OK; i++) {
        status = add(list, default_names[i], err);
        if (status == AB_OK)
            list->items[i].was_named = false;
    }
    return status;
}

enum ab_status ab_selection_parse(const char *const *args, size_t n_args,
                                  struct ab_selection_list *out, struct ab_err *err)
{
    struct ab_selection_list list = {.items = calloc(AB_SELECTION_MAX, sizeof list.items[0])};
    if (list.items == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    enum ab_status status = n_args == 0 ? add_default(&list, err) : AB_OK;
    for (size_t i = 0; i < n_args && status == AB_OK; i++)
        status = add_argument(&list, args[i], err);
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
