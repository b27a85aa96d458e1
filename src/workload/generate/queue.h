/* SPDX-License-Identifier: MIT
 *
 * A queue of messages while a tape is made. A message is a list of blocks, given by their slots.
 * Messages can be taken from both ends. Waiting lanes are served in order, so that none waits for
 * ever. steps.c decides what happens when the queue is full, and which lane continues.
 */
#ifndef AB_WORKLOAD_GENERATE_QUEUE_H
#define AB_WORKLOAD_GENERATE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A ring buffer of numbers that grows; zero-initialise. */
struct ab_ring {
    uint32_t *items;
    size_t cap, begin, n; /* cap: a power of two */
};

struct ab_queue {
    struct ab_ring lengths, blocks;
    /* number of messages that lanes are filling now, for which there is room */
    uint32_t n_reserved;
    /* lanes that wait for room, and for a message; first come, first served */
    struct ab_ring for_room, for_message;
};

/* A message that a lane is unpacking or filling: the slots [next, n) are in it. */
struct ab_message {
    uint32_t *slots;
    size_t cap, next, n;
};

void ab_message_add(struct ab_message *m, uint32_t slot);

/* Moves the slots [next, n) of m to the front or the back of the queue, as one message. */
void ab_queue_put(struct ab_queue *q, struct ab_message *m, bool to_front);
/* Removes the message at the front or the back of the queue and stores it in m. There must be
 * one. */
void ab_queue_get(struct ab_queue *q, struct ab_message *m, bool from_back);

void ab_line_join(struct ab_ring *line, uint32_t lane);
/* Removes the lane that has waited longest from the line. Returns false if the line is empty. */
bool ab_line_next(struct ab_ring *line, uint32_t *lane);

void ab_queue_fini(struct ab_queue *q);

#endif
