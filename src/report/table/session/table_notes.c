/* SPDX-License-Identifier: MIT
 *
 * The notes below the tables: clock and null, meaning of the columns, conditions, warnings, and
 * what became of back ends that have no numbers.
 */
#include "report/table/session/table_notes.h"

#include "base/units.h"
#include "core/median.h"
#include "core/text.h"
#include "core/units_show.h"
#include "report/format.h"
#include "report/table/session/table_noise.h"
#include "report/table/session/table_rounds.h"
#include "report/table/table.h"
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

static bool is_shown(const struct notes *r, uint32_t backend)
{
    return ab_backend_status_has_numbers(r->s->backends[backend].status);
}

/* Median over rounds and phases of what an op costs with nobody serving it. */
static double null_ns(const struct ab_session *s, const char *boundary)
{
    double *x = calloc((size_t)s->n_nulls + 1, sizeof x[0]);
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_nulls && x != NULL; i++)
        if (strcmp(s->nulls[i].boundary, boundary) == 0 && isfinite(s->nulls[i].ns_per_op))
            x[n++] = s->nulls[i].ns_per_op;
    double median = ab_median(x, n);
    free(x);
    return median;
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
    for (size_t i = 0, n = 0; i < AB_BOUNDARY_COUNT; i++) {
        double ns = null_ns(r->s, ab_boundary_names[i]);
        if (isfinite(ns))
            ab_text_addf(&note, "%s%s ns/op (%s)",
                         n++ == 0 ? " Null (the harness alone, not subtracted): " : ", ",
                         ab_format_ratio(cell, ns), ab_boundary_names[i]);
    }
    print_note(r, &note);
}

static void print_meanings(const struct notes *r)
{
    struct ab_text note = {0};
    char base[AB_CELL_BYTES * 4];
    ab_text_add(&note, "n: number of timed ops (a random sample, all rounds); a percentile is "
                       "shown only with at least 10 samples above it. max: of all ops.");
    if (r->base != UINT32_MAX)
        ab_text_addf(&note,
                     " Ratios: of time, higher is faster; [low, high]: 90 %% interval, with %u "
                     "rounds or more; ~: not clearly different from 1.",
                     AB_EFFECT_MIN_ROUNDS);
    else if (r->s->base != NULL)
        ab_text_addf(&note, " No ratios: the base, %s, has no numbers to compare with.",
                     ab_format_label(base, sizeof base, r->s->base, 40, r->style.utf8));
    ab_text_addf(&note, " %s: half of (max - min) over the rounds.",
                 r->style.utf8 ? "\u00b1" : "+-");
    print_note(r, &note);
}

/* Page faults an op in a phase: of the back ends with fewest and with most, first round. */
struct fault_range {
    double low, high; /* NaN = none known */
    uint32_t of_low, of_high;
};

static struct fault_range find_faults(const struct notes *r, const char *phase)
{
    struct fault_range range = {NAN, NAN, 0, 0};
    for (uint32_t i = 0; i < r->s->n_backends && r->s->n_rounds > 0; i++) {
        const struct ab_result *x = ab_session_find(r->s, i, phase, AB_OP_ALL,
                                                    r->s->rounds[0].index);
        double faults = x != NULL && x->n_ops > 0 ? (double)x->faults_minor / (double)x->n_ops
                                                  : NAN;
        if (isfinite(faults) && !(faults >= range.low)) {
            range.low = faults;
            range.of_low = i;
        }
        if (isfinite(faults) && !(faults <= range.high)) {
            range.high = faults;
            range.of_high = i;
        }
    }
    return range;
}

