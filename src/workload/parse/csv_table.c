/* SPDX-License-Identifier: MIT
 *
 * Size tables beside a workload. A workload may come from a stranger, so the file must be a
 * regular one below the workload's own folder, small, and nothing of it but a number that cannot
 * be read is ever shown.
 */
#include "workload/parse/csv_table.h"

#include "core/grow.h"
#include "core/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_BYTES = 1 << 20, MAX_ROWS = 100000, MAX_COLUMNS = 64, PATH_CAP = 4096 };

struct csv {
    struct ab_reader *r;
    const struct ab_yaml_field *f;
    const struct ab_value *call;
    const char *name;                    /* as written */
    uint64_t size_column, weight_column; /* from 0 */
    unsigned line;
};

static bool fail_file(const struct csv *c, const char *message)
{
    const struct ab_value *file = &c->call->args[0].first;
    char shown[200];
    ab_diag_quote(shown, sizeof shown, c->name, strlen(c->name));
    if (c->line > 0)
        return AB_REFUSE_VALUE(c->r, c->f, file, "%s, line %u: %s", shown, c->line, message);
    return AB_REFUSE_VALUE(c->r, c->f, file, "%s: %s", shown, message);
}

static bool is_inside(const char *path)
{
    if (path[0] == '/' || path[0] == 0)
        return false;
    for (const char *s = path; s != NULL; s = strchr(s, '/') ? strchr(s, '/') + 1 : NULL)
        if (strncmp(s, "..", 2) == 0 && (s[2] == '/' || s[2] == 0))
            return false;
    return true;
}

