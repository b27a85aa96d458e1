/* SPDX-License-Identifier: MIT
 *
 * Reads which passes ran in which rounds, and why a session ended.
 */
#include "report/read/read_rounds.h"

#include "result/passes.h"

#include <math.h>
#include <string.h>

static bool has_value(const struct ab_json_reader *r, const struct ab_json_node *o, const char *key)
{
    return ab_json_has(r, o, key) && !json_is_null(json_object_get(o->json, key));
}

/* "all", or a number. */
static uint32_t read_rounds_of(struct ab_json_reader *r, const struct ab_json_node *o,
                               const char *key)
{
    const char *text = json_string_value(json_object_get(o->json, key));
    if (text != NULL && strcmp(text, "all") == 0)
        return AB_EVERY_ROUND;
    return (uint32_t)ab_json_whole(r, o, key, AB_EVERY_ROUND, AB_EVERY_ROUND);
}

void ab_stored_passes(struct ab_json_reader *r, const struct ab_json_node *config,
                      struct ab_pass_plan *out)
{
    *out = (struct ab_pass_plan){.is_known = false};
    if (!has_value(r, config, "passes"))
        return;
    struct ab_json_node o = ab_json_object(r, config, "passes");
    out->is_known = true;
#define READ(pass) \
    out->rounds[pass] = pass == AB_PASS_THROUGHPUT ? AB_EVERY_ROUND \
                                                   : read_rounds_of(r, &o, ab_pass_names[pass]);
    AB_ROUND_PASSES(READ)
#undef READ
}

/* 0 where it is null. */
static double number_or_none(struct ab_json_reader *r, const struct ab_json_node *o,
                             const char *key)
{
    double x = ab_json_number(r, o, key);
    return isfinite(x) && x > 0 ? x : 0;
}

void ab_stored_stopping(struct ab_json_reader *r, const struct ab_json_node *config,
                        struct ab_stopping *out)
{
    *out = (struct ab_stopping){.ended = AB_ENDED_NOT};
    if (!has_value(r, config, "stopping"))
        return;
    struct ab_json_node o = ab_json_object(r, config, "stopping");
    out->time_budget_s = number_or_none(r, &o, "time_budget_s");
    out->precision = number_or_none(r, &o, "precision");
    out->spent_s = number_or_none(r, &o, "spent_s");
    out->n_rounds_most = (uint32_t)ab_json_whole(r, &o, "rounds_most", UINT32_MAX, 0);
    if (has_value(r, &o, "ended"))
        out->ended = (enum ab_ended)ab_json_one_of(r, &o, "ended", ab_ended_names, AB_ENDED_COUNT);
}
