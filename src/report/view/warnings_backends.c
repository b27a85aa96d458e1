/* SPDX-License-Identifier: MIT
 *
 * One entry a back end that is not simply ok.
 */
#include "report/view/warnings_backends.h"

#include "core/text.h"
#include "report/view/warning_list.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 4 * sizeof((struct ab_backend_info *)0)->name };

static void add(struct ab_view_warnings *w, uint32_t backend, const char *id,
                enum ab_view_severity severity, const char *text, const char *remedy)
{
    size_t n = w->n;
    ab_warning_list_add(w, id, severity, text, remedy);
    if (w->n > n)
        w->items[n].backend = backend;
}

static const char *after(enum ab_backend_status status)
{
    return status == AB_BACKEND_PARTIAL ? "; different work, not compared"
           : status == AB_BACKEND_NONCONFORMING
               ? "; measured because of --allow-broken, not compared"
           : status == AB_BACKEND_DECORATED ? "; not compared"
                                            : "";
}

bool ab_view_program_fails(const struct ab_session *s)
{
    uint32_t n = 0;
    const char *why = NULL;
    for (uint32_t i = 0; i < s->n_backends && ab_session_is_exec(s); i++) {
        const struct ab_backend_info *b = &s->backends[i];
        if (b->status == AB_BACKEND_ABSENT)
            continue;
        if (b->status != AB_BACKEND_FAILED_CHECK || (why != NULL && strcmp(why, b->reason) != 0))
            return false;
        why = b->reason;
        n++;
    }
    return n > 1;
}

/* A library that crashes under some work often fails a check as well, which says more. */
static const char *remedy_of(const struct ab_session *s, const struct ab_backend_info *b,
                             struct ab_view_texts *t)
{
    if (ab_view_program_fails(s))
        return "";
    if (b->status == AB_BACKEND_ABSENT && b->package[0] != 0)
        return ab_view_texts_addf(t, "apt install %s", b->package);
    if ((b->status == AB_BACKEND_CRASHED || b->status == AB_BACKEND_TIMEOUT ||
         b->status == AB_BACKEND_FAILED_CHECK) &&
        b->path[0] != 0)
        return ab_view_texts_addf(t, "allocbench verify %s", AB_SHOWN(4 * sizeof b->path, b->path));
    return "";
}

static void add_status(const struct ab_session *s, uint32_t i, struct ab_view_texts *t,
                       struct ab_view_warnings *w)
{
    const struct ab_backend_info *b = &s->backends[i];
    bool is_absent = b->status == AB_BACKEND_ABSENT;
    const char *id = is_absent                                  ? "absent"
                     : ab_backend_status_has_numbers(b->status) ? "not-compared"
                                                                : "failed";
    if (b->status == AB_BACKEND_OK)
        return;
    add(w, i, id, is_absent && !b->was_named ? AB_VIEW_NOTE : AB_VIEW_FAILURE,
        ab_view_texts_addf(t, "%s: %s%s%s%s", AB_SHOWN(NAME_BYTES, b->name),
                           ab_backend_status_name(b->status), b->reason[0] != 0 ? ", " : "",
                           AB_SHOWN(4 * sizeof b->reason, b->reason), after(b->status)),
        remedy_of(s, b, t));
}

/* Libraries given by path are proven on this work only, until `verify` has passed. */
static bool is_unverified(const struct ab_backend_info *b)
{
    return !b->is_verified && ab_backend_status_has_numbers(b->status) && b->path[0] != 0 &&
           b->package[0] == 0 && strcmp(b->name, "glibc") != 0;
}

static void add_unverified(const struct ab_session *s, struct ab_view_texts *t,
                           struct ab_view_warnings *w)
{
    struct ab_text names = {0}, paths = {0};
    for (uint32_t i = 0; i < s->n_backends; i++) {
        const struct ab_backend_info *b = &s->backends[i];
        if (!is_unverified(b))
            continue;
        ab_text_addf(&names, "%s%s", names.n > 0 ? ", " : "", AB_SHOWN(NAME_BYTES, b->name));
        ab_text_addf(&paths, " %s", AB_SHOWN(4 * sizeof b->path, b->path));
    }
    if (names.s != NULL && paths.s != NULL)
        ab_warning_list_add(w, "unverified", AB_VIEW_WARNING,
                            ab_view_texts_addf(t, "not verified: %s", names.s),
                            ab_view_texts_addf(t, "allocbench verify%s", paths.s));
    ab_text_fini(&names);
    ab_text_fini(&paths);
}

static void add_caveat(const struct ab_session *s, uint32_t i, struct ab_view_texts *t,
                       struct ab_view_warnings *w)
{
    const struct ab_backend_info *b = &s->backends[i];
    if (b->status == AB_BACKEND_OK && b->caveat[0] != 0)
        add(w, i, "caveat", AB_VIEW_NOTE,
            ab_view_texts_addf(t,
                               "%s: deviates from the standards, where this work does not need "
                               "them: %s",
                               AB_SHOWN(NAME_BYTES, b->name),
                               AB_SHOWN(4 * sizeof b->caveat, b->caveat)),
            "");
}

/* Such libraries are bound to the C library's malloc, whatever is preloaded. */
static void add_deepbind(const struct ab_session *s, struct ab_view_warnings *w)
{
    bool crashes = false;
    for (uint32_t i = 0; i < s->n_backends; i++)
        crashes |= s->backends[i].status == AB_BACKEND_CRASHED && s->backends[i].path[0] != 0;
    if (!crashes || !ab_session_is_exec(s) || ab_view_program_fails(s))
        return;
    ab_warning_list_add(w, "deepbind", AB_VIEW_NOTE,
                        "a program that crashes under preloaded allocators alone may load "
                        "libraries with RTLD_DEEPBIND: they go on calling glibc's malloc, and "
                        "the allocator is given their blocks to free",
                        "allocbench record names such libraries");
}

void ab_view_warnings_backends(const struct ab_session *s, struct ab_view_texts *texts,
                               struct ab_view_warnings *out)
{
    for (uint32_t i = 0; i < s->n_backends; i++) {
        add_status(s, i, texts, out);
        add_caveat(s, i, texts, out);
    }
    add_unverified(s, texts, out);
    add_deepbind(s, out);
}
