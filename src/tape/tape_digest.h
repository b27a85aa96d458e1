/* SPDX-License-Identifier: MIT
 *
 * The digest of a tape.
 */
#ifndef AB_TAPE_TAPE_DIGEST_H
#define AB_TAPE_TAPE_DIGEST_H

#include "tape/builder.h"

/* Before the ops are laid down: fills tape.digest. */
void ab_tape_take_digest(struct ab_tape_builder *b);

#endif
