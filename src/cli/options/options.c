/* SPDX-License-Identifier: MIT
 *
 * Releases what the options hold.
 */
#include "cli/options/options.h"

#include <stdlib.h>

void ab_options_fini(struct ab_options *o)
{
    free(o->backends);
    free(o->sweeps);
    free(o->sets);
    free(o->maps);
    free(o->gates);
    free(o->site_patterns);
    free(o->args);
}
