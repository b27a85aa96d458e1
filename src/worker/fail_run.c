/* SPDX-License-Identifier: MIT
 *
 * Notes of the loops that are kept out of line, and the end of a worker that must stop. No stdio:
 * texts are joined by hand in the run page.
 */
#include "worker/worker.h"

#include "base/digits.h"
#include "worker/crash/crash.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *ab_worker_number(char *buf, uint64_t n)
{
    return ab_digits(buf, n, 10);
}

void ab_worker_print(const struct ab_worker *w, const char *text)
{
    if (w->page->request.is_alone == 0)
        return;
    ssize_t ignored = write(STDERR_FILENO, "allocbench-worker: ", 19);
    ignored = write(STDERR_FILENO, text, strlen(text));
    ignored = write(STDERR_FILENO, "\n", 1);
    (void)ignored;
}

/* Aborts in this thread if no parent reads the report, because a debugger may be attached. */
static void stop_alone(const struct ab_worker *w)
{
    ab_worker_print(w, w->page->report.reason);
    if (w->page->request.is_alone != 0)
        syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), SIGABRT);
}

_Noreturn void ab_worker_fail(struct ab_worker *w, enum ab_failure failure, ...)
{
    struct ab_run_report *report = &w->page->report;
    size_t used = 0;
    va_list parts;
    va_start(parts, failure);
    for (const char *s = va_arg(parts, const char *); s != NULL; s = va_arg(parts, const char *))
        while (*s != 0 && used + 1 < sizeof report->reason)
            report->reason[used++] = *s++;
    va_end(parts);
    report->reason[used] = 0;
    report->failure = failure;
    *(volatile uint32_t *)&report->state = AB_WORKER_FAILED;
    ab_call_note_fail();
    stop_alone(w);
    _exit(1);
}

int ab_worker_op_kind(const struct ab_worker *w, uint64_t op)
{
    return ab_op_decode(op, w->wide).kind;
}

bool ab_worker_is_refused(const struct ab_worker *w, uint64_t op)
{
    struct ab_op_view view = ab_op_decode(op, w->wide);
    return (view.flags & AB_WIDE_MAY_FAIL) != 0 && view.kind != AB_OP_RESIZE;
}

uint64_t ab_worker_op_size(const struct ab_worker *w, uint64_t op)
{
    struct ab_op_view view = ab_op_decode(op, w->wide);
    if (view.kind == AB_OP_FREE || view.kind == AB_OP_ACCESS)
        /* the freed block's slot keeps its size until the lane's next op */
        return AB_SLOT_SIZE(&w->slots[view.slot]);
    return view.kind == AB_OP_RESET ? 0 : view.size;
}

static __thread bool was_faulty; /* true if fault+ failed the thread's last allocation call */

void ab_worker_note_fault(bool is_faulty)
{
    was_faulty = is_faulty;
}

void ab_worker_note_null(struct ab_lane *lane, uint64_t size)
{
    if (size == 0 || lane->first_null_op != UINT32_MAX)
        return; /* NULL for size 0 is legal */
    lane->first_null_op = lane->w->first + lane->op;
    lane->first_null_size = size;
    lane->is_null_of_fault = was_faulty;
}

static uint32_t least_worst(const struct ab_tail *tail)
{
    uint32_t least = 0;
    for (uint32_t i = 1; i < tail->n_worst; i++)
        if (tail->worst[i].ticks < tail->worst[least].ticks)
            least = i;
    return least;
}

void ab_tail_keep(struct ab_tail *tail, const struct ab_worst *op)
{
    uint32_t at = tail->n_worst;
    if (at < AB_WORST_MAX)
        tail->n_worst++;
    else if (op->ticks <= tail->worst[at = least_worst(tail)].ticks)
        return;
    tail->worst[at] = *op;
}

void ab_worker_note_slow(struct ab_lane *lane, struct ab_tail *tail)
{
    const struct ab_run_request *r = &lane->w->page->request;
    uint64_t ticks = lane->delta;
    tail->n_slow++;
    tail->n_1us += ticks >= r->tail_1us_ticks;
    tail->n_10us += ticks >= r->tail_10us_ticks;
    tail->n_100us += ticks >= r->tail_100us_ticks;
    if (ticks > tail->max_ticks)
        tail->max_ticks = ticks;
    uint64_t size = ab_worker_op_size(lane->w, lane->ops[lane->op]);
    uint32_t position = lane->w->first + lane->op;
    ab_tail_keep(tail, &(struct ab_worst){.ticks = ticks, .size = size, .position = position});
}
