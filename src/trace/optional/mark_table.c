/* SPDX-License-Identifier: MIT
 *
 * Names are few: they are searched one after the other, the last one found first.
 */
#include "trace/optional/mark_table.h"

#include "core/grow.h"

#include <stdlib.h>
#include <string.h>

void ab_mark_table_fini(struct ab_mark_table *t)
{
    for (size_t i = 0; i < t->n_names; i++)
        free(t->names[i]);
    free(t->names);
    free(t->marks);
    *t = (struct ab_mark_table){0};
}

bool ab_mark_append_name(struct ab_mark_table *t, const char *name, size_t n)
{
    char *own = AB_GROW(t->names, t->cap_names, t->n_names) ? strndup(name, n) : NULL;
    if (own != NULL)
        t->names[t->n_names++] = own;
    return own != NULL;
}

bool ab_mark_know_name(struct ab_mark_table *t, const char *name, uint32_t *number)
{
    const char *wanted = name[0] != 0 ? name : "mark";
    size_t n = strnlen(wanted, AB_MARK_NAME_MAX);
    for (size_t i = t->n_names; i > 0; i--) {
        *number = (uint32_t)(i - 1);
        if (strncmp(t->names[i - 1], wanted, n) == 0 && t->names[i - 1][n] == 0)
            return true;
    }
    *number = (uint32_t)t->n_names;
    if (t->n_names < AB_MARK_NAMES_MAX - 1)
        return ab_mark_append_name(t, wanted, n);
    *number = AB_MARK_NAMES_MAX - 1;
    return t->n_names == AB_MARK_NAMES_MAX ||
           ab_mark_append_name(t, AB_MARK_FURTHER, strlen(AB_MARK_FURTHER));
}

bool ab_mark_add(struct ab_mark_table *t, struct ab_trace_mark mark)
{
    if (t->n == (t->most != 0 ? t->most : AB_MARKS_MAX)) {
        t->n_lost++;
        return true;
    }
    if (!AB_GROW(t->marks, t->cap, t->n))
        return false;
    if (t->n > 0) {
        const struct ab_trace_mark *last = &t->marks[t->n - 1];
        mark.call = mark.call > last->call ? mark.call : last->call;
        mark.time_us = mark.time_us > last->time_us ? mark.time_us : last->time_us;
    }
    t->marks[t->n++] = mark;
    return true;
}

void ab_mark_table_cut(struct ab_mark_table *t, uint64_t n_calls, uint64_t n_threads)
{
    while (t->n > 0 && t->marks[t->n - 1].call > n_calls)
        t->n--;
    for (size_t i = 0; i < t->n; i++)
        if (t->marks[i].thread >= n_threads)
            t->marks[i].thread = AB_MARK_NO_THREAD;
}

const char *ab_mark_table_check(const struct ab_mark_table *t, uint64_t n_calls, uint64_t n_threads)
{
    if (t->n > 0 && t->marks[t->n - 1].call > n_calls)
        return "a mark beyond the last call";
    for (size_t i = 0; i < t->n; i++)
        if (t->marks[i].thread >= n_threads && t->marks[i].thread != AB_MARK_NO_THREAD)
            return "a mark of a thread that the trace does not have";
    return NULL;
}
