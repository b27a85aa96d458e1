/* SPDX-License-Identifier: MIT
 *
 * A queue of messages while a tape is made. A message is some blocks, by their slots; both ends can
 * be taken. Lanes wait in a line, so that none of them is passed over for ever. What
 * happens when it is full, and who goes on, is decided in steps.c.
 */
#ifndef AB_WORKLOAD_GENERATE_QUEUE_H
#define AB_WORKLOAD_GENERATE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers in a ring that grows; zero-initialise. */
struct ab_ring {
    uint32_t *items;
    size_t cap, begin, n; /* cap is a power of two */
};

struct ab_queue {
    struct ab_ring lengths, blocks;
    uint32_t n_reserved;                  /* messages that are being made up */
    struct ab_ring for_room, for_message; /* lanes that wait, first come first served */
};

/* The slots of a message that a lane takes apart or makes up, [next, n) of them. */
struct ab_message {
    uint32_t *slots;
    size_t cap, next, n;
};

void ab_message_add(struct ab_message *m, uint32_t slot);

/* Moves what is left of the message to the front or the back of the queue. */
void ab_queue_put(struct ab_queue *q, struct ab_message *m, bool to_front);
/* Fills m with the message at the front or the back, which must be there. */
void ab_queue_get(struct ab_queue *q, struct ab_message *m, bool from_back);

void ab_line_join(struct ab_ring *line, uint32_t lane);
/* Takes the first one out of the line; false when it is empty. */
bool ab_line_next(struct ab_ring *line, uint32_t *lane);

void ab_queue_fini(struct ab_queue *q);

#endif
