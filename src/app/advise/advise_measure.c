/* SPDX-License-Identifier: MIT
 *
 * Measures the proposals. One session measures the times of all rows, so that they are compared
 * within its rounds. A second session measures their memory. If some proposals gain nothing, the
 * others are measured together in two more sessions.
 */
#include "app/advise/advise_measure.h"

#include "app/advise/advise_rules.h"
#include "app/replay.h"
#include "backend/selection.h"
#include "core/median.h"
#include "core/text.h"
#include "result/numbers.h"
#include "result/session.h"
#include "stats/aggregate.h"
#include "stats/metric.h"
#include "stats/pin_groups.h"
#include "trace_tools/to_tape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MAPS_MAX: one mapping for each heap alone, and one for all together */
enum { MAPS_MAX = AB_ADVICE_HEAPS_MAX + 1, LISTS_MAX = 64 };

struct asked { /* parameters of one session */
    const char *base;
    struct ab_text maps[MAPS_MAX];
    /* row of the answer that gets the result of each mapping */
    struct ab_advised_row *rows[MAPS_MAX];
    const struct ab_advice *advices[MAPS_MAX];
    uint32_t heaps[MAPS_MAX]; /* bit k of heaps[i]: heap k of advices[i] is in mapping i */
    size_t n;
    bool wants_generals, is_list; /* is_list: True if -b names several back ends */
    bool is_memory;               /* True if this session measures memory, else time */
    bool has_memory;              /* in a session of times: True if a session of memory follows */
    uint64_t most_events;         /* number of events that a session of times replays; 0 = all */
    const char *stage;            /* name of this session and of the memory session after it */
    uint32_t number, n_stages;    /* number: number of this stage; n_stages: stages known so far */
    uint64_t started_ns;          /* start of the command */
    double runs_after;            /* runs of one back end in one round that later stages take */
    char moment[16];              /* where pages are examined, as in --at; "" = unknown */
    struct ab_advised *out;
    struct ab_advised_nested *nested; /* gets the results instead of `out`; NULL = not used */
};

/* ---- reading what was measured ---- */

/* Returns the harness overhead per op in a round, in ns, measured with null heaps; NaN =
 * unknown. */
static double null_of(const struct ab_session *s, uint32_t backend, uint32_t round)
{
    const struct ab_null_cost *null = ab_session_null(s, backend, AB_TRACE_PHASE, round);
    return null != NULL ? null->ns_per_op : (double)NAN;
}

/* Returns the time in ns of all calls of the allocator in one round of the replay. Excludes the
 * loop and the choice of a heap, because a program has neither. NaN = unknown, or not above the
 * harness overhead. */
static double net_time(const struct ab_session *s, uint32_t backend, uint32_t round)
{
    const struct ab_result *r = ab_session_find(s, backend, AB_TRACE_PHASE, AB_OP_ALL, round);
    if (r == NULL)
        return NAN;
    double net = r->ns_per_op - null_of(s, backend, round);
    return net > 0 ? net * (double)r->n_ops : (double)NAN;
}

/* Returns the time of a whole replay in ns, harness included; NaN = not measured. Two mappings of
 * the same work are compared by this time, because their harness overhead is equal, and may exceed
 * the time of the calls. */
static double whole_time(const struct ab_session *s, uint32_t backend, uint32_t round)
{
    const struct ab_result *r = ab_session_find(s, backend, AB_TRACE_PHASE, AB_OP_ALL, round);
    return r != NULL ? r->ns_per_op * (double)r->n_ops : (double)NAN;
}

/* Compares row `i` with the base. Both times are medians over the rounds in which both were
 * measured, so that they agree with row->speed. */
