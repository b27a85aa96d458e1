/* SPDX-License-Identifier: MIT
 *
 * Counts instructions with the processor's counter if possible, else with callgrind; then system
 * calls.
 */
#include "runner/count_round.h"

#include "core/alloc.h"
#include "result/session.h"
#include "runner/estimate.h"
#include "runner/fold.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Callgrind is about 50 times slower and has bookkeeping of its own in memory. */
enum { SLOWER = 80, START_NS = 1000000000, BOOKS_BYTES = 512 << 20 };

struct counter {
    const struct ab_count_plan *plan;
    struct ab_run_context context; /* with the sample as tape */
    struct ab_tape_map sample;
    struct ab_callgrind callgrind;
    struct ab_phase_counts *nulls,
        counts; /* nulls: one for each back end, used for those that stand for others */
    struct ab_rng rng;
};

static bool is_counted(const struct ab_count_plan *plan, uint32_t backend)
{
    return plan->session->backends[backend].combination == plan->combination &&
           ab_session_has_numbers(plan->session, backend) &&
           plan->cases[backend].decorator == AB_DECORATOR_NONE;
}

static void show_progress(const struct ab_count_plan *plan, const char *backend, enum ab_pass pass)
{
    if (plan->progress != NULL)
        plan->progress(plan->user, backend, pass);
}

/* Turns a failure of the worker into a reason, so that it does not end the session. */
static enum ab_status reason_of_failure(enum ab_status status, const struct ab_err *why,
                                        char *reason, size_t cap, struct ab_err *err)
{
    static const char internal[] = "internal worker error: ";
    const char *text = why->text;
    if (status != AB_SYSTEM) {
        if (status != AB_OK)
            *err = *why;
        return status;
    }
    if (strncmp(text, internal, sizeof internal - 1) == 0)
        text += sizeof internal - 1;
    size_t n = strnlen(text, cap < 200 ? cap - 1 : 200);
    memcpy(reason, text, n);
    reason[n] = 0;
    return AB_OK;
}

/* ---- instructions ---- */

