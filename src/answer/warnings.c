/* SPDX-License-Identifier: MIT
 *
 * Finds what makes numbers wrong or easily misread, and says what to do about it. Also reports back
 * ends that failed or are not compared.
 */
#include "answer/warnings.h"

#include "answer/answer.h"
#include "answer/program_view.h"
#include "core/alloc.h"
#include "core/median.h"
#include "core/text.h"
#include "core/units_show.h"
#include "result/merge/shard_part.h"
#include "result/numbers.h"
#include "result/session.h"
#include "result/shown.h"
#include "stats/metric.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void warning_list_add(struct ab_view_warnings *w, const char *id,
                             enum ab_view_severity severity, const char *text, const char *remedy);

/* Thresholds of warnings. harness_worth_saying: the harness alone varies by this share.
 * stretch_worth_saying: wall time of a preempted run divided by its CPU time. busy_share: the CPU
 * core was idle for less than this share of the time. proof_worth_saying: share of a wall time that
 * processes waited while their allocator was checked. */
static const double harness_worth_saying = 0.25, stretch_worth_saying = 1.1, busy_share = 0.5,
                    proof_worth_saying = 0.01;

/* Thresholds for a program whose runs were preempted. involuntary_share: share of involuntary
 * context switches. slice_ns: the longest time slice of others after each of these switches.
 * runs_worth_saying: share of preempted runs. */
static const double involuntary_share = 0.25, slice_ns = 25e6, runs_worth_saying = 0.1;

/* If CPU time plus waits for a CPU are at most this multiple of the wall time, the waits did not
 * overlap. The excess over 1 allows for differences between the clocks. */
static const double side_by_side = 1.05;

/* If a replay did not write to blocks of at least this share of the live peak, the report warns. */
static const double untouched_share = 0.1;

static bool is_shown(const struct ab_session *s, uint32_t backend)
{
    return ab_session_has_numbers(s, backend);
}

/* ---- noise ---- */

struct unrest {
    /* worst: highest time per op divided by the lowest, minus 1; from, to: the lowest and the
     * highest, in ns */
    double worst, from, to;
};

/* Compares the rounds of a phase and harness, those of nulls[i], on one machine. Replaces *u if
 * they vary more. */
static void add_unrest(const struct ab_session *s, uint32_t i, struct unrest *u)
{
    double low = s->nulls[i].ns_per_op, high = low;
    for (uint32_t k = 0; k < s->n_nulls; k++) {
        const struct ab_null_cost *x = &s->nulls[k];
        if (strcmp(x->phase, s->nulls[i].phase) != 0 || !ab_null_is_like(x, &s->nulls[i]) ||
            ab_session_round_host(s, x->round) != ab_session_round_host(s, s->nulls[i].round))
            continue;
        low = fmin(low, x->ns_per_op);
        high = fmax(high, x->ns_per_op);
    }
    if (low > 0 && high / low - 1 > u->worst)
        *u = (struct unrest){high / low - 1, low, high};
}

/* Warns of a noisy machine. The harness does the same in each round, so any variation comes from
 * the machine. */
static void add_noise(const struct ab_session *s, struct ab_view_texts *t,
                      struct ab_view_warnings *w)
{
    struct unrest u = {0, NAN, NAN};
    for (uint32_t i = 0; i < s->n_nulls; i++)
        add_unrest(s, i, &u);
    if (!(u.worst > harness_worth_saying))
        return;
    w->is_noisy = true;
    warning_list_add(
        w, "noise", AB_VIEW_WARNING,
        ab_view_texts_addf(t,
                           "the harness overhead varied by %.0f %% over the rounds (%.2f to %.2f "
                           "ns/op)",
                           u.worst * 100, u.from, u.to),
        "run allocbench doctor to see what disturbs this machine, or use --rounds 20");
}

/* Warns of throughput runs that the scheduler interrupted, which shows in wall time against CPU
 * time. A run with an undisturbed slice is not affected, because only such slices count in its
 * time. */
static void add_preemption(const struct ab_session *s, struct ab_view_texts *t,
                           struct ab_view_warnings *w)
{
    uint32_t n = 0, n_hit = 0;
    double most = 0;
    for (uint32_t i = 0; i < s->n_results && s->facts.lanes < 2 && !ab_session_is_exec(s); i++) {
        const struct ab_result *x = &s->results[i];
        if (x->op != AB_OP_ALL || !is_shown(s, x->backend) || !(x->cpu_ns_per_op > 0) ||
            !isfinite(x->ns_per_op))
            continue;
        double stretch = x->ns_per_op / x->cpu_ns_per_op;
        bool is_hit = !(x->quiet_percent > 0) && x->switches_involuntary > 0 &&
                      stretch > stretch_worth_saying;
        n++;
        n_hit += is_hit;
        most = is_hit ? fmax(most, stretch) : most;
    }
    if (n_hit == 0)
        return;
    w->is_noisy = true;
    warning_list_add(
        w, "preempted", AB_VIEW_WARNING,
        ab_view_texts_addf(t,
                           "%u of %u runs of a phase were preempted (wall time up to %.1fx the "
                           "CPU time): their times are too long",
                           n_hit, n, most),
        "--cpus N pins the run to one CPU");
}

/* Returns the time that the program waits anyway, for a disk or a timer: at most the waits of the
 * run that waited least. */
static double own_waits_ns(const struct ab_session *s, uint32_t backend)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *x = &s->results[i];
        if (x->op == AB_OP_ALL && x->backend == backend && x->cpu_ns > 0)
            least = fmin(least, x->wall_ns - x->cpu_ns);
    }
    return fmax(least, 0);
}

/* True if the run lost time to waits for a CPU, as counted by the kernel. False if its threads
 * waited at the same time, because it is then not known how much wall time the waits took. */
static bool is_known_to_wait(const struct ab_result *x)
{
    return x->run_delay_ns > (1 - 1 / stretch_worth_saying) * x->wall_ns &&
           x->cpu_ns + x->run_delay_ns < side_by_side * x->wall_ns;
}

/* True if the run was probably preempted; used where the kernel does not count waits for a CPU. Its
 * wall time exceeds its CPU time and its own waits, many of its switches are involuntary, and they
 * can explain the excess. Cannot detect anything for programs that use several CPUs at once. */
