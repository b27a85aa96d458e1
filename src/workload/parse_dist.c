/* SPDX-License-Identifier: MIT
 *
 * Reads distributions. One table of formulas with their arguments serves to find a formula, to set
 * defaults and to write error messages. Kinds with lists of arguments (choice, cycle, csv, mix) are
 * read by functions of their own.
 */
#include "workload/parse.h"

#include "base/bits.h"
#include "core/alloc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum arg_id { ARG_NONE, ARG_MIN, ARG_MAX, ARG_P, ARG_Q };

struct arg_def {
    const char *name;
    enum arg_id id;
    double low, high; /* range of allowed values, for ARG_P and ARG_Q only */
};

struct formula {
    const char *name, *takes; /* name: "uniform"; takes: its arguments for messages, "(min, max)" */
    enum ab_dist_kind kind;
    uint64_t least;         /* smallest allowed min */
    struct arg_def args[4]; /* empty if a function of its own reads the arguments */
};

#define MIN \
    { \
        "min", ARG_MIN, 0, 0 \
    }
#define MAX \
    { \
        "max", ARG_MAX, 0, 0 \
    }
static const struct formula formulas[] = {
    {"uniform", "(min, max)", AB_DIST_UNIFORM, 0, {MIN, MAX}},
    {"loguniform", "(min, max)", AB_DIST_LOGUNIFORM, 1, {MIN, MAX}},
    {"pow2", "(min, max)", AB_DIST_POW2, 1, {MIN, MAX}},
    {"lognormal",
     "(median, sigma, min, max)",
     AB_DIST_LOGNORMAL,
     0,
     {{"median", ARG_P, 1, (double)AB_SIZE_MAX}, {"sigma", ARG_Q, 0, 10}, MIN, MAX}},
    {"pareto", "(min, alpha, max)", AB_DIST_PARETO, 1, {MIN, {"alpha", ARG_P, 0.01, 100}, MAX}},
    {"power", "(min, max, exp)", AB_DIST_POWER, 1, {MIN, MAX, {"exp", ARG_P, 0, 20}}},
    {"linear_falloff", "(min, max)", AB_DIST_LINEAR_FALLOFF, 0, {MIN, MAX}},
    {"exp_falloff", "(min, max)", AB_DIST_EXP_FALLOFF, 0, {MIN, MAX}},
    {"real", "(min, max)", AB_DIST_REAL, 0, {MIN, MAX}},
    {"sum", "(a, b, ...)", AB_DIST_SUM, 0, {{0}}},
    {"difference", "(a, b)", AB_DIST_DIFFERENCE, 0, {{0}}},
    {"product", "(a, b, ...)", AB_DIST_PRODUCT, 0, {{0}}},
    {"abs", "(a)", AB_DIST_ABS, 0, {{0}}},
    {"choice", "(a, b, ...)", AB_DIST_CHOICE, 0, {{0}}},
    {"cycle", "(size:count, ...)", AB_DIST_CYCLE, 0, {{0}}},
    {"csv", "(\"file\", size, weight)", AB_DIST_TABLE, 0, {{0}}},
};

static struct ab_limits size_range(const struct ab_reader *r)
{
    return (struct ab_limits){r->dist_unit, 0, AB_SIZE_MAX};
}

/* Appends a copy of *d to the workload's distributions and sets *index. The workload then owns the
 * rows and frees them, even if an error follows. */
static void dist_add(struct ab_reader *r, const struct ab_dist *d, size_t *index)
{
    struct ab_dists *all = &r->w->dists;
    AB_GROW(all->items, all->cap, all->n);
    *index = all->n;
    all->items[all->n++] = *d;
}

/* ---- formulas ---- */

static size_t count_args(const struct formula *formula)
{
    size_t n = 0;
    while (n < 4 && formula->args[n].id != ARG_NONE)
        n++;
    return n;
}

/* Returns the index of the formula's argument that `arg` gives, by name or else by position; 4 =
 * none. */
static size_t match_arg(const struct formula *formula, const struct ab_arg *arg, size_t position)
{
    size_t n = count_args(formula);
    if (arg->name == NULL)
        return position < n ? position : 4;
    for (size_t i = 0; i < n; i++)
        if (strlen(formula->args[i].name) == arg->n_name &&
            memcmp(formula->args[i].name, arg->name, arg->n_name) == 0)
            return i;
    return 4;
}

