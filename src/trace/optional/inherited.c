/* SPDX-License-Identifier: MIT
 *
 * A u64, before all events, once.
 */
#include "trace/optional/inherited.h"

#include "base/bytes.h"
#include "trace/format.h"

const char *ab_inherited_take(const uint8_t *stored, size_t n_stored, size_t n_raw,
                              uint64_t n_events, uint64_t *inherited)
{
    if (n_stored != AB_TRACE_INHERITED_BYTES || n_raw != n_stored)
        return "a chunk of inherited blocks of another length than 8 bytes";
    if (n_events > 0 || *inherited > 0)
        return "a chunk of inherited blocks after events, or a second one";
    *inherited = ab_get_u64(stored);
    return NULL;
}