static bool is_held_up(const struct ab_result *x, double own_ns)
{
    double involuntary = (double)x->switches_involuntary, alone_ns = x->cpu_ns + own_ns;
    bool is_known = x->switches_involuntary != UINT64_MAX && x->cpu_ns > 0;
    return is_known && x->wall_ns > stretch_worth_saying * alone_ns &&
           involuntary > involuntary_share * (involuntary + x->switches_voluntary) &&
           x->wall_ns - alone_ns < slice_ns * involuntary;
}

struct held_up {
    uint32_t n, n_hit;
    /* largest ratio of wall time to the estimated wall time without preemption, over the runs of
     * which only is_held_up says that they were preempted */
    double most;
    /* largest share of its wall time that a run waited for a CPU, as counted by the kernel; NaN: no
     * run has this count, or none waited */
    double most_share;
};

static void count_held_up(const struct ab_session *s, uint32_t backend, struct held_up *h)
{
    double own_ns = own_waits_ns(s, backend);
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *x = &s->results[i];
        if (x->op != AB_OP_ALL || x->backend != backend)
            continue;
        h->n++;
        if (isfinite(x->run_delay_ns) && is_known_to_wait(x)) {
            h->n_hit++;
            h->most_share = fmax(h->most_share, x->run_delay_ns / x->wall_ns);
        } else if (!isfinite(x->run_delay_ns) && is_held_up(x, own_ns)) {
            h->n_hit++;
            h->most = fmax(h->most, x->wall_ns / (x->cpu_ns + own_ns));
        }
    }
}

static void add_held_up(const struct ab_session *s, struct ab_view_texts *t,
                        struct ab_view_warnings *w)
{
    struct held_up h = {0, 0, 0, NAN};
    for (uint32_t b = 0; b < s->n_backends && ab_session_is_exec(s); b++)
        if (is_shown(s, b))
            count_held_up(s, b, &h);
    if (!(h.n_hit > runs_worth_saying * h.n))
        return;
    const char *text =
        isfinite(h.most_share)
            ? ab_view_texts_addf(t,
                                 "%u of %u runs waited for a CPU that something else used (up to "
                                 "%.0f %% of the wall time): their wall times are too long",
                                 h.n_hit, h.n, 100 * h.most_share)
            : ab_view_texts_addf(t,
                                 "%u of %u runs were preempted (wall time up to %.1fx the CPU time "
                                 "and the program's own waits, many involuntary context switches): "
                                 "their wall times are too long",
                                 h.n_hit, h.n, h.most);
    w->is_noisy = true;
    warning_list_add(w, "preempted", AB_VIEW_WARNING, text,
                     "allocbench doctor lists what disturbs this machine; CPU time is affected "
                     "less than wall time");
}

static void add_shared_core(const struct ab_session *s, struct ab_view_texts *t,
                            struct ab_view_warnings *w)
{
    const struct ab_noise *n = &s->noise;
    double quiet = n->slices_s > 0 ? n->quiet_s / n->slices_s : 1;
    if (quiet >= busy_share)
        return;
    w->is_noisy = true;
    warning_list_add(
        w, "shared-core", AB_VIEW_WARNING,
        ab_view_texts_addf(t,
                           "something else used the CPU core in %.0f %% of the throughput runs "
                           "(spent %s waiting for an idle core)",
                           100 * (1 - quiet), AB_TIME(n->waited_s * 1e9)),
        "stop other programs, or use --cpus N for an idle CPU");
}

/* ---- what the session is ---- */

static uint32_t planned_rounds(const struct ab_session *s)
{
    return ab_shard_n_rounds(s->shard, s->n_rounds_planned);
}

static void add_incomplete(const struct ab_session *s, struct ab_view_texts *t,
                           struct ab_view_warnings *w)
{
    const char *command = ab_session_resume_commands[s->kind];
    if (!s->is_complete)
        warning_list_add(
            w, "incomplete", AB_VIEW_WARNING,
            ab_view_texts_addf(t, "interrupted after %u of %u rounds", s->n_rounds,
                               planned_rounds(s)),
            command == NULL
                ? ""
                : ab_view_texts_addf(t, "allocbench %s --resume RESULT.json measures the rest",
                                     command));
}

static void add_unsealed(const struct ab_session *s, struct ab_view_warnings *w)
{
    if (s->is_unsealed)
        warning_list_add(w, "unsealed", AB_VIEW_WARNING,
                         "these numbers come from a result without a checksum: a change to it "
                         "would go unnoticed",
                         "measure again, or take the file as allocbench wrote it");
}

static void add_few_rounds(const struct ab_session *s, struct ab_view_texts *t,
                           struct ab_view_warnings *w)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_backends; i++)
        n += ab_backend_is_comparable(&s->backends[i]);
    if (n > 1 && s->n_rounds < AB_EFFECT_MIN_ROUNDS)
        warning_list_add(w, "few-rounds", AB_VIEW_WARNING,
                         ab_view_texts_addf(
                             t,
                             "%u round%s cannot distinguish a difference from noise (at least %u)",
                             s->n_rounds, s->n_rounds == 1 ? "" : "s", AB_EFFECT_MIN_ROUNDS),
                         "--rounds 10");
}

static void add_no_base(const struct ab_session *s, struct ab_view_texts *t,
                        struct ab_view_warnings *w)
{
    if (ab_session_base(s) == UINT32_MAX && s->base != NULL)
        warning_list_add(w, "no-base", AB_VIEW_WARNING,
                         ab_view_texts_addf(t, "no ratios: the base, %s, has no numbers",
                                            AB_SHOWN(600, s->base)),
                         "");
}

/* Adds "; node1 (Imaginary CPU): 3 rounds". */
static void add_machine(const struct ab_session *s, uint32_t host, struct ab_text *text)
{
    const struct ab_host *h = &s->hosts[host];
    uint32_t n = 0;
    char name[32];
    snprintf(name, sizeof name, "machine %u", host + 1);
    for (uint32_t i = 0; i < s->n_rounds; i++)
        n += s->rounds[i].host == host;
    ab_text_addf(text, "; %s (%s): %u round%s", h->name[0] != 0 ? AB_SHOWN(300, h->name) : name,
                 h->cpu[0] != 0 ? AB_SHOWN(520, h->cpu) : "unknown CPU", n, n == 1 ? "" : "s");
}

