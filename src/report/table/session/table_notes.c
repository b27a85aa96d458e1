/* SPDX-License-Identifier: MIT
 *
 * The notes below the tables by topic: clock and null, meaning of the columns, noise, conditions.
 */
#include "report/table/session/table_notes.h"

#include "base/units.h"
#include "core/median.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/format.h"
#include "report/table/session/table_noise.h"
#include "report/table/session/table_rounds.h"
#include "report/table/table.h"
#include "report/view/words/harness_name.h"
#include "result/session.h"
#include "stats/aggregate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct notes {
    FILE *to;
    const struct ab_session *s;
    struct ab_table_style style;
    uint32_t base;
};

/* Median over rounds and phases of what an op costs with nobody serving it. */
static double null_ns(const struct ab_session *s, uint32_t backend)
{
    double *x = ab_alloc_zeroed((size_t)s->n_nulls + 1, sizeof x[0]);
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_nulls; i++)
        if (ab_null_is_of(&s->nulls[i], &s->backends[backend]) && isfinite(s->nulls[i].ns_per_op))
            x[n++] = s->nulls[i].ns_per_op;
    double median = ab_median(x, n);
    free(x);
    return median;
}

static void add_nulls(const struct ab_session *s, struct ab_text *note)
{
    char cell[AB_CELL_BYTES], name[AB_HARNESS_NAME_BYTES], shown[AB_HARNESS_NAME_BYTES * 4];
    const char *before = " Null (the harness alone, not subtracted): ";
    for (uint32_t i = 0; i < s->n_backends; i++) {
        double ns = ab_harness_is_used(s, i) ? null_ns(s, i) : (double)NAN;
        if (!isfinite(ns))
            continue;
        ab_harness_name(s, i, name);
        ab_text_addf(note, "%s%s ns/op (%s)", before, ab_format_ratio(cell, ns),
                     ab_text_printable(shown, sizeof shown, name));
        before = ", ";
    }
}

static void print_note(const struct notes *r, struct ab_text *note)
{
    if (note->s != NULL)
        ab_table_prose(r->to, r->style, AB_FAINT, note->s);
    ab_text_fini(note);
}

static void print_clock(const struct notes *r)
{
    struct ab_text note = {0};
    char cell[AB_CELL_BYTES];
    double floor_ns = r->s->timer.floor_ns;
    if (isfinite(floor_ns))
        ab_text_addf(&note, "timer floor %s; smaller values print as <%s.",
                     ab_units_time(cell, sizeof cell, floor_ns), cell);
    else
        ab_text_add(&note, "timer floor unknown.");
    ab_text_addf(&note, " Clock quantum %s.",
                 isfinite(r->s->timer.quantum_ns)
                     ? ab_units_time(cell, sizeof cell, r->s->timer.quantum_ns)
                     : "unknown");
    add_nulls(r->s, &note);
    print_note(r, &note);
}

static void print_meanings(const struct notes *r)
{
    struct ab_text note = {0};
    ab_text_add(&note, "n: number of timed ops (a random sample, all rounds); a percentile is "
                       "shown only with at least 10 samples above it. max: of all ops; !: it "
                       "repeats in no other round at its place, and may be an interruption.");
    if (r->base != UINT32_MAX)
        ab_text_addf(&note,
                     " Ratios: of time per op; [low, high]: 90 %% interval, with %u "
                     "rounds or more; ~: not clearly different from 1.",
                     AB_EFFECT_MIN_ROUNDS);
    ab_text_addf(&note, " %s: half of (max - min) over the rounds.",
                 r->style.utf8 ? "\u00b1" : "+-");
    print_note(r, &note);
}

static void print_noise(const struct notes *r)
{
    struct ab_text note = {0};
    ab_table_noise(r->s, &note);
    print_note(r, &note);
}

static void print_conditions(const struct notes *r)
{
    const struct ab_session *s = r->s;
    const char *touch = ab_session_setting(s, "touch");
    struct ab_text note = {0};
    ab_text_addf(&note, "touch: %s", touch != NULL ? touch : "workload default");
    if (s->facts.lanes > 1)
        ab_text_addf(&note, "; %u threads%s, window %u", s->facts.lanes,
                     s->is_strict ? " in strict order" : "", s->window);
    if (s->cpu >= 0)
        ab_text_addf(&note, "; CPU affinity: %d", (int)s->cpu);
    else
        ab_text_addf(&note, "; CPU affinity: %s",
                     s->noise.slices_s > 0 ? "the quietest before each throughput run" : "none");
    ab_text_addf(&note, "; %u of %u rounds, seed %llu, tape %.12s, THP %s", s->n_rounds,
                 s->n_rounds_planned, (unsigned long long)s->seed,
                 s->tape_sha256 != NULL ? s->tape_sha256 : "unknown",
                 s->host.thp[0] != 0 ? s->host.thp : "unknown");
    if (s->shard.count > 0)
        ab_text_addf(&note, "; shard %u of %u", s->shard.index, s->shard.count);
    if (s->n_parts > 0)
        ab_text_addf(&note, "; merged from %u results", s->n_parts);
    print_note(r, &note);
}

/* " (94.9 %, 5.1 % of the requests)": what each rule decided on. */
static void add_shares(const struct ab_mapped_rules *rules, struct ab_text *note)
{
    double all = 0;
    for (uint32_t i = 0; i < rules->n; i++)
        all += (double)rules->n_requests[i];
    for (uint32_t i = 0; i < rules->n && all > 0; i++)
        ab_text_addf(note, "%s%.1f %%", i == 0 ? " (" : ", ",
                     (double)rules->n_requests[i] / all * 100);
    if (rules->n > 0 && all > 0)
        ab_text_add(note, " of the requests)");
}

/* Which back end served what, in rows of several. */
static void print_placements(const struct notes *r)
{
    char count[AB_CELL_BYTES], bytes[AB_CELL_BYTES];
    for (uint32_t i = 0; i < r->s->n_backends; i++) {
        const struct ab_backend_info *b = &r->s->backends[i];
        struct ab_text note = {0};
        for (uint32_t h = 0; h < b->n_heaps; h++) {
            const struct ab_mapped_heap *heap = &b->heaps[h];
            ab_text_addf(&note, "%s%s%s %s %s of %s, ", h == 0 ? b->name : "", h == 0 ? ": " : "; ",
                         heap->name, ab_units_count(count, sizeof count, (double)heap->n_requests),
                         heap->n_requests == 1 ? "request" : "requests",
                         ab_units_bytes(bytes, sizeof bytes, (double)heap->requested_bytes));
            ab_text_addf(&note, "up to %s live",
                         ab_units_bytes(bytes, sizeof bytes, (double)heap->live_peak_bytes));
        }
        if (note.s != NULL)
            ab_text_addf(&note, ". Rules: %s", b->map);
        add_shares(&b->rules, &note);
        if (note.s != NULL)
            ab_text_add(&note, ".");
        print_note(r, &note);
    }
}

/* What was not in every round. */
static void print_rounds(const struct notes *r)
{
    struct ab_text passes = {0};
    ab_rounds_note_passes(r->s, &passes);
    print_note(r, &passes);
}

void ab_table_notes(FILE *to, const struct ab_session *session, struct ab_table_style style)
{
    const struct notes r = {to, session, style, ab_session_base(session)};
    if ((style.topics & AB_TOPIC_TIME) != 0) {
        print_clock(&r);
        print_meanings(&r);
        print_noise(&r);
    }
    print_conditions(&r);
    print_placements(&r);
    print_rounds(&r);
}
