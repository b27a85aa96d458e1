/* SPDX-License-Identifier: MIT
 *
 * Names are of whoever made the trace: escaped before they are printed.
 */
#include "cli/trace/trace_marks.h"

#include "core/memory.h"
#include "core/text.h"
#include "core/units_show.h"
#include "trace/mark_table.h"

#include <math.h>
#include <stdlib.h>

enum { NAMES_SHOWN = 8 };

static struct ab_mark_stats *make_stats(const struct ab_mark_table *t)
{
    struct ab_mark_stats *stats = ab_alloc((t->n_names + 1) * sizeof stats[0]);
    ab_mark_stats(t, stats);
    return stats;
}

/* ---- text ---- */

static void print_one(FILE *to, const struct ab_mark_table *t, const struct ab_mark_stats *s)
{
    char a[32];
    fprintf(to, "marks      %s: %llu", AB_SHOWN(1024, t->names[s->name]), (unsigned long long)s->n);
    if (s->n > 1)
        fprintf(to, ", calls between: median %.10g (%.10g to %.10g)", s->calls.median, s->calls.min,
                s->calls.max);
    if (!isnan(s->us.median)) {
        fprintf(to, "; time: median %s", ab_units_time(a, sizeof a, s->us.median * 1e3));
        fprintf(to, ", longest %s", ab_units_time(a, sizeof a, s->us.max * 1e3));
    }
    fputc('\n', to);
}

enum ab_status ab_trace_print_marks(FILE *to, const struct ab_mark_table *t, struct ab_err *err)
{
    struct ab_mark_stats *stats = make_stats(t);
    (void)err;
    for (size_t i = 0; i < t->n_names && i < NAMES_SHOWN; i++)
        print_one(to, t, &stats[i]);
    if (t->n_names > NAMES_SHOWN)
        fprintf(to, "           and %zu names more (--json has all)\n", t->n_names - NAMES_SHOWN);
    free(stats);
    return AB_OK;
}

/* ---- JSON ---- */

static json_t *number(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

static json_t *spread(const struct ab_mark_spread *s)
{
    json_t *o = json_object();
    ab_json_put(o, "min", number(s->min));
    ab_json_put(o, "median", number(s->median));
    ab_json_put(o, "max", number(s->max));
    return o;
}

json_t *ab_trace_marks_json(const struct ab_mark_table *t)
{
    struct ab_mark_stats *stats = make_stats(t);
    json_t *list = stats != NULL ? json_array() : NULL;
    for (size_t i = 0; i < t->n_names && list != NULL; i++) {
        const struct ab_mark_stats *s = &stats[i];
        json_t *o = json_object();
        ab_json_put(o, "name", ab_json_string(t->names[s->name]));
        ab_json_put(o, "count", ab_json_integer(s->n));
        ab_json_put(o, "first_call", s->n > 0 ? ab_json_integer(s->first) : json_null());
        ab_json_put(o, "last_call", s->n > 0 ? ab_json_integer(s->last) : json_null());
        ab_json_put(o, "calls_between", spread(&s->calls));
        ab_json_put(o, "us_between", spread(&s->us));
        ab_json_append(list, o);
    }
    free(stats);
    return list;
}

/* ---- lines of dump ---- */

/* A space would be the end of the field. */
static void print_name(FILE *to, const char *name)
{
    char shown[4 * AB_MARK_NAME_MAX + 1];
    for (const char *p = ab_text_printable(shown, sizeof shown, name); *p != 0; p++)
        fputs(*p == ' ' ? "\\x20" : (const char[]){*p, 0}, to);
}

void ab_trace_print_mark(FILE *to, const struct ab_mark_table *t, size_t i, bool has_time)
{
    const struct ab_trace_mark *m = &t->marks[i];
    char thread[16] = "-";
    if (m->thread != AB_MARK_NO_THREAD)
        snprintf(thread, sizeof thread, "%u", m->thread);
    fprintf(to, "%llu %s mark - - - ", (unsigned long long)m->call, thread);
    print_name(to, t->names[m->name]);
    if (has_time)
        fprintf(to, " %llu", (unsigned long long)m->time_us);
    fputc('\n', to);
}
