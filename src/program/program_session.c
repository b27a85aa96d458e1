/* SPDX-License-Identifier: MIT
 *
 * Runs a session of a real program and compares the outputs. If an output differs from that of the
 * base, the base runs once more. If its output then differs from its own first one, no allocator is
 * to blame.
 */
#include "base/aging.h"
#include "base/rng.h"
#include "core/alloc.h"
#include "core/text.h"
#include "inside/aging_library.h"
#include "inside/inside.h"
#include "program/program.h"
#include "program/unasked.h"
#include "result/numbers.h"
#include "result/result_fields.h"
#include "runner/callgrind.h"
#include "runner/fold.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the aged heap of one run ---- */

/* A shared mapping tells a preloaded library what to allocate, and the library reports there what
 * it made and what that cost. The program can write to the mapping, so nothing in it is used as an
 * index, and no time falls below 0. */
struct ab_program_aging_run {
    int fd;
    char path[64]; /* environment variable that tells the program where the mapping is */
    struct ab_aging_file *file;
};

static enum ab_status program_aging_open(const struct ab_aging_plan *plan,
                                         struct ab_program_aging_run *out, struct ab_err *err)
{
    struct ab_program_aging_run r = {.fd = memfd_create("allocbench-litter", MFD_CLOEXEC)};
    void *p = r.fd < 0 || ftruncate(r.fd, sizeof *r.file) != 0
                  ? MAP_FAILED
                  : mmap(NULL, sizeof *r.file, PROT_READ | PROT_WRITE, MAP_SHARED, r.fd, 0);
    if (p == MAP_FAILED) {
        ab_fail_errno(err, AB_SYSTEM, "--aged: cannot share memory with the program");
        if (r.fd >= 0)
            close(r.fd);
        return AB_SYSTEM;
    }
    r.file = p;
    r.file->request = plan->request;
    r.file->live_peak_bytes = plan->live_peak_bytes;
    r.file->n_sizes = plan->n_sizes < AB_AGING_SIZES_MOST ? plan->n_sizes : AB_AGING_SIZES_MOST;
    memcpy(r.file->sizes, plan->sizes, r.file->n_sizes * sizeof plan->sizes[0]);
    AB_FIT(r.path, AB_AGING_VARIABLE "=/proc/%d/fd/%d", (int)getpid(), r.fd);
    *out = r;
    return AB_OK;
}

static void fail(struct ab_program_outcome *o, enum ab_backend_status status, const char *why)
{
    if (o->status != AB_BACKEND_OK)
        return;
    o->status = status;
    AB_COPY(o->reason, why);
}

/* Subtracts the cost of making the aged heap from the numbers of the outcome. Sets a failure if the
 * heap was not made, or only in part. Returns what the library reported. */
static struct ab_aging_count program_aging_take(const struct ab_program_aging_run *run,
                                                struct ab_program_outcome *o)
{
    struct ab_aging_file f = *run->file;
    char why[160];
    if (f.is_done == 0)
        fail(o, AB_BACKEND_WRONG_LIBRARY,
             "the library that ages the heap did not run in the program: LD_PRELOAD was removed");
    if (f.count.made_blocks < f.foreseen.made_blocks) {
        AB_FIT(why, "the allocator returned NULL while its heap was aged, after %" PRIu64 " blocks",
               f.count.made_blocks);
        fail(o, AB_BACKEND_OOM, why);
    }
    o->wall_ns = fmax(0, o->wall_ns - (double)f.wall_ns);
    o->user_ns = fmax(0, o->user_ns - (double)f.user_ns);
    o->system_ns = fmax(0, o->system_ns - (double)f.system_ns);
    o->faults_minor -= f.faults_minor < o->faults_minor ? f.faults_minor : o->faults_minor;
    o->faults_major -= f.faults_major < o->faults_major ? f.faults_major : o->faults_major;
    return f.count;
}

static void program_aging_close(struct ab_program_aging_run *run)
{
    munmap(run->file, sizeof *run->file);
    close(run->fd);
}

