/* SPDX-License-Identifier: MIT
 *
 * Notes of programs that are started, in what all processes share. A child of vfork runs here too:
 * it writes nothing but its note.
 */
#include "record/preload/preload_starts.h"

#include "record/preload/preload_files.h"

#include <string.h>

bool ab_exec_is_noted;

static struct ab_spool_start *take_note(void)
{
    struct ab_spool_control *control = ab_control;
    for (int i = 0; control != NULL && i < AB_SPOOL_STARTS; i++) {
        uint32_t is_free = AB_SPOOL_NO_START;
        if (__atomic_compare_exchange_n(&control->starts[i].state, &is_free, AB_SPOOL_START_TAKEN,
                                        false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return &control->starts[i];
    }
    if (control != NULL)
        __atomic_fetch_add(&control->n_starts_lost, 1, __ATOMIC_RELAXED);
    return NULL;
}

struct ab_spool_start *ab_exec_note(uint32_t pid, const char *path, enum ab_spool_stop why)
{
    struct ab_spool_start *start = path != NULL ? take_note() : NULL;
    if (start == NULL)
        return NULL;
    size_t n = strlen(path), most = sizeof start->path - 1;
    start->pid = pid;
    start->why = why;
    memcpy(start->path, path, n < most ? n : most);
    start->path[n < most ? n : most] = 0;
    __atomic_store_n(&start->state, AB_SPOOL_START_NOTED, __ATOMIC_RELEASE);
    return start;
}

void ab_exec_note_failure(const char *program, enum ab_spool_stop why)
{
    ab_exec_note(ab_process_id(), program, why);
}

void ab_exec_forget_start(void)
{
    uint32_t self = ab_process_id();
    for (int i = 0; i < AB_SPOOL_STARTS; i++) {
        struct ab_spool_start *start = &ab_control->starts[i];
        if (__atomic_load_n(&start->state, __ATOMIC_ACQUIRE) == AB_SPOOL_START_NOTED &&
            start->pid == self && start->why == AB_SPOOL_RUNNING)
            __atomic_store_n(&start->state, AB_SPOOL_NO_START, __ATOMIC_RELEASE);
    }
}