static bool bad_arg(const struct ab_reader *r, const struct ab_yaml_field *f,
                    const struct formula *formula, const struct ab_arg *arg)
{
    if (arg->name == NULL)
        return AB_REFUSE_VALUE(r, f, &arg->first, "too many arguments; expected %s%s",
                               formula->name, formula->takes);
    return ab_field_fail(r, f, (size_t)(arg->name - f->text), arg->n_name,
                         "unknown argument '%s'; expected %s%s", AB_QUOTED(arg->name, arg->n_name),
                         formula->name, formula->takes);
}

static bool take_arg(const struct ab_reader *r, const struct ab_yaml_field *f,
                     const struct arg_def *def, const struct ab_value *v, struct ab_dist *d)
{
    if (def->id == ARG_MIN || def->id == ARG_MAX)
        return ab_field_whole(r, f, def->name, v, size_range(r),
                              def->id == ARG_MIN ? &d->min : &d->max);
    struct ab_value plain = *v;
    plain.is_bytes = false; /* a median may have a unit of size: 4KiB */
    return ab_field_real(r, f, def->name, &plain, def->low, def->high,
                         def->id == ARG_P ? &d->p : &d->q);
}

static bool take_args(const struct ab_reader *r, const struct ab_yaml_field *f,
                      const struct ab_value *call, const struct formula *formula, struct ab_dist *d)
{
    bool given[5] = {false}, ok = true;
    for (size_t i = 0; i < call->n_args; i++) {
        const struct ab_arg *arg = &call->args[i];
        size_t which = match_arg(formula, arg, i);
        if (which == 4)
            return bad_arg(r, f, formula, arg);
        if (given[which] || arg->is_pair)
            return AB_REFUSE_VALUE(r, f, &arg->first, "'%s' %s", formula->args[which].name,
                                   given[which] ? "is given twice"
                                                : "must be one value, not a pair");
        given[which] = true;
        ok = take_arg(r, f, &formula->args[which], &arg->first, d) && ok;
    }
    for (size_t i = 0; i < count_args(formula); i++) {
        bool has_default = formula->kind == AB_DIST_LOGNORMAL && formula->args[i].id == ARG_MIN;
        if (!given[i] && !has_default)
            return AB_REFUSE_VALUE(r, f, call, "'%s' is missing; expected %s%s",
                                   formula->args[i].name, formula->name, formula->takes);
    }
    return ok;
}

static bool check_formula(const struct ab_reader *r, const struct ab_yaml_field *f,
                          const struct ab_value *call, const struct formula *formula,
                          const struct ab_dist *d)
{
    unsigned long long min = d->min, max = d->max;
    char median[40];
    if (d->min > d->max)
        return AB_REFUSE_VALUE(r, f, call, "min is above max: %llu > %llu", min, max);
    if (d->min < formula->least)
        return AB_REFUSE_VALUE(r, f, call, "min of %s must be at least %llu", formula->name,
                               (unsigned long long)formula->least);
    if (d->kind == AB_DIST_POW2 && (!ab_is_pow2(d->min) || !ab_is_pow2(d->max)))
        return AB_REFUSE_VALUE(
            r, f, call, "min and max of pow2 must be powers of two, found %llu and %llu", min, max);
    if (d->kind == AB_DIST_LOGNORMAL && (d->p < (double)d->min || d->p > (double)d->max))
        return AB_REFUSE_VALUE(r, f, call,
                               "the median must be between min and max: %s is not in %llu … %llu",
                               ab_print_real(median, sizeof median, d->p), min, max);
    return true;
}

static bool read_formula(struct ab_reader *r, const struct ab_yaml_field *f,
                         const struct ab_value *call, const struct formula *formula,
                         struct ab_dist *d)
{
    if (!take_args(r, f, call, formula, d) || !check_formula(r, f, call, formula, d))
        return false;
    if (d->kind == AB_DIST_POWER && d->p == 1)
        d->kind = AB_DIST_LOGUNIFORM;
    ab_dist_prepare(d);
    return true;
}

