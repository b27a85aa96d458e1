/* SPDX-License-Identifier: MIT
 *
 * The small files in which the kernel describes itself (/proc, /sys, /etc), below a root that tests
 * can replace. No stdio, no locale. What cannot be read is "" or NaN.
 */
#ifndef AB_CORE_SYSTEM_FILE_H
#define AB_CORE_SYSTEM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Plenty for the first CPU of cpuinfo and for all else that is read so. */
enum { AB_SYSTEM_FILE_BYTES = 4096 };

/* At most cap − 1 bytes of a file, terminated; how many, 0 = it cannot be read. */
size_t ab_system_file_read(const char *path, char *buf, size_t cap);
/* Contents of root + path, "" when it cannot be read. Returns buf, always terminated. */
const char *ab_system_file(const char *root, const char *path, char buf[AB_SYSTEM_FILE_BYTES]);
/* Is there such a file or folder? */
bool ab_system_file_exists(const char *root, const char *path);
/* Its text without blanks around it, printable; what does not fit is cut off. */
const char *ab_system_file_text(const char *root, const char *path, char *dst, size_t cap);
/* The number that it begins with; NaN = none. */
double ab_system_file_number(const char *root, const char *path);

/* Copies [s, s+n), at most 255 bytes, without blanks and quotes around it, printable. */
void ab_system_file_trim(char *dst, size_t cap, const char *s, size_t n);
/* Value of the first line of `text` that starts with `key`, after `separator`; else untouched. */
void ab_system_file_value(char *dst, size_t cap, const char *text, const char *key, char separator);
/* The decimal number that s begins with; NaN = none. */
double ab_system_file_parse(const char *s);

/* What the control groups of this process allow, versions 1 and 2. A group is bound by the limits of
 * all that it lies in. /proc and /sys/fs/cgroup are those below `root`. */

/* Bytes of memory; UINT64_MAX = no limit. */
uint64_t ab_control_group_memory(const char *root);
/* CPUs' worth of time, 1.5 for one and a half; INFINITY = no limit. */
double ab_control_group_cpus(const char *root);

#endif
