/* SPDX-License-Identifier: MIT
 *
 * The two halves of a stream that are written in turn: packing one that was full, and making room.
 */
#include "record/preload/preload_halves.h"

#include "record/preload/spool_codec.h"

/* Packs a half after those that are packed; false when there is no room. */
static bool pack_half(struct ab_spool_tail *tail, unsigned half)
{
    uint64_t left = AB_SPOOL_PACK_BYTES - tail->pack_bytes;
    struct ab_spool_chunk *chunk = (struct ab_spool_chunk *)((char *)tail + AB_SPOOL_PACK +
                                                             tail->pack_bytes);
    if (left < sizeof *chunk)
        return false;
    size_t words = ab_half_pack(ab_half_events(tail, half), AB_SPOOL_HALF_EVENTS,
                                (uint64_t *)(chunk + 1), (left - sizeof *chunk) / 8);
    if (words == 0)
        return false;
    chunk->number = tail->half_number[half] - 1;
    chunk->bytes = words * 8;
    __atomic_store_n(&tail->pack_bytes, tail->pack_bytes + sizeof *chunk + words * 8,
                     __ATOMIC_RELEASE);
    return true;
}

static enum ab_spool_stop save_half(struct ab_spool_tail *tail, unsigned half, struct ab_file_id id)
{
    if (pack_half(tail, half))
        return AB_SPOOL_RUNNING;
    enum ab_spool_stop why = ab_files_save(id, tail);
    if (why == AB_SPOOL_RUNNING)
        pack_half(tail, half); /* one always fits where there is nothing */
    return why;
}

/* Of an event that was never written the kind says so. */
static void empty(struct ab_spool_event *events)
{
    for (struct ab_spool_event *e = events; e < events + AB_SPOOL_HALF_EVENTS; e += 4)
        e[0].stamp_kind = e[1].stamp_kind = e[2].stamp_kind = e[3].stamp_kind = 0;
}

/* With all signals blocked. */
enum ab_spool_stop ab_halves_turn(struct ab_spool_tail *tail, uint64_t number, struct ab_file_id id)
{
    unsigned half = number % 2;
    if (tail->half_number[half] == number + 1)
        return AB_SPOOL_RUNNING; /* a signal handler was quicker */
    if (tail->half_number[half] != 0) {
        enum ab_spool_stop why = save_half(tail, half, id);
        if (why != AB_SPOOL_RUNNING)
            return why;
    }
    /* From here on what the file has counts: a thread can be killed in the middle of it. */
    __atomic_store_n(&tail->half_number[half], 0, __ATOMIC_SEQ_CST);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    empty(ab_half_events(tail, half));
    __atomic_store_n(&tail->half_number[half], number + 1, __ATOMIC_RELEASE);
    return AB_SPOOL_RUNNING;
}