/* Says which numbers may be compared across rows when rounds come from several machines. */
static void add_machines(const struct ab_session *s, struct ab_view_texts *t,
                         struct ab_view_warnings *w)
{
    struct ab_text text = {0};
    if (s->n_hosts < 2)
        return;
    ab_text_addf(&text,
                 "measured on %u machines: times, percentiles and ranges mix these; a ratio is "
                 "the median of single rounds, each on one machine",
                 s->n_hosts);
    for (uint32_t i = 0; i < s->n_hosts; i++)
        add_machine(s, i, &text);
    warning_list_add(w, "machines", AB_VIEW_WARNING,
                     ab_view_texts_addf(t, "%s", text.s != NULL ? text.s : ""), "");
    ab_text_fini(&text);
}

/* ---- all ---- */

/* Sorts by severity. Stable: within one severity, the order stays. */
static void sort(struct ab_view_warnings *w)
{
    for (size_t i = 1; i < w->n; i++) {
        struct ab_view_warning moved = w->items[i];
        size_t k = i;
        for (; k > 0 && w->items[k - 1].severity > moved.severity; k--)
            w->items[k] = w->items[k - 1];
        w->items[k] = moved;
    }
}

/* ---- numbers that are right and easily misread ---- */

enum { NAME_BYTES = 4 * sizeof((struct ab_backend_info *)0)->name };
static const double faults_worth_saying = 0.05, fault_least_ns = 250, ratio_worth_saying = 1.25;

static void add_note(struct ab_view_warnings *w, const char *id, struct ab_view_texts *t,
                     struct ab_text *text)
{
    if (text->s != NULL)
        warning_list_add(w, id, AB_VIEW_NOTE, ab_view_texts_addf(t, "%s", text->s), "");
    ab_text_fini(text);
}

/* Notes phases in which threads mostly waited, because their wall time says little about a back
 * end. */
static void add_waits(const struct ab_session *s, struct ab_view_texts *t,
                      struct ab_view_warnings *w)
{
    double most = 0;
    uint32_t n = 0, n_waiting = 0;
    struct ab_text text = {0};
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *x = &s->results[i];
        if (x->op != AB_OP_ALL || isnan(x->wait_percent) || !ab_session_has_numbers(s, x->backend))
            continue;
        n++;
        n_waiting += ab_result_is_waiting(x);
        most = ab_result_is_waiting(x) ? fmax(most, x->wait_percent) : most;
    }
    if (n_waiting > 0)
        ab_text_addf(&text,
                     "in %u of %u measured phases threads waited for each other, up to %.0f %% of "
                     "their time; times and ratios exclude this (wall_ns_per_op includes it)",
                     n_waiting, n, most);
    add_note(w, "waits", t, &text);
}

/* Notes the rounds without a time per op, because too much of the time would be subtracted. Adds
 * the CPU time of the back ends where it is known. */
static void add_left_out(const struct ab_session *s, struct ab_view_texts *t,
                         struct ab_view_warnings *w)
{
    double *x = ab_alloc_zeroed((size_t)s->n_results + 1, sizeof x[0]);
    uint32_t n = 0, n_all = 0;
    struct ab_text text = {0};
    for (uint32_t i = 0; i < s->n_results; i++) {
        bool is_of_lanes = s->results[i].op == AB_OP_ALL && s->results[i].subtracted_percent >= 0;
        n_all += is_of_lanes;
        n += is_of_lanes && isnan(s->results[i].ns_per_op);
    }
    if (n > 0)
        ab_text_addf(
            &text,
            "%u of %u times per op (phases and rounds of each row) are left out, because waiting "
            "and writing to blocks, which are subtracted, took more than half of the threads' "
            "time in a row of that round, or because less than the harness's own time was left. "
            "CPU time per op, ns:",
            n, n_all);
    for (uint32_t b = 0; b < s->n_backends && n > 0; b++) {
        char name[NAME_BYTES];
        size_t m = 0;
        for (uint32_t i = 0; i < s->n_results; i++)
            if (s->results[i].op == AB_OP_ALL && s->results[i].backend == b &&
                isfinite(s->results[i].cpu_ns_per_op))
                x[m++] = s->results[i].cpu_ns_per_op;
        if (m > 0)
            ab_text_addf(&text, " %s %.1f",
                         ab_text_printable(name, sizeof name, ab_backend_label(&s->backends[b])),
                         ab_median(x, m));
    }
    free(x);
    add_note(w, "subtracted", t, &text);
}

/* Warns if few threads were ready at the same time. Threads that wait for blocks of each other are
 * rarely in the allocator together, so they compete for its locks less than in the program. */
static void add_crowd(const struct ab_session *s, struct ab_view_texts *t,
                      struct ab_view_warnings *w)
{
    uint32_t n_cpus = s->n_cpus > 0 ? s->n_cpus : s->host.cpus_allowed;
    double least = NAN;
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *x = &s->results[i];
        if (x->op == AB_OP_ALL && ab_result_is_waiting(x) && ab_session_has_numbers(s, x->backend))
            least = fmin(least, x->ready_threads);
    }
    if (n_cpus == 0 || s->facts.lanes <= n_cpus || !(least < s->facts.lanes / 2.0))
        return;
    warning_list_add(
        w, "crowd", AB_VIEW_WARNING,
        ab_view_texts_addf(
            t,
            "of %u threads on %u CPU%s only %.1f were ready to run at the same time, and the "
            "others waited for blocks of other threads: fewer threads compete for the locks of an "
            "allocator than in a program, where an op may take longer",
            s->facts.lanes, n_cpus, n_cpus == 1 ? "" : "s", least),
        "allocbench exec measures the program itself");
}

/* Lowest and highest number of the back ends, such as page faults per op in a phase, and the back
 * ends that have them. */
struct fault_range {
    double low, high; /* NaN = none known */
    uint32_t of_low, of_high;
};

/* Returns the page faults per op of a phase, as median over the rounds; NaN if the phase has no
 * ops. */
static double faults_per_op(const struct ab_session *s, uint32_t backend, const char *phase)
{
    double *x = ab_alloc_zeroed((size_t)s->n_results + 1, sizeof *x);
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *r = &s->results[i];
        if (r->backend == backend && r->op == AB_OP_ALL && r->n_ops > 0 && r->n_ops != UINT64_MAX &&
            r->faults_minor != UINT64_MAX && strcmp(r->phase, phase) == 0)
            x[n++] = (double)r->faults_minor / (double)r->n_ops;
    }
    double faults = ab_median(x, n);
    free(x);
    return faults;
}