static void take_counts(struct counter *c, const struct ab_outcome *run)
{
    uint32_t n = c->sample.image->n_phases;
    if (c->context.counter == AB_COUNTER_CALLGRIND) {
        ab_callgrind_take(&c->callgrind, c->counts.n, n);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        c->counts.n[i] = run != NULL ? run->page->report.phases[i].instructions : AB_NOT_COUNTED;
}

/* Runs once; `reason` says why there are no counts. */
static enum ab_status run_once(struct counter *c, const struct ab_case *what, char *reason,
                               size_t cap, struct ab_outcome *run, struct ab_err *err)
{
    struct ab_err why = {.text = ""};
    char message[200] = "";
    bool is_callgrind = c->context.counter == AB_COUNTER_CALLGRIND;
    *run = (struct ab_outcome){0};
    enum ab_status status = ab_run(&c->context, what, AB_PASS_INSTRUCTIONS, &c->rng, run, &why);
    bool is_ok = status == AB_OK && run->status == AB_BACKEND_OK;
    reason[0] = 0;
    if (is_callgrind && !is_ok)
        ab_callgrind_message(&c->callgrind, message, sizeof message);
    if (status == AB_OK && !is_ok)
        snprintf(reason, cap, "%s%.100s%s%.100s", is_callgrind ? "under callgrind: " : "",
                 run->reason, message[0] != 0 ? "; " : "", message);
    take_counts(c, is_ok ? run : NULL);
    return reason_of_failure(status, &why, reason, cap, err);
}

/* Runs the null back ends with the chosen counter; `reason` is "" if it works. */
static enum ab_status run_nulls(struct counter *c, char *reason, size_t cap, struct ab_err *err)
{
    const struct ab_count_plan *plan = c->plan;
    enum ab_status status = AB_OK;
    reason[0] = 0;
    for (uint32_t b = 0; b < plan->session->n_backends && status == AB_OK && reason[0] == 0; b++) {
        struct ab_outcome run;
        struct ab_case null = ab_run_null_case(&plan->cases[b]);
        struct ab_fold fold = {plan->session, plan->context->tape, &plan->context->clock, b,
                               plan->round};
        bool is_used = false;
        for (uint32_t i = b; i < plan->session->n_backends; i++)
            is_used = is_used || (is_counted(plan, i) && ab_session_harness(plan->session, i) == b);
        if (!is_used)
            continue;
        show_progress(plan, "null", AB_PASS_INSTRUCTIONS);
        status = run_once(c, &null, reason, cap, &run, err);
        ab_outcome_fini(&run);
        c->nulls[b] = c->counts;
        if (status == AB_OK && reason[0] == 0)
            ab_fold_null_instructions(&fold, &c->sample, &c->nulls[b]);
    }
    return status;
}

static enum ab_status run_backend(struct counter *c, uint32_t backend, struct ab_err *err)
{
    const struct ab_count_plan *plan = c->plan;
    struct ab_backend_info *b = &plan->session->backends[backend];
    struct ab_outcome run;
    struct ab_fold fold = {plan->session, plan->context->tape, &plan->context->clock, backend,
                           plan->round};
    show_progress(plan, b->name, AB_PASS_INSTRUCTIONS);
    enum ab_status status = run_once(c, &plan->cases[backend], b->uncounted, sizeof b->uncounted,
                                     &run, err);
    if (status == AB_OK && b->uncounted[0] == 0 &&
        !ab_fold_instructions(&fold, &c->sample, &run, &c->counts,
                              &c->nulls[ab_session_harness(plan->session, backend)]))
        snprintf(b->uncounted, sizeof b->uncounted,
                 "the first %u ops do not reach every phase (--instr-ops)",
                 c->sample.image->n_counted);
    ab_outcome_fini(&run);
    return status;
}

/* Makes the sample of the tape, and runs the null back ends on it. */
static enum ab_status begin(struct counter *c, enum ab_counter counter, uint32_t n_ops,
                            struct ab_err *err)
{
    struct ab_counting *told = &c->plan->session->counting;
    enum ab_status status = ab_sample_tape(c->plan->context->tape, n_ops, &c->sample, err);
    if (status != AB_OK)
        return status;
    c->context = *c->plan->context;
    c->context.tape = &c->sample;
    c->context.counter = counter;
    if (counter == AB_COUNTER_CALLGRIND) {
        c->context.under = c->callgrind.arguments;
        c->context.memory_limit_bytes += BOOKS_BYTES;
        if (c->context.timeout_ns == 0)
            c->context.timeout_ns = ab_estimate_timeout_ns(&c->sample);
        c->context.timeout_ns = SLOWER * c->context.timeout_ns + START_NS;
    }
    status = run_nulls(c, told->reason, sizeof told->reason, err);
    if (status == AB_OK && told->reason[0] == 0) {
        snprintf(told->method, sizeof told->method, "%s",
                 counter == AB_COUNTER_CALLGRIND ? "callgrind" : "cpu counter");
        told->n_ops = c->sample.image->n_counted;
    } else {
        ab_tape_map_close(&c->sample);
    }
    return status;
}

/* Chooses the processor's counter if there is one, else callgrind if it is installed. */
static enum ab_status choose(struct counter *c, struct ab_err *err)
{
    struct ab_counting *told = &c->plan->session->counting;
    enum ab_status status = begin(c, AB_COUNTER_CPU, UINT32_MAX, err);
    if (status != AB_OK || told->method[0] != 0)
        return status;
    if (ab_callgrind_open(&c->callgrind))
        return begin(c, AB_COUNTER_CALLGRIND, c->plan->sample_ops, err);
    snprintf(told->reason, sizeof told->reason,
             "the processor's counter cannot be read, and there is no valgrind: install the "
             "package %s",
             AB_CALLGRIND_PACKAGE);
    return AB_OK;
}

static enum ab_status count_instructions(struct counter *c, struct ab_err *err)
{
    struct ab_counting *told = &c->plan->session->counting;
    uint32_t n_lanes = c->plan->context->tape->image->n_lanes;
    if (n_lanes != 1) {
        snprintf(told->reason, sizeof told->reason,
                 "instructions are counted of one thread, the work has %u (replay --threads 1 "
                 "runs all in one)",
                 n_lanes);
        return AB_OK;
    }
    enum ab_status status = choose(c, err);
    for (uint32_t i = 0; i < c->plan->session->n_backends && status == AB_OK; i++)
        if (told->method[0] != 0 && is_counted(c->plan, i))
            status = run_backend(c, i, err);
    ab_tape_map_close(&c->sample);
    ab_callgrind_close(&c->callgrind);
    return status;
}

/* ---- system calls ---- */

static enum ab_status count_calls(const struct ab_count_plan *plan, uint32_t backend,
                                  struct ab_call_counts *calls, struct ab_err *err)
{
    struct ab_backend_info *b = &plan->session->backends[backend];
    struct ab_run_context context = *plan->context;
    struct ab_fold fold = {plan->session, context.tape, &context.clock, backend, plan->round};
    struct ab_outcome run = {0};
    struct ab_err why = {.text = ""};
    struct ab_rng rng;
    char reason[200] = "";
    memset(calls, 0, sizeof *calls);
    context.calls = calls;
    ab_rng_init(&rng, 0, 0);
    show_progress(plan, b->name, AB_PASS_SYSTEM_CALLS);
    enum ab_status status = ab_run(&context, &plan->cases[backend], AB_PASS_SYSTEM_CALLS, &rng,
                                   &run, &why);
    if (status == AB_OK && run.status != AB_BACKEND_OK)
        snprintf(reason, sizeof reason, "%.150s", run.reason);
    else if (status == AB_OK && calls->has_listener)
        ab_fold_calls(&fold, calls);
    status = reason_of_failure(status, &why, reason, sizeof reason, err);
    size_t used = strlen(b->uncounted);
    if (reason[0] != 0)
        snprintf(b->uncounted + used, sizeof b->uncounted - used, "%ssystem calls: %s",
                 used > 0 ? "; " : "", reason);
    ab_outcome_fini(&run);
    return status;
}

enum ab_status ab_count_round(const struct ab_count_plan *plan, struct ab_err *err)
{
    struct counter *c = ab_alloc_zeroed(1, sizeof *c);
    struct ab_call_counts *calls = ab_alloc_zeroed(1, sizeof *calls);
    plan->session->counting = (struct ab_counting){.is_asked = true};
    c->nulls = ab_alloc_zeroed(plan->session->n_backends + 1u, sizeof c->nulls[0]);
    c->plan = plan;
    ab_rng_init(&c->rng, 0, 0);
    enum ab_status status = count_instructions(c, err);
    for (uint32_t i = 0; i < plan->session->n_backends && status == AB_OK; i++)
        if (is_counted(plan, i))
            status = count_calls(plan, i, calls, err);
    free(c->nulls);
    free(c);
    free(calls);
    return status;
}

/* ---- samples of a mapped tape ---- */

/* Returns the first place at or after `at` that does not separate a reset from its frees; n_ops if
 * there is none. */
static uint32_t find_cut(const struct ab_tape_part *part, uint32_t at)
{
    uint32_t free_until = 0; /* end of the frees of the last reset */
    for (uint32_t i = 0; i < at; i++)
        if (AB_OP_CODE(part->ops[i]) == AB_CODE_RESET)
            free_until = i + 1 + AB_OP_SIZE(part->ops[i]);
    uint32_t cut = free_until > at ? free_until : at;
    return cut < part->n_ops ? cut : part->n_ops;
}

static uint32_t count_wide(const struct ab_tape_part *part, uint32_t n)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < n; i++)
        if (AB_OP_CODE(part->ops[i]) == AB_CODE_WIDE && AB_OP_SIZE(part->ops[i]) >= most)
            most = AB_OP_SIZE(part->ops[i]) + 1;
    return most;
}