static void compare(const struct ab_session *s, uint32_t i, uint32_t base, bool is_whole,
                    struct ab_advised_row *row)
{
    struct ab_pairs pairs;
    ab_pairs_init(&pairs, s->n_rounds);
    for (uint32_t k = 0; k < s->n_rounds; k++) {
        uint32_t round = s->rounds[k].index;
        ab_pairs_add(&pairs, is_whole ? whole_time(s, base, round) : net_time(s, base, round),
                     is_whole ? whole_time(s, i, round) : net_time(s, i, round));
    }
    if (i != base)
        row->speed = ab_pairs_effect(&pairs);
    row->base_time_ns = ab_round_range_of(pairs.x, pairs.n).median;
    row->time_ns = ab_round_range_of(pairs.x + pairs.cap, pairs.n).median;
    ab_pairs_fini(&pairs);
}

/* Marks the row as not measured. Keeps the first reason if there are several. */
static void refuse(struct ab_advised_row *row, const char *reason)
{
    if (row->is_measured)
        AB_COPY(row->reason, reason);
    row->is_measured = false;
}

/* Returns the bytes of pages with live blocks, at the moment when the base alone had the most
 * external bytes; NaN = unknown. */
static double held_at(const struct asked *asked, const struct ab_session *s, uint32_t i)
{
    struct ab_pins_of m;
    bool is_known = asked->moment[0] != 0 &&
                    ab_pins_find(s, i, AB_PINS_FIRST_ROUND, asked->moment, &m);
    return is_known ? m.live_bytes + m.internal_bytes + m.pinned_bytes : (double)NAN;
}

static void read_row(const struct asked *asked, const struct ab_session *s, uint32_t i,
                     uint32_t base, struct ab_advised_row *row)
{
    const struct ab_backend_info *b = &s->backends[i];
    bool is_ok = b->status == AB_BACKEND_OK;
    if (!asked->is_memory)
        *row = (struct ab_advised_row){
            .is_measured = true,
            .time_ns = NAN,
            .memory_bytes = NAN,
            .base_time_ns = NAN,
            .base_memory_bytes = NAN,
            .held_bytes = NAN,
            .base_held_bytes = NAN,
            .speed = {.ratio = NAN, .low = NAN, .high = NAN},
        };
    AB_COPY(row->name, AB_OWN_NAME(b));
    row->is_malloc = b->boundary == ab_boundary_names[AB_BOUNDARY_MALLOC];
    if (!is_ok) {
        refuse(row, b->reason[0] != 0 ? b->reason : ab_backend_status_name(b->status));
    } else if (asked->is_memory) {
        row->memory_bytes = ab_session_peak(s, i).median;
        row->base_memory_bytes = ab_session_peak(s, base).median;
        row->held_bytes = held_at(asked, s, i);
        row->base_held_bytes = held_at(asked, s, base);
    } else {
        compare(s, i, base, asked->nested != NULL, row);
        if (isnan(row->time_ns) && ab_session_has_numbers(s, base))
            refuse(row, AB_ADVISED_TOO_FAST);
    }
}

/* Refuses the row unless each rule matched exactly the blocks of its group when the whole trace was
 * replayed. Rules are in the order of the groups. */
static void check_counts(const struct ab_backend_info *b, const struct ab_advice *a, uint32_t heaps,
                         struct ab_advised_row *row)
{
    char reason[256];
    uint32_t rule = 0;
    for (size_t i = 0; i < a->n_groups; i++) {
        const struct ab_advice_group *g = &a->groups[i];
        if (g->heap == AB_ADVICE_NO_HEAP || (heaps >> g->heap & 1) == 0)
            continue;
        uint64_t n = rule < b->rules.n ? b->rules.n_requests[rule] : g->calls;
        rule++;
        if (n == g->calls)
            continue;
        AB_FIT(reason, "the rule %s takes %llu calls of the trace, its group has %llu", g->key,
               (unsigned long long)n, (unsigned long long)g->calls);
        refuse(row, reason);
        return;
    }
}

