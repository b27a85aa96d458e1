/* SPDX-License-Identifier: MIT
 *
 * Which back ends a command measures: those of -b, else those of the workload, else those that suit
 * the work (backend/defaults.h).
 */
#ifndef AB_APP_BACKEND_CHOICE_H
#define AB_APP_BACKEND_CHOICE_H

#include "app/options.h"
#include "backend/defaults.h"
#include "backend/selection.h"
#include "core/text.h"

struct ab_tape_map;

struct ab_backend_wish { /* what decides */
    const struct ab_options *options;
    const char *const *listed; /* by the workload; n_listed, 0 = it lists none */
    size_t n_listed;
    const struct ab_tape_map *tape;
};

/* A list that is no one's on the command line is a default, made where other libraries may be
 * installed: was_named is false. `out` is to be released by ab_selection_list_fini. */
enum ab_status ab_backend_choice_make(const struct ab_backend_wish *wish,
                                      struct ab_selection_list *out, struct ab_err *err);

/* "5 malloc libraries (not installed: tbb), slab (small mixed sizes); choose: -b LIST": what
 * of it was chosen by the work, and why. Nothing is added where back ends were named. */
void ab_backend_choice_say(const struct ab_backend_wish *wish, const struct ab_selection_list *list,
                           struct ab_text *out);

#endif