struct state {
    const struct ab_program_plan *plan;
    struct ab_session *session;
    struct ab_program_summary *summary;
    struct ab_proof_cache cache;
    bool has_reference;
    /* True if the noter (struct ab_program_plan) was preloaded when the reference output was
     * made */
    bool is_noted;
    bool has_noted;     /* True if a run with the noter preloaded was made */
    uint32_t reference; /* back end whose output is the reference */
    bool is_adopted;    /* True if the reference is the output of a measured run */
    bool *is_inside;    /* per back end: True if it is also measured with the interposer */
    struct ab_clock clock;
    struct ab_callgrind callgrind;
    struct ab_instr_counts *counts; /* per back end: counts that no result contains yet */
    /* sum of the wall times of the first runs, from which the time under callgrind is estimated */
    double plain_ns;
    /* times of empty calls that the interposer took in all runs so far */
    struct ab_inside_empty empty;
    uint32_t running; /* back end of the current run */
    uint32_t done, total;
};

#define STREAM(round) (UINT64_C(0x65786563) << 32 | (round)) /* "exec" */

static bool is_running(const struct state *st, uint32_t backend)
{
    return ab_backend_status_has_numbers(st->session->backends[backend].status);
}

/* Marks a back end as failed and drops its numbers, even those of earlier rounds. */
static void fail_backend(struct state *st, uint32_t backend, enum ab_backend_status status,
                         const char *reason)
{
    struct ab_session *s = st->session;
    s->backends[backend].status = status;
    AB_COPY(s->backends[backend].reason, reason);
    ab_fold_drop(s, backend, AB_FOLD_ANY);
}

static bool is_same(const struct ab_output_digest *a, const struct ab_output_digest *b)
{
    return a->bytes == b->bytes && a->high == b->high && a->low == b->low;
}

/* Runs a case, on an aged heap if the case has a plan for one. Stores in the session what the aged
 * heap of the running back end has. */
static enum ab_status run_aged(struct state *st, const struct ab_program *program,
                               const struct ab_program_case *c, struct ab_program_outcome *out,
                               struct ab_err *err)
{
    struct ab_program_case aged = *c;
    struct ab_program_aging_run aging;
    if (c->aging == NULL)
        return ab_program_run(program, c, &st->cache, out, err);
    AB_TRY(program_aging_open(c->aging, &aging, err));
    aged.aging_memory = aging.path;
    enum ab_status status = ab_program_run(program, &aged, &st->cache, out, err);
    if (status == AB_OK)
        st->session->backends[st->running].aged = program_aging_take(&aging, out);
    program_aging_close(&aging);
    return status;
}

static void show_progress(const struct state *st, enum ab_pass pass, uint32_t round)
{
    const struct ab_program_plan *p = st->plan;
    struct ab_progress progress = {
        .round = round,
        .n_rounds = pass == AB_PASS_COUNT ? p->rounds : 0,
        .backend = st->session->backends[st->running].name,
        .pass = pass,
        .done = st->done,
        .total = st->total,
    };
    if (p->progress != NULL)
        p->progress(p->user, &progress);
}

/* Returns the program of a case. */
static struct ab_program program_of(const struct state *st, const struct ab_program_case *c)
{
    struct ab_program program = st->plan->program;
    program.path = c->command->path;
    program.argv = c->command->argv;
    return program;
}

static enum ab_status prepare(const struct state *st, const struct ab_program_case *c,
                              struct ab_err *err)
{
    const struct ab_program_plan *p = st->plan;
    return c->command->prepare == NULL
               ? AB_OK
               : ab_program_prepare(c->command->prepare, p->prepare_fd, p->program.timeout_ns, err);
}

static enum ab_status run_case(struct state *st, const struct ab_program_case *c, uint32_t round,
                               bool is_preflight, struct ab_program_outcome *out,
                               struct ab_err *err)
{
    struct ab_program program = program_of(st, c);
    program.is_trial = is_preflight;
    show_progress(st, is_preflight ? AB_PASS_VERIFY : AB_PASS_COUNT, round);
    enum ab_status status = prepare(st, c, err);
    if (status == AB_OK)
        status = run_aged(st, &program, c, out, err);
    if (status == AB_OK && out->passes[0] != 0)
        snprintf(st->session->backends[st->running].deepbound,
                 sizeof st->session->backends->deepbound, "%s", out->passes);
    if (status == AB_OK && out->n_left > st->summary->n_left)
        st->summary->n_left = out->n_left;
    st->done++;
    return status;
}

static enum ab_status run_once(struct state *st, uint32_t backend, uint32_t round,
                               bool is_preflight, struct ab_program_outcome *out,
                               struct ab_err *err)
{
    st->running = backend;
    return run_case(st, &st->plan->cases[backend], round, is_preflight, out, err);
}

