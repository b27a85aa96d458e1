/* SPDX-License-Identifier: MIT
 *
 * Finds the calibration of the machine in the folder for results, and compares limits with it.
 */
#include "app/noise_warning.h"

#include "app/result_store.h"
#include "app/say.h"
#include "base/bits.h"
#include "core/text.h"
#include "document/calibration.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Finds the calibration of the machine. Returns false if there is none, or (with a message) if it
 * cannot be used. */
static bool find(const struct ab_store_wanted *store, const struct ab_talk *talk,
                 const char *fingerprint, struct ab_calibration *c)
{
    char path[PATH_MAX], name[64];
    struct ab_err why;
    const char *folder = ab_results_folder(
        store); /* the folder is read even if --no-store is given */
    if (folder == NULL || fingerprint[0] == 0)
        return false;
    ab_calibration_name(fingerprint, name, sizeof name);
    int used = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (used < 0 || used >= (int)sizeof path || access(path, F_OK) != 0)
        return false;
    if (ab_calibration_read(path, c, &why) == AB_OK)
        return true;
    ab_say(talk,
           "allocbench: warning: the noise of this machine is not known, calibrate it again: %s",
           AB_SHOWN(sizeof why.text, why.text));
    return false;
}

static void warn(const struct ab_talk *talk, const struct ab_noise_levels *noise, const char *what,
                 const char *op, const char *metric, double limit, uint32_t rounds)
{
    double p95 = ab_noise_of(noise, op, metric, rounds);
    if (!(limit < 2 * p95))
        return;
    ab_say(talk,
           "allocbench: warning: %s: allows %.2g %%, and here two identical back ends differ in "
           "%s by up to %.2g %% (95 %% of comparisons, %u rounds; allocbench calibrate); at least "
           "%.2g %% can be judged",
           AB_SHOWN(600, what), 100 * limit, metric, 100 * p95, rounds, 200 * p95);
}

/* Returns the calibrated metric that bounds `field`. Runs of a real program are never quieter than
 * runs of calibrate, which wait for a quiet CPU. */
static const char *calibrated_name(const struct ab_field *field)
{
    static const char *const times[] = {"wall_ns", "cpu_ns", "user_ns"};
    for (size_t i = 0; i < AB_ARRAY_LEN(times); i++)
        if (strcmp(field->name, times[i]) == 0)
            return "time";
    return field->name;
}

void ab_noise_warn_gates(const struct ab_store_wanted *store, const struct ab_talk *talk,
                         const struct ab_session *session, const struct ab_gate *gates, size_t n)
{
    struct ab_calibration c;
    bool is_there = false;
    for (size_t i = 0; i < n && !talk->is_quiet; i++) {
        const struct ab_gate *g = &gates[i];
        bool compares = g->against != AB_AGAINST_NOTHING && g->against != AB_AGAINST_LIVE;
        if (!compares || g->metric.field == NULL)
            continue;
        if (!is_there && !(is_there = find(store, talk, session->host.fingerprint, &c)))
            return;
        warn(talk, &c.noise, g->text, ab_result_op_name(g->metric.op),
             calibrated_name(g->metric.field), fabs(g->bound - 1), session->n_rounds_planned);
    }
}

void ab_noise_warn_limit(const struct ab_store_wanted *store, const struct ab_talk *talk,
                         const char *fingerprint, const char *what, const char *op,
                         const char *metric, double limit, uint32_t rounds)
{
    struct ab_calibration c;
    if (!talk->is_quiet && isfinite(limit) && find(store, talk, fingerprint, &c))
        warn(talk, &c.noise, what, op, metric, limit, rounds);
}
