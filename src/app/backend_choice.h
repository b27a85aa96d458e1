/* SPDX-License-Identifier: MIT
 *
 * Chooses the back ends of a command: those of -b, else those that the workload lists, else those
 * that suit the work (backend/presets.h).
 */
#ifndef AB_APP_BACKEND_CHOICE_H
#define AB_APP_BACKEND_CHOICE_H

#include "app/request_parts.h"
#include "backend/presets.h"
#include "backend/selection.h"
#include "core/text.h"
#include "result/result.h"
#include "runner/run.h"

struct ab_tape_map;

struct ab_backend_wish { /* inputs of the choice */
    const struct ab_backends_wanted *asked;
    const char *const *listed; /* back ends of the workload; n_listed 0 = none */
    size_t n_listed;
    const struct ab_tape_map *tape;
};

/* Creates the list of back ends. Sets was_named to false for back ends that the command line does
 * not name, because other machines may have other libraries. Release `out` with
 * ab_selection_list_fini(). */
enum ab_status ab_backend_choice_make(const struct ab_backend_wish *wish,
                                      struct ab_selection_list *out, struct ab_err *err);

/* Appends a description of the choice: "5 malloc libraries (not installed: tbb), slab (small mixed
 * sizes); choose: -b LIST". Appends nothing if back ends were named. */
void ab_backend_choice_say(const struct ab_backend_wish *wish, const struct ab_selection_list *list,
                           struct ab_text *out);

/* Turns a selection of -b into a case to run and its description in the result. */

void ab_case_describe(const struct ab_selection *s, struct ab_backend_info *b);
/* Refuses a back end that a workload or a stored result must not choose without the user: a library
 * named by a path, whose code would run, or an environment variable that could name a file.
 * `option` is the option with which the user may name such a back end. */
enum ab_status ab_case_check_stranger(const struct ab_selection *s, bool is_of_result,
                                      const char *option, struct ab_err *err);
/* Calls ab_case_check_stranger() for all of `list`, unless the command line names or allows its
 * back ends. */
enum ab_status ab_case_check_strangers(const struct ab_backends_wanted *asked,
                                       const struct ab_selection_list *list, struct ab_err *err);
/* Fails with AB_BACKEND if a path on the command line is not a file or cannot be measured. A typing
 * error in one path should not cost a measurement of the other back ends. */
enum ab_status ab_case_check_files(const struct ab_selection_list *list, struct ab_err *err);
/* True if the back end has no numbers although it was named or is installed. A missing library of
 * the default list is not an error. */
bool ab_case_is_error(const struct ab_backend_info *b);
bool ab_case_has_failed(const struct ab_session *s);
/* Creates a case to run from `s`. The case borrows strings of `s`. */
void ab_case_make(const struct ab_selection *s, struct ab_case *c);

/* Appends the rows of --sweep (n_sweeps lists of names) to those of -b, without duplicates. If
 * is_beside_defaults and -b does not list several back ends, first adds the libraries, and glibc if
 * -b is empty. Fails with AB_USAGE for a name without rows. */
enum ab_status ab_sweeps_expand(struct ab_backends_wanted *wanted, const char *const *sweeps,
                                size_t n_sweeps, bool is_beside_defaults, struct ab_err *err);

#endif