static struct fault_range find_faults(const struct ab_session *s, const char *phase)
{
    struct fault_range range = {NAN, NAN, 0, 0};
    for (uint32_t i = 0; i < s->n_backends; i++) {
        double faults = ab_backend_is_comparable(&s->backends[i]) ? faults_per_op(s, i, phase)
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

/* Warns of large zeroed blocks that the replay left untouched, because it does not know which of
 * them the program writes. */
static void add_untouched(const struct ab_session *s, struct ab_view_texts *t,
                          struct ab_view_warnings *w)
{
    char bytes[32];
    const char *setting = ab_session_setting(s, "untouched");
    double left = setting != NULL ? strtod(setting, NULL) : 0,
           live = (double)s->facts.live_peak_bytes;
    if (!(left > 0 && left >= untouched_share * live))
        return;
    const char *text = ab_view_texts_addf(
        t,
        "zeroed blocks of 64 KiB or more, up to %s live (%.0f %% of the live peak), were not "
        "written to, because the trace does not say how much of them the program writes",
        ab_units_bytes(bytes, sizeof bytes, left), 100 * left / live);
    warning_list_add(w, "untouched", AB_VIEW_WARNING, text,
                     "record the program again (new traces say it), or choose --touch page; exec "
                     "measures the memory of the program itself");
}

static double of_all(const struct ab_session *s, uint32_t backend, const char *phase,
                     const char *field)
{
    const struct ab_metric m = {.phase = phase, .op = AB_OP_ALL, .field = ab_field_find(field)};
    return ab_backend_is_comparable(&s->backends[backend]) ? ab_metric_value(s, backend, &m) : NAN;
}

/* True if faults are frequent, or must take at least a tenth of the time at 250 ns or more each.
 * False if no back end has a number, because `of_high` is not valid then. */
static bool are_worth_saying(const struct ab_session *s, const char *phase,
                             const struct fault_range *range)
{
    return isfinite(range->high) &&
           (range->high >= faults_worth_saying ||
            range->high * fault_least_ns >= of_all(s, range->of_high, phase, "ns_per_op") / 10);
}

/* Notes page faults. First touches count in ns/op but in no latency, so the two disagree if faults
 * cost much. */
static void add_faults(const struct ab_session *s, struct ab_view_texts *t,
                       struct ab_view_warnings *w)
{
    const char *between = "page faults of the first writes to new memory count in the time per "
                          "op, not in latencies; faults per op: ";
    struct ab_text text = {0};
    const char *touch = ab_session_setting(s, "touch");
    if (touch != NULL && strstr(touch, "apart") != NULL)
        return; /* page faults are then part of no time */
    for (uint32_t p = 0; p < s->n_phases && !ab_session_is_exec(s); p++) {
        struct fault_range range = find_faults(s, s->phases[p]);
        char low[AB_CELL_BYTES], high[AB_CELL_BYTES];
        if (!are_worth_saying(s, s->phases[p], &range))
            continue;
        ab_text_addf(&text, "%s%s %s", between, AB_SHOWN(600, s->phases[p]),
                     ab_format_ratio(high, range.high));
        if (range.high > range.low * ratio_worth_saying)
            ab_text_addf(&text, " (%s) to %s (%s)",
                         AB_SHOWN(NAME_BYTES, ab_backend_label(&s->backends[range.of_high])),
                         ab_format_ratio(low, range.low),
                         AB_SHOWN(NAME_BYTES, ab_backend_label(&s->backends[range.of_low])));
        between = ", ";
    }
    add_note(w, "faults", t, &text);
}

/* Adds how long the end of a thread takes, from the fastest back end to the slowest. */
static void say_thread_ends(const struct ab_session *s, const char *phase, struct ab_text *text)
{
    struct fault_range range = {NAN, NAN, 0, 0};
    double n = 0;
    for (uint32_t b = 0; b < s->n_backends; b++) {
        double ns = of_all(s, b, phase, "thread_end_ns");
        if (!isfinite(ns))
            continue;
        n = fmax(n, of_all(s, b, phase, "thread_ends"));
        if (!(ns >= range.low))
            range.low = ns, range.of_low = b;
        if (!(ns <= range.high))
            range.high = ns, range.of_high = b;
    }
    if (!isfinite(range.low))
        return;
    ab_text_addf(text, "%s%s: %.0f %s; ending one and starting the next takes %s (%s)",
                 text->s != NULL ? "; " : "", AB_SHOWN(600, phase), n,
                 n == 1 ? "thread ends" : "threads end", AB_TIME(range.low),
                 AB_SHOWN(NAME_BYTES, ab_backend_label(&s->backends[range.of_low])));
    if (range.of_high != range.of_low)
        ab_text_addf(text, " to %s (%s)", AB_TIME(range.high),
                     AB_SHOWN(NAME_BYTES, ab_backend_label(&s->backends[range.of_high])));
}

/* Notes how long thread ends take, and how many are missing in a replay. A lane that plays several
 * recorded threads at once does not end its thread when one of them ends. */
static void add_thread_ends(const struct ab_session *s, struct ab_view_texts *t,
                            struct ab_view_warnings *w)
{
    uint64_t n = s->thread_ends_left_out;
    bool is_trace = s->kind == AB_SESSION_TRACE;
    struct ab_text text = {0}, left = {0};
    for (uint32_t p = 0; p < s->n_phases && !ab_session_is_exec(s); p++)
        say_thread_ends(s, s->phases[p], &text);
    if (text.s != NULL)
        ab_text_add(&text, is_trace ? "; not counted in the time per op"
                                    : "; counted in the time per op, not in latencies");
    add_note(w, "thread-ends", t, &text);
    if (is_trace && n != 0 && n != UINT64_MAX)
        ab_text_addf(
            &left,
            "%" PRIu64
            " %s of the program did not end in the replay, because %u %s at the same time: the "
            "allocators keep the caches of these threads. --threads sets the number of lanes",
            n, n == 1 ? "thread" : "threads", s->facts.lanes,
            s->facts.lanes == 1 ? "lane plays several threads" : "lanes play several threads");
    add_note(w, "thread-ends", t, &left);
}

/* Returns the largest value of a field over the phases of a back end; 0 = none, or not known. */
static double most_of(const struct ab_session *s, uint32_t backend, const char *field)
{
    double most = 0;
    for (uint32_t p = 0; p < s->n_phases; p++)
        most = fmax(most, of_all(s, backend, s->phases[p], field));
    return most;
}

/* Notes the program's calls of malloc_trim, and under which back ends they had an effect. */
static void add_trims(const struct ab_session *s, struct ab_view_texts *t,
                      struct ab_view_warnings *w)
{
    struct ab_text text = {0}, without = {0};
    double n = 0, n_without = 0;
    for (uint32_t b = 0; b < s->n_backends; b++) {
        double done = most_of(s, b, "trims"), other = most_of(s, b, "trims_without_effect");
        struct ab_text *to = done > 0 ? &text : &without;
        n = fmax(n, done);
        n_without = fmax(n_without, other);
        if (done > 0 || other > 0)
            ab_text_addf(to, "%s%s", to->s != NULL ? ", " : "",
                         AB_SHOWN(NAME_BYTES, ab_backend_label(&s->backends[b])));
    }
    if (n > 0)
        ab_text_addf(&text, ": malloc_trim was called %.0f %s, as in the program", n,
                     n == 1 ? "time" : "times");
    if (n_without > 0)
        ab_text_addf(&text,
                     "%s%s: %.0f %s of malloc_trim had no effect, because the library does not "
                     "have this function",
                     n > 0 ? "; " : "", without.s, n_without, n_without == 1 ? "call" : "calls");
    add_note(w, "trims", t, &text);
    ab_text_fini(&without);
}

/* Notes that some back ends are compiled into the loop. Their ratios to the others were asked for,
 * but do not compare like with like. */
static void add_inlined(const struct ab_session *s, struct ab_view_texts *t,
                        struct ab_view_warnings *w)
{
    struct ab_text text = {0};
    for (uint32_t i = 0; i < s->n_backends && text.s == NULL; i++)
        if (ab_backend_is_inlined(&s->backends[i]))
            ab_text_add(&text, "inline+NAME is compiled into the measuring loop (cursor+NAME "
                               "allocates through its cursor), and the other back ends are "
                               "called: a ratio between the two kinds applies only to programs "
                               "that inline the allocator in the same way");
    add_note(w, "inline", t, &text);
}

/* Notes which back ends freed regions in one call and which freed them block by block. This is what
 * they did, not what they are capable of. */
static void add_resets(const struct ab_session *s, struct ab_view_texts *t,
                       struct ab_view_warnings *w)
{
    struct ab_text text = {0};
    bool has_any = false, is_trace = s->kind == AB_SESSION_TRACE;
    for (uint32_t i = 0; i < s->n_backends; i++)
        has_any = has_any || ab_session_did_reset(s, i);
    for (int bulk = 1; bulk >= 0 && has_any; bulk--) {
        const char *between = !bulk      ? "; individual frees: "
                              : is_trace ? "reset to a save point after each scope: "
                                         : "bulk reset: ";
        for (uint32_t i = 0; i < s->n_backends; i++) {
            if (!ab_session_has_numbers(s, i) || ab_session_did_reset(s, i) != bulk)
                continue;
            ab_text_addf(&text, "%s%s", between,
                         AB_SHOWN(NAME_BYTES, ab_backend_label(&s->backends[i])));
            between = ", ";
        }
    }
    add_note(w, "resets", t, &text);
}

/* Returns the warning "too little work: N operations in TIME cannot be timed", after the values of
 * the parameters if there are any. `ops` 0 = their number is not known. */
static const char *describe_little(struct ab_view_texts *t, const char *values, double ops,
                                   double ns)
{
    const char *colon = values[0] != 0 ? ": " : "";
    if (ops == 0)
        return ab_view_texts_addf(t, "%s%stoo little work: %s cannot be timed", values, colon,
                                  AB_TIME(ns));
    return ab_view_texts_addf(t, "%s%stoo little work: %.0f operation%s in %s cannot be timed",
                              values, colon, ops, ops == 1 ? "" : "s", AB_TIME(ns));
}

static void add_little_work(const struct ab_session *s, struct ab_view_texts *t,
                            struct ab_view_warnings *w)
{
    double longest, ops;
    bool is_replay = s->kind == AB_SESSION_TRACE;
    uint32_t k = 0;
    while (k < s->n_combinations && !ab_session_is_too_little(s, k, &ops, &longest))
        k++;
    if (k > 0 ? k == s->n_combinations : !ab_session_is_too_little(s, 0, &ops, &longest))
        return;
    warning_list_add(
        w, "little-work", AB_VIEW_WARNING,
        describe_little(t, s->n_combinations > 0 ? s->combinations[k].values : "", ops, longest),
        is_replay ? "record more of the program, with its child processes: allocbench record "
                    "--follow; a program with an allocator of its own makes few calls to malloc"
                  : "use more operations in the measured phases: until: ops(N), or count");
}

static void view_warnings_work(const struct ab_session *s, struct ab_view_texts *texts,
                               struct ab_view_warnings *out)
{
    add_little_work(s, texts, out);
    add_left_out(s, texts, out);
    add_waits(s, texts, out);
    add_crowd(s, texts, out);
    add_thread_ends(s, texts, out);
    add_trims(s, texts, out);
    add_untouched(s, texts, out);
    add_faults(s, texts, out);
    add_inlined(s, texts, out);
    add_resets(s, texts, out);
}

/* ---- back ends that are not simply ok ---- */

enum { SHOWN_BYTES = 4 * sizeof((struct ab_backend_info *)0)->name };

static void add(struct ab_view_warnings *w, uint32_t backend, const char *id,
                enum ab_view_severity severity, const char *text, const char *remedy)
{
    size_t n = w->n;
    warning_list_add(w, id, severity, text, remedy);
    if (w->n > n)
        w->items[n].backend = backend;
}

static const char *after(enum ab_backend_status status)
{
    return status == AB_BACKEND_PARTIAL ? "; different work, not compared"
           : status == AB_BACKEND_NONCONFORMING
               ? "; measured because of --allow-broken, not compared"
           : status == AB_BACKEND_DECORATED ? "; not compared"
                                            : "";
}

bool ab_view_program_fails(const struct ab_session *s)
{
    uint32_t n = 0;
    const char *why = NULL;
    for (uint32_t i = 0; i < s->n_backends && ab_session_is_exec(s); i++) {
        const struct ab_backend_info *b = &s->backends[i];
        if (b->status == AB_BACKEND_ABSENT)
            continue;
        if (b->status != AB_BACKEND_FAILED_CHECK || (why != NULL && strcmp(why, b->reason) != 0))
            return false;
        why = b->reason;
        n++;
    }
    return n > 1;
}

/* Returns the remedy for a back end. Suggests `verify` after a crash, because a library that
 * crashes often fails a check too, which says more. */
static const char *remedy_of(const struct ab_session *s, const struct ab_backend_info *b,
                             struct ab_view_texts *t)
{
    if (ab_view_program_fails(s))
        return "";
    if (b->status == AB_BACKEND_ABSENT && b->package[0] != 0)
        return ab_view_texts_addf(t, "apt install %s", b->package);
    if ((b->status == AB_BACKEND_CRASHED || b->status == AB_BACKEND_TIMEOUT ||
         b->status == AB_BACKEND_FAILED_CHECK) &&
        b->path[0] != 0)
        return ab_view_texts_addf(t, "allocbench verify %s", AB_SHOWN(4 * sizeof b->path, b->path));
    return "";
}

static void add_status(const struct ab_session *s, uint32_t i, struct ab_view_texts *t,
                       struct ab_view_warnings *w)
{
    const struct ab_backend_info *b = &s->backends[i];
    bool is_absent = b->status == AB_BACKEND_ABSENT;
    const char *id = is_absent                                  ? "absent"
                     : ab_backend_status_has_numbers(b->status) ? "not-compared"
                                                                : "failed";
    if (b->status == AB_BACKEND_OK)
        return;
    if (b->status == AB_BACKEND_FAILED_CHECK && ab_view_program_fails(s)) {
        /* True if the list already has the reason, which is the same for all back ends */
        bool is_said = false;
        for (size_t k = 0; k < w->n; k++)
            is_said = is_said || strcmp(w->items[k].id, "failed") == 0;
        if (!is_said)
            add(w, i, "failed", AB_VIEW_FAILURE,
                ab_view_texts_addf(t, "%s", AB_SHOWN(4 * sizeof b->reason, b->reason)), "");
        return;
    }
    add(w, i, id, is_absent && !b->was_named ? AB_VIEW_NOTE : AB_VIEW_FAILURE,
        ab_view_texts_addf(t, "%s: %s%s%s%s", AB_SHOWN(SHOWN_BYTES, ab_backend_label(b)),
                           ab_backend_status_name(b->status), b->reason[0] != 0 ? ", " : "",
                           AB_SHOWN(4 * sizeof b->reason, b->reason), after(b->status)),
        remedy_of(s, b, t));
}

bool ab_view_is_unverified(const struct ab_backend_info *b)
{
    return !b->is_verified && b->n_verify_failed == 0 && ab_backend_status_has_numbers(b->status) &&
           b->path[0] != 0 && b->package[0] == 0 && strcmp(b->name, "glibc") != 0;
}

static void add_unverified(const struct ab_session *s, struct ab_view_texts *t,
                           struct ab_view_warnings *w)
{
    struct ab_text names = {0}, paths = {0};
    for (uint32_t i = 0; i < s->n_backends; i++) {
        const struct ab_backend_info *b = &s->backends[i];
        if (!ab_view_is_unverified(b))
            continue;
        ab_text_addf(&names, "%s%s", names.n > 0 ? ", " : "",
                     AB_SHOWN(SHOWN_BYTES, ab_backend_label(b)));
        ab_text_addf(&paths, " %s", AB_SHOWN(4 * sizeof b->path, b->path));
    }
    if (names.s != NULL && paths.s != NULL)
        warning_list_add(w, "unverified", AB_VIEW_WARNING,
                         ab_view_texts_addf(t, "not verified: %s", names.s),
                         ab_view_texts_addf(t, "allocbench verify%s", paths.s));
    ab_text_fini(&names);
    ab_text_fini(&paths);
}

/* Adds the names of the checks that failed: "limits, reuse, fork". */
static void add_failed_checks(const struct ab_backend_info *b, struct ab_text *to)
{
    for (uint32_t i = 0; i < b->n_verify_failed; i++)
        ab_text_addf(to, "%s%s", i > 0 ? ", " : "",
                     AB_SHOWN(4 * AB_VERIFY_NAME_BYTES, b->verify_failed[i]));
}

static void add_failed_verify(const struct ab_session *s, uint32_t i, struct ab_view_texts *t,
                              struct ab_view_warnings *w)
{
    const struct ab_backend_info *b = &s->backends[i];
    struct ab_text checks = {0};
    if (b->n_verify_failed == 0 || !ab_backend_status_has_numbers(b->status))
        return;
    add_failed_checks(b, &checks);
    add(w, i, "verify-failed", AB_VIEW_WARNING,
        ab_view_texts_addf(t, "%s FAILED verify (%s)", AB_SHOWN(SHOWN_BYTES, ab_backend_label(b)),
                           checks.s),
        ab_view_texts_addf(t, "allocbench verify %s", AB_SHOWN(4 * sizeof b->path, b->path)));
    ab_text_fini(&checks);
}

static void add_caveat(const struct ab_session *s, uint32_t i, struct ab_view_texts *t,
                       struct ab_view_warnings *w)
{
    const struct ab_backend_info *b = &s->backends[i];
    if (b->status == AB_BACKEND_OK && b->caveat[0] != 0)
        add(w, i, "caveat", AB_VIEW_NOTE,
            ab_view_texts_addf(t,
                               "%s deviates from the standards, in ways that this work does not "
                               "depend on: %s",
                               AB_SHOWN(SHOWN_BYTES, ab_backend_label(b)),
                               AB_SHOWN(4 * sizeof b->caveat, b->caveat)),
            "");
}

/* Notes by which function each malloc performs the sized frees of the work. */
static void add_sized_frees(const struct ab_session *s, struct ab_view_texts *t,
                            struct ab_view_warnings *w)
{
    struct ab_text own = {0}, plain = {0};
    for (uint32_t i = 0; i < s->n_backends; i++) {
        const struct ab_backend_info *b = &s->backends[i];
        bool is_plain = strcmp(b->sized_free, "free") == 0;
        struct ab_text *to = is_plain ? &plain : &own;
        if (b->sized_free[0] == 0)
            continue;
        ab_text_addf(to, "%s%s%s%s", to->n > 0 ? ", " : "",
                     AB_SHOWN(SHOWN_BYTES, ab_backend_label(b)), is_plain ? "" : " by ",
                     is_plain ? "" : AB_SHOWN(200, b->sized_free));
    }
    if (own.n + plain.n > 0)
        warning_list_add(w, "sized-frees", AB_VIEW_NOTE,
                         ab_view_texts_addf(t, "sized frees: %s%s%s%s", own.n > 0 ? own.s : "",
                                            own.n > 0 && plain.n > 0 ? "; " : "",
                                            plain.n > 0 ? plain.s : "",
                                            plain.n > 0 ? " by plain free, because there is no "
                                                          "sized one"
                                                        : ""),
                         "");
    ab_text_fini(&own);
    ab_text_fini(&plain);
}

static void add_little_memory(const struct ab_session *s, struct ab_view_texts *t,
                              struct ab_view_warnings *w)
{
    if (s->n_memory > 0 && ab_session_has_little_memory(s))
        warning_list_add(w, "little-memory", AB_VIEW_NOTE,
                         ab_view_texts_addf(t,
                                            "at most %" PRIu64 " bytes are live, less than a page: "
                                            "memory figures say nothing",
                                            s->facts.live_peak_bytes),
                         "");
}

/* Notes the aged heaps. Back ends with the same aged heap share a note. */
static void add_aged_heaps(const struct ab_session *s, struct ab_view_texts *t,
                           struct ab_view_warnings *w)
{
    for (uint32_t i = 0; i < s->n_backends; i++) {
        const struct ab_aging_count *c = &s->backends[i].aged;
        const char *says = strstr(s->backends[i].name, "litter=");
        uint32_t before = 0;
        while (before < i && memcmp(&s->backends[before].aged, c, sizeof *c) != 0)
            before++;
        if (c->made_blocks > 0 && before == i && says != NULL)
            warning_list_add(w, "litter", AB_VIEW_NOTE,
                             ab_view_texts_addf(
                                 t,
                                 "%.*s: %" PRIu64 " blocks, %s, were allocated before the work; "
                                 "%" PRIu64 " of them, %s, stay and count in %s (seed %" PRIu64 ")",
                                 (int)strcspn(says, ":{ "), says, c->made_blocks,
                                 AB_BYTES((double)c->made_bytes), c->blocks,
                                 AB_BYTES((double)c->bytes),
                                 ab_session_is_exec(s) ? "its peak and mean memory" : "its peak",
                                 s->backends[i].aging.seed),
                             "");
    }
}

/* Returns why the first unproven setting of a back end is not proven; NULL if it has no such
 * setting, or no numbers. */
static const char *why_unproven(const struct ab_backend_info *b)
{
    for (uint32_t k = 0; k < b->n_proofs && ab_backend_status_has_numbers(b->status); k++)
        if (b->proofs[k].state == AB_SETTING_UNPROVEN)
            return b->proofs[k].why;
    return NULL;
}

/* Notes why settings are not proven: for each back end the reason of its first such setting. Back
 * ends with the same reason share a note. */
static void add_unproven(const struct ab_session *s, struct ab_view_texts *t,
                         struct ab_view_warnings *w)
{
    for (uint32_t i = 0; i < s->n_backends; i++) {
        const char *why = why_unproven(&s->backends[i]);
        struct ab_text rows = {0};
        bool is_said = why == NULL;
        for (uint32_t k = 0; k < s->n_backends && !is_said; k++) {
            const char *other = why_unproven(&s->backends[k]);
            bool is_same = other != NULL && strcmp(other, why) == 0;
            is_said = is_same && k < i;
            if (is_same && !is_said)
                ab_text_addf(&rows, "%s%s", rows.n > 0 ? ", " : "",
                             AB_SHOWN(SHOWN_BYTES, ab_backend_label(&s->backends[k])));
        }
        if (rows.n > 0)
            warning_list_add(w, "settings", AB_VIEW_NOTE,
                             ab_view_texts_addf(t, "settings not proven, %s: %s", why, rows.s), "");
        ab_text_fini(&rows);
    }
}

static bool has_inside(const struct ab_session *s)
{
    for (uint32_t i = 0; i < s->n_results; i++)
        if (s->results[i].op == AB_OP_ALL && isfinite(s->results[i].inside_ns))
            return true;
    return false;
}

/* Warns of libraries that bypass preloaded allocators. Returns true if there are any. One warning
 * is for all back ends, because a program loads the same libraries under each. The C library as
 * back end has such libraries only if the interposer of --inside is preloaded. */
static bool add_deepbound(const struct ab_session *s, bool crashes, struct ab_view_texts *t,
                          struct ab_view_warnings *w)
{
    const char *files = "";
    struct ab_text past = {0};
    for (uint32_t i = 0; i < s->n_backends; i++) {
        const struct ab_backend_info *b = &s->backends[i];
        if (b->deepbound[0] == 0)
            continue;
        files = strlen(b->deepbound) > strlen(files) ? b->deepbound : files;
        if (b->path[0] != 0)
            ab_text_addf(&past, "%s%s", past.n > 0 ? ", " : ", not to ",
                         AB_SHOWN(SHOWN_BYTES, ab_backend_label(b)));
    }
    if (files[0] != 0)
        warning_list_add(
            w, "deepbind", AB_VIEW_WARNING,
            ab_view_texts_addf(t,
                               "calls of %s go to the C library's malloc%s, because of "
                               "RTLD_DEEPBIND or dlmopen%s%s",
                               AB_SHOWN(4 * sizeof s->backends->deepbound, files),
                               past.n > 0 ? past.s : "",
                               has_inside(s) ? "; --inside does not count these calls" : "",
                               crashes ? "; if the allocator has to free such a block, the "
                                         "program crashes"
                                       : ""),
            "preload the library: LD_PRELOAD=LIBRARY allocbench exec ... (does not help with dlmopen)");
    ab_text_fini(&past);
    return files[0] != 0;
}

/* Warns of libraries that stay bound to the C library's malloc whatever is preloaded. Suspects them
 * if the program crashes under preloaded allocators only. */
static void add_deepbind(const struct ab_session *s, struct ab_view_texts *t,
                         struct ab_view_warnings *w)
{
    bool crashes = false;
    for (uint32_t i = 0; i < s->n_backends; i++)
        crashes |= s->backends[i].status == AB_BACKEND_CRASHED && s->backends[i].path[0] != 0;
    crashes = crashes && ab_session_is_exec(s) && !ab_view_program_fails(s);
    if (add_deepbound(s, crashes, t, w) || !crashes)
        return;
    warning_list_add(w, "deepbind", AB_VIEW_NOTE,
                     "if a program crashes only under preloaded allocators, it may load libraries "
                     "with RTLD_DEEPBIND: these still call glibc's malloc, and the allocator then "
                     "has to free their blocks",
                     "allocbench record -- COMMAND names the libraries that are loaded this way");
}

/* Warns that --inside cannot time the calls of a back end. Its plain numbers stay valid. */
static void add_not_inside(const struct ab_session *s, uint32_t i, struct ab_view_texts *t,
                           struct ab_view_warnings *w)
{
    const struct ab_backend_info *b = &s->backends[i];
    if (b->not_inside[0] != 0 && ab_backend_status_has_numbers(b->status))
        add(w, i, "not-inside", AB_VIEW_WARNING,
            ab_view_texts_addf(t, "%s: --inside cannot time its calls in this program: %s",
                               AB_SHOWN(SHOWN_BYTES, ab_backend_label(b)),
                               AB_SHOWN(4 * sizeof b->not_inside, b->not_inside)),
            "");
}

/* Warns if calls took less than an empty call. The time inside malloc is the difference of these
 * two times, so it is not known then. */
static void add_below_empty(const struct ab_session *s, uint32_t i, struct ab_view_texts *t,
                            struct ab_view_warnings *w)
{
    double empty_ns = 0;
    unsigned n = 0;
    for (uint32_t k = 0; k < s->n_results; k++) {
        const struct ab_result *r = &s->results[k];
        if (r->backend != i || !isfinite(r->inside_subtracted_ns) || isfinite(r->inside_ns))
            continue;
        empty_ns = fmax(empty_ns, r->inside_empty_call_ns);
        n++;
    }
    if (n > 0)
        add(w, i, "below-empty-call", AB_VIEW_WARNING,
            ab_view_texts_addf(
                t,
                "%s: in %u of %u rounds its timed calls took less than an empty call "
                "(%.3g ns): their time inside and outside of malloc is n/a",
                AB_SHOWN(SHOWN_BYTES, ab_backend_label(&s->backends[i])), n, s->n_rounds, empty_ns),
            "--rounds 20, or a longer run");
}

/* Warns if processes waited at their end, to have their allocator checked, while other processes of
 * the program ran. Nobody knows what the wall time would have been without these waits. */
static void add_proof_beside(const struct ab_session *s, struct ab_view_texts *t,
                             struct ab_view_warnings *w)
{
    double most = 0;
    for (uint32_t i = 0; i < s->n_results; i++)
        if (isfinite(s->results[i].proof_beside_ns) && s->results[i].wall_ns > 0 &&
            ab_session_has_numbers(s, s->results[i].backend))
            most = fmax(most, s->results[i].proof_beside_ns / s->results[i].wall_ns);
    if (most > proof_worth_saying)
        warning_list_add(
            w, "proof", AB_VIEW_WARNING,
            ab_view_texts_addf(t,
                               "parallel processes waited at their end while their allocator was "
                               "checked: that may be up to %.2g %% of a wall time",
                               100 * fmin(most, 1)),
            "CPU time is not affected");
}

/* Warns that a back end did not run in virtual time. Its memory while idle shows an allocator for
 * which no time passed, or too little. */
static void add_real_clock(const struct ab_session *s, uint32_t i, struct ab_view_texts *t,
                           struct ab_view_warnings *w)
{
    const struct ab_backend_info *b = &s->backends[i];
    if (strcmp(b->clock, "real") == 0 && strncmp(b->clock_reason, "--pace", 6) != 0)
        add(w, i, "real-clock", AB_VIEW_WARNING,
            ab_view_texts_addf(t,
                               "did not run in virtual time (%s), so its memory over time is not "
                               "that of a service",
                               AB_SHOWN(SHOWN_BYTES, b->clock_reason)),
            "--pace 1x");
}

static void view_warnings_backends(const struct ab_session *s, struct ab_view_texts *texts,
                                   struct ab_view_warnings *out)
{
    for (uint32_t i = 0; i < s->n_backends; i++) {
        add_status(s, i, texts, out);
        add_failed_verify(s, i, texts, out);
        add_caveat(s, i, texts, out);
        add_real_clock(s, i, texts, out);
        add_not_inside(s, i, texts, out);
        add_below_empty(s, i, texts, out);
    }
    add_unverified(s, texts, out);
    add_deepbind(s, texts, out);
    add_proof_beside(s, texts, out);
    add_sized_frees(s, texts, out);
    add_aged_heaps(s, texts, out);
    add_unproven(s, texts, out);
}

void ab_view_warnings_make(const struct ab_session *s, struct ab_view_texts *texts,
                           struct ab_view_warnings *out)
{
    *out = (struct ab_view_warnings){0};
    add_little_memory(s, texts, out);
    view_warnings_backends(s, texts, out);
    add_incomplete(s, texts, out);
    add_unsealed(s, out);
    add_noise(s, texts, out);
    add_preemption(s, texts, out);
    add_held_up(s, texts, out);
    add_shared_core(s, texts, out);
    add_few_rounds(s, texts, out);
    add_machines(s, texts, out);
    add_no_base(s, texts, out);
    view_warnings_work(s, texts, out);
    sort(out);
}

void ab_view_warnings_fini(struct ab_view_warnings *w)
{
    free(w->items);
    *w = (struct ab_view_warnings){0};
}

const struct ab_view_warning *ab_view_warnings_find(const struct ab_view_warnings *w,
                                                    const char *id)
{
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->items[i].id, id) == 0)
            return &w->items[i];
    return NULL;
}

/* Adds a warning that is not about a single back end. Texts belong to the view. */
static void warning_list_add(struct ab_view_warnings *w, const char *id,
                             enum ab_view_severity severity, const char *text, const char *remedy)
{
    AB_GROW(w->items, w->cap, w->n);
    w->items[w->n++] = (struct ab_view_warning){id, severity, UINT32_MAX, text, remedy};
}
