/* SPDX-License-Identifier: MIT
 *
 * Copies what a selection knows into the case that is run and into the record that reports show.
 */
#include "app/cases.h"

#include <stdio.h>
#include <string.h>

static void copy(char *dst, size_t cap, const char *src)
{
    snprintf(dst, cap, "%s", src);
}

enum ab_backend_status ab_case_status(const struct ab_selection *s)
{
    return s->state == AB_SELECTION_OK       ? AB_BACKEND_OK
           : s->state == AB_SELECTION_ABSENT ? AB_BACKEND_ABSENT
                                             : AB_BACKEND_WRONG_LIBRARY;
}

void ab_case_describe(const struct ab_selection *s, struct ab_backend_info *b)
{
    copy(b->name, sizeof b->name, s->name);
    b->boundary = ab_boundary_names[ab_selection_boundary(s)];
    copy(b->version, sizeof b->version, s->version);
    copy(b->path, sizeof b->path, s->path);
    copy(b->build_id, sizeof b->build_id, s->build_id);
    copy(b->package, sizeof b->package, s->package);
    copy(b->settings, sizeof b->settings, ab_backend_settings(s->name));
    copy(b->reason, sizeof b->reason, s->reason);
    b->was_named = s->was_named;
    b->is_along = s->is_along;
    b->never_frees = s->never_frees;
    b->status = ab_case_status(s);
}

const struct ab_selection *ab_case_foreign(const struct ab_options *o,
                                           const struct ab_selection_list *list)
{
    for (size_t i = 0; o->n_backends == 0 && i < list->n; i++)
        if (list->items[i].is_file)
            return &list->items[i];
    return NULL;
}

void ab_case_make(const struct ab_selection *s, struct ab_case *c)
{
    c->source = s->source;
    c->boundary = s->is_inline ? ab_selection_boundary(s) : ab_source_boundary(s->source);
    c->path = s->path[0] != 0 ? s->path : NULL;
    c->dev = s->dev;
    c->ino = s->ino;
    c->builtin = s->builtin != NULL ? s->builtin->name : NULL;
    memcpy(c->values, s->values, sizeof c->values);
    c->prefix = s->prefix;
    c->params = s->params;
    c->decorator = s->is_checked    ? AB_DECORATOR_CHECKED
                   : s->fault_n > 0 ? AB_DECORATOR_FAULT
                                    : AB_DECORATOR_NONE;
    c->fault_n = s->fault_n;
    for (uint32_t i = 0; i < s->n_env; i++)
        c->env[i] = s->env[i];
}
