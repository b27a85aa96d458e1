/* SPDX-License-Identifier: MIT
 *
 * Joins sessions. Decides whether they may be joined, which part has which round, which machines
 * measured, and how the rows of back ends are merged.
 */
#include "result/merge/merge.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "result/merge/shard_part.h"
#include "result/numbers.h"
#include "result/passes.h"
#include "result/session.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *shown(char buf[256], const char *file)
{
    return ab_text_printable(buf, 256, file);
}

#define AB_MERGE_NOBODY UINT32_MAX

struct ab_merge {
    const struct ab_merge_part *parts;
    uint32_t n;
    uint32_t n_rounds; /* number of rounds of the merged result */
    uint32_t *owner;   /* n_rounds indices: the part that has each round; AB_MERGE_NOBODY = none */
    /* index in out->hosts of each host of each part; the hosts of the parts follow each other */
    uint32_t *host_map;
    uint32_t *host_of; /* n indices: where the hosts of each part begin in host_map */
    struct ab_session *out;
    struct ab_err *err;
};

/* ---- lists of records: sorted by round, as if a single session had measured them ---- */

/* Returns the index that a round of a part has in the merged result. */
static uint32_t merge_round(const struct ab_session *part, uint32_t round)
{
    return ab_shard_merged_round(part->shard, part->n_rounds_planned, round);
}

#define NO_PHASE SIZE_MAX

/* A list of records of the session. items, n and cap: offsets of the list's members in the session;
 * size: bytes of a record; round and phase: offsets in a record. */
struct list {
    size_t items, n, cap, size, round, phase;
};

#define RECORD(list) __typeof__(((struct ab_session *)NULL)->list[0])
#define LIST(list, phase_at) \
    {offsetof(struct ab_session, list),       offsetof(struct ab_session, n_##list), \
     offsetof(struct ab_session, cap_##list), sizeof(RECORD(list)), \
     offsetof(RECORD(list), round),           phase_at},
#define PHASE_LIST(list) LIST(list, offsetof(RECORD(list), phase))
static const struct list lists[] = {AB_SESSION_PHASE_LISTS(PHASE_LIST) LIST(timelines, NO_PHASE)};

static void *at(const void *base, size_t offset)
{
    return (char *)(uintptr_t)base + offset;
}

static char *items_of(const struct list *l, const struct ab_session *s)
{
    return *(char **)at(s, l->items);
}

static uint32_t count_of(const struct list *l, const struct ab_session *s)
{
    return *(uint32_t *)at(s, l->n);
}

static void set_list(const struct list *l, struct ab_session *s, char *items, uint32_t n)
{
    *(char **)at(s, l->items) = items;
    *(uint32_t *)at(s, l->n) = n;
    *(size_t *)at(s, l->cap) = n;
}

/* Returns the index that the round of a record has in the merged result. */
static uint32_t round_of(const struct list *l, const struct ab_session *s, const char *record)
{
    return merge_round(s, *(uint32_t *)at(record, l->round));
}

/* Sets next[r] to the index of the first record of round r. Returns the number of records. */
static uint32_t count_records(const struct ab_merge *m, const struct list *l, uint32_t *next)
{
    for (uint32_t p = 0; p < m->n; p++) {
        const struct ab_session *s = m->parts[p].session;
        for (uint32_t i = 0; i < count_of(l, s); i++)
            next[round_of(l, s, items_of(l, s) + i * l->size) + 1]++;
    }
    for (uint32_t r = 0; r < m->n_rounds; r++)
        next[r + 1] += next[r];
    return next[m->n_rounds];
}

static void place_records(const struct ab_merge *m, const struct list *l, uint32_t *next, char *all)
{
    for (uint32_t p = 0; p < m->n; p++) {
        const struct ab_session *s = m->parts[p].session;
        for (uint32_t i = 0; i < count_of(l, s); i++) {
            const char *record = items_of(l, s) + i * l->size;
            uint32_t round = round_of(l, s, record);
            char *to = all + next[round]++ * l->size;
            memcpy(to, record, l->size);
            *(uint32_t *)at(to, l->round) = round;
            if (l->phase != NO_PHASE)
                *(const char **)at(to, l->phase) = ab_session_own_phase(
                    m->out, *(const char **)at(to, l->phase));
        }
    }
}

static void join_list(const struct ab_merge *m, const struct list *l)
{
    uint32_t *next = ab_alloc_zeroed((size_t)m->n_rounds + 1, sizeof next[0]);
    uint32_t n = count_records(m, l, next);
    char *all = ab_alloc_zeroed((size_t)n + 1, l->size);
    place_records(m, l, next, all);
    set_list(l, m->out, all, n);
    free(next);
}

static void join_rounds(const struct ab_merge *m)
{
    struct ab_session *out = m->out;
    out->rounds = ab_alloc_zeroed(m->n_rounds, sizeof out->rounds[0]);
    for (uint32_t r = 0; r < m->n_rounds; r++) {
        const struct ab_session *s = m->owner[r] != AB_MERGE_NOBODY ? m->parts[m->owner[r]].session
                                                                    : NULL;
        for (uint32_t i = 0; s != NULL && i < s->n_rounds; i++) {
            if (merge_round(s, s->rounds[i].index) != r)
                continue;
            struct ab_round *round = &out->rounds[out->n_rounds++];
            *round = s->rounds[i];
            round->index = r;
            round->host = m->host_map[m->host_of[m->owner[r]] + round->host];
        }
    }
    out->cap_rounds = out->n_rounds;
}

static void list_parts(const struct ab_merge *m)
{
    struct ab_session *out = m->out;
    out->parts = ab_alloc_zeroed(m->n, sizeof out->parts[0]);
    out->n_parts = m->n;
    for (uint32_t i = 0; i < m->n; i++) {
        struct ab_part *part = &out->parts[i];
        part->file = m->parts[i].file;
        AB_COPY(part->sha256, m->parts[i].sha256);
        part->shard = m->parts[i].session->shard;
        part->host = m->host_map[m->host_of[i]];
        part->n_rounds = m->parts[i].session->n_rounds;
    }
}

/* Copies the rounds and records of all parts into *out. Memory that the records own then has two
 * owners, until drop_lists(out) or take() is called. */
static void merge_records(const struct ab_merge *m)
{
    join_rounds(m);
    for (size_t i = 0; i < AB_ARRAY_LEN(lists); i++)
        join_list(m, &lists[i]);
    list_parts(m);
}

/* Frees the lists of a session, but not the memory that their records own. */
static void drop_lists(struct ab_session *s)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(lists); i++) {
        free(items_of(&lists[i], s));
        set_list(&lists[i], s, NULL, 0);
    }
    s->n_rounds = 0;
}

