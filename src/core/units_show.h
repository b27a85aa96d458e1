/* SPDX-License-Identifier: MIT
 *
 * Quantities as a person reads them.
 */
#ifndef AB_CORE_UNITS_SHOW_H
#define AB_CORE_UNITS_SHOW_H

#include <stddef.h>
#include <stdint.h>

/* "64 B", "1.21 MiB" … three significant digits. Returns buf. */
const char *ab_units_bytes(char *buf, size_t cap, double bytes);

/* Exactly, in the largest unit that does: "16 KiB" with " " between, "16KiB" with ""; then bytes have
 * no unit, as where sizes are read. Returns buf. */
const char *ab_units_exact(char *buf, size_t cap, uint64_t bytes, const char *between);

/* "42.1 ns", "1.31 us", "5.00 ms" */
const char *ab_units_time(char *buf, size_t cap, double ns);

/* "12.4 M", "950" */
const char *ab_units_count(char *buf, size_t cap, double n);

/* The same in room of their own, as long as the block around them lasts. */
#define AB_BYTES(bytes) ab_units_bytes((char[32]){0}, 32, (double)(bytes))
#define AB_TIME(ns) ab_units_time((char[32]){0}, 32, ns)

#endif
