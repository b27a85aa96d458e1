/* SPDX-License-Identifier: MIT
 *
 * Reads the numbers of --sites.
 */
#include "cli/options/option_sites.h"

#include "base/units.h"
#include "cli/options/option_value.h"
#include "trace/site_table.h"

#include <string.h>

const char *const ab_option_site_orders[] = {"calls",       "bytes",     "peak",
                                             "never-freed", "temporary", NULL};

bool ab_option_is_count(const char *word)
{
    return word[0] != 0 && word[strspn(word, "0123456789")] == 0;
}

/* From 1 to most; NULL = `otherwise`. */
static enum ab_status read_count(const char *name, const char *value, uint32_t most,
                                 uint32_t otherwise, uint32_t *out, struct ab_err *err)
{
    struct ab_number n = {.whole = otherwise};
    char range[48];
    snprintf(range, sizeof range, "must be from 1 to %u", most);
    const char *bad = value == NULL ? NULL
                                    : ab_units_parse(value, strlen(value), AB_UNIT_COUNT, &n);
    if (bad == NULL && (n.whole == 0 || n.whole > most))
        bad = range;
    if (bad != NULL)
        return ab_option_bad_value(name, value, bad, err);
    *out = (uint32_t)n.whole;
    return AB_OK;
}

enum ab_status ab_option_site_depth(const char *name, const char *value, struct ab_options *o,
                                    struct ab_err *err)
{
    return read_count(name, value, AB_SITE_DEPTH_MAX, AB_SITE_DEPTH_DEFAULT, &o->site_depth, err);
}

enum ab_status ab_option_sites(const char *name, const char *value, struct ab_options *o,
                               struct ab_err *err)
{
    o->wants_sites = true;
    return read_count(name, value, AB_SITE_STACKS_MAX, AB_SITES_SHOWN_DEFAULT, &o->n_sites, err);
}
