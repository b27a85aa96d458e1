/* SPDX-License-Identifier: MIT
 *
 * What is decided when sessions are joined: whether they may be, who has which round, which machines
 * there were, what the back ends are. The records are joined in merge_records.c.
 */
#include "result/merge/merge.h"

#include "core/memory.h"
#include "core/text.h"
#include "result/merge/conditions.h"
#include "result/merge/merge_records.h"
#include "result/merge/shard.h"
#include "result/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *shown(char buf[256], const char *file)
{
    return ab_text_printable(buf, 256, file);
}

/* ---- the same work? ---- */

static enum ab_status check_conditions(const struct ab_merge *m, uint32_t part)
{
    struct ab_differences d = {.word = "there"};
    enum ab_status status = AB_OK;
    char a[256], b[256];
    ab_conditions_compare(&d, m->parts[part].session, m->parts[0].session);
    if (d.text.n > 0)
        status = ab_fail(m->err, AB_USAGE, "%s is not of the same measurement as %s: %.600s",
                         shown(a, m->parts[part].file), shown(b, m->parts[0].file), d.text.s);
    ab_text_fini(&d.text);
    return status;
}

/* Libraries of one name must be one build: their rounds will stand in one row. */
static enum ab_status check_builds(const struct ab_merge *m, uint32_t part, uint32_t with)
{
    const struct ab_session *x = m->parts[part].session, *y = m->parts[with].session;
    struct ab_differences d = {.word = "there"};
    enum ab_status status = AB_OK;
    char a[256], b[256];
    for (uint32_t i = 0; i < x->n_backends; i++)
        if (ab_session_has_numbers(x, i) && ab_session_has_numbers(y, i))
            ab_conditions_compare_build(&d, &x->backends[i], &y->backends[i], false);
    if (ab_host_is_same(&x->host, &y->host))
        ab_differences_add(&d, "THP", x->host.thp, y->host.thp);
    if (d.text.n > 0)
        status = ab_fail(m->err, AB_USAGE,
                         "%s did not measure under the same conditions as %s: %.600s",
                         shown(a, m->parts[part].file), shown(b, m->parts[with].file), d.text.s);
    ab_text_fini(&d.text);
    return status;
}

static enum ab_status check_parts(const struct ab_merge *m)
{
    enum ab_status status = AB_OK;
    char a[256];
    for (uint32_t i = 0; i < m->n && status == AB_OK; i++) {
        const struct ab_session *s = m->parts[i].session;
        if (s->tape_sha256 == NULL || s->tape_sha256[0] == 0)
            status = ab_fail(m->err, AB_INPUT, "%s: has no digest of its tape",
                             shown(a, m->parts[i].file));
        else if (s->is_histogram_merged)
            status = ab_fail(m->err, AB_USAGE,
                             "%s: its histograms are merged over the rounds, as an HTML report has "
                             "them; give the JSON, or a report with --embed=full",
                             shown(a, m->parts[i].file));
        if (status == AB_OK && i > 0)
            status = check_conditions(m, i);
        for (uint32_t k = 0; k < i && status == AB_OK; k++)
            status = check_builds(m, i, k);
    }
    return status;
}

/* ---- who has which round ---- */

static bool is_divided(const struct ab_session *s)
{
    return ab_shard_is_divided(s->shard, s->n_rounds_planned);
}

/* How many rounds the whole has; parts of divided rounds must be parts of one division. */
static enum ab_status count_rounds(struct ab_merge *m)
{
    const struct ab_session *first = m->parts[0].session;
    char a[256], b[256];
    m->n_rounds = is_divided(first) ? first->shard.count : first->n_rounds_planned;
    for (uint32_t i = 1; i < m->n; i++) {
        const struct ab_session *s = m->parts[i].session;
        if ((is_divided(s) || is_divided(first)) && s->shard.count != first->shard.count)
            return ab_fail(m->err, AB_USAGE,
                           "%s is one of %u shards, %s one of %u: with more shards than rounds "
                           "all have to be of one division",
                           shown(a, m->parts[i].file), s->shard.count, shown(b, m->parts[0].file),
                           first->shard.count);
    }
    if (m->n_rounds == 0 || m->n_rounds > AB_SHARDS_MAX)
        return ab_fail(m->err, AB_INPUT, "%s: has %u rounds planned; 1 to %d are allowed",
                       shown(a, m->parts[0].file), m->n_rounds, AB_SHARDS_MAX);
    return AB_OK;
}

static enum ab_status claim_rounds(struct ab_merge *m, uint32_t part)
{
    const struct ab_session *s = m->parts[part].session;
    char a[256], b[256];
    for (uint32_t i = 0; i < s->n_rounds; i++) {
        uint32_t round = s->rounds[i].index;
        if (!ab_shard_has_round(s->shard, s->n_rounds_planned, round))
            return ab_fail(m->err, AB_INPUT, "%s: has round %u, which is not of it (shard %u/%u)",
                           shown(a, m->parts[part].file), round, s->shard.index, s->shard.count);
        uint32_t *owner = &m->owner[ab_merge_round(s, round)];
        if (*owner != AB_MERGE_NOBODY)
            return ab_fail(m->err, AB_USAGE, "round %u is in %s and in %s: each round once", round,
                           shown(a, m->parts[*owner].file), shown(b, m->parts[part].file));
        *owner = part;
    }
    return AB_OK;
}

