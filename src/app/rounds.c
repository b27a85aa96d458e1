/* SPDX-License-Identifier: MIT
 *
 * The clock beside the rule by which a session ends.
 */
#include "app/rounds.h"

#include "app/say.h"
#include "base/clock.h"
#include "core/text.h"
#include "result/merge/shard.h"
#include "result/passes.h"
#include "stats/effect.h"
#include "stats/stopping.h"

#include <stdio.h>
#include <string.h>

/* The default: the ranking of most allocators is clear long before. */
#define PRECISION_ENOUGH 0.02

static bool has_rule(const struct ab_options *o)
{
    return o->time_budget_ns > 0 || o->precision > 0;
}

uint32_t ab_round_limit_most(const struct ab_options *o)
{
    return has_rule(o) && !o->has_rounds ? AB_STOPPING_MOST_ROUNDS : o->rounds;
}

enum ab_status ab_round_limit_check(const struct ab_options *o, size_t n_backends,
                                    struct ab_err *err)
{
    const char *name = o->precision > 0 ? "precision" : "time-budget";
    if (has_rule(o) && o->shard.count > 0)
        return ab_fail(err, AB_USAGE,
                       "--shard and --%s are mutually exclusive: how many rounds there are must be "
                       "known before a part is run",
                       name);
    if (o->precision > 0 && n_backends < 2)
        return ab_fail(err, AB_USAGE,
                       "--precision is about ratios: it needs two back ends, here is one");
    if (o->precision > 0 && ab_round_limit_most(o) < AB_STOPPING_LEAST_ROUNDS)
        return ab_fail(err, AB_USAGE,
                       "--precision needs at least %d rounds, --rounds allows %u: below that there "
                       "are no intervals",
                       AB_STOPPING_LEAST_ROUNDS, ab_round_limit_most(o));
    return AB_OK;
}

void ab_round_limit_describe(const struct ab_options *o, const struct ab_session *resumed,
                             struct ab_session *session)
{
    session->stopping = (struct ab_stopping){
        .time_budget_s = (double)o->time_budget_ns * 1e-9,
        .precision = o->precision,
        .spent_s = resumed != NULL ? resumed->stopping.spent_s : 0,
        .n_rounds_most = session->n_rounds_planned,
    };
}

void ab_round_limit_by_default(const struct ab_options *o, struct ab_session *session)
{
    if (!has_rule(o) && !o->has_rounds && o->shard.count == 0 && session->n_backends > 1)
        session->stopping.precision = PRECISION_ENOUGH;
}

/* Before the first pre-flight. */
static void round_limit_begin(struct ab_round_limit *limit, struct ab_session *session)
{
    *limit = (struct ab_round_limit){.session = session, .earlier_s = session->stopping.spent_s};
    limit->began_ns = limit->round_ns = ab_clock_now_ns();
}

static bool is_ruled(const struct ab_session *s)
{
    return s->stopping.time_budget_s > 0 || s->stopping.precision > 0;
}

/* A round is done: does the session go on? */
static bool round_limit_goes_on(struct ab_round_limit *limit)
{
    struct ab_session *s = limit->session;
    uint64_t now = ab_clock_now_ns();
    limit->last_s = (double)(now - limit->round_ns) * 1e-9;
    limit->round_ns = now;
    s->stopping.spent_s = limit->earlier_s + (double)(now - limit->began_ns) * 1e-9;
    if (!is_ruled(s))
        return true;
    s->stopping.ended = ab_stopping_decide(s, limit->last_s);
    if (s->stopping.ended == AB_ENDED_NOT)
        return true;
    s->n_rounds_planned = s->n_rounds;
    return false;
}

/* How many rounds there will be in all, as far as is known. */
static uint32_t round_limit_expected(const struct ab_round_limit *limit)
{
    const struct ab_session *s = limit->session;
    return is_ruled(s) ? ab_stopping_expected(s, limit->last_s) : 0;
}

/* Around the rounds that confirm a failure, which the commands run themselves. */