/* Clears the lists of *out, which is a copy of a part and must not free that part's lists. */
static void merge_begin_lists(struct ab_session *out)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(lists); i++)
        set_list(&lists[i], out, NULL, 0);
    out->rounds = NULL;
    out->n_rounds = 0;
}

/* Frees the lists of the parts, because *out owns the memory of the records now. */
static void take(const struct ab_merge *m)
{
    for (uint32_t i = 0; i < m->n; i++)
        drop_lists(m->parts[i].session);
}

/* ---- check that the parts did the same work ---- */

static enum ab_status check_conditions(const struct ab_merge *m, uint32_t part)
{
    struct ab_differences d = {.word = "there"};
    enum ab_status status = AB_OK;
    char a[256], b[256];
    ab_conditions_compare(&d, m->parts[part].session, m->parts[0].session);
    if (d.text.n > 0)
        status = ab_fail(m->err, AB_USAGE, "%s is not of the same measurement as %s: %s",
                         shown(a, m->parts[part].file), shown(b, m->parts[0].file), d.text.s);
    ab_text_fini(&d.text);
    return status;
}

/* Checks that back ends with the same name are the same build, because their rounds form one
 * row. */
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
        status = ab_fail(m->err, AB_USAGE, "%s did not measure under the same conditions as %s: %s",
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

/* ---- rounds of the parts ---- */

static bool is_divided(const struct ab_session *s)
{
    return ab_shard_is_divided(s->shard, s->n_rounds_planned);
}

/* Sets the number of rounds of the merged result. If rounds are divided, all parts must come from a
 * division into the same number of shards. */
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
        uint32_t *owner = &m->owner[merge_round(s, round)];
        if (*owner != AB_MERGE_NOBODY)
            return ab_fail(m->err, AB_USAGE, "round %u is in %s and in %s: each round once", round,
                           shown(a, m->parts[*owner].file), shown(b, m->parts[part].file));
        *owner = part;
    }
    return AB_OK;
}

/* True if no part has the round. A round that belongs to a complete part is not missing even then,
 * because a part whose back ends all failed is complete without rounds. */
