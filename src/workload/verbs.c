/* SPDX-License-Identifier: MIT
 *
 * The table of verbs.
 */
#include "workload/verbs.h"

const struct ab_verb_def ab_verbs[] = {
#define ROW(p, name, key, options, kinds, pick, traits) {#key, options, kinds, pick, traits},
    AB_VERBS(ROW, )
#undef ROW
};
