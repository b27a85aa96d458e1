/* SPDX-License-Identifier: MIT
 *
 * Parts of a trace file with a fixed layout: checksums, the records of the digest, the totals,
 * and calls that bypassed the recorder.
 */
#include "trace/format.h"

#include "base/bytes.h"
#include "trace/chunk.h"

#include <string.h>

/* allows the XXH64 state to be on the stack; uses only functions of the library's ABI */
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

uint64_t ab_trace_chunk_checksum(const uint8_t *head, const uint8_t *stored, size_t n)
{
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    XXH64_update(&state, head, AB_TRACE_CHUNK_CHECKED);
    XXH64_update(&state, stored, n);
    return XXH64_digest(&state);
}

size_t ab_event_canonical(const struct ab_event *e, bool has_time,
                          uint8_t out[AB_DIGEST_RECORD_MAX])
{
    out[0] = (uint8_t)ab_kind_code(e);
    out[1] = e->align == 0 ? 0 : (uint8_t)__builtin_ctzll(e->align);
    ab_put_u16(out + 2, 0);
    ab_put_u32(out + 4, e->thread);
    ab_put_u64(out + 8, e->block);
    ab_put_u64(out + 16, e->size);
    if (!has_time)
        return 24;
    ab_put_u64(out + 24, e->time_us);
    return 32;
}

void ab_trace_summary_encode(const struct ab_trace_info *i, uint8_t *out)
{
#define VALUE(field, name) i->field,
    const uint64_t fields[] = {AB_TRACE_TOTALS(VALUE) i->time_us};
    _Static_assert(sizeof fields == AB_TRACE_SUMMARY_BYTES, "one u64 a field");
    for (unsigned n = 0; n < AB_ARRAY_LEN(fields); n++)
        ab_put_u64(out + 8 * n, fields[n]);
}

/* ---- bypass chunk: u64 least calls, u64 most bytes, u32 modules, u32 bytes of names, names
 * ---- */

void ab_bypass_add_module(struct ab_trace_bypass *b, const char *name)
{
    size_t n = strlen(name) + 1;
    b->is_there = true;
    b->n_modules++;
    if (n > sizeof b->names - b->n_names)
        return;
    memcpy(b->names + b->n_names, name, n);
    b->n_names += (uint32_t)n;
}

size_t ab_bypass_encode(const struct ab_trace_bypass *b, uint8_t out[AB_TRACE_BYPASS_MAX])
{
    ab_put_u64(out, b->least_calls);
    ab_put_u64(out + 8, b->most_bytes);
    ab_put_u32(out + 16, b->n_modules);
    ab_put_u32(out + 20, b->n_names);
    memcpy(out + AB_TRACE_BYPASS_FIXED, b->names, b->n_names);
    return AB_TRACE_BYPASS_FIXED + b->n_names;
}

const char *ab_bypass_decode(const uint8_t *bytes, size_t n, struct ab_trace_bypass *out)
{
    struct ab_trace_bypass b = {.is_there = true};
    uint32_t n_ended = 0;
    if (n < AB_TRACE_BYPASS_FIXED)
        return "a chunk of calls past the recorder that is too short";
    b.least_calls = ab_get_u64(bytes);
    b.most_bytes = ab_get_u64(bytes + 8);
    b.n_modules = ab_get_u32(bytes + 16);
    b.n_names = ab_get_u32(bytes + 20);
    if (b.n_names > sizeof b.names || n != AB_TRACE_BYPASS_FIXED + (size_t)b.n_names)
        return "a chunk of calls past the recorder with names of another length";
    memcpy(b.names, bytes + AB_TRACE_BYPASS_FIXED, b.n_names);
    for (uint32_t i = 0; i < b.n_names; i++)
        n_ended += b.names[i] == 0;
    if (n_ended > b.n_modules || (b.n_names > 0 && b.names[b.n_names - 1] != 0))
        return "a chunk of calls past the recorder with names that are none";
    *out = b;
    return NULL;
}
