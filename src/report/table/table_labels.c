/* SPDX-License-Identifier: MIT
 *
 * The longest beginning that all rows with settings share, up to where a value begins.
 */
#include "report/table/table_labels.h"

#include "report/table/table.h"

#include <stdio.h>
#include <string.h>

static size_t shared_bytes(const char *a, const char *b, size_t most)
{
    size_t n = 0;
    while (n < most && a[n] != 0 && a[n] == b[n])
        n++;
    return n;
}

/* Back to the end of a name: not into "dirty_" of dirty_decay_ms and dirty_decay_max. */
static size_t whole_names(const char *s, size_t n)
{
    while (n > 0 && s[n - 1] != '{' && s[n - 1] != '=' &&
           (s[n - 1] != '.' || n < 2 || (s[n - 2] >= '0' && s[n - 2] <= '9'))) /* 0.5 is a value */
        n--;
    return memchr(s, '{', n) != NULL ? n : 0;
}

/* A value alone says nothing: its name stays with it. */
static size_t keep_name(const char *s, size_t n)
{
    bool is_value = n > 0 && s[n - 1] == '=' && strcspn(s + n, "=:") >= strcspn(s + n, ";}");
    return is_value ? whole_names(s, n - 1) : n;
}

/* A row whose settings the labels show. */
static bool has_settings(const struct ab_table_row *row)
{
    return row->is_backend && strchr(row->label, '{') != NULL;
}

void ab_table_label_head(const struct ab_table *t, char head[AB_LABEL_HEAD_BYTES])
{
    const char *first = NULL;
    size_t n = AB_LABEL_HEAD_BYTES - 1;
    unsigned n_rows = 0;
    for (size_t r = 0; r < t->n_rows; r++) {
        const struct ab_table_row *row = &t->rows[r];
        if (!has_settings(row))
            continue;
        first = first == NULL ? row->label : first;
        n = shared_bytes(first, row->label, n);
        n_rows += strcmp(first, row->label) != 0 || first == row->label;
    }
    n = n_rows < 2 ? 0 : whole_names(first, n);
    for (size_t r = 0; r < t->n_rows && n > 0; r++)
        if (has_settings(&t->rows[r]))
            n = keep_name(t->rows[r].label, n);
    memcpy(head, n > 0 ? first : "", n);
    head[n] = 0;
}

const char *ab_table_label_short(char *dst, size_t cap, const char *head, const char *label)
{
    size_t n = strlen(head);
    if (n == 0 || strncmp(label, head, n) != 0)
        return label;
    snprintf(dst, cap, "{%s", label + n);
    return dst;
}