static enum ab_status read_generals(struct asked *asked, const struct ab_session *s, uint32_t base,
                                    struct ab_err *err)
{
    struct ab_advised *out = asked->out;
    uint32_t first = s->n_backends - (uint32_t)asked->n;
    size_t n = 0;
    read_row(asked, s, base, base, &out->base);
    for (uint32_t i = 0; i < first; i++) {
        if (i == base || s->backends[i].status == AB_BACKEND_ABSENT)
            continue;
        if (n == AB_ADVISED_GENERALS_MAX)
            return ab_fail(err, AB_USAGE, "-b, --sweep: more than %d back ends",
                           AB_ADVISED_GENERALS_MAX);
        read_row(asked, s, i, base, &out->generals[n++]);
    }
    out->n_generals = n;
    return AB_OK;
}

/* Receives the session and reads its rows. The rows of mappings are the last ones, in the order of
 * the mappings. */
static enum ab_status take(void *user, const struct ab_session *s, struct ab_err *err)
{
    struct asked *asked = user;
    uint32_t base = ab_session_backend(s, asked->base), first = s->n_backends - (uint32_t)asked->n;
    if (base == UINT32_MAX || !ab_session_has_numbers(s, base))
        return ab_fail(err, AB_BACKEND, "%s has no numbers to compare with: %.400s", asked->base,
                       base != UINT32_MAX ? s->backends[base].reason : "it was not measured");
    if (asked->wants_generals)
        AB_TRY(read_generals(asked, s, base, err));
    for (uint32_t i = 0; i < asked->n; i++) {
        read_row(asked, s, first + i, base, asked->rows[i]);
        /* sessions of times leave out events after the last scope, so their counts are too small */
        if (asked->is_memory)
            check_counts(&s->backends[first + i], asked->advices[i], asked->heaps[i],
                         asked->rows[i]);
    }
    if (!asked->is_memory)
        asked->out->n_rounds = s->n_rounds;
    return AB_OK;
}

/* ---- sessions ---- */

/* Lists the back ends to measure. A single name in -b is the base; several names are all back ends
 * to measure. */
static size_t list_backends(const struct ab_advise_request *request, const struct asked *asked,
                            const char **backends)
{
    size_t n = 0;
    backends[n++] = asked->base;
    if (asked->wants_generals && !asked->is_list)
        backends[n++] = "libraries";
    if (!asked->wants_generals || !asked->is_list)
        return n;
    for (n = 0; n < request->measure.backends.n && n < LISTS_MAX; n++)
        backends[n] = request->measure.backends.names[n];
    return n;
}

/* MEMORY_RUNS and TAIL_RUNS: time of one run of the memory or tail pass, in runs of the throughput
 * pass. GENERALS: usual number of installed mallocs. */
enum { MEMORY_RUNS = 2, TAIL_RUNS = 2, BUDGET_ROUNDS = 6, GENERALS = 5 };

/* Begins a stage of the command. `n_after` further stages may follow, each with the general malloc
 * and one mapping (all heaps together, or compiled in). The stage of the budget comes after them.
 * Numbers of stages that turn out not to be needed are skipped, so that the announced total stays
 * the same. */
static void begin_stage(struct asked *asked, const struct ab_advise_request *request,
                        const struct ab_advice *a, const char *name, uint32_t n_after)
{
    bool has_budget = request->budget_ns != 0 && a->n_scopes > 0;
    uint32_t least = asked->number + 1 + n_after + has_budget;
    asked->stage = name;
    asked->n_stages = asked->n_stages > least ? asked->n_stages : least;
    asked->number = asked->n_stages - n_after - has_budget;
    asked->runs_after = 2.0 * n_after * (request->measure.rules.rounds + MEMORY_RUNS) +
                        (has_budget ? 2.0 * BUDGET_ROUNDS * TAIL_RUNS : 0);
}

