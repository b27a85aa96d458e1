/* SPDX-License-Identifier: MIT
 *
 * The line on noise below the tables: neighbours on the CPU core, interruptions, CPU time.
 */
#include "report/table/table_noise.h"

#include "base/units.h"
#include "core/units_show.h"
#include "report/format.h"

#include <math.h>

static void add_slices(const struct ab_noise *n, struct ab_text *note)
{
    char waited[32];
    double quiet = 100 * n->quiet_s / n->slices_s;
    ab_units_time(waited, sizeof waited, n->waited_s * 1e9);
    if (quiet < 5)
        ab_text_addf(note,
                     "others used the CPU core all the time, so times are those of a shared "
                     "core (spent %s waiting for an idle one)",
                     waited);
    else
        ab_text_addf(note,
                     "others used the CPU core in %.0f %% of the throughput runs; that is "
                     "left out (waited %s)",
                     100 - quiet, waited);
    ab_text_addf(note, "; %.0f interruption%s", n->interruptions, n->interruptions == 1 ? "" : "s");
}

struct latency_noise {               /* sums over the session */
    double timed, left_out;          /* ops of the latency pass */
    double scheduler, scheduler_max; /* ops; ns */
    uint32_t n_phases, n_loud;       /* of these, phases in which all were taken, quiet or not */
};

static struct latency_noise sum_latency(const struct ab_session *s)
{
    struct latency_noise sum = {0};
    for (uint32_t i = 0; i < s->n_results; i++) {
        const struct ab_result *r = &s->results[i];
        bool is_all = r->op == AB_OP_ALL;
        if (is_all && r->latency_quiet_percent >= 0) {
            sum.n_phases++;
            sum.n_loud += r->latency_quiet_percent < 100 && r->n_left_out == 0;
        }
        if (is_all || isnan(r->n_scheduler))
            continue;
        sum.timed += (double)r->n + (r->n_left_out > 0 ? r->n_left_out : 0);
        sum.left_out += r->n_left_out > 0 ? r->n_left_out : 0;
        sum.scheduler += r->n_scheduler;
        sum.scheduler_max = fmax(sum.scheduler_max, r->scheduler_max_ns);
    }
    return sum;
}

/* What is in no percentile, and why. */
static void add_latency(const struct ab_session *s, struct ab_text *note)
{
    const struct latency_noise sum = sum_latency(s);
    char longest[32];
    ab_units_time(longest, sizeof longest, sum.scheduler_max);
    if (sum.left_out > 0)
        ab_text_addf(note, "; %.1f %% of the timed ops are left out of the percentiles",
                     100 * sum.left_out / sum.timed);
    if (sum.n_loud > 0)
        ab_text_addf(note,
                     "; in %u of %u phases the core was hardly ever free: their percentiles are "
                     "those of a shared core",
                     sum.n_loud, sum.n_phases);
    if (sum.scheduler > 0)
        ab_text_addf(note,
                     "; during %.0f op%s, up to %s, the scheduler ran something else: in no "
                     "percentile, not in max",
                     sum.scheduler, sum.scheduler == 1 ? "" : "s", longest);
}

void ab_table_noise(const struct ab_session *s, struct ab_text *note)
{
    const struct ab_noise *n = &s->noise;
    if (!(n->runs > 0) || !(n->wall_s > 0))
        return;
    ab_text_addf(note, "noise: ");
    if (n->slices_s > 0)
        add_slices(n, note);
    else
        ab_text_addf(note, "use of the CPU core by others not known (several threads)");
    ab_text_addf(note, "; %.0f involuntary context switch%s; CPU time %.1f %% of wall time",
                 n->switches_involuntary, n->switches_involuntary == 1 ? "" : "es",
                 100 * n->cpu_s / n->wall_s);
    add_latency(s, note);
}