bool ab_confirmation_begin(struct ab_confirmation *c, const struct ab_options *o,
                           const struct ab_decision *decision, const struct ab_session *session)
{
    *c = (struct ab_confirmation){.options = *o};
    uint32_t n = ab_decision_suspicious(decision, session, c->is_concerned);
    if (n > 0)
        ab_say(o, "%u verdict%s to confirm: %u more rounds", n, n == 1 ? "" : "s",
               session->n_rounds);
    c->options.rounds = session->n_rounds;
    c->options.time_budget_ns = 0;
    c->options.precision = 0;
    return n > 0;
}

void ab_confirmation_describe(const struct ab_confirmation *c, struct ab_session *again)
{
    again->seed = ~again->seed;
    for (uint32_t i = 0; i < again->n_backends; i++)
        if (!c->is_concerned[i] && again->backends[i].status == AB_BACKEND_OK)
            again->backends[i].status = AB_BACKEND_ABSENT;
}

enum ab_status ab_confirmation_end(struct ab_decision *decision, struct ab_session *session,
                                   struct ab_session *again, enum ab_status status,
                                   struct ab_err *err)
{
    if (status == AB_OK)
        ab_decision_confirm(decision, session, again);
    else if (status == AB_INTERRUPTED)
        ab_fail(err, status, "interrupted while a failure was being confirmed; it stands");
    return status;
}

/* Words for an interruption, and a command line that a shell takes as it is. */

static void add_option(struct ab_text *t, const char *option, const char *value)
{
    ab_text_addf(t, " %s ", option);
    ab_text_add_shell(t, value);
}

/* Adds what has to be repeated: a result is not trusted to name libraries, nor about the rules of a
 * mapping, those of --map or of `via`. */
static void add_libraries(struct ab_text *t, const struct ab_options *o, const struct ab_session *s,
                          const struct ab_selection_list *list)
{
    bool has_file = false;
    for (size_t i = 0; i < list->n; i++)
        has_file = has_file || list->items[i].is_file;
    for (size_t i = 0; has_file && i < o->n_backends; i++)
        add_option(t, "-b", o->backends[i]);
    for (size_t i = 0; i < o->n_maps; i++)
        add_option(t, "--map", o->maps[i]);
    for (uint32_t i = 0; i < s->n_backends && o->n_maps == 0; i++)
        if (s->backends[i].n_heaps > 0)
            add_option(t, "--map", s->backends[i].map);
}

static void add_command(struct ab_text *t, const struct ab_options *o, const struct ab_session *s,
                        const struct ab_store *store)
{
    struct ab_text path = {0};
    ab_text_addf(&path, "%s/%s", store->folder, store->name);
    ab_text_addf(t, "\ncontinue:  allocbench %s", strcmp(s->kind, "trace") == 0 ? "replay" : "run");
    add_option(t, "--resume", path.s);
    if (o->results != NULL)
        add_option(t, "--results", o->results);
    ab_text_fini(&path);
}

static void add_rounds(struct ab_text *t, const struct ab_session *s)
{
    uint32_t planned = ab_shard_n_rounds(s->shard, s->n_rounds_planned);
    ab_text_addf(t, "interrupted after %u ", s->n_rounds);
    if (is_ruled(s))
        ab_text_addf(t, "round%s", s->n_rounds == 1 ? "" : "s");
    else
        ab_text_addf(t, "of %u rounds", planned);
}

void ab_interruption_explain(const struct ab_options *o, const struct ab_session *s,
                             const struct ab_store *store, const struct ab_selection_list *list,
                             struct ab_err *err)
{
    struct ab_text t = {0};
    if (s->n_rounds == s->n_rounds_resumed) {
        ab_text_add(&t, "interrupted before a round was complete; nothing new was stored");
    } else {
        add_rounds(&t, s);
        ab_text_add(&t, store->name[0] != 0 ? "; what is complete is kept" : "; not stored");
    }
    if (store->name[0] != 0 && !ab_session_is_exec(s)) { /* a program cannot be resumed */
        add_command(&t, o, s, store);
        add_libraries(&t, o, s, list);
    }
    ab_fail(err, AB_INTERRUPTED, "%s", o->is_quiet ? "" : t.s);
    ab_text_fini(&t);
}

/* As often as a pass needs: latencies in every round, for their percentiles differ from round to
 * round as times do. What all ops are looked at for, the tail and the memory, is nearly the same in
 * each process: it runs in as many rounds as an interval takes, unless a gate judges it. */

