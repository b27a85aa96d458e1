/* SPDX-License-Identifier: MIT
 *
 * The files of the spool as the recorded process reaches them, whatever it has given up since its
 * start: its root, its user, its limits, its descriptors. Hidden from the recorded program.
 */
#ifndef AB_RECORD_PRELOAD_PRELOAD_FILES_H
#define AB_RECORD_PRELOAD_PRELOAD_FILES_H

#include "record/preload/spool.h"

#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AB_HIDDEN __attribute__((visibility("hidden")))

/* Not the C library's: it may keep the parent's in a child of vfork. */
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

/* The process is about to exit: that is noted, and it is looked at from outside. */
void ab_files_end(struct ab_spool_image *image, struct ab_file_id id) AB_HIDDEN;

/* Maps what is private to the process. */
void *ab_files_map_private(uint64_t bytes) AB_HIDDEN;

#endif
