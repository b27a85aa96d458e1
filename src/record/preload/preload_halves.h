/* SPDX-License-Identifier: MIT
 *
 * The buffers of a stream. Hidden from the recorded program.
 */
#ifndef AB_RECORD_PRELOAD_PRELOAD_HALVES_H
#define AB_RECORD_PRELOAD_PRELOAD_HALVES_H

#include "record/preload/preload_files.h"

static inline struct ab_spool_event *ab_half_events(struct ab_spool_tail *tail, unsigned half)
{
    return (struct ab_spool_event *)((char *)tail + AB_SPOOL_TAIL + half * AB_SPOOL_HALF);
}

/* Makes room for half `number` of the stream, whose file is `id`. */
enum ab_spool_stop ab_halves_turn(struct ab_spool_tail *tail, uint64_t number,
                                  struct ab_file_id id) AB_HIDDEN;

#endif
