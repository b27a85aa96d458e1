/* SPDX-License-Identifier: MIT
 *
 * Reads the small files of the kernel and the system (/proc, /sys, /etc), below a root folder that
 * tests can replace. Uses neither stdio nor the locale. A file that cannot be read gives "" or NaN.
 */
#ifndef AB_CORE_SYSTEM_FILE_H
#define AB_CORE_SYSTEM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Size of a buffer that is enough for the first CPU of cpuinfo, and for every other file that is
 * read here. */
enum { AB_SYSTEM_FILE_BYTES = 4096 };

/* Reads at most cap − 1 bytes of a file and adds a 0. Returns the number of bytes; 0 = the file
 * cannot be read. */
size_t ab_system_file_read(const char *path, char *buf, size_t cap);
/* Reads the file root + path; "" if it cannot be read. Returns buf, which always ends with 0. */
const char *ab_system_file(const char *root, const char *path, char buf[AB_SYSTEM_FILE_BYTES]);
/* True if the file or folder exists. */
bool ab_system_file_exists(const char *root, const char *path);
/* Reads the file's text, trimmed and printable. Cuts text off that does not fit. */
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
    char name[64]; /* name of the program; cut off if longer */
    char state;    /* R, S, D, T, Z, X … */
    pid_t parent, group;
    /* minor page faults of the process itself, and of children that it waited for */
    uint64_t faults, children_faults;
    /* CPU time of children that the process waited for, in clock ticks */
    uint64_t children_ticks;
    /* start of the process in clock ticks since boot (CLOCK_BOOTTIME) */
    uint64_t start_ticks;
};
/* Reads the stat file of a process or thread from its folder in /proc. Returns false if the process
 * or thread is gone. */
bool ab_process_stat(const char *folder, struct ab_process_stat *out);
/* Reads the stat file of the process `pid`. Returns false if the process is gone. */
bool ab_process_stat_of(pid_t pid, struct ab_process_stat *out);

/* Functions that return the limits that the control groups of this process set, versions 1 and 2. A
 * group also has the limits of all its ancestors. /proc and /sys/fs/cgroup are read below
 * `root`. */

/* Returns the memory limit in bytes; UINT64_MAX = no limit. */
uint64_t ab_control_group_memory(const char *root);
/* Returns the CPU limit in CPUs, such as 1.5; INFINITY = no limit. */
double ab_control_group_cpus(const char *root);

#endif