static void cut_phase(const struct ab_tape_part *part, uint32_t cut, struct ab_phase *phase)
{
    phase->begin = phase->begin < cut ? phase->begin : cut;
    phase->end = phase->end < cut ? phase->end : cut;
    memset(phase->n_ops, 0, sizeof phase->n_ops);
    for (uint32_t i = phase->begin; i < phase->end; i++) {
        int kind = ab_op_decode(part->ops[i], part->wide).kind;
        if (kind >= 0)
            phase->n_ops[kind]++;
    }
}

/* Copies the arrays of a tape of `cut` ops. */
static void copy(const struct ab_tape_map *whole, uint32_t cut, struct ab_tape *out)
{
    struct ab_tape_part part = ab_tape_part(whole->image, 0);
    uint32_t n_phases = whole->image->n_phases;
    out->n_wide = count_wide(&part, cut);
    out->ops = ab_alloc_zeroed((size_t)cut + AB_TAPE_PAD, sizeof out->ops[0]);
    out->wide = ab_alloc_zeroed((size_t)out->n_wide + 1, sizeof out->wide[0]);
    out->phases = ab_alloc_zeroed(n_phases, sizeof out->phases[0]);
    out->lane_begin = ab_alloc_zeroed((size_t)n_phases + 1, sizeof out->lane_begin[0]);
    memcpy(out->ops, part.ops, cut * sizeof out->ops[0]);
    for (uint32_t i = 0; i < AB_TAPE_PAD; i++) /* the harmless op behind the last */
        out->ops[cut + i] = part.ops[part.n_ops];
    memcpy(out->wide, part.wide, out->n_wide * sizeof out->wide[0]);
    memcpy(out->phases, part.phases, n_phases * sizeof out->phases[0]);
    for (uint32_t i = 0; i < n_phases; i++) {
        cut_phase(&part, cut, &out->phases[i]);
        out->lane_begin[i] = out->phases[i].begin;
    }
    out->lane_begin[n_phases] = cut;
    out->n_ops = cut;
    out->n_phases = n_phases;
    out->n_slots = whole->image->n_slots;
    out->facts = whole->image->facts;
}

