/* SPDX-License-Identifier: MIT
 *
 * A full half of a stream, packed for the file: most events differ from the one before by so little
 * that eight bytes hold them, and what is written is what recording costs. A word is
 *
 *   bits  0-3   kind                    15 = it did not fit: three words follow, the event as it is
 *   bits  4-19  stamp - that of the event before: with the kind one difference of two stamp_kind
 *   bits 20-35  size
 *   bit  36     region: of two, because threads free where others allocate
 *   bits 37-63  address - the one before in its region, by 8, two's complement
 *
 * Before the first all are zero. What belongs to call sites is no difference, and changes none: a
 * site is one word, kind | size << 4; a frame the same and its address; a module kind | address << 4
 * and its size.
 *
 * Compiled into the recorder too: no libc, no state.
 */
#ifndef AB_RECORD_PRELOAD_SPOOL_CODEC_H
#define AB_RECORD_PRELOAD_SPOOL_CODEC_H

#include "record/preload/spool.h"

#include <stdbool.h>
#include <stddef.h>

#define AB_HALF_HIDDEN __attribute__((visibility("hidden")))

/* Packs n events into at most `cap` words; returns how many, or 0 when they are too few, or could
 * be: 4n are always enough. */
size_t ab_half_pack(const struct ab_spool_event *events, size_t n, uint64_t *words,
                    size_t cap) AB_HALF_HIDDEN;

/* Undoes that. False when the words do not hold n events exactly. */
bool ab_half_unpack(const uint64_t *words, size_t n_words, struct ab_spool_event *events,
                    size_t n) AB_HALF_HIDDEN;

#endif