static struct ab_stage stage_of(const struct asked *asked)
{
    return (struct ab_stage){.number = asked->number,
                             .n = asked->n_stages,
                             .started_ns = asked->started_ns,
                             .again = asked->has_memory && !asked->is_memory ? MEMORY_RUNS : 0,
                             .runs = asked->runs_after / (asked->is_memory ? MEMORY_RUNS : 1)};
}

struct ab_measure_request ab_advise_replay(const struct ab_advise_request *request,
                                           const struct ab_stage *stage)
{
    return (struct ab_measure_request){
        .talk = {.listener = request->measure.talk.listener,
                 .is_quiet = request->measure.talk.is_quiet,
                 .stage = *stage},
        .command = request->measure.command,
        .args = request->measure.args,
        .n_args = request->measure.n_args,
        .backends = {.path = request->measure.backends.path},
        .settings = request->measure.settings,
        .rules = {.rounds = request->measure.rules.rounds,
                  .has_rounds = request->measure.rules.has_rounds},
        .passes = {.is_given = true, .processes = request->measure.passes.processes},
        .conditions = request->measure.conditions,
        .replay = request->measure.replay,
        .scopes_wish = request->measure.scopes_wish,
        .store = {.is_part = true},
    };
}

static struct ab_measure_request request_of(const struct ab_advise_request *request,
                                            const struct asked *asked, const char **maps,
                                            const char **backends, const char **moment)
{
    const struct ab_stage stage = stage_of(asked);
    struct ab_measure_request r = ab_advise_replay(request, &stage);
    for (size_t i = 0; i < asked->n; i++)
        maps[i] = asked->maps[i].s;
    r.maps.rules = maps;
    r.maps.n = asked->n;
    r.backends.names = backends;
    r.backends.n = list_backends(request, asked, backends);
    r.verdicts.base = asked->base;
    r.replay.touch = AB_TOUCH_APART;
    if (asked->is_memory) {
        r.replay.touch = AB_TOUCH_PAGE;
        r.rules.rounds = r.passes.processes = 1;
        r.passes.plan.rounds[AB_PASS_MEMORY] = 1;
        r.conditions.drain_ns = 0; /* memory after the last free is not reported */
        *moment = asked->moment;
        r.passes.moments = moment;
        r.passes.n_moments = asked->moment[0] != 0;
    } else if (asked->nested != NULL) {
        r.replay.touch =
            AB_TOUCH_LINE; /* nested scopes gain because new blocks are in recently used memory */
    }
    return r;
}

/* Receives the session. Its first mapping has one arena for the whole scope. */
static enum ab_status take_nested(void *user, const struct ab_session *s, struct ab_err *err)
{
    struct asked *asked = user;
    uint32_t first = s->n_backends - (uint32_t)asked->n;
    (void)err;
    for (uint32_t i = 0; i < asked->n; i++)
        read_row(asked, s, first + i, first, asked->rows[i]);
    if (!asked->is_memory)
        asked->nested->n_rounds = s->n_rounds;
    return AB_OK;
}

static enum ab_status run_one(const struct ab_advise_request *request, struct asked *asked,
                              struct ab_err *err)
{
    const char *maps[MAPS_MAX], *backends[LISTS_MAX], *moment;
    int exit_code = 0;
    struct ab_measure_request r = request_of(request, asked, maps, backends, &moment);
    char stage[32];
    AB_FIT(stage, "%s%s", asked->stage, asked->is_memory ? ", memory" : "");
    r.talk.stage.name = stage;
    r.take = asked->nested != NULL ? take_nested : take;
    r.user = asked;
    r.most_events = asked->is_memory ? 0 : asked->most_events;
    return ab_replay(&r, &exit_code, err);
}

/* Runs one session for times and one for memory. In the memory session, blocks are written to,
 * because that makes memory resident. These writes are not part of the allocator's time. */