static enum ab_status fail_unsteady(const struct state *st, const struct ab_output_digest *again,
                                    struct ab_err *err)
{
    const struct ab_output_digest *first = &st->summary->output;
    char sizes[80] = "different bytes of the same length";
    if (again->bytes != first->bytes)
        AB_FIT(sizes, "%" PRIu64 " bytes, then %" PRIu64, first->bytes, again->bytes);
    return ab_fail(
        err, AB_BACKEND,
        "the program's output differed between two runs under %s (%s): it does not depend "
        "on the allocator alone; use --no-check-output",
        st->session->backends[st->reference].name, sizes);
}

/* Makes `other`, the output of a measured run, the new reference if a measured run of the reference
 * back end prints the same (`again`). The first reference may differ, because its run had one more
 * library preloaded, and a program may print that. */
static bool adopt(struct state *st, bool is_preflight, const struct ab_output_digest *again,
                  const struct ab_output_digest *other)
{
    bool is_due = !is_preflight && !st->is_adopted && is_same(again, other) &&
                  ab_proof_has_preload(&st->plan->cases[st->reference].wanted);
    if (!is_due)
        return false;
    st->is_adopted = true;
    st->summary->output = *other;
    return true;
}

/* If the reference was made with the noter preloaded, replaces it by `plain`, the output without
 * the noter, if that differs. */
static void take_plain(struct state *st, const struct ab_output_digest *plain)
{
    if (!st->is_noted || is_same(plain, &st->summary->output))
        return;
    st->is_noted = false;
    st->summary->output = *plain;
}

/* Finds out whether the allocator is to blame for an output that differs from the reference. */
static enum ab_status blame(struct state *st, uint32_t backend, uint32_t round, bool is_preflight,
                            const struct ab_output_digest *other, struct ab_err *err)
{
    struct ab_program_outcome again;
    char why[400], sizes[80] = "different bytes of the same length";
    const struct ab_output_digest *first = &st->summary->output;
    AB_TRY(run_once(st, st->reference, round, is_preflight, &again, err));
    if (again.status == AB_BACKEND_OK)
        take_plain(st, &again.output);
    if (is_same(other, first))
        return AB_OK;
    if (again.status == AB_BACKEND_OK && adopt(st, is_preflight, &again.output, other))
        return AB_OK;
    if (backend == st->reference)
        return fail_unsteady(st, other, err);
    if (again.status == AB_BACKEND_OK && !is_same(&again.output, first))
        return fail_unsteady(st, &again.output, err);
    if (other->bytes != first->bytes)
        AB_FIT(sizes, "%" PRIu64 " bytes, not %" PRIu64, other->bytes, first->bytes);
    AB_FIT(why, "the program printed something else than %s%s: %s",
           st->session->n_programs > 0 ? "" : "under ", st->session->backends[st->reference].name,
           sizes);
    fail_backend(st, backend, AB_BACKEND_FAILED_CHECK, why);
    return AB_OK;
}

static enum ab_status check_output(struct state *st, uint32_t backend, uint32_t round,
                                   bool is_preflight, const struct ab_program_outcome *run,
                                   struct ab_err *err)
{
    if (!st->has_reference) {
        st->has_reference = true;
        st->reference = backend;
        st->summary->output = run->output;
        return AB_OK;
    }
    if (st->plan->is_output_free || is_same(&run->output, &st->summary->output))
        return AB_OK;
    return blame(st, backend, round, is_preflight, &run->output, err);
}

/* Appends the round to the reason: "the program failed: exit status 3 (in round 4)". */
static void add_round(struct ab_backend_info *b, uint32_t round)
{
    size_t n = strlen(b->reason);
    snprintf(b->reason + n, sizeof b->reason - n, " (in round %u)", round + 1);
}

/* Runs a back end and checks its output. Stores a failure in the back end. *out is valid only if
 * the back end has not failed. */
static enum ab_status run_checked(struct state *st, uint32_t backend, uint32_t round,
                                  bool is_preflight, struct ab_program_outcome *out,
                                  struct ab_err *err)
{
    enum ab_status status = run_once(st, backend, round, is_preflight, out, err);
    if (status != AB_OK)
        return status;
    if (out->status != AB_BACKEND_OK) {
        fail_backend(st, backend, out->status, out->reason);
        if (!is_preflight)
            add_round(&st->session->backends[backend], round);
        return AB_OK;
    }
    return check_output(st, backend, round, is_preflight, out, err);
}