static bool is_missing(const struct ab_merge *m, uint32_t round)
{
    if (m->owner[round] != AB_MERGE_NOBODY)
        return false;
    for (uint32_t i = 0; i < m->n; i++) {
        const struct ab_session *s = m->parts[i].session;
        uint32_t own = is_divided(s)
                           ? merge_round(s, ab_shard_round(s->shard, s->n_rounds_planned, 0))
                           : round;
        if (s->is_complete && own == round &&
            (is_divided(s) || ab_shard_has_round(s->shard, s->n_rounds_planned, round)))
            return false;
    }
    return true;
}

/* Adds the number of a missing round to the list, and the shard that should have run it, if the
 * first part is a shard. */
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

/* Removes the list of machines if there is only one, as in other sessions. */
static void settle_hosts(struct ab_session *out)
{
    if (out->n_hosts > 1)
        return;
    free(out->hosts);
    out->hosts = NULL;
    out->n_hosts = 0;
}

/* ---- back ends ---- */

/* Merges a row. The build is that of the first part in which the row has numbers. If a part has no
 * numbers of the row, the merged row has none either, with the status of that part. */
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
        AB_FIT(reason, "in %s: %s", shown(name, m->parts[p].file), x->reason);
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

/* ---- whole sessions ---- */

/* Converts the plan of passes if rounds were divided, because each part of a round is a round of
 * the merged result. */
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

static void copy_combinations(const struct ab_session *from, struct ab_session *out)
{
    size_t bytes = from->n_combinations * sizeof from->combinations[0];
    out->combinations = bytes > 0 ? memcpy(ab_alloc(bytes), from->combinations, bytes) : NULL;
}

/* Initializes *out with the work and conditions of the first part, without measurements. */
static void begin_session(const struct ab_merge *m)
{
    struct ab_session *out = m->out;
    *out = *m->parts[0].session;
    merge_begin_lists(out);
    copy_combinations(m->parts[0].session, out);
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
    for (uint32_t i = 0; i < m->n; i++)
        out->is_unsealed |= m->parts[i].session->is_unsealed;
    out->resumed_from = NULL;
    out->n_rounds_resumed = 0;
    out->shard = (struct ab_run_shard){0};
    out->n_rounds_planned = m->n_rounds;
    out->stopping = (struct ab_stopping){.ended = AB_ENDED_NOT};
    merge_passes(m);
}

/* Merges the facts of the clock. If machines have clocks of different speed, ns_per_tick becomes
 * NaN. */
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

/* Sums the disturbances over all parts. The level of the canary is not summed: it is the lowest of
 * the parts, or NaN with several machines. */
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
    drop_lists(m->out); /* only the lists, because the parts own the memory of the records */
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
        merge_records(&m);
        take(&m);
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

/* ---- differences between two sessions ---- */

static const char *or_unknown(const char *s)
{
    return s == NULL || s[0] == 0 ? "unknown" : s;
}

void ab_differences_add(struct ab_differences *d, const char *what, const char *now,
                        const char *was)
{
    char a[96], b[96];
    if (strcmp(or_unknown(now), or_unknown(was)) != 0)
        ab_text_addf(&d->text, "%s%s is %s, %s %s", d->text.n > 0 ? "; " : "", what,
                     ab_text_printable(a, sizeof a, or_unknown(now)), d->word,
                     ab_text_printable(b, sizeof b, or_unknown(was)));
}

static void differences_add_number(struct ab_differences *d, const char *what, uint64_t now,
                                   uint64_t was)
{
    char a[32], b[32];
    AB_FIT(a, "%" PRIu64, now);
    AB_FIT(b, "%" PRIu64, was);
    ab_differences_add(d, what, now == UINT64_MAX ? "" : a, was == UINT64_MAX ? "" : b);
}

/* Compares two lists of settings, and adds the first pair that differs to the list of
 * differences. */
static void compare_settings(struct ab_differences *d, const struct ab_session *now,
                             const struct ab_session *was)
{
    const char *const *a = now->settings, *const *b = was->settings;
    while (a != NULL && b != NULL && *a != NULL && *b != NULL && strcmp(*a, *b) == 0)
        a++, b++;
    const char *x = a != NULL && *a != NULL ? *a : "none",
               *y = b != NULL && *b != NULL ? *b : "none";
    ab_differences_add(d, "a setting", x, y);
}

static void compare_phases(struct ab_differences *d, const struct ab_session *now,
                           const struct ab_session *was)
{
    differences_add_number(d, "the number of phases", now->n_phases, was->n_phases);
    for (uint32_t i = 0; i < now->n_phases && i < was->n_phases; i++)
        ab_differences_add(d, "a phase", now->phases[i], was->phases[i]);
}

