/* SPDX-License-Identifier: MIT
 *
 * Where a phase that is measured begins and ends, for callgrind, the processor's counter or the
 * parent that hears of system calls.
 */
#include "worker/counts/counts.h"

#include "worker/counts/callgrind.h"
#include "worker/counts/cpu_counter.h"
#include "worker/worker.h"

bool ab_counts_are_on;

static struct {
    struct ab_worker *w;
    int fd; /* of the processor's counter */
} counts;

static bool is_measured(void)
{
    return counts.w->phases[counts.w->page->report.phase].is_measured;
}

static unsigned pass(void)
{
    return counts.w->page->request.pass;
}

static bool is_of_callgrind(void)
{
    return counts.w->page->request.counter == AB_COUNTER_CALLGRIND;
}

static void open_instructions(struct ab_worker *w)
{
    if (w->image->n_lanes != 1)
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "instructions are counted of one thread", NULL);
    if (is_of_callgrind() && ab_valgrind_ask(AB_VALGRIND_IS_THERE, NULL) == 0)
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "not in callgrind", NULL);
    if (!is_of_callgrind() && (counts.fd = ab_cpu_counter_open()) < 0)
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "the processor's counter cannot be read", NULL);
}

void ab_counts_open(struct ab_worker *w)
{
    counts.w = w;
    if (pass() == AB_PASS_INSTRUCTIONS)
        open_instructions(w);
    else if (pass() != AB_PASS_SYSTEM_CALLS)
        return;
    else if (!ab_counts_tell_calls())
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "system calls cannot be watched (seccomp)", NULL);
    ab_counts_are_on = true;
}

void ab_counts_begin(void)
{
    if (!is_measured())
        return;
    if (pass() == AB_PASS_SYSTEM_CALLS)
        __atomic_add_fetch(&counts.w->page->report.inside, 1, __ATOMIC_SEQ_CST);
    else if (is_of_callgrind())
        ab_valgrind_ask(AB_CALLGRIND_TOGGLE, NULL);
    else
        ab_cpu_counter_start(counts.fd);
}

/* "phase 3" */
static void write_count(void)
{
    char number[24], text[32] = "phase ";
    const char *digits = ab_worker_number(number, counts.w->page->report.phase);
    for (unsigned i = 0; digits[i] != 0; i++)
        text[6 + i] = digits[i];
    ab_valgrind_ask(AB_CALLGRIND_WRITE, text);
}

void ab_counts_end(struct ab_phase_report *out)
{
    if (!is_measured())
        return;
    if (pass() == AB_PASS_SYSTEM_CALLS) {
        __atomic_sub_fetch(&counts.w->page->report.inside, 1, __ATOMIC_SEQ_CST);
    } else if (is_of_callgrind()) {
        ab_valgrind_ask(AB_CALLGRIND_TOGGLE, NULL);
        write_count();
    } else {
        out->instructions = ab_cpu_counter_stop(counts.fd);
    }
}