/* No part has it, and none was complete without it: a shard whose back ends all failed has none. */
static bool is_missing(const struct ab_merge *m, uint32_t round)
{
    if (m->owner[round] != AB_MERGE_NOBODY)
        return false;
    for (uint32_t i = 0; i < m->n; i++) {
        const struct ab_session *s = m->parts[i].session;
        uint32_t own = is_divided(s)
                           ? ab_merge_round(s, ab_shard_round(s->shard, s->n_rounds_planned, 0))
                           : round;
        if (s->is_complete && own == round &&
            (is_divided(s) || ab_shard_has_round(s->shard, s->n_rounds_planned, round)))
            return false;
    }
    return true;
}

/* The shard of a missing round, where the first part knows the division. */
static void add_missing(const struct ab_merge *m, struct ab_text *list, uint32_t round)
{
    struct ab_run_shard shard = m->parts[0].session->shard;
    uint32_t planned = m->parts[0].session->n_rounds_planned;
    ab_text_addf(list, "%s%u", list->n > 0 ? ", " : "", round);
    for (shard.index = 1; shard.index <= shard.count; shard.index++)
        for (uint32_t k = 0; k < ab_shard_n_rounds(shard, planned); k++)
            if (ab_shard_merged_round(shard, planned, ab_shard_round(shard, planned, k)) == round)
                ab_text_addf(list, " (shard %u/%u)", shard.index, shard.count);
}

static enum ab_status check_missing(const struct ab_merge *m, bool is_partial, bool *is_complete)
{
    struct ab_text list = {0};
    enum ab_status status = AB_OK;
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n_rounds; i++)
        if (is_missing(m, i) && n++ < 16)
            add_missing(m, &list, i);
    *is_complete = n == 0;
    if (n > 0 && !is_partial)
        status = ab_fail(m->err, AB_USAGE,
                         "%u of %u rounds are in none of the results: %s%s; run what is missing, "
                         "or merge what there is with --partial",
                         n, m->n_rounds, list.s != NULL ? list.s : "", n > 16 ? " …" : "");
    ab_text_fini(&list);
    return status;
}

static enum ab_status plan_rounds(struct ab_merge *m, bool is_partial, bool *is_complete)
{
    enum ab_status status = count_rounds(m);
    if (status != AB_OK)
        return status;
    m->owner = ab_alloc(m->n_rounds * sizeof m->owner[0]);
    memset(m->owner, 0xff, m->n_rounds * sizeof m->owner[0]);
    for (uint32_t i = 0; i < m->n && status == AB_OK; i++)
        status = claim_rounds(m, i);
    return status == AB_OK ? check_missing(m, is_partial, is_complete) : status;
}

/* ---- machines ---- */

static uint32_t add_host(struct ab_session *out, const struct ab_host *host)
{
    for (uint32_t i = 0; i < out->n_hosts; i++)
        if (ab_host_is_same(&out->hosts[i], host))
            return i;
    out->hosts[out->n_hosts] = *host;
    return out->n_hosts++;
}

static void list_hosts(struct ab_merge *m)
{
    struct ab_session *out = m->out;
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n; i++)
        n += ab_session_host_count(m->parts[i].session);
    out->hosts = ab_alloc_zeroed(n, sizeof out->hosts[0]);
    m->host_map = ab_alloc_zeroed(n, sizeof m->host_map[0]);
    m->host_of = ab_alloc_zeroed(m->n, sizeof m->host_of[0]);
    n = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        const struct ab_session *s = m->parts[i].session;
        m->host_of[i] = n;
        for (uint32_t k = 0; k < ab_session_host_count(s); k++)
            m->host_map[n++] = add_host(out, s->n_hosts > 1 ? &s->hosts[k] : &s->host);
    }
    out->host = out->hosts[0];
}

/* As a session has it: one machine is no list. */
static void settle_hosts(struct ab_session *out)
{
    if (out->n_hosts > 1)
        return;
    free(out->hosts);
    out->hosts = NULL;
    out->n_hosts = 0;
}

/* ---- back ends ---- */