/* First touches are timed in ns/op and in no latency: where they cost much, the two disagree. */
static void print_faults(const struct notes *r)
{
    static const double worth_saying = 0.05;
    const char *between = "Page faults of first touches count in ns/op, not in latencies; faults "
                          "per op: ";
    struct ab_text note = {0};
    for (uint32_t p = 0; p < r->s->n_phases; p++) {
        struct fault_range range = find_faults(r, r->s->phases[p]);
        char low[AB_CELL_BYTES], high[AB_CELL_BYTES];
        char of_low[AB_CELL_BYTES * 4], of_high[AB_CELL_BYTES * 4];
        if (!(range.high >= worth_saying))
            continue;
        ab_text_addf(&note, "%s%s %s (%s)", between, r->s->phases[p],
                     ab_format_ratio(high, range.high),
                     ab_format_label(of_high, sizeof of_high, r->s->backends[range.of_high].name,
                                     24, r->style.utf8));
        if (range.of_low != range.of_high)
            ab_text_addf(&note, " to %s (%s)", ab_format_ratio(low, range.low),
                         ab_format_label(of_low, sizeof of_low, r->s->backends[range.of_low].name,
                                         24, r->style.utf8));
        between = ", ";
    }
    print_note(r, &note);
}

/* Runs of the throughput pass that the scheduler interrupted, told by wall against CPU time. */
static void print_preemption(const struct notes *r)
{
    static const double worth_saying = 1.1;
    uint32_t n = 0, n_hit = 0;
    double most = 0;
    struct ab_text note = {0};
    for (uint32_t i = 0; i < r->s->n_results && r->s->facts.lanes < 2; i++) {
        const struct ab_result *x = &r->s->results[i];
        if (x->op != AB_OP_ALL || !is_shown(r, x->backend) || !(x->cpu_ns_per_op > 0) ||
            x->quiet_percent > 0) /* of slices: interrupted ones are left out */
            continue;
        double stretch = x->ns_per_op / x->cpu_ns_per_op;
        bool is_hit = x->switches_involuntary > 0 && stretch > worth_saying;
        n++;
        n_hit += is_hit;
        most = is_hit ? fmax(most, stretch) : most;
    }
    if (n_hit > 0)
        ab_text_addf(&note,
                     "warning: the scheduler took the CPU away in %u of %u measured phases "
                     "(wall time up to %.1f times the CPU time): their ns/op is too high; try "
                     "--cpus",
                     n_hit, n, most);
    if (note.s != NULL)
        ab_table_prose(r->to, r->style, AB_STRONG, note.s);
    ab_text_fini(&note);
}

/* Phases that were mostly waited through: their wall time says little about a back end. */
static void print_waits(const struct notes *r)
{
    double most = 0;
    uint32_t n = 0, n_waiting = 0;
    struct ab_text note = {0};
    for (uint32_t i = 0; i < r->s->n_results; i++) {
        const struct ab_result *x = &r->s->results[i];
        if (x->op != AB_OP_ALL || isnan(x->wait_percent) || !is_shown(r, x->backend))
            continue;
        n++;
        n_waiting += ab_result_is_waiting(x);
        most = ab_result_is_waiting(x) ? fmax(most, x->wait_percent) : most;
    }
    if (n_waiting > 0)
        ab_text_addf(&note,
                     "waits: in %u of %u measured phases threads waited for each other, up "
                     "to %.0f %% of their time; ns/op and the ratios exclude this "
                     "(wall_ns_per_op includes it)",
                     n_waiting, n, most);
    print_note(r, &note);
}

static void print_noise(const struct notes *r)
{
    struct ab_text note = {0};
    ab_table_noise(r->s, &note);
    print_note(r, &note);
}

