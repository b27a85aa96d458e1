/* SPDX-License-Identifier: MIT
 *
 * How many blocks a verb takes, and which.
 */
#ifndef AB_WORKLOAD_PARSE_READ_PICK_H
#define AB_WORKLOAD_PARSE_READ_PICK_H

#include "workload/parse/read_verb.h"

/* count, fraction. */
bool ab_read_amount(const struct verb_reader *vr);

/* at or order, or the default of the verb; after the amount and the sets. */
bool ab_read_pick(const struct verb_reader *vr);

#endif
