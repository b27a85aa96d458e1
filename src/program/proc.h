/* SPDX-License-Identifier: MIT
 *
 * Small reads of /proc, without stdio's buffers: they happen while a program is measured.
 */
#ifndef AB_PROGRAM_PROC_H
#define AB_PROGRAM_PROC_H

#include <stddef.h>

/* At most cap − 1 bytes, terminated; how many, 0 = it cannot be read. */
size_t ab_proc_read(const char *path, char *buf, size_t cap);

#endif