static void add_result(struct state *st, uint32_t backend, uint32_t round,
                       const struct ab_program_outcome *run)
{
    struct ab_session *s = st->session;
    struct ab_hdr *hdr = ab_hdr_new();
    AB_GROW(s->results, s->cap_results, s->n_results);
    struct ab_result *r = &s->results[s->n_results++];
    *r = (struct ab_result){
        .backend = backend, .phase = AB_PROGRAM_PHASE, .op = AB_OP_ALL, .round = round, .hdr = hdr};
    ab_fields_forget_all(r);
    r->n_ops = 1; /* the program as a whole counts as one op */
    r->ns_per_op = r->wall_ns_per_op = r->wall_ns = run->wall_ns;
    r->ops_per_s = 1e9 / run->wall_ns;
    r->user_ns = run->user_ns;
    r->system_ns = run->system_ns;
    r->cpu_ns_per_op = r->cpu_ns = run->user_ns + run->system_ns;
    r->run_delay_ns = run->run_delay_ns;
    r->proof_ns = run->proof_ns;
    r->proof_beside_ns = run->proof_beside_ns;
    r->resident_peak_bytes = run->resident_peak_bytes;
    r->resident_mean_bytes = run->resident_mean_bytes;
    r->ready_ns = run->ready_ns;
    r->resident_loaded_bytes = run->loaded_bytes;
    r->resident_rested_bytes = run->rested_bytes;
    if (st->plan->program.server != NULL)
        memcpy(r->named, run->named, sizeof r->named);
    r->faults_minor = run->faults_minor;
    r->faults_major = (double)run->faults_major;
    r->switches_voluntary = (double)run->switches_voluntary;
    r->switches_involuntary = run->switches_involuntary;
    ab_instr_note(&st->counts[backend], r);
    /* callgrind counted one run, so only one result gets the counts */
    st->counts[backend].is_known = false;
    ab_memory_curve_note(&run->curve, s, backend, round);
}

/* ---- with the interposer ---- */

struct inside_memory { /* shared memory in which the interposer counts during one run */
    int fd;
    char path[64]; /* environment variable that tells the program where the memory is */
    struct ab_inside_file *file;
};

static enum ab_status open_inside(double ns_per_tick, bool wants_sites, struct inside_memory *out,
                                  struct ab_err *err)
{
    struct inside_memory m = {.fd = memfd_create(AB_INSIDE_MEMORY, MFD_CLOEXEC)};
    if (m.fd < 0 || ftruncate(m.fd, sizeof *m.file) != 0)
        goto fail;
    void *p = mmap(NULL, sizeof *m.file, PROT_READ | PROT_WRITE, MAP_SHARED, m.fd, 0);
    if (p == MAP_FAILED)
        goto fail;
    m.file = p;
    m.file->sites.is_wanted = wants_sites;
    m.file->ns_per_tick_32 = (uint64_t)(ns_per_tick * 4294967296.0);
    AB_FIT(m.path, AB_INSIDE_VARIABLE "=/proc/%d/fd/%d", (int)getpid(), m.fd);
    *out = m;
    return AB_OK;
fail:
    ab_fail_errno(err, AB_SYSTEM, "--inside: no memory to count in");
    if (m.fd >= 0)
        close(m.fd);
    return AB_SYSTEM;
}

static void close_inside(struct inside_memory *m)
{
    munmap(m->file, sizeof *m->file);
    close(m->fd);
}

static void leave_inside(struct state *st, uint32_t backend, const char *why)
{
    struct ab_backend_info *b = &st->session->backends[backend];
    st->is_inside[backend] = false;
    AB_COPY(b->not_inside, why);
}

/* Copies the numbers inside the allocator from a run with the interposer to the result; all other
 * numbers come from the run without. */
static void take_inside(struct state *st, uint32_t backend, const struct inside_memory *m,
                        const struct ab_program_outcome *run, uint32_t all)
{
    ab_inside_take_empty(m->file, &st->empty);
    if (run->status != AB_BACKEND_OK)
        leave_inside(st, backend, run->reason);
    else if (!st->plan->is_output_free && !is_same(&run->output, &st->summary->output))
        leave_inside(st, backend, "with the interposer the program printed something else");
    else if (all < st->session->n_results)
        ab_inside_note(m->file, &st->empty, st->clock.ns_per_tick, run->user_ns + run->system_ns,
                       st->session, all);
}

/* Runs the program with the interposer. `all` is the index of the result of the run without;
 * UINT32_MAX = a trial, which has no result. */