/* Writes a list of CPUs as "0,2,3", as far as it fits. */
static const char *cpu_list(char *buf, size_t cap, const struct ab_session *s)
{
    size_t n = 0;
    snprintf(buf, cap, "not given");
    for (uint32_t i = 0; i < s->n_cpus && n < cap; i++)
        n += (size_t)snprintf(buf + n, cap - n, "%s%d", i == 0 ? "" : ",", s->cpus[i]);
    return buf;
}

static void compare_lanes(struct ab_differences *d, const struct ab_session *now,
                          const struct ab_session *was)
{
    char a[256], b[256];
    ab_differences_add(d, "--cpus", cpu_list(a, sizeof a, now), cpu_list(b, sizeof b, was));
    ab_differences_add(d, "--order", ab_order_names[now->is_strict],
                       ab_order_names[was->is_strict]);
    differences_add_number(d, "--window", now->window, was->window);
}

static void compare_backends(struct ab_differences *d, const struct ab_session *now,
                             const struct ab_session *was)
{
    differences_add_number(d, "the number of back ends", now->n_backends, was->n_backends);
    for (uint32_t i = 0; i < now->n_backends && now->n_backends == was->n_backends; i++) {
        ab_differences_add(d, "a back end", now->backends[i].name, was->backends[i].name);
        ab_differences_add(d, "a back end's setting", now->backends[i].settings,
                           was->backends[i].settings);
        ab_differences_add(d, "a back end's boundary", now->backends[i].boundary,
                           was->backends[i].boundary);
        ab_differences_add(d, "a placement (--map)", now->backends[i].map, was->backends[i].map);
    }
}

/* Writes in how many rounds a pass runs: "in 6 rounds", "in every round" or "not run". */
static const char *rounds_of(char buf[32], const struct ab_pass_plan *plan, enum ab_pass pass)
{
    snprintf(buf, 32, "in every round");
    if (plan->is_known && plan->rounds[pass] != AB_EVERY_ROUND)
        snprintf(buf, 32, plan->rounds[pass] == 0 ? "not run" : "in %u rounds", plan->rounds[pass]);
    return buf;
}

static void compare_passes(struct ab_differences *d, const struct ab_session *now,
                           const struct ab_session *was)
{
    char label[64], a[32], b[32];
#define COMPARE(pass) \
    snprintf(label, sizeof label, "the %s pass", ab_pass_names[pass]); \
    if (pass != AB_PASS_THROUGHPUT) \
        ab_differences_add(d, label, rounds_of(a, &now->passes, pass), \
                           rounds_of(b, &was->passes, pass));
    AB_ROUND_PASSES(COMPARE)
#undef COMPARE
}

static const char *version_of(const struct ab_session *s)
{
    return s->tool.version != NULL ? s->tool.version : AB_VERSION;
}

static const char *counts_of(const struct ab_session *s)
{
    return s->counts_ops ? "ops" : "none";
}

void ab_conditions_compare(struct ab_differences *d, const struct ab_session *now,
                           const struct ab_session *was)
{
    ab_differences_add(d, "allocbench", version_of(now), version_of(was));
    ab_differences_add(d, "the work", ab_session_kind_names[now->kind],
                       ab_session_kind_names[was->kind]);
    ab_differences_add(d, "the file's sha256", now->config_sha256, was->config_sha256);
    compare_settings(d, now, was);
    differences_add_number(d, "the seed", now->seed, was->seed);
    differences_add_number(d, "--rounds", now->n_rounds_planned, was->n_rounds_planned);
    compare_passes(d, now, was);
    ab_differences_add(d, "tape_sha256", now->tape_sha256, was->tape_sha256);
    ab_differences_add(d, "config.tape.counts", counts_of(now), counts_of(was));
    compare_phases(d, now, was);
    compare_lanes(d, now, was);
    compare_backends(d, now, was);
}

void ab_conditions_compare_build(struct ab_differences *d, const struct ab_backend_info *now,
                                 const struct ab_backend_info *was, bool with_path)
{
    const struct {
        const char *what, *now, *was;
    } rows[] = {{"the version", now->version, was->version},
                {"the build id", now->build_id, was->build_id},
                {"the file", now->path, was->path}};
    char label[sizeof now->name + 32];
    for (unsigned i = 0; i < 2u + with_path; i++) {
        AB_FIT(label, "%s of %s", rows[i].what, now->name);
        ab_differences_add(d, label, rows[i].now, rows[i].was);
    }
}
