/* SPDX-License-Identifier: MIT
 *
 * Writes to the control file, which all recorded processes share: started programs, and names of
 * marks. Also runs in a child of vfork, and therefore writes nothing else.
 */
#include "record/preload/preload.h"

#include <string.h>

/* ---- started programs ---- */

int64_t ab_exec_noted;

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
    start->user = (uint32_t)syscall(SYS_geteuid);
    memcpy(start->path, path, n < most ? n : most);
    start->path[n < most ? n : most] = 0;
    __atomic_store_n(&start->state, AB_SPOOL_START_NOTED, __ATOMIC_RELEASE);
    return start;
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

/* ---- names of marks ----
 *
 * A hash table without locks that only grows. An entry is taken, then filled, and then never
 * changed. An entry that is being filled is skipped, because a signal handler may have interrupted
 * its writer, or its process may have been killed. A name may therefore occur twice; the converter
 * joins the two. */

static uint32_t hash_of(const char *name, uint32_t *n)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (*n = 0; name[*n] != 0 && *n < AB_SPOOL_MARK_NAME - 1; ++*n)
        hash = (hash ^ (uint8_t)name[*n]) * 16777619u;
    return hash;
}

static bool is_name(const struct ab_spool_mark_name *place, const char *name, uint32_t n)
{
    return memcmp(place->text, name, n) == 0 && place->text[n] == 0;
}

static void fill(struct ab_spool_mark_name *place, const char *name, uint32_t n)
{
    memcpy(place->text, name, n);
    __atomic_store_n(&place->state, AB_SPOOL_NAME_THERE, __ATOMIC_RELEASE);
}

uint32_t ab_mark_name_number(const char *name)
{
    struct ab_spool_mark_name *names = ab_control->mark_names;
    uint32_t n, at = hash_of(name, &n);
    for (uint32_t i = 0; i < AB_SPOOL_MARK_NAMES; i++, at++) {
        struct ab_spool_mark_name *place = &names[at % AB_SPOOL_MARK_NAMES];
        uint32_t state = __atomic_load_n(&place->state, __ATOMIC_ACQUIRE);
        if (state == AB_SPOOL_NO_NAME &&
            __atomic_compare_exchange_n(&place->state, &state, AB_SPOOL_NAME_TAKEN, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
            fill(place, name, n);
            return at % AB_SPOOL_MARK_NAMES + 1;
        }
        if (state == AB_SPOOL_NAME_THERE && is_name(place, name, n))
            return at % AB_SPOOL_MARK_NAMES + 1;
    }
    return 0;
}
