/* SPDX-License-Identifier: MIT
 *
 * The line on noise below the tables: neighbours on the CPU core, interruptions, CPU time.
 */
#include "report/table/session/table_noise.h"

#include "base/units.h"
#include "core/units_show.h"
#include "report/format.h"

static void add_slices(const struct ab_noise *n, struct ab_text *note)
{
    char waited[32];
    double quiet = 100 * n->quiet_s / n->slices_s;
    ab_units_time(waited, sizeof waited, n->waited_s * 1e9);
    if (quiet < 5)
        ab_text_addf(note,
                     "others used the CPU core all the time, so times are those of a shared "
                     "core (waited %s for a quiet one)",
                     waited);
    else
        ab_text_addf(note,
                     "others used the CPU core in %.0f %% of the throughput runs; that is "
                     "left out (waited %s)",
                     100 - quiet, waited);
    ab_text_addf(note, "; %.0f interruption%s", n->interruptions, n->interruptions == 1 ? "" : "s");
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
}
