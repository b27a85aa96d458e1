/* SPDX-License-Identifier: MIT
 *
 * Reads the small files of the kernel and the system (/proc, /sys, /etc), below a root that tests
 * can replace. No stdio, no locale. A file that cannot be read gives "" or NaN.
 */
#ifndef AB_CORE_SYSTEM_FILE_H
#define AB_CORE_SYSTEM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Enough for the first CPU of cpuinfo, and for every other file read here. */
enum { AB_SYSTEM_FILE_BYTES = 4096 };

/* Reads at most cap − 1 bytes of a file and terminates them. Returns the number; 0 = cannot be
 * read. */
size_t ab_system_file_read(const char *path, char *buf, size_t cap);
/* Reads the file root + path; "" if it cannot be read. Returns buf, always terminated. */
const char *ab_system_file(const char *root, const char *path, char buf[AB_SYSTEM_FILE_BYTES]);
/* True if the file or folder exists. */
bool ab_system_file_exists(const char *root, const char *path);
/* Reads the file's text, trimmed and printable; text that does not fit is cut off. */
const char *ab_system_file_text(const char *root, const char *path, char *dst, size_t cap);
/* Returns the number at the beginning of the file; NaN = none. */
double ab_system_file_number(const char *root, const char *path);

/* Copies [s, s+n), at most 255 bytes, trimmed of blanks and quotes, printable. */
void ab_system_file_trim(char *dst, size_t cap, const char *s, size_t n);
/* Copies the value of the first line of `text` that starts with `key`, after `separator`. Leaves
 * dst untouched if there is no such line. */
void ab_system_file_value(char *dst, size_t cap, const char *text, const char *key, char separator);
/* Returns the decimal number at the beginning of s; NaN = none. */
double ab_system_file_parse(const char *s);

/* Fields of /proc/PID/stat (proc(5)). */
struct ab_process_stat {
    char name[64]; /* cut off if longer */
    char state;    /* R, S, D, T, Z, X … */
    pid_t parent, group;
    uint64_t faults, children_faults; /* minor page faults; of children that were waited for */
    uint64_t children_ticks;          /* CPU time of children that were waited for */
    uint64_t start_ticks;             /* since boot (CLOCK_BOOTTIME) */
};
/* Reads the stat file of a process or thread from its folder in /proc; false if it is gone. */
bool ab_process_stat(const char *folder, struct ab_process_stat *out);
/* The same of a process by its number. */
bool ab_process_stat_of(pid_t pid, struct ab_process_stat *out);

/* Limits that the control groups of this process set, versions 1 and 2. A group is also bound by
 * the limits of all its ancestors. /proc and /sys/fs/cgroup are read below `root`. */

/* Returns the memory limit in bytes; UINT64_MAX = no limit. */
uint64_t ab_control_group_memory(const char *root);
/* Returns the CPU limit in CPUs, 1.5 for one and a half; INFINITY = no limit. */
double ab_control_group_cpus(const char *root);

#endif
