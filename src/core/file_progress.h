/* SPDX-License-Identifier: MIT
 *
 * Reports the progress of reading files to callbacks, which show it.
 */
#ifndef AB_CORE_FILE_PROGRESS_H
#define AB_CORE_FILE_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

struct ab_file_progress { /* callbacks; {0} = progress is not reported */
    void *user;
    void (*begin)(void *user, const char *path);
    /* Receives the number of events read so far, and the number of all events; total 0 =
     * unknown. */
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
