/* SPDX-License-Identifier: MIT
 *
 * A note for each thread, in memory that outlives the process.
 */
#include "worker/crash/call_note.h"

#include <stddef.h>

static struct ab_call_log *call_log;
static __thread struct ab_call_note *own;
static __thread int has_asked; /* for a note: there may be none left */

void ab_call_note_open(struct ab_call_log *to)
{
    call_log = to;
}

static struct ab_call_note *note(void)
{
    if (call_log == NULL || has_asked)
        return own;
    has_asked = 1;
    uint32_t i = __atomic_fetch_add(&call_log->n_threads, 1, __ATOMIC_RELAXED);
    own = i < AB_CALL_NOTES - 1 ? &call_log->notes[i] : NULL;
    return own;
}

static void write_note(struct ab_call_note *n, const struct ab_call_note *what)
{
    volatile uint32_t *is_inside = &n->is_inside;
    *is_inside = 0;
    n->called = what->called;
    n->number = what->number;
    for (unsigned i = 0; i < AB_CALL_ARGS; i++)
        n->args[i] = what->args[i];
    __atomic_signal_fence(__ATOMIC_RELEASE);
    *is_inside = what->is_inside;
}

void ab_call_note_begin(enum ab_called called, uint64_t first, uint64_t second, uint64_t third)
{
    struct ab_call_note *n = note();
    if (n == NULL)
        return;
    uint64_t number = __atomic_add_fetch(&call_log->n_calls, 1, __ATOMIC_RELAXED);
    write_note(n, &(struct ab_call_note){called, 1, number, {first, second, third}});
}

void ab_call_note_end(void)
{
    if (own != NULL)
        *(volatile uint32_t *)&own->is_inside = 0;
}

struct ab_call_note ab_call_note_ask(enum ab_called called, uint64_t ref)
{
    struct ab_call_note *n = note(), before = {0};
    if (n == NULL)
        return before;
    before = *n;
    write_note(n, &(struct ab_call_note){called, 1, before.number, {ref}});
    return before;
}

void ab_call_note_answered(const struct ab_call_note *before)
{
    if (own != NULL)
        write_note(own, before);
}

uint32_t ab_call_note_index(void)
{
    return own == NULL ? 0 : 1 + (uint32_t)(own - call_log->notes);
}

void ab_call_note_fail(void)
{
    if (call_log != NULL)
        call_log->failed = ab_call_note_index();
}

void ab_call_note_child(void)
{
    has_asked = 1;
    own = call_log == NULL ? NULL : &call_log->notes[AB_CALL_NOTES - 1];
}
