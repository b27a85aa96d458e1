/* SPDX-License-Identifier: MIT
 *
 * The distributions of the memory pass.
 */
#ifndef AB_RUNNER_FOLD_FOLD_DISTS_H
#define AB_RUNNER_FOLD_FOLD_DISTS_H

#include "runner/fold/fold_common.h"

/* Why the pages of this run are not known anywhere; NULL = they are. */
const char *ab_fold_doubt_pages(const struct ab_memory_report *report);
/* Fewer pages than this make no ratio: it would be about chance. */
enum { AB_FOLD_LEAST_PAGES = 16 };

/* AB_DIST_COUNT records for each measured phase to session->dists. `trouble`: why no footprint of
 * this run can be believed; NULL = it can. */
void ab_fold_dists(const struct ab_fold *f, const struct ab_outcome *run, const char *trouble);

#endif
