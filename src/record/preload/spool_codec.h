/* SPDX-License-Identifier: MIT
 *
 * Packs the events of a full half for the file. Most events differ so little from the previous
 * one that eight bytes hold the difference, and the bytes written are most of the cost of
 * recording. The bits of a word:
 *
 *   bits  0-3   kind; 15 = the difference does not fit: the unpacked event follows in three words
 *   bits  4-19  stamp minus the previous stamp; with the kind, the difference of two stamp_kind
 *   bits 20-35  size
 *   bit  36     region: one of two, because threads free blocks that others have allocated
 *   bits 37-63  address minus the previous address in its region, in units of 8, two's complement
 *
 * Before the first event all values are zero. Events of call sites are not differences and do
 * not change the previous values. A site is one word, kind | size << 4. A frame is the same word
 * and its address, a module is kind | address << 4 and its size.
 *
 * Compiled into the recorder too, and therefore without libc and without state.
 */
#ifndef AB_RECORD_PRELOAD_SPOOL_CODEC_H
#define AB_RECORD_PRELOAD_SPOOL_CODEC_H

#include "record/preload/spool.h"

#include <stdbool.h>
#include <stddef.h>

#define AB_HALF_HIDDEN __attribute__((visibility("hidden")))

/* Packs n events into at most `cap` words. Returns the number of words, or 0 if `cap` may be too
 * small; 4n words are always enough. */
size_t ab_half_pack(const struct ab_spool_event *events, size_t n, uint64_t *words,
                    size_t cap) AB_HALF_HIDDEN;

/* Unpacks n events. Returns false if the words are not exactly n events. */
bool ab_half_unpack(const uint64_t *words, size_t n_words, struct ab_spool_event *events,
                    size_t n) AB_HALF_HIDDEN;

#endif