/* ---- choice, cycle ---- */

/* Extends the range of a distribution, so that it includes the range of a row that was added. */
static void dist_widen(struct ab_dist *d, uint64_t min, uint64_t max)
{
    if (d->n_rows == 1 || min < d->min)
        d->min = min;
    if (d->n_rows == 1 || max > d->max)
        d->max = max;
}

static bool read_row(struct ab_reader *r, const struct ab_yaml_field *f, const struct ab_arg *arg,
                     const struct formula *formula, struct ab_dist *d)
{
    struct ab_dist_row *row = &d->rows[d->n_rows];
    bool is_cycle = d->kind == AB_DIST_CYCLE;
    uint64_t count = 1, before = d->n_rows == 0 ? 0 : d->rows[d->n_rows - 1].upto;
    if (arg->name != NULL || (arg->is_pair && !is_cycle))
        return AB_REFUSE_VALUE(r, f, &arg->first, "expected %s%s", formula->name, formula->takes);
    if (!ab_field_whole(r, f, "size", &arg->first, size_range(r), &row->value) ||
        (arg->is_pair && !ab_field_whole(r, f, "count", &arg->second,
                                         (struct ab_limits){AB_UNIT_COUNT, 1, UINT32_MAX}, &count)))
        return false;
    row->upto = before + count;
    d->n_rows++;
    dist_widen(d, row->value, row->value);
    return true;
}

static bool read_rows(struct ab_reader *r, const struct ab_yaml_field *f,
                      const struct ab_value *call, const struct formula *formula, struct ab_dist *d)
{
    bool ok = true;
    if (call->n_args == 0)
        return AB_REFUSE_VALUE(r, f, call, "no sizes; expected %s%s", formula->name,
                               formula->takes);
    d->rows = ab_alloc_zeroed(call->n_args, sizeof d->rows[0]);
    for (size_t i = 0; i < call->n_args; i++)
        ok = read_row(r, f, &call->args[i], formula, d) && ok;
    return ok;
}

/* ---- sum, difference, product, abs ---- */

static bool read_value(struct ab_reader *r, const struct ab_yaml_field *f, const struct ab_value *v,
                       size_t *index);

static bool read_operand(struct ab_reader *r, const struct ab_yaml_field *f,
                         const struct ab_value *v, size_t *index)
{
    struct ab_dist constant = {.kind = AB_DIST_REAL, .lo = v->number, .hi = v->number};
    if (v->kind != AB_VALUE_FRACTION)
        return read_value(r, f, v, index);
    dist_add(r, &constant, index);
    return true;
}

static double least_of(const struct ab_dist *d)
{
    return d->kind >= AB_DIST_REAL ? d->lo : (double)d->min;
}

static double most_of(const struct ab_dist *d)
{
    return d->kind >= AB_DIST_REAL ? d->hi : (double)d->max;
}

/* Updates the range d->lo … d->hi for one more operand, which has the range lo … hi. */
static void combine_range(struct ab_dist *d, double lo, double hi)
{
    double corners[] = {d->lo * lo, d->lo * hi, d->hi * lo, d->hi * hi};
    switch (d->kind) {
    case AB_DIST_SUM:
        d->lo += lo;
        d->hi += hi;
        break;
    case AB_DIST_DIFFERENCE:
        d->lo -= hi;
        d->hi -= lo;
        break;
    default:
        d->lo = d->hi = corners[0];
        for (size_t i = 1; i < 4; i++) {
            d->lo = corners[i] < d->lo ? corners[i] : d->lo;
            d->hi = corners[i] > d->hi ? corners[i] : d->hi;
        }
        break;
    }
}

