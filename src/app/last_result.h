/* SPDX-License-Identifier: MIT
 *
 * @last, @last~1, …: the results that were stored last, newest first. "Stored last" is when the file
 * was last written: a result that was resumed is new again.
 */
#ifndef AB_APP_LAST_RESULT_H
#define AB_APP_LAST_RESULT_H

#include "app/options.h"

/* `back` results before the newest in the folder for results (ab_store_folder; --no-store does not
 * matter here); malloc'ed. AB_INPUT where there are not so many, AB_USAGE where there is no folder.
 * Calibrations and other JSON files are no results, nor are baselines, which are in a folder. */
enum ab_status ab_last_result(const struct ab_options *o, unsigned back, char **out,
                              struct ab_err *err);
/* The newest; AB_BACKEND where every back end failed in a newer one. */
enum ab_status ab_last_result_strictly(const struct ab_options *o, char **out, struct ab_err *err);

/* "@last", "@last~N": true, and N. Anything else that begins with '@' is AB_USAGE. */
enum ab_status ab_last_result_parse(const char *text, unsigned *back, struct ab_err *err);

#endif
