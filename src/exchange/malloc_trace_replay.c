/* SPDX-License-Identifier: MIT
 *
 * Reads the recordings of tcmalloc's malloc tracing, as the postprocess program of
 * malloc-trace-replay writes them. Records have 24 bytes, little-endian: the type in the low
 * byte of the first word, the register of the block in its other 56 bits, then two words. The
 * recorder rounds sizes up to 8 and turns calloc into an allocation. The file has no end mark,
 * so that missing records at the end cannot be detected.
 */
#include "exchange/intake.h"

#include "base/bytes.h"

enum {
    RECORD_BYTES = 24,
    MALLOC = 0, /* size */
    FREE = 1,
    FREE_SIZED = 2,    /* size, already known */
    MEMALIGN = 3,      /* size, alignment */
    REALLOC = 4,       /* register of the new block, size */
    SWITCH_THREAD = 5, /* thread */
    KILL_THREAD = 6,   /* the thread of the last SWITCH_THREAD */
    SET_TS_CPU = 7,    /* time and CPU of about 1,000 calls, too coarse for times */
};
#define NO_THREAD ((uint64_t)INT64_MAX)

static enum ab_status take_thread(struct ab_feed *from, struct ab_intake *to, uint64_t *thread,
                                  unsigned type, uint64_t named, struct ab_err *err)
{
    struct ab_foreign_call end = {.kind = AB_EVENT_THREAD_END, .thread = *thread};
    if (type == SWITCH_THREAD && named >= NO_THREAD)
        return ab_feed_bad(from, err, "a thread of number %llu", (unsigned long long)named);
    *thread = type == SWITCH_THREAD ? named : NO_THREAD;
    return type == KILL_THREAD ? ab_intake_take(to, &end, err) : AB_OK;
}

static struct ab_foreign_call call_of(unsigned type, uint64_t reg, uint64_t a, uint64_t b,
                                      uint64_t thread)
{
    struct ab_foreign_call call = {.kind = AB_EVENT_ALLOC, .thread = thread};
    if (type == FREE || type == FREE_SIZED) {
        call.kind = AB_EVENT_FREE;
        call.old = reg + 1;
    } else if (type == REALLOC) {
        call.kind = AB_EVENT_RESIZE;
        call.old = reg + 1;
        call.address = a + 1;
        call.size = b;
    } else {
        call.kind = type == MEMALIGN ? AB_EVENT_ALLOC_ALIGNED : AB_EVENT_ALLOC;
        call.address = reg + 1;
        call.size = a;
        call.align = b;
    }
    return call;
}

enum ab_status ab_import_malloc_trace_replay(struct ab_feed *from, struct ab_intake *to,
                                             struct ab_err *err)
{
    uint64_t thread = NO_THREAD;
    for (const uint8_t *record;;) {
        AB_TRY(ab_feed_bytes(from, RECORD_BYTES, &record, err));
        if (record == NULL)
            return AB_OK;
        unsigned type = record[0];
        uint64_t reg = ab_get_u64(record) >> 8, a = ab_get_u64(record + 8);
        uint64_t b = ab_get_u64(record + 16);
        if (type == SWITCH_THREAD || type == KILL_THREAD) {
            AB_TRY(take_thread(from, to, &thread, type, a, err));
        } else if (type <= REALLOC) {
            if (type == REALLOC && a >> 56 != 0)
                return ab_feed_bad(from, err, "a register of more than 56 bits");
            struct ab_foreign_call call = call_of(type, reg, a, b, thread);
            AB_TRY(ab_intake_take(to, &call, err));
        } else if (type != SET_TS_CPU) {
            return ab_feed_bad(from, err, "a record of type %u; 0 to %d are known", type,
                               SET_TS_CPU);
        }
    }
}
