/* SPDX-License-Identifier: MIT
 *
 * `calibrate`: the noise of this machine.
 */
#include "app/calibrate.h"
#include "cli/commands.h"
#include "core/text.h"

#include <stdio.h>

static void print(const struct ab_calibration *c)
{
    const struct ab_noise_levels *n = &c->noise;
    char shown[300];
    printf("Noise of this machine on %s: one library was measured twice, as two back ends.\n"
           "95 %% of comparisons of these equal builds, of %u rounds each (drawn from %u),\n"
           "differ by less than\n\n",
           ab_text_printable(shown, sizeof shown, c->workload), n->rounds, n->n_rounds);
    for (uint32_t i = 0; i < n->n; i++) {
        snprintf(shown, sizeof shown, "%s/%s", n->entries[i].op, n->entries[i].metric);
        printf("  %-32s %6.2f %%\n", shown, 100 * n->entries[i].p95);
    }
    printf("\nallocbench explain METRIC says what one is, as ns_per_op.");
    printf("\nrun, replay, exec and compare warn of limits narrower than twice that.\n");
}

enum ab_status ab_cmd_calibrate(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    static struct ab_calibration found;
    AB_TRY(ab_calibrate(o, &found, exit_code, err));
    if (*exit_code != 0)
        return AB_OK;
    if (!o->is_quiet)
        print(&found);
    fflush(stdout);
    return ab_calibration_store(o, &found, err);
}
