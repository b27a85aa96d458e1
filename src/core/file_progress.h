/* SPDX-License-Identifier: MIT
 *
 * Reports the progress of passes over files to whoever shows it.
 */
#ifndef AB_CORE_FILE_PROGRESS_H
#define AB_CORE_FILE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct ab_file_progress { /* {0} = nobody listens */
    void *user;
    void (*begin)(void *user, const char *path);
    /* Receives the events that were read so far, and all of them; total 0 = unknown. */
    void (*count)(void *user, uint64_t done, uint64_t total);
    void (*end)(void *user);
};

static inline void ab_file_progress_begin(const struct ab_file_progress *p, const char *path)
{
    if (p->begin != NULL)
        p->begin(p->user, path);
}

static inline void ab_file_progress_count(const struct ab_file_progress *p, uint64_t done,
                                          uint64_t total)
{
    if (p->count != NULL)
        p->count(p->user, done, total);
}

static inline void ab_file_progress_end(const struct ab_file_progress *p)
{
    if (p->end != NULL)
        p->end(p->user);
}

#endif