/* By default. */
static uint32_t rounds_needed(enum ab_pass pass)
{
    return pass == AB_PASS_TAIL || pass == AB_PASS_MEMORY ? AB_EFFECT_MIN_ROUNDS : AB_EVERY_ROUND;
}

/* A gate has all the rounds that the session has. */
static bool is_gated(const struct ab_gate_set *gates, enum ab_pass pass)
{
    for (size_t i = 0; i < gates->n_gates; i++)
        if (ab_metric_pass(&gates->gates[i].metric) == pass)
            return true;
    return false;
}

static bool is_untimed(const struct ab_options *o, enum ab_pass pass)
{
    return o->is_strict && (pass == AB_PASS_LATENCY || pass == AB_PASS_TAIL);
}

static enum ab_status choose(const struct ab_options *o, const struct ab_gate_set *gates,
                             enum ab_pass pass, uint32_t *rounds, struct ab_err *err)
{
    uint32_t asked = o->has_passes ? o->passes.rounds[pass] : AB_PASS_AS_NEEDED;
    *rounds = asked;
    if (is_untimed(o, pass)) {
        *rounds = 0;
        if (o->has_passes && asked > 0)
            return ab_fail(err, AB_USAGE,
                           "--passes: %s cannot be measured with --order strict: no op is timed",
                           ab_pass_names[pass]);
    } else if (asked == AB_PASS_AS_NEEDED) {
        *rounds = is_gated(gates, pass) ? AB_EVERY_ROUND : rounds_needed(pass);
    }
    return AB_OK;
}

enum ab_status ab_pass_choice_make(const struct ab_options *o, const struct ab_gate_set *gates,
                                   const struct ab_session *resumed, struct ab_pass_plan *out,
                                   struct ab_err *err)
{
    enum ab_status status = AB_OK;
    struct ab_pass_plan plan = {.is_known = true};
#define CHOOSE(pass) \
    if (status == AB_OK) \
        status = choose(o, gates, pass, &plan.rounds[pass], err);
    AB_ROUND_PASSES(CHOOSE)
#undef CHOOSE
    plan.rounds[AB_PASS_THROUGHPUT] = AB_EVERY_ROUND;
    if (status != AB_OK)
        return status;
    if (resumed != NULL && !o->has_passes)
        plan = resumed->passes;
    if (o->is_strict && resumed != NULL &&
        (!plan.is_known || plan.rounds[AB_PASS_LATENCY] > 0 || plan.rounds[AB_PASS_TAIL] > 0))
        return ab_fail(err, AB_INPUT, "--resume: has latencies of a run in strict order");
    *out = plan;
    return o->is_strict ? AB_OK : ab_gate_set_check_passes(gates, &plan, err);
}

/* Passes on what the runner says. */

void ab_round_watch_begin(struct ab_round_watch *watch, const struct ab_options *o,
                          struct ab_store *store, struct ab_session *session)
{
    *watch = (struct ab_round_watch){.listener = o->listener, .store = store};
    if (o->listener != NULL)
        o->listener->begin(o, session);
    round_limit_begin(&watch->limit, session);
}

void ab_round_watch_progress(void *user, const struct ab_progress *p)
{
    struct ab_round_watch *watch = user;
    if (!watch->has_round && p->n_rounds > 0)
        watch->limit.round_ns = ab_clock_now_ns(); /* what was before it is no part of a round */
    watch->has_round = watch->has_round || p->n_rounds > 0;
    if (watch->listener != NULL)
        watch->listener->progress(p);
}

/* The last round is stored with the verdicts, at once. */
bool ab_round_watch_end_round(void *user, const struct ab_session *session)
{
    struct ab_round_watch *watch = user;
    bool goes_on = round_limit_goes_on(&watch->limit);
    if (watch->listener != NULL)
        watch->listener->round(session, round_limit_expected(&watch->limit));
    if (session->n_rounds < ab_shard_n_rounds(session->shard, session->n_rounds_planned))
        ab_store_save(watch->store, session);
    return goes_on;
}

void ab_round_watch_end(struct ab_round_watch *watch)
{
    if (watch->listener != NULL)
        watch->listener->end();
}
