/* SPDX-License-Identifier: MIT
 *
 * Blocks from lane to lane: messages into a queue and out of it.
 */
#ifndef AB_WORKLOAD_GENERATE_STEP_MESSAGE_H
#define AB_WORKLOAD_GENERATE_STEP_MESSAGE_H

#include "workload/generate/generator.h"

/* One step of a verb `send` or `recv`: a block, or the beginning or end of a message. */
enum ab_status ab_step_send(struct ab_generator *g, const struct ab_verb *v);
enum ab_status ab_step_recv(struct ab_generator *g, const struct ab_verb *v);
/* Puts the message that a lane holds back where it belongs, at the end of a phase. */
enum ab_status ab_step_put_down(struct ab_generator *g, struct ab_generator_lane *lane);

#endif
