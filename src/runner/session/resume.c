/* SPDX-License-Identifier: MIT
 *
 * Compares an interrupted session with the one that is to continue it, and moves its rounds over.
 */
#include "runner/session/resume.h"

#include "result/merge/merge.h"
#include "result/merge/shard.h"

#include <stdio.h>
#include <string.h>

/* ---- what differs ---- */

/* AB_USAGE with the list, which it frees; AB_OK when there is none. */
static enum ab_status judge(struct ab_differences *d, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    if (d->text.n > 0)
        status = ab_fail(err, AB_USAGE,
                         "cannot be resumed, the conditions differ: "
                         "%.900s",
                         d->text.s);
    ab_text_fini(&d->text);
    return status;
}

static enum ab_status check_blocks(const struct ab_session *old, struct ab_err *err)
{
    uint32_t rounds = old->n_rounds_planned, own = ab_shard_n_rounds(old->shard, rounds);
    if (old->tape_sha256 == NULL || old->tape_sha256[0] == 0)
        return ab_fail(err, AB_INPUT, "cannot be resumed: it has no digest of its tape");
    if (old->n_rounds > own)
        return ab_fail(err, AB_INPUT, "cannot be resumed: it has %u rounds of %u", old->n_rounds,
                       own);
    for (uint32_t i = 0; i < old->n_rounds; i++)
        if (old->rounds[i].index != ab_shard_round(old->shard, rounds, i))
            return ab_fail(err, AB_INPUT, "cannot be resumed: round %u is missing",
                           ab_shard_round(old->shard, rounds, i));
    return AB_OK;
}

/* "2/4", or "none". */
static const char *shard_text(char buf[32], struct ab_run_shard shard)
{
    snprintf(buf, 32, "none");
    if (shard.count > 0)
        snprintf(buf, 32, "%u/%u", shard.index, shard.count);
    return buf;
}

enum ab_status ab_resume_check(const struct ab_session *session, const struct ab_session *old,
                               struct ab_err *err)
{
    struct ab_differences d = {.word = "was"};
    char now[32], was[32];
    if (old->n_parts > 0)
        return ab_fail(err, AB_USAGE,
                       "cannot be resumed: it was merged from %u results; run the shards that it "
                       "lacks, and merge all of them",
                       old->n_parts);
    if (old->is_histogram_merged)
        return ab_fail(err, AB_USAGE,
                       "cannot be resumed: its histograms are merged over the rounds, as an HTML "
                       "report has them; give the JSON, or a report with --embed=full");
    ab_conditions_compare(&d, session, old);
    ab_differences_add(&d, "--shard", shard_text(now, session->shard), shard_text(was, old->shard));
    ab_differences_add(&d, "the machine's fingerprint", session->host.fingerprint,
                       old->host.fingerprint);
    ab_differences_add(&d, "the node", session->host.name, old->host.name);
    ab_differences_add(&d, "THP", session->host.thp, old->host.thp);
    enum ab_status status = judge(&d, err);
    return status == AB_OK ? check_blocks(old, err) : status;
}

/* ---- back ends ---- */

static void keep_text(char *dst, const char *src, size_t cap)
{
    memcpy(dst, src, cap);
}

void ab_resume_keep_failed(struct ab_session *session, const struct ab_session *old)
{
    for (uint32_t i = 0; i < session->n_backends; i++) {
        struct ab_backend_info *b = &session->backends[i];
        const struct ab_backend_info *was = &old->backends[i];
        b->was_named = was->was_named;
        if (ab_backend_status_has_numbers(was->status))
            continue;
        b->status = was->status;
        b->never_frees = was->never_frees;
        b->has_reset = was->has_reset;
        keep_text(b->reason, was->reason, sizeof b->reason);
        keep_text(b->version, was->version, sizeof b->version);
        keep_text(b->path, was->path, sizeof b->path);
        keep_text(b->build_id, was->build_id, sizeof b->build_id);
    }
}

enum ab_status ab_resume_check_backends(const struct ab_session *session,
                                        const struct ab_session *old, struct ab_err *err)
{
    struct ab_differences d = {.word = "was"};
    char label[256];
    for (uint32_t i = 0; i < session->n_backends; i++) {
        const struct ab_backend_info *b = &session->backends[i], *was = &old->backends[i];
        snprintf(label, sizeof label, "the status of %s", b->name);
        ab_differences_add(&d, label, ab_backend_status_name(b->status),
                           ab_backend_status_name(was->status));
        if (ab_backend_status_has_numbers(was->status))
            ab_conditions_compare_build(&d, b, was, true);
    }
    return judge(&d, err);
}

/* ---- what was measured ---- */

/* The session's own string for a phase of the old one: both lists are the same. */
static const char *own_phase(const struct ab_session *session, const char *phase)
{
    for (uint32_t i = 0; i < session->n_phases; i++)
        if (strcmp(session->phases[i], phase) == 0)
            return session->phases[i];
    return "";
}

#define TAKE(list) \
    session->list = old->list; \
    session->n_##list = old->n_##list; \
    session->cap_##list = old->n_##list; \
    old->list = NULL; \
    old->n_##list = 0;
#define OWN_PHASES(list) \
    for (uint32_t i = 0; i < session->n_##list; i++) \
        session->list[i].phase = own_phase(session, session->list[i].phase);

void ab_resume_adopt(struct ab_session *session, struct ab_session *old)
{
    TAKE(rounds)
    AB_SESSION_LISTS(TAKE)
    AB_SESSION_PHASE_LISTS(OWN_PHASES)
    session->noise = old->noise;
    session->n_rounds_resumed = session->n_rounds;
    session->counting = old->counting;
    for (uint32_t i = 0; i < session->n_backends && i < old->n_backends; i++)
        memcpy(session->backends[i].uncounted, old->backends[i].uncounted,
               sizeof session->backends[i].uncounted);
}
