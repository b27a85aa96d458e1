/* SPDX-License-Identifier: MIT
 *
 * Four of the counted classes of lifetimes are one column: a power of 16.
 */
#include "cli/trace/trace_lives.h"

#include "core/units_show.h"
#include "trace_tools/size_classes.h"

enum {
    CLASSES_A_COLUMN = 4,
    COLUMNS = (AB_SITE_LIVES + CLASSES_A_COLUMN - 2) / CLASSES_A_COLUMN + 1
};

static unsigned column_of(unsigned life)
{
    return (life + CLASSES_A_COLUMN - 1) / CLASSES_A_COLUMN;
}

static uint64_t cell(const struct ab_site_stats *s, unsigned size, unsigned column)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < AB_SITE_LIVES; i++)
        n += column_of(i) == column ? s->lives[size][i] : 0;
    return n;
}

static uint64_t row_total(const struct ab_site_stats *s, unsigned size)
{
    uint64_t n = s->live_by_size[size];
    for (unsigned i = 0; i < AB_SITE_LIVES; i++)
        n += s->lives[size][i];
    return n;
}

static unsigned last_column(const struct ab_site_stats *s)
{
    unsigned last = 0;
    for (unsigned size = 0; size < AB_CLASS_COUNT; size++)
        for (unsigned c = 0; c < COLUMNS; c++)
            last = c > last && cell(s, size, c) > 0 ? c : last;
    return last;
}

static void print_percent(FILE *to, uint64_t n, uint64_t all)
{
    double percent = 100 * (double)n / (double)all;
    if (n == 0)
        fprintf(to, " %7s", ".");
    else if (percent < 0.05)
        fprintf(to, " %7s", "<0.1");
    else
        fprintf(to, " %7.1f", percent);
}

static void print_head(FILE *to, unsigned last, uint64_t all)
{
    fprintf(to,
            "\nsizes (rows) against lifetimes (calls between allocation and free), %% of %llu "
            "blocks\n%10s %7s",
            (unsigned long long)all, "up to", "0");
    for (unsigned c = 1; c <= last; c++) {
        char bound[32];
        snprintf(bound, sizeof bound, "<16^%u", c);
        fprintf(to, " %7s", bound);
    }
    fprintf(to, " %7s\n", "never");
}

void ab_trace_print_lives(FILE *to, const struct ab_site_stats *s)
{
    uint64_t all = 0;
    unsigned last = last_column(s);
    for (unsigned size = 0; size < AB_CLASS_COUNT; size++)
        all += row_total(s, size);
    if (all == 0)
        return;
    print_head(to, last, all);
    for (unsigned size = 0; size < AB_CLASS_COUNT; size++) {
        if (row_total(s, size) == 0)
            continue;
        fprintf(to, "%10s", AB_BYTES(ab_class_to(size)));
        for (unsigned c = 0; c <= last; c++)
            print_percent(to, cell(s, size, c), all);
        print_percent(to, s->live_by_size[size], all);
        fputc('\n', to);
    }
}

static void append(struct ab_json *w, json_t *list, unsigned size, json_t *life_to, uint64_t n)
{
    json_t *o = json_object();
    ab_json_put(w, o, "size_to", ab_json_integer(ab_class_to(size)));
    ab_json_put(w, o, "life_to", life_to);
    ab_json_put(w, o, "blocks", ab_json_integer(n));
    ab_json_append(w, list, o);
}

/* life_to null: never freed. */
json_t *ab_trace_lives_json(struct ab_json *w, const struct ab_site_stats *s)
{
    json_t *list = json_array();
    for (unsigned size = 0; size < AB_CLASS_COUNT; size++) {
        for (unsigned i = 0; i < AB_SITE_LIVES; i++)
            if (s->lives[size][i] > 0)
                append(w, list, size, ab_json_integer((UINT64_C(1) << i) - 1), s->lives[size][i]);
        if (s->live_by_size[size] > 0)
            append(w, list, size, json_null(), s->live_by_size[size]);
    }
    return list;
}