/* The harness does the same in each round: what varies there is the machine. */
static void print_unrest(const struct notes *r)
{
    static const double worth_saying = 0.25;
    struct ab_text note = {0};
    double worst = 0, from = NAN, to = NAN;
    for (uint32_t i = 0; i < r->s->n_nulls; i++) {
        double low = r->s->nulls[i].ns_per_op, high = low;
        for (uint32_t k = 0; k < r->s->n_nulls; k++) {
            const struct ab_null_cost *x = &r->s->nulls[k];
            if (strcmp(x->phase, r->s->nulls[i].phase) == 0 &&
                strcmp(x->boundary, r->s->nulls[i].boundary) == 0 &&
                ab_session_round_host(r->s, x->round) ==
                    ab_session_round_host(r->s, r->s->nulls[i].round)) {
                low = fmin(low, x->ns_per_op);
                high = fmax(high, x->ns_per_op);
            }
        }
        if (low > 0 && high / low - 1 > worst) {
            worst = high / low - 1;
            from = low;
            to = high;
        }
    }
    if (worst > worth_saying)
        ab_text_addf(&note,
                     "warning: noisy machine: the harness alone varied by %.0f %% over the "
                     "rounds (%.2f to %.2f ns/op)",
                     worst * 100, from, to);
    if (note.s != NULL)
        ab_table_prose(r->to, r->style, AB_STRONG, note.s);
    ab_text_fini(&note);
}

/* Libraries given by path are proven on this work only. */
static void print_unverified(const struct notes *r)
{
    struct ab_text note = {0};
    const char *between = "checked with this workload only: ";
    for (uint32_t i = 0; i < r->s->n_backends; i++) {
        const struct ab_backend_info *b = &r->s->backends[i];
        char name[sizeof b->name * 4];
        if (!is_shown(r, i) || b->path[0] == 0 || b->package[0] != 0 ||
            strcmp(b->name, "glibc") == 0)
            continue;
        ab_text_addf(&note, "%s%s", between,
                     ab_format_label(name, sizeof name, b->name, 40, r->style.utf8));
        between = ", ";
    }
    if (note.s != NULL)
        ab_text_add(&note, "; allocbench verify PATH runs all checks");
    print_note(r, &note);
}

/* Their ratios are what was asked for, but no like for like. */
static void print_inlined(const struct notes *r)
{
    struct ab_text note = {0};
    for (uint32_t i = 0; i < r->s->n_backends && note.s == NULL; i++)
        if (r->s->backends[i].boundary != NULL &&
            strcmp(r->s->backends[i].boundary, ab_boundary_names[AB_BOUNDARY_INLINE]) == 0)
            ab_text_add(&note, "inline+NAME: compiled into the measuring loop, without a call; the "
                               "others are called. A ratio between the two applies only to "
                               "programs that inline the allocator.");
    print_note(r, &note);
}

static const char *setting(const struct ab_session *s, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; s->settings != NULL && s->settings[i] != NULL; i++)
        if (strncmp(s->settings[i], name, n) == 0 && s->settings[i][n] == '=')
            return s->settings[i] + n + 1;
    return NULL;
}

