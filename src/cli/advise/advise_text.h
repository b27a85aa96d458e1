/* SPDX-License-Identifier: MIT
 *
 * An advice on the screen.
 */
#ifndef AB_CLI_ADVISE_ADVISE_TEXT_H
#define AB_CLI_ADVISE_ADVISE_TEXT_H

#include "cli/advise/advise_view.h"
#include "report/table/style.h"

#include <stdio.h>

void ab_advise_print(FILE *to, const struct ab_advise_view *view, struct ab_table_style style);

#endif