enum ab_status ab_sample_tape(const struct ab_tape_map *whole, uint32_t n, struct ab_tape_map *out,
                              struct ab_err *err)
{
    struct ab_tape tape = {0};
    struct ab_tape_part part = ab_tape_part(whole->image, 0);
    if (whole->image->n_lanes != 1)
        return ab_fail(err, AB_USAGE, "has %u threads", whole->image->n_lanes);
    uint32_t at = n < whole->image->n_counted ? ab_tape_position_of(whole->image, n) : part.n_ops;
    copy(whole, find_cut(&part, at < part.n_ops ? at : part.n_ops), &tape);
    enum ab_status status = ab_tape_map_open(&tape, out, err);
    ab_tape_fini(&tape);
    return status;
}

/* ---- callgrind: it writes one file for each measured phase ---- */

/* Looks for valgrind in $PATH. Debian's valgrind is a shell script that starts valgrind.bin. With a
 * preloaded library, the shell would use that library as well, so valgrind.bin is preferred. */
static bool find_program(struct ab_callgrind *g)
{
    static const char *const names[] = {"valgrind.bin", "valgrind"};
    const char *path = getenv("PATH");
    for (; path != NULL && *path != 0; path += strspn(path, ":")) {
        size_t n = strcspn(path, ":");
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            int used = snprintf(g->program, sizeof g->program, "%.*s/%s", (int)n, path, names[i]);
            if (*path == '/' && used < (int)sizeof g->program && access(g->program, X_OK) == 0)
                return true;
        }
        path += n;
    }
    return false;
}