static enum ab_status run(const struct ab_advise_request *request, struct asked *asked,
                          struct ab_err *err)
{
    asked->is_memory = false;
    asked->has_memory = true;
    AB_TRY(run_one(request, asked, err));
    asked->is_memory = true;
    return run_one(request, asked, err);
}

static void set_moment(struct asked *asked, const struct ab_advised_pins *pins)
{
    if (pins->pins != NULL)
        AB_FIT(asked->moment, "%u", pins->position);
}

static void ask(struct asked *asked, const struct ab_advice *a, uint32_t heaps,
                struct ab_advised_row *row)
{
    asked->maps[asked->n] = ab_advise_rules(a, heaps, asked->base);
    asked->advices[asked->n] = a;
    asked->heaps[asked->n] = heaps;
    asked->rows[asked->n++] = row;
}

static void forget(struct asked *asked)
{
    for (size_t i = 0; i < asked->n; i++)
        ab_text_fini(&asked->maps[i]);
    asked->n = 0;
}

/* ---- deciding what is advised ---- */

static bool is_less(double bytes, double base)
{
    return base - bytes >= AB_ADVISED_LESS_BYTES && (base - bytes) * AB_ADVISED_LESS_PART >= base;
}

static bool takes_less(const struct ab_advised_row *row)
{
    bool is_more = is_less(row->base_memory_bytes, row->memory_bytes);
    return is_less(row->memory_bytes, row->base_memory_bytes) ||
           (!is_more && is_less(row->held_bytes, row->base_held_bytes));
}

bool ab_advised_is_open(const struct ab_advised_row *row)
{
    bool may_gain = row->speed.ratio > 1 || takes_less(row);
    return row->is_measured && may_gain && isnan(row->speed.low);
}

bool ab_advised_is_gain(const struct ab_advised_row *row)
{
    return row->is_measured && row->speed.ratio > 1 && ab_effect_is_clear(&row->speed);
}

bool ab_advised_is_memory_gain(const struct ab_advised_row *row)
{
    bool is_slower = row->speed.ratio < 1 && ab_effect_is_clear(&row->speed);
    return row->is_measured && !isnan(row->speed.low) && !is_slower && takes_less(row);
}

bool ab_advised_holds_less(const struct ab_advised_row *row)
{
    return row->is_measured && is_less(row->held_bytes, row->base_held_bytes);
}

bool ab_advised_pays(const struct ab_advised_row *row)
{
    return ab_advised_is_gain(row) || ab_advised_is_memory_gain(row);
}

void ab_advised_decide(struct ab_advised *m)
{
    bool is_gain = ab_advised_is_gain(&m->together);
    m->small = 0;
    m->by_memory = false;
    if (is_gain && m->together.speed.low >= 1 + m->limit)
        return;
    m->by_memory = m->used != 0 && ab_advised_is_memory_gain(&m->together);
    if (m->by_memory)
        return;
    m->small = is_gain ? m->used : 0;
    m->used = 0;
}

const char *ab_advised_answer(const struct ab_advised *m)
{
    if (m->used != 0)
        return "heaps";
    if (m->small != 0)
        return "small_gain";
    bool is_open = ab_advised_is_open(&m->together);
    /* more rounds help only if a heap was measured */
    for (size_t i = 0; i < AB_ADVICE_HEAPS_MAX; i++)
        is_open |= ab_advised_is_open(&m->heaps[i]) ||
                   (m->heaps[i].is_measured && m->n_rounds < AB_EFFECT_MIN_ROUNDS);
    return is_open ? "open" : "keep";
}

static uint32_t choose(const struct ab_advice *a, const struct ab_advised *m)
{
    uint32_t used = 0;
    for (size_t i = 0; i < a->n_heaps; i++)
        used |= ab_advised_pays(&m->heaps[i]) ? UINT32_C(1) << i : 0;
    return used;
}

static bool is_one(uint32_t heaps)
{
    return heaps != 0 && (heaps & (heaps - 1)) == 0;
}

