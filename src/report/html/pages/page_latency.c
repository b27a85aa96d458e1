/* SPDX-License-Identifier: MIT
 *
 * Latency by percentile: a panel for each op, phase by phase.
 */
#include "report/html/pages/latency_curve.h"

#include "stats/aggregate.h"

static bool has_latency(const struct ab_session *s)
{
    for (uint32_t i = 0; i < s->n_results; i++)
        if (s->results[i].op != AB_OP_ALL && s->results[i].hdr != NULL &&
            ab_hdr_total(s->results[i].hdr) > 0)
            return true;
    return false;
}

static void put_phase(struct ab_html *h, const struct ab_report *report, const char *phase)
{
    const struct ab_latency_side side = {.session = report->session};
    for (unsigned op = 0; op < AB_OP_ALL; op++)
        if (ab_session_has_op(report->session, phase, op))
            ab_latency_panel(h, report, &side, 1, phase, op);
}

void ab_page_latency(struct ab_html *h, const struct ab_report *report)
{
    const struct ab_session *s = report->session;
    if (!has_latency(s))
        return;
    ab_html_f(h,
              "<p>Time of one call, from the fastest to the slowest. Dotted: fewer than %d slower "
              "calls, so mostly noise.</p>\n",
              AB_QUANTILE_MIN_SAMPLES_BEHIND);
    ab_page_legend(h, report);
    for (uint32_t p = 0; p < s->n_phases; p++) {
        ab_page_phases_begin(h, s->n_phases, p);
        put_phase(h, report, s->phases[p]);
        ab_page_phases_end(h, s->n_phases, p);
    }
}
