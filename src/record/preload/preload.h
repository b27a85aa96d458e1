/* SPDX-License-Identifier: MIT
 *
 * Internal interface between the files of the recorder. All of it is hidden from the recorded
 * program.
 */
#ifndef AB_RECORD_PRELOAD_PRELOAD_H
#define AB_RECORD_PRELOAD_PRELOAD_H

#include "record/preload/spool.h"

#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- preload_files.c: files of the spool, reachable even if the process has given up its root,
 * user, limits or descriptors since its start ---- */

#define AB_HIDDEN __attribute__((visibility("hidden")))

/* Returns the process id from the kernel, because the C library may cache the parent's id in a
 * child of vfork. */
static inline uint32_t ab_process_id(void)
{
    return (uint32_t)syscall(SYS_getpid);
}

static inline uint32_t ab_thread_id(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

struct ab_file_id { /* name of a file: PID.K, or PID.K.T */
    uint32_t pid, generation;
    int32_t slot; /* thread slot; < 0 = the image */
};

/* Replaces a shared mapping by private zeroes, so that later stores to it reach neither the file
 * nor another process. */
void ab_files_part_with(void *p, uint64_t bytes) AB_HIDDEN;
/* Control file, which all recorded processes share; NULL = not recording. A forked child keeps the
 * mapping. */
extern struct ab_spool_control *ab_control AB_HIDDEN;

/* Opens the folder of the spool and keeps it open. Returns false if nothing can be recorded
 * there. */
bool ab_files_start(const char *folder) AB_HIDDEN;

/* Creates a file, reserves its first `bytes` bytes and maps them. Returns NULL with errno EEXIST if
 * the file exists. For any other NULL, *why has the reason. */
void *ab_files_make(struct ab_file_id id, uint64_t bytes, enum ab_spool_stop *why) AB_HIDDEN;

/* Appends the packed chunks of `tail` to its file and empties the pack area. */
enum ab_spool_stop ab_files_save(struct ab_file_id id, struct ab_spool_tail *tail) AB_HIDDEN;

/* Asks `record` to find modules that bypass the recorder (bypass.h): at the end of the process
 * (is_end), or before it closes a library. */
void ab_files_look(struct ab_file_id image, bool is_end) AB_HIDDEN;

/* Maps memory that the process does not share with others. */
void *ab_files_map_private(uint64_t bytes) AB_HIDDEN;
/* Number of bytes mapped by ab_files_map_private: an upper bound of the resident part. */
extern uint64_t ab_files_private_bytes AB_HIDDEN;

/* ---- preload_program.c: name of the program, its environment, and its image file ---- */

/* Returns the value of an environment variable. Returns NULL if it is not set, or if the program
 * has more rights than its user. */
const char *ab_environment(const char *name) AB_HIDDEN;

/* Finds the name and path of the program. Called at the start, because later the program may
 * have no way to find out. */
void ab_program_find(void) AB_HIDDEN;
const char *ab_program_name(void) AB_HIDDEN;
void ab_program_note(struct ab_spool_image *image) AB_HIDDEN;
/* Creates the image file of this program, PID.K. K is the first free number, because exec keeps the
 * process id. */
struct ab_spool_image *ab_program_make_image(uint32_t *generation,
                                             enum ab_spool_stop *why) AB_HIDDEN;
/* Parses "17" or "17+". Returns 0 for other text. */
uint32_t ab_program_read_command(const char *text, bool *is_plus) AB_HIDDEN;

/* ---- preload_control.c: entries for all processes: starts of programs that may not load the
 * recorder, and names of marks ---- */

/* Id of the process whose program starts are noted, which is the command; AB_EXEC_OF_ALL if
 * children are recorded too. */
enum { AB_EXEC_OF_ALL = -1 };
extern int64_t ab_exec_noted AB_HIDDEN;
/* Notes that the process is about to execute `path`, or that it executes `path` now and cannot be
 * recorded, for the reason `why`. Returns NULL if there is no room. */
struct ab_spool_start *ab_exec_note(uint32_t pid, const char *path,
                                    enum ab_spool_stop why) AB_HIDDEN;
/* Removes the note about the start of this program, because the program is being recorded. */
void ab_exec_forget_start(void) AB_HIDDEN;

/* Returns the number of a name of marks: its index in ab_control->mark_names plus 1. Adds the name
 * if it is new; returns 0 if there is no room. Async-signal-safe. */
uint32_t ab_mark_name_number(const char *name) AB_HIDDEN;

/* ---- preload_exec.c: calls that start a program, each of which is noted ---- */

/* Looks up the real functions. Call it before any of them is used. */
void ab_exec_find_real(void) AB_HIDDEN;

/* ---- preload_libraries.c: calls that open and close libraries ---- */

/* Looks up the real functions. Call it before any of them is used. */
void ab_libraries_find_real(void) AB_HIDDEN;

/* Returns the stamp of an event: the tick counter, read after all earlier instructions. For an
 * event that gives out a block, that is after the real call; for a free, after the load that
 * brought the address of the block. Plain rdtsc would not wait: a free that waits for the cache
 * line with the address would be stamped before the call that put it there. */
static inline uint64_t ab_stamp_now(void)
{
#if defined(__x86_64__)
    /* not the builtin: it stores its third result, which would need stack protection */
    uint64_t low, high;
    __asm__ volatile("rdtscp" : "=a"(low), "=d"(high) : : "rcx", "memory");
    return high << 32 | low;
#else
    uint64_t t;
    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(t) : : "memory");
    return t;
#endif
}

#endif