static bool has_compiled(const struct ab_advice *a, uint32_t heaps)
{
    for (size_t i = 0; i < a->n_heaps; i++)
        if ((heaps >> i & 1) != 0 && a->heaps[i].compiled[0] != 0)
            return true;
    return false;
}

/* Measures the advised heaps together. Skips this if only one heap or every proposal is advised,
 * because the result is known then. */
static enum ab_status measure_rest(const struct ab_advise_request *request,
                                   const struct ab_advice *a, struct asked *asked,
                                   struct ab_err *err)
{
    struct ab_advised *out = asked->out;
    if (is_one(out->used))
        out->together = out->heaps[__builtin_ctz(out->used)];
    if (out->used == 0 || is_one(out->used) || out->is_whole)
        return AB_OK;
    asked->wants_generals = false;
    begin_stage(asked, request, a, "together", has_compiled(a, out->used));
    ask(asked, a, out->used, &out->together);
    return run(request, asked, err);
}

enum ab_status ab_advise_base(const struct ab_advise_request *request, char *name, size_t cap,
                              bool *is_list, struct ab_err *err)
{
    struct ab_selection_list list = {0};
    snprintf(name, cap, "glibc");
    *is_list = false;
    if (request->measure.backends.n == 0)
        return AB_OK;
    if (request->measure.backends.n > LISTS_MAX)
        return ab_fail(err, AB_USAGE, "-b: more than %d lists", LISTS_MAX);
    AB_TRY(ab_selection_parse(request->measure.backends.names, request->measure.backends.n,
                              request->measure.backends.path, &list, err));
    snprintf(name, cap, "%s", list.items[0].name);
    *is_list = list.n > 1;
    ab_selection_list_fini(&list);
    return AB_OK;
}

static uint64_t events_of(const struct ab_advice *a)
{
    return a->n_before_end < a->n_events ? a->n_before_end : 0;
}

/* Measures the advised heaps compiled into the loop. The advice itself was decided with heaps that
 * are called. This is conservative, because calls cost more. */
static enum ab_status measure_compiled(const struct ab_advise_request *request,
                                       const struct ab_advice *a, struct asked *asked,
                                       struct ab_err *err)
{
    struct ab_advised *out = asked->out;
    asked->wants_generals = asked->is_memory = asked->has_memory = false;
    asked->maps[0] = ab_advise_compiled_rules(a, out->used, asked->base);
    asked->rows[0] = &out->compiled;
    asked->n = 1;
    begin_stage(asked, request, a, "compiled in", 0);
    enum ab_status status = run_one(request, asked, err);
    out->has_compiled = status == AB_OK;
    forget(asked);
    return status;
}

enum ab_status ab_advise_measure(const struct ab_advise_request *request,
                                 const struct ab_stage *stage, const struct ab_advice *a,
                                 const struct ab_advised_pins *pins, struct ab_advised *out,
                                 struct ab_err *err)
{
    char base[128];
    struct asked asked = {
        .base = base, .wants_generals = true, .out = out, .most_events = events_of(a)};
    asked.number = stage->number - 1;
    asked.n_stages = stage->n;
    asked.started_ns = stage->started_ns;
    set_moment(&asked, pins);
    AB_TRY(ab_advise_base(request, base, sizeof base, &asked.is_list, err));
    uint32_t all = (UINT32_C(1) << a->n_heaps) - 1;
    *out = (struct ab_advised){.together.time_ns = NAN,
                               .together.memory_bytes = NAN,
                               .limit = request->measure.verdicts.limit};
    for (size_t i = 0; i < a->n_heaps; i++)
        ask(&asked, a, UINT32_C(1) << i, &out->heaps[i]);
    if (a->n_heaps > 1)
        ask(&asked, a, all, &out->together);
    begin_stage(&asked, request, a, "placements",
                (a->n_heaps > 1 ? 1u : 0u) + has_compiled(a, all));
    enum ab_status status = run(request, &asked, err);
    forget(&asked);
    if (status != AB_OK)
        return status;
    out->used = choose(a, out);
    out->is_whole = out->used == all;
    status = measure_rest(request, a, &asked, err);
    forget(&asked);
    ab_advised_decide(out);
    if (status == AB_OK && has_compiled(a, out->used))
        status = measure_compiled(request, a, &asked, err);
    out->n_stages = asked.n_stages;
    return status;
}

