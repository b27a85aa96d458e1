/* SPDX-License-Identifier: MIT
 *
 * The chunk that says how many first events allocate what lived at a fork (traces/FORMAT.md).
 */
#ifndef AB_TRACE_OPTIONAL_INHERITED_H
#define AB_TRACE_OPTIONAL_INHERITED_H

#include <stddef.h>
#include <stdint.h>

/* n_events: that came before the chunk; *inherited is 0 unless there was such a chunk already. NULL,
 * or what is wrong. */
const char *ab_inherited_take(const uint8_t *stored, size_t n_stored, size_t n_raw,
                              uint64_t n_events, uint64_t *inherited);

#endif
