/* SPDX-License-Identifier: MIT
 *
 * Rows of a back end's table of parameters, one line or two each. `def` is the default.
 */
#ifndef AB_ALLOCATORS_PARAMS_H
#define AB_ALLOCATORS_PARAMS_H

#include "allocators/ab_backend.h"

#define AB_PARAM_ROW(type_, name_, def_, max_, help_) \
    { \
        .name = name_, .help = help_, .type = type_, .def = def_, .max = max_ \
    }

/* From 0 to max. */
#define AB_BYTES_ROW(name, def, max, help) AB_PARAM_ROW(AB_PARAM_BYTES, name, def, max, help)
#define AB_COUNT_ROW(name, def, max, help) AB_PARAM_ROW(AB_PARAM_COUNT, name, def, max, help)
#define AB_BOOL_ROW(name, def, help) AB_PARAM_ROW(AB_PARAM_BOOL, name, def, 1, help)
/* One of a list that ends with NULL, the first unless it is set. */
#define AB_CHOICE_ROW(name_, choices_, help_) \
    { \
        .name = name_, .help = help_, .type = AB_PARAM_CHOICE, \
        .max = sizeof choices_ / sizeof choices_[0] - 2, .choices = choices_ \
    }

#endif