static enum ab_status run_inside(struct state *st, uint32_t backend, uint32_t round, uint32_t all,
                                 struct ab_err *err)
{
    struct ab_program_case c = st->plan->cases[backend];
    struct ab_program_outcome run;
    struct inside_memory memory;
    if (!st->is_inside[backend])
        return AB_OK;
    AB_TRY(open_inside(st->clock.ns_per_tick, st->plan->wants_sites, &memory, err));
    c.wanted.in_front = st->plan->interposer;
    c.wanted.memory = "/memfd:" AB_INSIDE_MEMORY;
    c.inside_memory = memory.path;
    st->running = backend;
    enum ab_status status = run_case(st, &c, round, all == UINT32_MAX, &run, err);
    if (status == AB_OK)
        take_inside(st, backend, &memory, &run, all);
    close_inside(&memory);
    return status;
}

/* ---- under callgrind ---- */

/* Counts the instructions of a back end under callgrind. Discards the counts if the output differs
 * from the reference, because the program then did something else. */
static enum ab_status count_backend(struct state *st, uint32_t backend, struct ab_err *err)
{
    const struct ab_program_plan *p = st->plan;
    struct ab_backend_info *b = &st->session->backends[backend];
    const struct ab_program_case *c = &p->cases[backend];
    const struct ab_program program = program_of(st, c);
    struct ab_program_outcome run;
    st->running = backend;
    if (c->aging != NULL) { /* without the aged heap, because the counts would include making it */
        AB_FIT(b->uncounted, "programs are counted on a fresh heap");
        st->done++;
        return AB_OK;
    }
    show_progress(st, AB_PASS_INSTRUCTIONS, 0);
    enum ab_status status = prepare(st, c, err);
    if (status == AB_OK)
        status = ab_instr_count(&st->callgrind, &program, c, &st->cache, &run, &st->counts[backend],
                                b->uncounted, sizeof b->uncounted, err);
    st->done++;
    if (status != AB_OK || !st->counts[backend].is_known || p->is_output_free ||
        is_same(&run.output, &st->summary->output))
        return status;
    st->counts[backend].is_known = false;
    AB_FIT(b->uncounted, "under callgrind the program printed something else");
    return AB_OK;
}

static enum ab_status count_all(struct state *st, struct ab_err *err)
{
    struct ab_counting *of = &st->session->counting;
    enum ab_status status = AB_OK;
    *of = (struct ab_counting){.is_asked = true};
    if (!ab_callgrind_open(&st->callgrind)) {
        AB_FIT(of->reason, "valgrind is missing: install the package %s", AB_CALLGRIND_PACKAGE);
        return AB_OK;
    }
    AB_FIT(of->method, "callgrind");
    if (st->plan->counting != NULL)
        st->plan->counting(st->plan->user, st->plain_ns);
    for (uint32_t i = 0; i < st->session->n_backends && status == AB_OK; i++)
        if (is_running(st, i))
            status = count_backend(st, i, err);
    ab_callgrind_close(&st->callgrind);
    return status;
}

static enum ab_status run_round(struct state *st, uint32_t round, struct ab_err *err)
{
    struct ab_session *s = st->session;
    struct ab_program_outcome run;
    struct ab_rng rng;
    enum ab_status status = AB_OK;
    uint32_t *order = ab_alloc_zeroed(s->n_backends + 1u, sizeof order[0]), n = 0;
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (is_running(st, i))
            order[n++] = i;
    ab_rng_init(&rng, s->seed, STREAM(round));
    AB_RNG_SHUFFLE(&rng, order, n);
    s->rounds[s->n_rounds++] = (struct ab_round){.index = round, .order = order, .n_order = n};
    for (uint32_t i = 0; i < n && status == AB_OK; i++) {
        status = run_checked(st, order[i], round, false, &run, err);
        if (status != AB_OK || !is_running(st, order[i]))
            continue;
        add_result(st, order[i], round, &run);
        status = run_inside(st, order[i], round, s->n_results - 1, err);
    }
    return status;
}

/* Drops an interrupted round of all back ends, because it is incomplete. */
static void drop_round(struct ab_session *s, uint32_t round)
{
    ab_fold_drop(s, AB_FOLD_ANY, round);
    free((void *)s->rounds[--s->n_rounds].order);
}

/* ---- the library that notes where blocks have been ---- */

static bool may_note(const struct state *st, uint32_t backend)
{
    const struct ab_program_case *c = &st->plan->cases[backend];
    return !st->has_noted && st->plan->noter != NULL && c->wanted.path == NULL && c->aging == NULL;
}

static bool is_unlike(const struct state *st, const struct ab_output_digest *output)
{
    return st->has_reference && !st->plan->is_output_free && !is_same(output, &st->summary->output);
}

