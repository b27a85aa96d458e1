/* SPDX-License-Identifier: MIT
 *
 * A queue of messages while a tape is made. A message is a list of blocks, by their slots. Messages
 * can be taken from both ends. Lanes wait in line, so that none starves. steps.c decides what
 * happens when the queue is full, and which lane continues.
 */
#ifndef AB_WORKLOAD_GENERATE_QUEUE_H
#define AB_WORKLOAD_GENERATE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing ring of numbers; zero-initialise. */
struct ab_ring {
    uint32_t *items;
    size_t cap, begin, n; /* cap is a power of two */
};

struct ab_queue {
    struct ab_ring lengths, blocks;
    uint32_t n_reserved;                  /* messages that lanes are filling */
    struct ab_ring for_room, for_message; /* waiting lanes, first come first served */
};

/* Slots [next, n) of a message that a lane is unpacking or filling. */
struct ab_message {
    uint32_t *slots;
    size_t cap, next, n;
};

void ab_message_add(struct ab_message *m, uint32_t slot);

/* Moves the rest of the message to the front or the back of the queue. */
void ab_queue_put(struct ab_queue *q, struct ab_message *m, bool to_front);
/* Fills m with the message at the front or the back; there must be one. */
void ab_queue_get(struct ab_queue *q, struct ab_message *m, bool from_back);

void ab_line_join(struct ab_ring *line, uint32_t lane);
/* Takes the first lane out of the line. Returns false if the line is empty. */
bool ab_line_next(struct ab_ring *line, uint32_t *lane);

void ab_queue_fini(struct ab_queue *q);

#endif