/* ---- nested scopes ---- */

static uint32_t arenas_of(const struct ab_advice *a)
{
    uint32_t heaps = 0;
    for (size_t i = 0; i < a->n_heaps; i++)
        if (a->heaps[i].kind == AB_ADVICE_FRAME || a->heaps[i].kind == AB_ADVICE_NESTED)
            heaps |= UINT32_C(1) << i;
    return heaps;
}

bool ab_advise_has_nested(const struct ab_advice *a)
{
    bool has_frame = false, has_nested = false;
    for (size_t i = 0; i < a->n_heaps; i++) {
        has_frame |= a->heaps[i].kind == AB_ADVICE_FRAME;
        has_nested |= a->heaps[i].kind == AB_ADVICE_NESTED;
    }
    return has_frame && has_nested;
}

/* Sets is_taken and by_memory. With too few rounds, nothing is advised, and nested scopes are kept
 * as they were found. */
void ab_advise_decide_nested(struct ab_advised_nested *n)
{
    bool is_open = !n->flat.is_measured || n->n_rounds < AB_EFFECT_MIN_ROUNDS;
    bool is_gain = ab_advised_is_gain(&n->nested) && n->nested.speed.low >= 1 + n->limit;
    bool is_less = ab_advised_is_memory_gain(&n->nested);
    n->is_taken = n->nested.is_measured && (is_open || is_gain || is_less);
    n->by_memory = is_less && !is_gain;
}

enum ab_status ab_advise_measure_nested(const struct ab_advise_request *request,
                                        const struct ab_stage *stage,
                                        const struct ab_advice *nested,
                                        const struct ab_advice *flat,
                                        const struct ab_advised_pins *pins,
                                        struct ab_advised_nested *out, struct ab_err *err)
{
    char base[128];
    struct asked asked = {
        .base = base, .nested = out, .number = stage->number - 1, .started_ns = stage->started_ns};
    *out = (struct ab_advised_nested){.is_asked = true, .limit = request->measure.verdicts.limit};
    set_moment(&asked, pins);
    AB_TRY(ab_advise_base(request, base, sizeof base, &asked.is_list, err));
    begin_stage(&asked, request, nested, "nested scopes", 2 + has_compiled(nested, UINT32_MAX));
    out->n_stages = asked.n_stages;
    asked.runs_after += (double)(nested->n_heaps + GENERALS) *
                        (request->measure.rules.rounds + MEMORY_RUNS);
    ask(&asked, flat, arenas_of(flat), &out->flat);
    ask(&asked, nested, arenas_of(nested), &out->nested);
    enum ab_status status = run(request, &asked, err);
    forget(&asked);
    ab_advise_decide_nested(out);
    return status;
}

/* Returns the parameters of the session for --budget: the general malloc and the advised mapping,
 * each call timed. */

struct budget_asked {
    const char *base;
    bool is_advised;
    struct ab_advised_budget *out;
};

void ab_advised_scopes_fini(struct ab_advised_scopes *x)
{
    free(x->hdr);
    x->hdr = NULL;
}

static void add_record(const struct ab_iterations *x, struct ab_advised_scopes *out)
{
    out->n += x->n;
    out->n_missed += x->n_over_budget;
    out->n_scheduler += x->n_scheduler;
    if (x->hdr == NULL || x->n == 0)
        return;
    if (out->hdr == NULL)
        out->hdr = ab_hdr_new();
    ab_hdr_merge(out->hdr, x->hdr);
}

