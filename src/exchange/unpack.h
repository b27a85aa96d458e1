/* SPDX-License-Identifier: MIT
 *
 * The bytes of a descriptor, unpacked when they are gzip or zstd.
 */
#ifndef AB_EXCHANGE_UNPACK_H
#define AB_EXCHANGE_UNPACK_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ab_unpack;

/* The descriptor stays the caller's. NULL when out of memory. */
struct ab_unpack *ab_unpack_new(int fd);
void ab_unpack_free(struct ab_unpack *u);

/* Where in the file as it is the next packed byte lies. */
uint64_t ab_unpack_offset(const struct ab_unpack *u);

/* Some bytes, at most cap; *n = 0 at the end. *is_cut: the end came within what was packed. Errors
 * carry "byte OFFSET: " of the file as it is. */
enum ab_status ab_unpack_read(struct ab_unpack *u, void *to, size_t cap, size_t *n, bool *is_cut,
                              struct ab_err *err);

#endif