/* Computes the range and the number of draws of an operator from its operands. */
static void combine(const struct ab_dists *dists, struct ab_dist *d)
{
    d->n_draws = 0;
    for (size_t i = 0; i < d->n_rows; i++) {
        const struct ab_dist *operand = &dists->items[d->rows[i].value];
        d->n_draws += operand->n_draws > 0 ? operand->n_draws : 1;
        if (i > 0)
            combine_range(d, least_of(operand), most_of(operand));
        else
            *d = (struct ab_dist){.kind = d->kind,
                                  .lo = least_of(operand),
                                  .hi = most_of(operand),
                                  .n_draws = d->n_draws,
                                  .rows = d->rows,
                                  .n_rows = d->n_rows};
    }
    if (d->kind == AB_DIST_ABS && d->lo < 0) {
        double lo = d->hi < 0 ? -d->hi : 0, hi = -d->lo > d->hi ? -d->lo : d->hi;
        d->lo = lo;
        d->hi = hi;
    }
    d->min = d->lo > 0 ? (uint64_t)d->lo : 0;
    d->max = d->hi > 0 ? (uint64_t)(d->hi < 0x1p62 ? d->hi : 0x1p62) : 0;
}

static bool read_operands(struct ab_reader *r, const struct ab_yaml_field *f,
                          const struct ab_value *call, const struct formula *formula,
                          struct ab_dist *d)
{
    enum { MAX_DRAWS = 1000 };
    size_t most = d->kind == AB_DIST_ABS ? 1 : d->kind == AB_DIST_DIFFERENCE ? 2 : SIZE_MAX;
    bool ok = call->n_args > 0 && call->n_args <= most && (most != 2 || call->n_args == 2);
    for (size_t i = 0; i < call->n_args; i++)
        ok = ok && call->args[i].name == NULL && !call->args[i].is_pair;
    if (!ok)
        return AB_REFUSE_VALUE(r, f, call, "expected %s%s", formula->name, formula->takes);
    d->rows = ab_alloc_zeroed(call->n_args, sizeof d->rows[0]);
    for (; d->n_rows < call->n_args; d->n_rows++) {
        size_t index = SIZE_MAX;
        if (!read_operand(r, f, &call->args[d->n_rows].first, &index) || index == SIZE_MAX)
            return false;
        d->rows[d->n_rows].value = index;
    }
    combine(&r->w->dists, d);
    return d->n_draws <= MAX_DRAWS ||
           AB_REFUSE_VALUE(r, f, call, "more than %d draws for one size", MAX_DRAWS);
}

/* Checks that all results of an operator are valid sizes. Runs after all its operands are read,
 * because the range depends on them. */
static bool check_range(const struct ab_reader *r, const struct ab_yaml_field *f, size_t index)
{
    const struct ab_dist *d = &r->w->dists.items[index];
    char low[40];
    if (d->kind < AB_DIST_REAL)
        return true;
    if (d->lo < 0)
        return AB_REFUSE_FIELD(r, f, "'%s' can fall below 0, to -%s", f->node->key,
                               ab_print_real(low, sizeof low, d->lo > -0x1p62 ? -d->lo : 0x1p62));
    return d->hi <= (double)AB_SIZE_MAX ||
           AB_REFUSE_FIELD(r, f, "'%s' can exceed the largest size, 1 TiB", f->node->key);
}

/* ---- all distributions ---- */

static bool find_size(const struct ab_reader *r, const struct ab_value *v, size_t *index)
{
    for (size_t i = 0; i < r->w->n_sizes; i++) {
        if (ab_value_is_word(v, r->w->sizes[i].name)) {
            *index = r->w->sizes[i].dist;
            return true;
        }
    }
    return false;
}

/* Reports a word that is neither a formula nor the name of a size. Suggests the most similar one,
 * or lists all. */
static bool fail_unknown(const struct ab_reader *r, const struct ab_yaml_field *f,
                         const struct ab_value *v)
{
    const char *names[AB_MAX_ENTRIES];
    char word[200], known[300] = "; known: ", suggestion[AB_SUGGESTION_BYTES];
    bool is_call = v->kind == AB_VALUE_CALL;
    size_t n = is_call ? AB_ARRAY_LEN(formulas) : r->w->n_sizes;
    if (!is_call && r->has_nameless_size)
        return false;
    for (size_t i = 0; i < n; i++) {
        names[i] = is_call ? formulas[i].name : r->w->sizes[i].name;
        if (strlen(known) < 209)
            ab_text_join(known, sizeof known, i > 0 ? ", " : "", names[i]);
    }
    ab_diag_quote(word, sizeof word, v->text, v->n_text);
    for (size_t i = 0; !is_call && i < AB_ARRAY_LEN(formulas); i++)
        if (strcmp(word, formulas[i].name) == 0)
            return AB_REFUSE_VALUE(r, f, v, "arguments are missing; expected %s%s", word,
                                   formulas[i].takes);
    return AB_REFUSE_VALUE(
        r, f, v, "unknown %s '%s'%s", is_call ? "distribution" : "size", word,
        ab_suggest(suggestion, word, names, n, n > 0 ? known : "; there are no 'sizes' above"));
}