/* The table's text, malloc'ed, or NULL after an error. */
static char *read_file(const struct csv *c)
{
    char path[PATH_CAP];
    const char *slash = strrchr(c->r->w->file, '/');
    int folder = slash == NULL ? 0 : (int)(slash - c->r->w->file) + 1;
    if (!is_inside(c->name) ||
        snprintf(path, sizeof path, "%.*s%s", folder, c->r->w->file, c->name) >= PATH_CAP) {
        fail_file(c, "path must be inside the workload's directory");
        return NULL;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    char *text = NULL;
    if (fd < 0 || fstat(fd, &st) != 0) {
        fail_file(c, "cannot be opened");
        goto out;
    }
    if (!S_ISREG(st.st_mode) || st.st_size > MAX_BYTES) {
        fail_file(c, !S_ISREG(st.st_mode) ? "is not a regular file" : "is larger than 1 MiB");
        goto out;
    }
    text = ab_alloc_zeroed(1, (size_t)st.st_size + 1);
    if (read(fd, text, (size_t)st.st_size) != (ssize_t)st.st_size) {
        fail_file(c, "cannot be read");
        free(text);
        text = NULL;
    }
out:
    if (fd >= 0)
        close(fd);
    return text;
}

/* Splits a line at its commas, in place; fields lose their blanks. */
static size_t split(char *line, char **fields)
{
    size_t n = 0;
    for (char *s = line; s != NULL && n < MAX_COLUMNS;) {
        char *comma = strchr(s, ',');
        if (comma != NULL)
            *comma = 0;
        while (*s == ' ' || *s == '\t')
            s++;
        size_t end = strlen(s);
        while (end > 0 && (s[end - 1] == ' ' || s[end - 1] == '\t' || s[end - 1] == '\r'))
            end--;
        s[end] = 0;
        fields[n++] = s;
        s = comma == NULL ? NULL : comma + 1;
    }
    return n;
}

static bool find_column(const struct csv *c, const struct ab_value *v, char **fields, size_t n,
                        uint64_t *column)
{
    for (size_t i = 0; i < n; i++) {
        if (ab_value_is_word(v, fields[i])) {
            *column = i;
            return true;
        }
    }
    return AB_REFUSE_VALUE(c->r, c->f, v, "the table has no column '%s' in its first line",
                           AB_QUOTED(v->text, v->n_text));
}

static bool parse_row(struct csv *c, char **fields, size_t n, struct ab_dist_row *row)
{
    struct ab_number size, weight;
    if (c->size_column >= n || c->weight_column >= n)
        return fail_file(c, "too few columns");
    const char *s = fields[c->size_column], *w = fields[c->weight_column];
    const char *bad = ab_units_parse(s, strlen(s), AB_UNIT_BYTES, &size);
    if (bad == NULL && size.whole > AB_SIZE_MAX)
        bad = "a size is at most 1 TiB";
    if (bad == NULL && (bad = ab_units_parse(w, strlen(w), AB_UNIT_FRACTION, &weight)) == NULL &&
        weight.value > 1e15)
        bad = "weight out of range";
    if (bad != NULL)
        return fail_file(c, bad);
    *row = (struct ab_dist_row){.value = size.whole, .share = weight.value};
    return true;
}

static bool add_row(struct csv *c, struct ab_dist *d, char **fields, size_t n)
{
    if (d->n_rows >= MAX_ROWS)
        return fail_file(c, "more than 100000 rows");
    AB_GROW(d->rows, d->cap_rows, d->n_rows);
    struct ab_dist_row *row = &d->rows[d->n_rows];
    if (!parse_row(c, fields, n, row))
        return false;
    d->n_rows++;
    ab_dist_widen(d, row->value, row->value);
    return true;
}

static bool read_lines(struct csv *c, char *text, struct ab_dist *d)
{
    const struct ab_value *size = &c->call->args[1].first, *weight = &c->call->args[2].first;
    bool needs_header = size->kind == AB_VALUE_WORD;
    for (char *line = text, *next; line != NULL; line = next) {
        char *fields[MAX_COLUMNS];
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = 0;
        c->line++;
        if (line[0] == 0 || line[0] == '#' || (line[0] == '\r' && line[1] == 0))
            continue;
        size_t n = split(line, fields);
        if (needs_header) {
            if (!find_column(c, size, fields, n, &c->size_column) ||
                !find_column(c, weight, fields, n, &c->weight_column))
                return false;
            needs_header = false;
        } else if (!add_row(c, d, fields, n)) {
            return false;
        }
    }
    return true;
}

/* "file", size, weight: the columns both by name or both by number. */
static bool check_call(struct csv *c)
{
    const struct ab_value *call = c->call;
    bool ok = call->n_args == 3 && call->args[0].first.kind == AB_VALUE_TEXT;
    for (size_t i = 0; i < call->n_args; i++)
        ok = ok && call->args[i].name == NULL && !call->args[i].is_pair;
    if (!ok)
        return AB_REFUSE_VALUE(c->r, c->f, call,
                               "expected csv(\"file\", size, weight) with names or numbers of "
                               "columns");
    const struct ab_value *size = &call->args[1].first, *weight = &call->args[2].first;
    if (size->kind == AB_VALUE_WORD && weight->kind == AB_VALUE_WORD)
        return true;
    struct ab_limits columns = {AB_UNIT_COUNT, 1, MAX_COLUMNS};
    if (!ab_field_whole(c->r, c->f, "size column", size, columns, &c->size_column) ||
        !ab_field_whole(c->r, c->f, "weight column", weight, columns, &c->weight_column))
        return false;
    c->size_column--;
    c->weight_column--;
    return true;
}

bool ab_csv_read(struct ab_reader *r, const struct ab_yaml_field *f, const struct ab_value *call,
                 struct ab_dist *d)
{
    struct csv c = {.r = r, .f = f, .call = call};
    if (!check_call(&c))
        return false;
    const struct ab_value *file = &call->args[0].first;
    char *name = ab_strndup(file->text, file->n_text), *text = NULL;
    c.name = name;
    bool ok = (text = read_file(&c)) != NULL && read_lines(&c, text, d);
    c.line = 0;
    if (ok && !ab_dist_share_out(d))
        ok = fail_file(&c, d->n_rows == 0 ? "no rows" : "the weights add up to 0");
    free(text);
    free(name);
    return ok;
}
