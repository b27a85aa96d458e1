/* SPDX-License-Identifier: MIT
 *
 * An advice as JSON (results/README.md, "allocbench-advice/1").
 */
#ifndef AB_CLI_ADVISE_ADVISE_JSON_H
#define AB_CLI_ADVISE_ADVISE_JSON_H

#include "cli/advise/advise_text.h"

/* False: out of memory. */
bool ab_advise_write_json(FILE *to, const struct ab_advise_view *view);

#endif