/* ---- size tables in the workload's folder ----
 *
 * A workload may come from a stranger. So a table must be a small, regular file below the folder of
 * the workload. A message shows nothing of its content except a number that cannot be read. */

enum { MAX_ROWS = 100000, MAX_COLUMNS = 64, PATH_CAP = 4096 };

struct csv {
    struct ab_reader *r;
    const struct ab_yaml_field *f;
    const struct ab_value *call;
    const char *name;                    /* file name as in the workload */
    uint64_t size_column, weight_column; /* from 0 */
    unsigned line;
};

static bool fail_file(const struct csv *c, const char *message)
{
    const struct ab_value *file = &c->call->args[0].first;
    const char *shown = AB_QUOTED(c->name, strlen(c->name));
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

const char *ab_table_read(const struct ab_workload *w, const char *name, size_t most, char **out)
{
    char path[PATH_CAP], *text = NULL;
    const char *slash = strrchr(w->file, '/'), *wrong = NULL;
    int folder = slash == NULL ? 0 : (int)(slash - w->file) + 1;
    if (!is_inside(name) ||
        snprintf(path, sizeof path, "%.*s%s", folder, w->file, name) >= PATH_CAP)
        return "path must be inside the workload's directory";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0)
        wrong = "cannot be opened";
    else if (!S_ISREG(st.st_mode))
        wrong = "is not a regular file";
    else if ((uint64_t)st.st_size > most)
        wrong = most == AB_TABLE_BYTES ? "is larger than 1 MiB" : "is larger than 64 MiB";
    else
        text = ab_alloc_zeroed(1, (size_t)st.st_size + 1);
    if (text != NULL && read(fd, text, (size_t)st.st_size) != (ssize_t)st.st_size)
        wrong = "cannot be read";
    if (fd >= 0)
        close(fd);
    if (wrong == NULL)
        *out = text;
    else
        free(text);
    return wrong;
}

/* Splits a line at its commas, in place, and removes blanks around each field. */
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
    dist_widen(d, row->value, row->value);
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

/* Checks the three arguments: the file, and the columns of sizes and weights. Both columns are
 * given by name, or both by number. */
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

/* Converts the weights of a TABLE or MIX to cumulated shares. Returns false if the weights add up
 * to 0. */
static bool dist_share_out(struct ab_dist *d)
{
    double sum = 0, so_far = 0;
    for (size_t i = 0; i < d->n_rows; i++)
        sum += d->rows[i].share;
    if (sum <= 0)
        return false;
    for (size_t i = 0; i < d->n_rows; i++)
        d->rows[i].share = (so_far += d->rows[i].share) / sum;
    d->rows[d->n_rows - 1].share = 1;
    return true;
}

/* Fills the rows of a TABLE from a csv file in the workload's folder. Columns are named by the
 * first line; if they are given as numbers from 1, the file has no such line. */
static bool csv_read(struct ab_reader *r, const struct ab_yaml_field *f,
                     const struct ab_value *call, struct ab_dist *d)
{
    struct csv c = {.r = r, .f = f, .call = call};
    if (!check_call(&c))
        return false;
    const struct ab_value *file = &call->args[0].first;
    char *name = ab_strndup(file->text, file->n_text), *text = NULL;
    c.name = name;
    const char *wrong = ab_table_read(r->w, name, AB_TABLE_BYTES, &text);
    bool ok = wrong == NULL ? read_lines(&c, text, d) : fail_file(&c, wrong);
    c.line = 0;
    if (ok && !dist_share_out(d))
        ok = fail_file(&c, d->n_rows == 0 ? "no rows" : "the weights add up to 0");
    free(text);
    free(name);
    return ok;
}

