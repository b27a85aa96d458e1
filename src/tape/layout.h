/* SPDX-License-Identifier: MIT
 *
 * From the ops of each lane to the tape.
 */
#ifndef AB_TAPE_LAYOUT_H
#define AB_TAPE_LAYOUT_H

#include "tape/builder.h"

/* Takes the arrays of the burst that was cut off back for the next one. */
void ab_tape_take_back(struct ab_tape_builder *b);

/* From the lanes' ops to tape.ops and lane_begin, with WAITs, PUBLISHes and frames. */
enum ab_status ab_tape_lay_down(struct ab_tape_builder *b, struct ab_err *err);

#endif
