/* SPDX-License-Identifier: MIT
 *
 * An advice as JSON (results/README.md, "allocbench-advice/1").
 */
#ifndef AB_CLI_ADVISE_ADVISE_JSON_H
#define AB_CLI_ADVISE_ADVISE_JSON_H

#include "cli/advise/advise_view.h"

#include <jansson.h>
#include <stdio.h>

/* To be ended with json_decref. */
json_t *ab_advise_document(const struct ab_advise_view *view);
void ab_advise_write_json(FILE *to, json_t *document);

#endif