/* Returns why a row has no numbers. A failure of the back end takes precedence over a reason given
 * by its rounds. */
static const char *reason_of(const struct ab_backend_info *b, const char *of_rounds)
{
    if (b->status != AB_BACKEND_OK)
        return b->reason[0] != 0 ? b->reason : ab_backend_status_name(b->status);
    return of_rounds != NULL ? of_rounds : AB_ADVISED_TOO_FAST;
}

void ab_advise_read_scopes(const struct ab_session *s, uint32_t backend,
                           struct ab_advised_scopes *out)
{
    double worst[BUDGET_ROUNDS];
    size_t n = 0;
    const struct ab_backend_info *b = &s->backends[backend];
    const char *of_rounds = NULL;
    *out = (struct ab_advised_scopes){.worst_ns = NAN};
    for (uint32_t i = 0; i < s->n_iterations; i++) {
        const struct ab_iterations *x = &s->iterations[i];
        if (x->backend != backend)
            continue;
        add_record(x, out);
        if (x->n == 0 && x->reason[0] != 0)
            of_rounds = x->reason;
        else if (x->n > 0 && isfinite(x->max) && n < BUDGET_ROUNDS)
            worst[n++] = x->max;
    }
    out->is_known = b->status == AB_BACKEND_OK && n > 0;
    out->n_rounds = (uint32_t)n;
    if (out->is_known)
        out->worst_ns = ab_median(worst, n);
    else
        AB_COPY(out->reason, reason_of(b, of_rounds));
}

/* Receives the session. The mapping is its last row. */
static enum ab_status take_scopes(void *user, const struct ab_session *s, struct ab_err *err)
{
    const struct budget_asked *asked = user;
    (void)err;
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (strcmp(s->backends[i].name, asked->base) == 0)
            ab_advise_read_scopes(s, i, &asked->out->before);
    if (asked->is_advised)
        ab_advise_read_scopes(s, s->n_backends - 1, &asked->out->after);
    return AB_OK;
}

static void set_passes(struct ab_measure_request *r)
{
    r->passes.plan.rounds[AB_PASS_TAIL] = r->rules.rounds = BUDGET_ROUNDS;
    r->passes.processes = 1;
    r->replay.touch = AB_TOUCH_PAGE; /* writes to blocks are not part of the time of any call */
}

enum ab_status ab_advise_budget(const struct ab_advise_request *request,
                                const struct ab_stage *stage, const struct ab_advice *a,
                                const char *base, uint32_t used, struct ab_advised_budget *out,
                                struct ab_err *err)
{
    static const struct ab_advised_scopes none = {.worst_ns = NAN, .reason = "it was not replayed"},
                                          no_scopes = {.worst_ns = NAN,
                                                       .reason = "the trace has no scopes"};
    struct budget_asked asked = {.base = base, .is_advised = used != 0, .out = out};
    struct ab_measure_request r = ab_advise_replay(request, stage);
    int exit_code = 0;
    *out = (struct ab_advised_budget){.before = none, .after = none};
    if (a->n_scopes == 0) {
        *out = (struct ab_advised_budget){.before = no_scopes, .after = no_scopes};
        return AB_OK;
    }
    struct ab_text rules = ab_advise_rules(a, used, base);
    const char *map = rules.s;
    set_passes(&r);
    r.maps.rules = &map;
    r.maps.n = used != 0;
    r.backends.names = &base;
    r.backends.n = 1;
    r.verdicts.base = base;
    r.replay.has_each_scope = true;
    r.replay.each_budget_ns = request->budget_ns;
    r.talk.stage.name = "budget";
    r.talk.stage.number = stage->n;
    r.take = take_scopes;
    r.user = &asked;
    enum ab_status status = ab_replay(&r, &exit_code, err);
    ab_text_fini(&rules);
    return status;
}