static void print_conditions(const struct notes *r)
{
    const struct ab_session *s = r->s;
    const char *touch = setting(s, "touch"), *cache = setting(s, "cache");
    char size[AB_CELL_BYTES];
    struct ab_text note = {0};
    ab_text_addf(&note, "touch: %s", touch != NULL ? touch : "workload default");
    if (cache != NULL)
        ab_text_addf(&note, "; cache: %s read in 64 calls, as data of the program",
                     ab_units_bytes(size, sizeof size, strtod(cache, NULL)));
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

/* What was not in every round, and why there are so many. */
static void print_rounds(const struct notes *r)
{
    struct ab_text passes = {0}, end = {0};
    ab_rounds_note_passes(r->s, &passes);
    ab_rounds_note_end(r->s, &end);
    if (passes.n > 0)
        print_note(r, &passes);
    if (end.n > 0)
        print_note(r, &end);
}

/* "node1 (Imaginary CPU): 3 rounds" */
static void add_machine(const struct notes *r, struct ab_text *note, uint32_t host)
{
    const struct ab_session *s = r->s;
    const struct ab_host *h = &s->hosts[host];
    uint32_t n = 0;
    char name[80];
    for (uint32_t i = 0; i < s->n_rounds; i++)
        n += s->rounds[i].host == host;
    snprintf(name, sizeof name, "machine %u", host + 1);
    ab_text_addf(note, "%s %s (%s): %u round%s", host == 0 ? "" : ";",
                 h->name[0] != 0 ? h->name : name, h->cpu[0] != 0 ? h->cpu : "unknown CPU", n,
                 n == 1 ? "" : "s");
}

/* Rounds of several machines: what may be read across the rows, and what may not. */
static void print_machines(const struct notes *r)
{
    struct ab_text note = {0};
    if (r->s->n_hosts < 2)
        return;
    ab_text_addf(&note,
                 "warning: measured on %u machines: times, percentiles and ranges mix them. Ratios "
                 "are the median of single rounds, each on one machine.",
                 r->s->n_hosts);
    for (uint32_t i = 0; i < r->s->n_hosts; i++)
        add_machine(r, &note, i);
    if (note.s != NULL)
        ab_table_prose(r->to, r->style, AB_STRONG, note.s);
    ab_text_fini(&note);
}

/* Which back ends gave regions back in one call, and which freed them block by block: what they
 * did, not what they can do. */
static void print_resets(const struct notes *r)
{
    struct ab_text note = {0};
    bool has_any = false;
    for (uint32_t i = 0; i < r->s->n_backends; i++)
        has_any = has_any || ab_session_did_reset(r->s, i);
    for (int bulk = 1; bulk >= 0 && has_any; bulk--) {
        const char *between = bulk ? "bulk reset: " : "; individual frees: ";
        for (uint32_t i = 0; i < r->s->n_backends; i++) {
            const struct ab_backend_info *b = &r->s->backends[i];
            char name[sizeof b->name * 4];
            if (!is_shown(r, i) || ab_session_did_reset(r->s, i) != bulk)
                continue;
            ab_text_addf(&note, "%s%s", between, ab_text_printable(name, sizeof name, b->name));
            between = ", ";
        }
    }
    print_note(r, &note);
}

/* One line a back end that is not ok: what became of it, why, what would help. */
static void print_missing(const struct notes *r)
{
    for (uint32_t i = 0; i < r->s->n_backends; i++) {
        const struct ab_backend_info *b = &r->s->backends[i];
        struct ab_text line = {0};
        char name[sizeof b->name * 4];
        if (b->status == AB_BACKEND_OK && b->caveat[0] != 0 && r->style.is_verbose)
            ab_text_addf(&line, "%s: caveat: %s",
                         ab_format_label(name, sizeof name, b->name, 60, r->style.utf8), b->caveat);
        if (b->status == AB_BACKEND_OK && line.s != NULL)
            ab_table_prose(r->to, r->style, AB_STRONG, line.s);
        if (b->status == AB_BACKEND_OK) {
            ab_text_fini(&line);
            continue;
        }
        ab_text_addf(&line, "%s: %s%s%s",
                     ab_format_label(name, sizeof name, b->name, 60, r->style.utf8),
                     ab_backend_status_name(b->status), b->reason[0] != 0 ? ", " : "", b->reason);
        if (b->status == AB_BACKEND_PARTIAL)
            ab_text_add(&line, "; different work, not compared");
        if (b->status == AB_BACKEND_NONCONFORMING)
            ab_text_add(&line, "; measured because of --allow-broken, not compared");
        if (b->status == AB_BACKEND_ABSENT && b->package[0] != 0 &&
            strstr(b->reason, b->package) == NULL)
            ab_text_addf(&line, " (package %s)", b->package);
        if (line.s != NULL)
            ab_table_prose(r->to, r->style, AB_STRONG, line.s);
        ab_text_fini(&line);
    }
}

void ab_table_notes(FILE *to, const struct ab_session *session, struct ab_table_style style,
                    bool has_results)
{
    const struct notes r = {to, session, style, ab_session_base(session)};
    if (has_results) {
        print_clock(&r);
        print_meanings(&r);
        print_faults(&r);
        print_inlined(&r);
    }
    print_conditions(&r);
    print_rounds(&r);
    print_machines(&r);
    print_resets(&r);
    print_unverified(&r);
    print_preemption(&r);
    print_waits(&r);
    print_noise(&r);
    print_unrest(&r);
    print_missing(&r);
}
