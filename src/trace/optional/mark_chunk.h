/* SPDX-License-Identifier: MIT
 *
 * The optional chunk of marks (traces/FORMAT.md): names that are new, then marks.
 */
#ifndef AB_TRACE_OPTIONAL_MARK_CHUNK_H
#define AB_TRACE_OPTIONAL_MARK_CHUNK_H

#include "core/status.h"
#include "trace/encoder.h"
#include "trace/optional/mark_table.h"

struct ab_mark_packer;

/* Packs what comes into the table, which must outlive it. NULL = out of memory. */
struct ab_mark_packer *ab_mark_packer_new(const struct ab_mark_table *table);
void ab_mark_packer_free(struct ab_mark_packer *p);
/* The next chunk of what is new; *out holds until the next call, n_raw 0 = there is nothing more. */
enum ab_status ab_mark_packer_next(struct ab_mark_packer *p, struct ab_stored_chunk *out,
                                   struct ab_err *err);

/* Appends what a chunk holds that stands after n_calls calls. `raw` is room for n_raw bytes. NULL,
 * or what is wrong as the end of a sentence. */
const char *ab_mark_chunk_take(struct ab_mark_table *t, uint64_t n_calls, const uint8_t *stored,
                               size_t n_stored, uint8_t *raw, size_t n_raw);

#endif