/* Stores the results of a run with the noter. Returns false if the run failed or printed something
 * else, and must be repeated without the noter. */
static bool take_noted(struct state *st, uint32_t backend, const struct ab_unasked *u,
                       const struct ab_program_outcome *run)
{
    uint64_t bytes;
    if (run->status == AB_BACKEND_TIMEOUT)
        fail_backend(st, backend, run->status, run->reason);
    else if (run->status != AB_BACKEND_OK || is_unlike(st, &run->output))
        return false;
    if (ab_unasked_take(u, &bytes)) {
        st->session->anonymous_bytes = u->anonymous_bytes;
        st->session->unasked_bytes = bytes;
    }
    return true;
}

/* Performs the first, untimed run under a back end. */
static enum ab_status run_first(struct state *st, uint32_t backend, struct ab_program_outcome *run,
                                struct ab_err *err)
{
    struct ab_program_case c = st->plan->cases[backend];
    struct ab_unasked unasked;
    if (!may_note(st, backend) || !ab_unasked_open(&unasked))
        return run_checked(st, backend, 0, true, run, err);
    c.wanted.in_front = st->plan->noter;
    c.unasked = &unasked;
    st->running = backend;
    st->has_noted = true;
    enum ab_status status = run_case(st, &c, 0, true, run, err);
    bool is_taken = status != AB_OK || take_noted(st, backend, &unasked, run);
    ab_unasked_close(&unasked);
    if (!is_taken) {
        st->total++;
        return run_checked(st, backend, 0, true, run, err);
    }
    if (status != AB_OK || !is_running(st, backend))
        return status;
    st->is_noted = !st->has_reference;
    return check_output(st, backend, 0, true, run, err);
}

/* Performs the first runs of all back ends. The base runs first, because the outputs of the others
 * are compared with that of the base. */
static enum ab_status run_preflights(struct state *st, struct ab_err *err)
{
    struct ab_program_outcome run;
    enum ab_status status = AB_OK;
    uint32_t n = st->session->n_backends, base = st->plan->base < n ? st->plan->base : 0;
    for (uint32_t i = 0; i < n && status == AB_OK; i++) {
        uint32_t backend = (base + i) % n;
        if (is_running(st, backend))
            status = run_first(st, backend, &run, err);
        if (status == AB_OK && is_running(st, backend)) {
            st->plain_ns += run.wall_ns;
            status = run_inside(st, backend, 0, UINT32_MAX, err);
        }
    }
    return status;
}

static uint32_t count_running(const struct state *st)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < st->session->n_backends; i++)
        n += is_running(st, i);
    return n;
}

enum ab_status ab_program_session_run(const struct ab_program_plan *plan,
                                      struct ab_session *session, struct ab_program_summary *out,
                                      struct ab_err *err)
{
    struct state st = {.plan = plan, .session = session, .summary = out};
    *out = (struct ab_program_summary){.n_left = 0};
    session->rounds = ab_alloc_zeroed(plan->rounds + 1u, sizeof session->rounds[0]);
    session->cap_rounds = plan->rounds + 1u;
    st.is_inside = ab_alloc_zeroed(session->n_backends + 1u, sizeof st.is_inside[0]);
    for (uint32_t i = 0; i < session->n_backends; i++)
        st.is_inside[i] = plan->interposer != NULL;
    if (plan->interposer != NULL)
        ab_clock_calibrate(&st.clock);
    st.counts = ab_alloc_zeroed(session->n_backends + 1u, sizeof st.counts[0]);
    st.total = count_running(&st) * ((plan->rounds + 1) * (plan->interposer != NULL ? 2 : 1) +
                                     (plan->wants_instr ? 1 : 0));
    enum ab_status status = run_preflights(&st, err);
    if (status == AB_OK && plan->wants_instr)
        status = count_all(&st, err);
    for (uint32_t r = 0; r < plan->rounds && status == AB_OK && count_running(&st) > 0; r++) {
        status = run_round(&st, r, err);
        if (status != AB_OK && session->n_rounds > r)
            drop_round(session, r);
        if (status == AB_OK && plan->round_done != NULL && !plan->round_done(plan->user, session))
            break;
    }
    session->is_complete = status == AB_OK;
    ab_inside_settle(&st.empty, st.clock.ns_per_tick, session);
    ab_proof_cache_fini(&st.cache);
    free(st.empty.ticks);
    free(st.is_inside);
    free(st.counts);
    return status;
}
