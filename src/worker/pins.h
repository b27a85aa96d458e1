/* SPDX-License-Identifier: MIT
 *
 * Memory by owner of the blocks (wire/pins_report.h), in the memory pass. Keeps an owner and an
 * allocation time for each block, and for each page the owner of the block freed last there. At
 * some moments, walks over all blocks and pages and shares the bytes out among the owners.
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

/* Maps the memory for this report. Called before the baseline is taken. Leaves m->book.pins NULL if
 * the report is not requested. */
void ab_pins_open(struct ab_worker *w, struct ab_memory_pass *m);

/* Notes the owner of a block that an allocation or a resize gave to the slot at `position`. Called
 * for each of these ops, in order, after the book has the block. */
void ab_pins_take(struct ab_pins *p, uint32_t slot, const struct ab_given *given,
                  uint32_t position);
/* Notes that the block of the slot is freed, so that its pages know their last owner. */
void ab_pins_drop(struct ab_pins *p, uint32_t slot, const struct ab_block_entry *e);

/* Returns the next position after `clock` at which ab_pins_visit must be called, or `next` if that
 * is earlier. */
uint32_t ab_pins_plan(const struct ab_pins *p, uint32_t clock, uint32_t next);
/* True if the request asks for a state at this position. */
bool ab_pins_is_wanted(const struct ab_pins *p, uint32_t clock);
/* Called at each reading of the memory pass. Takes a state if the reading is one of enum
 * ab_pins_moment. `split` is UNKNOWN if the contents of the pages were not looked up. */
void ab_pins_visit(struct ab_memory_pass *m, const struct ab_memory_state *s,
                   const struct ab_page_split *split, bool is_end);

#endif