/* The first part that has numbers names the build; one that has none takes the row out. */
static void merge_backend(const struct ab_merge *m, uint32_t i, struct ab_backend_info *b)
{
    bool is_known = false;
    char name[256], reason[sizeof b->reason];
    *b = m->parts[0].session->backends[i];
    for (uint32_t p = 0; p < m->n; p++) {
        const struct ab_backend_info *x = &m->parts[p].session->backends[i];
        bool was_named = b->was_named || x->was_named;
        if (ab_backend_status_has_numbers(x->status) && !is_known) {
            *b = *x;
            is_known = true;
        }
        b->was_named = was_named;
    }
    for (uint32_t p = 0; p < m->n && is_known; p++) {
        const struct ab_backend_info *x = &m->parts[p].session->backends[i];
        if (x->status == AB_BACKEND_OK || !ab_session_has_numbers(m->out, i))
            continue;
        snprintf(reason, sizeof reason, "in %s: %.700s", shown(name, m->parts[p].file), x->reason);
        b->status = x->status;
        memcpy(b->reason, ab_backend_status_has_numbers(x->status) ? x->reason : reason,
               sizeof b->reason);
    }
}

static void merge_backends(struct ab_merge *m)
{
    struct ab_session *out = m->out;
    out->backends = ab_alloc_zeroed((size_t)out->n_backends + 1, sizeof out->backends[0]);
    for (uint32_t i = 0; i < out->n_backends; i++)
        merge_backend(m, i, &out->backends[i]);
}

/* ---- all ---- */

/* Where rounds were divided, their parts are rounds of the whole. */
static void merge_passes(const struct ab_merge *m)
{
    const struct ab_session *first = m->parts[0].session;
    struct ab_run_shard shard = {1, first->shard.count};
    for (unsigned pass = 0; pass < AB_PASS_COUNT && is_divided(first); pass++) {
        uint32_t *rounds = &m->out->passes.rounds[pass];
        if (*rounds != AB_EVERY_ROUND)
            *rounds = ab_shard_merged_round(
                shard, first->n_rounds_planned,
                *rounds < first->n_rounds_planned ? *rounds : first->n_rounds_planned);
    }
}

/* Work and conditions of the first part, and nothing that was measured. */
static void begin_session(const struct ab_merge *m)
{
    struct ab_session *out = m->out;
    *out = *m->parts[0].session;
    ab_merge_begin_lists(out);
    out->hosts = NULL;
    out->n_hosts = 0;
    out->parts = NULL;
    out->n_parts = 0;
    out->backends = NULL;
    out->gates = NULL;
    out->n_gates = 0;
    out->claims = NULL;
    out->n_claims = 0;
    out->comparison = NULL;
    out->comparison = NULL;
    out->resumed_from = NULL;
    out->n_rounds_resumed = 0;
    out->shard = (struct ab_run_shard){0};
    out->n_rounds_planned = m->n_rounds;
    out->stopping = (struct ab_stopping){.ended = AB_ENDED_NOT};
    merge_passes(m);
}

/* Each machine has a clock of its own. */
static void merge_timer(const struct ab_merge *m)
{
    struct ab_session *out = m->out;
    for (uint32_t i = 1; i < m->n; i++) {
        const struct ab_session *s = m->parts[i].session;
        if (out->n_hosts > 1 && s->timer.ns_per_tick != out->timer.ns_per_tick)
            out->timer.ns_per_tick = NAN;
        out->timer.quantum_ns = fmax(out->timer.quantum_ns, s->timer.quantum_ns);
    }
    out->timer.floor_ns = ab_session_floor(out);
}

/* Sums over all, but for the level of the canary, which is a machine's own. */
static void merge_noise(const struct ab_merge *m)
{
    struct ab_noise *noise = &m->out->noise;
    double canary = noise->canary_quiet_ns;
    for (uint32_t i = 1; i < m->n; i++) {
        const struct ab_noise *x = &m->parts[i].session->noise;
        if (!(x->runs > 0))
            continue;
        canary = noise->runs > 0 ? fmin(canary, x->canary_quiet_ns) : x->canary_quiet_ns;
#define ADD(name) noise->name += x->name;
        AB_NOISE_FIELDS(ADD)
#undef ADD
    }
    noise->canary_quiet_ns = m->out->n_hosts > 1 ? (double)NAN : canary;
}

static void abandon(const struct ab_merge *m)
{
    ab_merge_abandon(m);
    ab_session_fini(m->out);
    free(m->out->backends);
}

enum ab_status ab_merge(const struct ab_merge_part *parts, uint32_t n, bool is_partial,
                        struct ab_session *out, struct ab_err *err)
{
    struct ab_session made = {0};
    struct ab_merge m = {.parts = parts, .n = n, .out = &made, .err = err};
    bool is_complete = false;
    enum ab_status status = check_parts(&m);
    if (status == AB_OK)
        status = plan_rounds(&m, is_partial, &is_complete);
    if (status == AB_OK) {
        begin_session(&m);
        made.is_complete = is_complete;
        list_hosts(&m);
        merge_backends(&m);
        ab_merge_records(&m);
        ab_merge_take(&m);
        settle_hosts(&made);
        merge_timer(&m);
        merge_noise(&m);
        *out = made;
    } else {
        abandon(&m);
    }
    free(m.owner);
    free(m.host_of);
    free(m.host_map);
    return status;
}