static bool read_call(struct ab_reader *r, const struct ab_yaml_field *f, const struct ab_value *v,
                      struct ab_dist *d)
{
    const struct formula *formula = formulas, *end = formulas + AB_ARRAY_LEN(formulas);
    while (formula < end && !ab_value_is_call(v, formula->name))
        formula++;
    if (formula == end)
        return fail_unknown(r, f, v);
    *d = (struct ab_dist){.kind = formula->kind, .min = formula->args[0].id != ARG_NONE};
    if (formula->args[0].id != ARG_NONE)
        return read_formula(r, f, v, formula, d);
    if (formula->kind >= AB_DIST_SUM)
        return read_operands(r, f, v, formula, d);
    return formula->kind == AB_DIST_TABLE ? csv_read(r, f, v, d) : read_rows(r, f, v, formula, d);
}

static bool read_value(struct ab_reader *r, const struct ab_yaml_field *f, const struct ab_value *v,
                       size_t *index)
{
    struct ab_dist d = {.kind = AB_DIST_FIXED};
    if (v->kind == AB_VALUE_WORD)
        return find_size(r, v, index) || fail_unknown(r, f, v);
    if (v->kind == AB_VALUE_CALL) {
        if (!read_call(r, f, v, &d)) {
            free(d.rows);
            return false;
        }
        dist_add(r, &d, index);
        return true;
    }
    if (!ab_field_whole(r, f, f->node->key, v, size_range(r), &d.min))
        return false;
    d.max = d.min;
    dist_add(r, &d, index);
    return true;
}

bool ab_dist_read(struct ab_reader *r, const struct ab_yaml_field *f, size_t *index)
{
    struct ab_value v;
    if (f->text == NULL)
        return true;
    if (!ab_field_value(r, f, AB_UNIT_BYTES, &v))
        return false;
    bool ok = read_value(r, f, &v, index);
    ab_value_fini(&v);
    return ok && (*index == SIZE_MAX || check_range(r, f, *index));
}

/* ---- mix ---- */

static bool read_part(struct ab_reader *r, const struct ab_node *node,
                      const struct ab_raw_part *raw, struct ab_dist *d)
{
    struct ab_yaml_field dist = AB_FIELD(r, node, raw, dist);
    struct ab_yaml_field times = AB_FIELD(r, node, raw, times);
    bool has_weight = ab_tree_get(r->tree, node, "weight") != NULL;
    struct ab_dist_row *row = &d->rows[d->n_rows];
    size_t part = 0;
    *row = (struct ab_dist_row){0};
    if (!has_weight || dist.text == NULL)
        return ab_field_missing(r, node, !has_weight ? "weight" : "dist", "a part of a mix");
    bool ok = ab_read_keys(r, AB_BLOCK_part, node, raw, row);
    if (!ab_dist_read(r, &dist, &part) || !ok)
        return false;
    const struct ab_dist *sub = &r->w->dists.items[part];
    if (sub->max > AB_SIZE_MAX / row->times)
        return AB_REFUSE_FIELD(r, &times, "%llu times %llu exceeds the largest size, 1 TiB",
                               (unsigned long long)row->times, (unsigned long long)sub->max);
    row->value = part;
    d->n_rows++;
    dist_widen(d, sub->min * row->times, sub->max * row->times);
    return true;
}

bool ab_dist_read_mix(struct ab_reader *r, const struct ab_node *list,
                      const struct ab_raw_part *raw, unsigned n, size_t *index)
{
    struct ab_dist d = {.kind = AB_DIST_MIX};
    const struct ab_node *node = ab_tree_first(r->tree, list);
    bool ok = true;
    d.rows = ab_alloc_zeroed(n + 1u, sizeof d.rows[0]);
    for (unsigned i = 0; i < n; i++, node = ab_tree_next(r->tree, node))
        ok = read_part(r, node, &raw[i], &d) && ok;
    if (ok && !dist_share_out(&d)) {
        ab_diag_add(r->diag, list->at, "%s", "the weights of a mix must add up to more than 0");
        ok = false;
    }
    if (!ok) {
        free(d.rows);
        return false;
    }
    dist_add(r, &d, index);
    return true;
}