bool ab_callgrind_open(struct ab_callgrind *g)
{
    *g = (struct ab_callgrind){.program = ""};
    if (!find_program(g) || ab_temporary_make("counts", &g->folder, NULL) != AB_OK)
        return false;
    snprintf(g->out_file, sizeof g->out_file, "--callgrind-out-file=%s/n", g->folder.path);
    snprintf(g->log_file, sizeof g->log_file, "--log-file=%s/log", g->folder.path);
    const char *const arguments[] = {g->program,
                                     "--tool=callgrind",
                                     "--command-line-only=yes", /* ignore the user's .valgrindrc */
                                     "--collect-atstart=no",
                                     "--vgdb=no",
                                     "--sigill-diagnostics=no",
                                     "-q",
                                     g->out_file,
                                     g->log_file,
                                     NULL};
    memcpy(g->arguments, arguments, sizeof arguments);
    return true;
}

/* Reads the phase and the number of instructions from one of callgrind's files. Returns false for
 * other or incomplete files. */
static bool callgrind_read(const char *path, uint32_t *phase, uint64_t *n)
{
    char *line = NULL;
    size_t cap = 0;
    bool has_phase = false, has_total = false;
    FILE *f = fopen(path, "re");
    while (f != NULL && getline(&line, &cap, f) >= 0) {
        has_phase = sscanf(line, "desc: Trigger: Client Request: phase %" SCNu32, phase) == 1 ||
                    has_phase;
        has_total = sscanf(line, "totals: %" SCNu64, n) == 1 || has_total; /* the last line */
    }
    free(line);
    if (f != NULL)
        fclose(f);
    return has_phase && has_total;
}

struct wanted {
    uint64_t *n;
    uint32_t n_phases;
};

static void take_file(const char *path, struct wanted *w)
{
    uint32_t phase;
    uint64_t n;
    if (callgrind_read(path, &phase, &n) && phase < w->n_phases)
        w->n[phase] = n;
    unlink(path);
}

void ab_callgrind_take(const struct ab_callgrind *g, uint64_t *n, uint32_t n_phases)
{
    struct wanted wanted = {n, n_phases};
    for (uint32_t i = 0; i < n_phases; i++)
        n[i] = AB_NOT_COUNTED;
    DIR *folder = opendir(g->folder.path);
    for (struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
        char path[sizeof g->folder.path + sizeof e->d_name + 2];
        snprintf(path, sizeof path, "%s/%s", g->folder.path, e->d_name);
        if (e->d_name[0] != '.')
            take_file(path, &wanted);
    }
    if (folder != NULL)
        closedir(folder);
}

/* Reads the text after the process number: "==1234== valgrind: …". */
void ab_callgrind_message(const struct ab_callgrind *g, char *buf, size_t cap)
{
    char path[sizeof g->folder.path + 8], line[300];
    snprintf(path, sizeof path, "%s/log", g->folder.path);
    FILE *f = fopen(path, "re");
    buf[0] = 0;
    while (f != NULL && buf[0] == 0 && fgets(line, sizeof line, f) != NULL) {
        const char *text = strncmp(line, "==", 2) == 0 ? strstr(line + 2, "== ") : NULL;
        text = text != NULL ? text + 3 : line;
        if (strncmp(line, "--", 2) == 0) /* "--1234-- warning" about caches of the machine */
            continue;
        snprintf(buf, cap, "%.*s", (int)strcspn(text, "\n"), text);
    }
    if (f != NULL)
        fclose(f);
}

void ab_callgrind_close(struct ab_callgrind *g)
{
    ab_temporary_remove(&g->folder);
    *g = (struct ab_callgrind){.program = ""};
}
