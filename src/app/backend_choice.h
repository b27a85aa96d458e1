/* SPDX-License-Identifier: MIT
 *
 * Which back ends a command measures: those of -b, else those of the workload, else those that suit
 * the work (backend/presets.h).
 */
#ifndef AB_APP_BACKEND_CHOICE_H
#define AB_APP_BACKEND_CHOICE_H

#include "app/options.h"
#include "backend/presets.h"
#include "backend/selection.h"
#include "core/text.h"
#include "result/result.h"
#include "runner/run.h"

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

/* Turns a selection of -b into a case to run and its description in the result. */

enum ab_backend_status ab_case_status(const struct ab_selection *s); /* before anything ran */
void ab_case_describe(const struct ab_selection *s, struct ab_backend_info *b);
/* Refuses a back end that a workload or a stored result may not choose by itself: a library that is
 * named by a path, whose code would be run, or a variable of the environment that could name a file.
 * `option` is the one that names it instead. */
enum ab_status ab_case_check_stranger(const struct ab_selection *s, bool is_of_result,
                                      const char *option, struct ab_err *err);
/* Does this for a list that the command line neither names nor allows. */
enum ab_status ab_case_check_strangers(const struct ab_options *o,
                                       const struct ab_selection_list *list, struct ab_err *err);
/* AB_BACKEND for a path of the command line that is no file, or none that can be measured: a typing
 * error is not worth a measurement of the others. */
enum ab_status ab_case_check_files(const struct ab_selection_list *list, struct ab_err *err);
/* Has it no numbers, though it was named or is there? What a default list lacks is no error. */
bool ab_case_is_error(const struct ab_backend_info *b);
bool ab_case_has_failed(const struct ab_session *s);
/* Borrows strings of `s`. */
void ab_case_make(const struct ab_selection *s, struct ab_case *c);

#endif
