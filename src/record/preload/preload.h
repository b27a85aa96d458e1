/* SPDX-License-Identifier: MIT
 *
 * The parts of the recorder, as far as they are seen from its other files. All of it is hidden from
 * the recorded program.
 */
#ifndef AB_RECORD_PRELOAD_PRELOAD_H
#define AB_RECORD_PRELOAD_PRELOAD_H

#include "record/preload/spool.h"

#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- preload_files.c: the files of the spool as the recorded process reaches them, whatever it has
 * given up since its start: its root, its user, its limits, its descriptors ---- */

#define AB_HIDDEN __attribute__((visibility("hidden")))

/* The C library's is not asked: it may keep the parent's in a child of vfork. */
static inline uint32_t ab_process_id(void)
{
    return (uint32_t)syscall(SYS_getpid);
}

static inline uint32_t ab_thread_id(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

struct ab_file_id { /* PID.K, or PID.K.T */
    uint32_t pid, generation;
    int32_t slot; /* < 0: the image */
};

/* The memory stays, as zeroes of this process alone: what is written there goes nowhere. */
void ab_files_part_with(void *p, uint64_t bytes) AB_HIDDEN;
/* What all processes share; NULL = nothing. Stays the same over a fork. */
extern struct ab_spool_control *ab_control AB_HIDDEN;

/* Holds the folder, in which all else lies; false when it cannot be recorded into. */
bool ab_files_start(const char *folder) AB_HIDDEN;

/* Makes a file and the space for its first `bytes`, and maps them. EEXIST in errno, and NULL,
 * when it is there already; else the reason for NULL is in *why. */
void *ab_files_make(struct ab_file_id id, uint64_t bytes, enum ab_spool_stop *why) AB_HIDDEN;

/* Writes what is packed to the end of the file of `tail`, and empties its place. */
enum ab_spool_stop ab_files_save(struct ab_file_id id, struct ab_spool_tail *tail) AB_HIDDEN;

/* Has the process looked at from outside: at its end, or before a library is closed. */
void ab_files_look(struct ab_file_id image, bool is_end) AB_HIDDEN;

/* Maps what is private to the process. */
void *ab_files_map_private(uint64_t bytes) AB_HIDDEN;
/* So much of that there is: a bound on what of it is resident. */
extern uint64_t ab_files_private_bytes AB_HIDDEN;

/* ---- preload_program.c: what the program is called, its environment, the file that stands for it ---- */

/* The value of a variable, or NULL: also where the program has more rights than its user. */
const char *ab_environment(const char *name) AB_HIDDEN;

/* At the start: later the program may have no way to know it. */
void ab_program_find(void) AB_HIDDEN;
const char *ab_program_name(void) AB_HIDDEN;
void ab_program_note(struct ab_spool_image *image) AB_HIDDEN;
/* The image of this program: PID.K, the first K that is free (exec keeps the pid). */
struct ab_spool_image *ab_program_make_image(uint32_t *generation,
                                             enum ab_spool_stop *why) AB_HIDDEN;
/* "17" or "17+"; 0 = neither. */
uint32_t ab_program_read_command(const char *text, bool *is_plus) AB_HIDDEN;

/* ---- preload_control.c: what is noted for all processes: starts of programs, for those that take no
 * recorder in, and the names of marks ---- */

/* The process whose starts are noted, the command; AB_EXEC_OF_ALL where children are recorded too. */
enum { AB_EXEC_OF_ALL = -1 };
extern int64_t ab_exec_noted AB_HIDDEN;
/* The process is about to become `path`, or is `path` and cannot be recorded: `why`. NULL: there is no
 * room. */
struct ab_spool_start *ab_exec_note(uint32_t pid, const char *path,
                                    enum ab_spool_stop why) AB_HIDDEN;
/* This program has begun, and is being recorded. */
void ab_exec_forget_start(void) AB_HIDDEN;

/* The place of a name in ab_control->mark_names + 1, which it gets if it has none; 0 = there is no
 * place left. Async-signal-safe. */
uint32_t ab_mark_name_number(const char *name) AB_HIDDEN;

/* ---- preload_exec.c: the calls that start a program, each of which is noted ---- */

/* Before the first of them is called. */
void ab_exec_find_real(void) AB_HIDDEN;

/* ---- preload_libraries.c: the calls that open and close libraries ---- */

/* Before the first of them is called. */
void ab_libraries_find_real(void) AB_HIDDEN;

/* The stamp of an event, which is the tick counter. Waits for what came before: after an acquire for
 * the call, ahead of a release for the load that brought the block here. Without that wait (plain rdtsc) a free that is stalled on the cache line
 * where it finds its block is stamped before the call that put the block there. */
static inline uint64_t ab_stamp_now(void)
{
#if defined(__x86_64__)
    uint64_t low, high; /* not the builtin: its third result would need a stack to be protected */
    __asm__ volatile("rdtscp" : "=a"(low), "=d"(high) : : "rcx", "memory");
    return high << 32 | low;
#else
    uint64_t t;
    __asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(t) : : "memory");
    return t;
#endif
}

#endif
