/* SPDX-License-Identifier: MIT
 *
 * The chunk that says what the recording did not see (traces/FORMAT.md).
 */
#ifndef AB_TRACE_BYPASS_H
#define AB_TRACE_BYPASS_H

#include "trace/event.h"

#include <stddef.h>

enum { AB_TRACE_BYPASS_FIXED = 24, AB_TRACE_BYPASS_MAX = 24 + AB_TRACE_BYPASS_NAMES_MAX };

/* Adds the base name of a module that called another malloc; counted only, where there is no room. */
void ab_bypass_add_module(struct ab_trace_bypass *b, const char *name);

/* How many bytes it takes. */
size_t ab_bypass_encode(const struct ab_trace_bypass *b, uint8_t out[AB_TRACE_BYPASS_MAX]);

/* NULL, or what is wrong. */
const char *ab_bypass_decode(const uint8_t *bytes, size_t n, struct ab_trace_bypass *out);
/* The same of a chunk, *out being zero unless the trace had such a chunk already. */
const char *ab_bypass_take(const uint8_t *stored, size_t n_stored, size_t n_raw,
                           struct ab_trace_bypass *out);

#endif
