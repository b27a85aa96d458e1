/* SPDX-License-Identifier: MIT
 *
 * The memory pass by owner of the blocks (wire/pins.h): one owner and one birth a block, the last
 * owner of each page, and at some moments a walk over all blocks and pages that shares them out.
 */
#ifndef AB_WORKER_PINS_H
#define AB_WORKER_PINS_H

#include <stdbool.h>
#include <stdint.h>

struct ab_block_entry;
struct ab_given;
struct ab_memory_pass;
struct ab_memory_state;
struct ab_page_split;
struct ab_pins;
struct ab_worker;

/* Maps all that it needs, before the baseline; leaves m->book.pins NULL where it is not asked for. */
void ab_pins_open(struct ab_worker *w, struct ab_memory_pass *m);

/* After each allocation and resize, in order, and after the book has its block: what it gave to the
 * slot, born at `position`. */
void ab_pins_take(struct ab_pins *p, uint32_t slot, const struct ab_given *given,
                  uint32_t position);
/* The block goes. */
void ab_pins_drop(struct ab_pins *p, uint32_t slot, const struct ab_block_entry *e);

/* The next position after `clock` at which it must be asked, no later than `next`. */
uint32_t ab_pins_plan(const struct ab_pins *p, uint32_t clock, uint32_t next);
/* Was this position asked for? */
bool ab_pins_is_wanted(const struct ab_pins *p, uint32_t clock);
/* At each reading of the pass: takes a state where the moment is one. `split` is UNKNOWN where the pages
 * were not looked at. */
void ab_pins_visit(struct ab_memory_pass *m, const struct ab_memory_state *s,
                   const struct ab_page_split *split, bool is_end);

#endif
