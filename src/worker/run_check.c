/* SPDX-License-Identifier: MIT
 *
 * One check of `verify`, in a worker of its own: what it breaks breaks nothing else.
 */
#include "worker/run_check.h"
#include "worker/checks/capacity.h"
#include "worker/checks/checks.h"
#include "worker/crash/call_note.h"
#include "worker/crash/fault.h"
#include "worker/preflight.h"

/* Of the program itself, as the linker names them. */
extern char __executable_start[], end[];

enum { STACK_BYTES = 65536 };

static __attribute__((noreturn)) void fail(void *user, const char *text)
{
    ab_worker_fail(user, AB_FAILURE_CHECK, text, NULL);
}

static struct ab_trial trial;

static __attribute__((noreturn)) void fail_null(void *user, const char *text)
{
    ab_trial_prove_full(&trial);
    ab_worker_fail(user, AB_FAILURE_NULL, text, NULL);
}

const struct ab_facts *ab_worker_facts(const struct ab_worker *w)
{
    const struct ab_run_request *r = &w->page->request;
    return r->pass == AB_PASS_CHECK ? &ab_checks[r->verify.check].facts : &w->image->facts;
}

bool ab_worker_locate(void *checker, uint64_t address, struct ab_near_block *out)
{
    return ab_checker_locate(checker, (uintptr_t)address, out);
}

static const struct ab_backend *backend;

static bool reopen(void *user, struct ab_heap **out)
{
    struct ab_worker *w = user;
    struct ab_open_args args = {
        .size = sizeof args, .facts = ab_worker_facts(w), .values = w->page->request.values};
    ab_call_note_begin(AB_CALLED_OPEN, 0, 0, 0);
    bool is_open = backend->open(&args, out) == 0;
    ab_call_note_end();
    return is_open;
}

void ab_pass_check(struct ab_worker *w, const struct ab_target *target)
{
    const struct ab_verify_request *request = &w->page->request.verify;
    struct ab_checker *c = &trial.checker;
    char *here = __builtin_frame_address(0);
    trial = (struct ab_trial){
        .target = target, .report = &w->page->report.verify, .reopen = reopen};
    if (!ab_checker_open(c, target))
        ab_worker_fail(w, AB_FAILURE_SYSTEM, "cannot map the record of live blocks", NULL);
    c->fail = fail;
    c->fail_null = fail_null;
    c->user = w;
    backend = target->hooks;
    ab_fault_set_lookup(ab_worker_locate, c);
    ab_checker_forbid(c, __executable_start, (size_t)(end - __executable_start));
    ab_checker_forbid(c, here - STACK_BYTES, 2 * STACK_BYTES);
    ab_checker_forbid(c, w->page, w->page->request.run_bytes);
    ab_rng_init(&trial.rng, request->seed, request->check);
    ab_check_run(&ab_checks[request->check], &trial);
}
