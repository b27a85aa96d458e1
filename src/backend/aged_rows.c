/* SPDX-License-Identifier: MIT
 *
 * Parses the setting `litter` and the option --aged, and adds rows with an aged heap to the list of
 * back ends.
 */
#include "backend/aged_rows.h"

#include "core/alloc.h"
#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads a decimal number without sign or exponent that ends exactly at `end`. */
static bool read_number(const char *text, const char *end, double *out)
{
    char *stop;
    size_t n = strspn(text, "0123456789.");
    if (n == 0 || text + n != end)
        return false;
    *out = strtod(text, &stop);
    return stop == end;
}

/* Parses OCC or OCCxMULT without checking its limits. */
static bool parse(const char *text, struct ab_aging_request *out)
{
    const char *end = text + strlen(text), *x = strchr(text, 'x');
    *out = (struct ab_aging_request){.multiple = 1};
    if (x != NULL && !read_number(x + 1, end, &out->multiple))
        return false;
    return read_number(text, x != NULL ? x : end, &out->occupancy);
}

enum ab_status ab_aged_rows_read(const char *text, const char *where, struct ab_aging_request *out,
                                 struct ab_err *err)
{
    struct ab_aging_request r;
    const char *shown = AB_SHOWN(64, text);
    where = AB_SHOWN(160, where);
    if (!parse(text, &r))
        return ab_fail(err, AB_USAGE,
                       "%s: \"%s\" is not an occupancy: expected OCC or OCCxMULT, such as 0.75 or "
                       "0.75x2",
                       where, shown);
    if (r.occupancy < AB_AGING_LEAST || r.occupancy > AB_AGING_MOST)
        return ab_fail(err, AB_USAGE,
                       "%s: aged heap of %s: the part that stays must be %.2f to %.2f of the "
                       "allocated bytes; leave it out for a fresh heap",
                       where, shown, AB_AGING_LEAST, AB_AGING_MOST);
    if (r.multiple < AB_AGING_LEAST_MULTIPLE || r.multiple > AB_AGING_MOST_MULTIPLE)
        return ab_fail(err, AB_USAGE,
                       "%s: aged heap of %s: the multiple must be %.2f to %.0f times the peak of "
                       "live bytes",
                       where, shown, AB_AGING_LEAST_MULTIPLE, AB_AGING_MOST_MULTIPLE);
    *out = r;
    return AB_OK;
}

void ab_aged_rows_judge(struct ab_selection *s)
{
    const char *why = s->is_checked || s->fault_n > 0
                          ? "is not timed: only measured rows can have an aged heap"
                      : s->never_frees ? "cannot free single blocks, so its heap cannot be aged"
                      : s->builtin != NULL && strcmp(s->builtin->name, "null") == 0
                          ? "returns the same block each time, so its heap cannot be aged"
                          : NULL;
    if (why == NULL || s->state != AB_SELECTION_OK)
        return;
    s->state = AB_SELECTION_ABSENT;
    AB_COPY(s->reason, why);
}

/* Adds the setting "litter=SAID" to a name: "glibc:trim=2s{A=b}" becomes
 * "glibc:trim=2s:litter=0.75{A=b}". */
static enum ab_status add_setting(char *name, size_t cap, const char *said, struct ab_err *err)
{
    char longer[sizeof((struct ab_selection *)0)->full_name];
    int at = (int)strcspn(name, "{");
    int n = snprintf(longer, sizeof longer, "%.*s:litter=%s%s", at, name, said, name + at);
    if (n >= (int)cap)
        return ab_fail(err, AB_USAGE, "a back end's name may have at most %zu characters: %.64s…",
                       cap - 1, longer);
    memcpy(name, longer, (size_t)n + 1);
    return AB_OK;
}

static enum ab_status name_row(struct ab_selection *row, const char *said, struct ab_err *err)
{
    if (row->full_name[0] != 0)
        AB_TRY(add_setting(row->full_name, sizeof row->full_name, said, err));
    return add_setting(row->name, sizeof row->name, said, err);
}

/* Adds a copy of row `from` with an aged heap as the text `said` describes ("0.75x2"); "0" adds an
 * unchanged copy. */
static enum ab_status add_row(struct ab_selection_list *list, const struct ab_selection *from,
                              const char *said, struct ab_err *err)
{
    if (list->n == AB_SELECTION_MAX)
        return ab_fail(err, AB_USAGE, "--aged: more than %d rows", AB_SELECTION_MAX);
    struct ab_selection row = *from;
    if (strcmp(said, "0") != 0) {
        AB_TRY(ab_aged_rows_read(said, "--aged", &row.aging, err));
        AB_TRY(name_row(&row, said, err));
        row.was_named = row.was_named && !row.never_frees;
        ab_aged_rows_judge(&row);
    }
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i].name, row.name) == 0)
            return ab_fail(err, AB_USAGE, "the back end %s is given twice", row.name);
    list->items[list->n++] = row;
    return AB_OK;
}

static enum ab_status add_rows(const char *text, const struct ab_selection *from,
                               struct ab_selection_list *list, struct ab_err *err)
{
    for (const char *p = text; p != NULL; p = strchr(p, ',')) {
        char said[32];
        p += p > text;
        AB_FIT(said, "%.*s", (int)strcspn(p, ","), p);
        AB_TRY(add_row(list, from, said, err));
    }
    return AB_OK;
}

enum ab_status ab_aged_rows_add(const char *const *lists, size_t n_lists,
                                struct ab_selection_list *list, struct ab_err *err)
{
    struct ab_selection_list rows = {
        .items = ab_alloc_zeroed(AB_SELECTION_MAX, sizeof rows.items[0])};
    enum ab_status status = AB_OK;
    for (size_t i = 0; i < list->n && status == AB_OK; i++) {
        const struct ab_selection *s = &list->items[i];
        bool is_one = n_lists == 0 || s->is_control || s->aging.occupancy > 0;
        if (is_one)
            status = add_row(&rows, s, "0", err);
        for (size_t k = 0; k < n_lists && !is_one && status == AB_OK; k++)
            status = add_rows(lists[k], s, &rows, err);
    }
    if (status != AB_OK) {
        free(rows.items);
        return status;
    }
    free(list->items);
    *list = rows;
    return AB_OK;
}
