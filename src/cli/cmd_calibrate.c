/* SPDX-License-Identifier: MIT
 *
 * Implements `calibrate`: prints the noise of this machine.
 */
#include "app/calibrate.h"
#include "base/bits.h"
#include "cli/commands.h"
#include "cli/requests.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

/* True for the metrics that are always shown: time, p99 and memory. */
static bool is_usual(const struct ab_noise_entry *level)
{
    static const char *const usual[][2] = {
        {"all", "time"}, {"all", "ns_per_op"}, {"all", "p99"},        {"alloc", "p99"},
        {"free", "p99"}, {"memory", "peak"},   {"memory", "rss_peak"}};
    for (size_t i = 0; i < AB_ARRAY_LEN(usual); i++)
        if (strcmp(level->op, usual[i][0]) == 0 && strcmp(level->metric, usual[i][1]) == 0)
            return true;
    return false;
}

static void print(void *user, const struct ab_calibration *c)
{
    const struct ab_options *o = user;
    if (o->talk.is_quiet)
        return;
    uint32_t n_hidden = 0;
    const struct ab_noise_levels *n = &c->noise;
    char shown[300];
    printf("Noise of this machine on %s: one library was measured twice, as two back ends.\n"
           "95 %% of comparisons of these identical builds, of %u rounds each (drawn from %u),\n"
           "differ by less than\n\n",
           ab_text_printable(shown, sizeof shown, c->workload), n->rounds, n->n_rounds);
    for (uint32_t i = 0; i < n->n; i++) {
        n_hidden += !o->is_verbose && !is_usual(&n->entries[i]);
        if (!o->is_verbose && !is_usual(&n->entries[i]))
            continue;
        snprintf(shown, sizeof shown, "%s/%s", n->entries[i].op, n->entries[i].metric);
        printf("  %-32s %6.2f %%\n", shown, 100 * n->entries[i].p95);
    }
    if (n_hidden > 0)
        printf("  (-v: %u more metrics)\n", n_hidden);
    printf("\nallocbench explain METRIC explains a metric, such as ns_per_op.");
    printf("\nrun, replay, exec and compare warn of limits narrower than twice these values.\n");
    fflush(stdout);
}

enum ab_status ab_cmd_calibrate(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    const struct ab_measure_request request = ab_measure_request_of(o);
    return ab_calibrate(&request, print, exit_code, err);
}
