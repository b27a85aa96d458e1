/* SPDX-License-Identifier: MIT
 *
 * Compares an interrupted session with the one that is to continue it, and moves its rounds over.
 */
#include "runner/resume.h"

#include "core/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- what differs ---- */

static const char *or_none(const char *s)
{
    return s == NULL || s[0] == 0 ? "unknown" : s;
}

static void add_difference(struct ab_text *list, const char *what, const char *now, const char *was)
{
    char a[96], b[96];
    ab_text_addf(list, "%s%s is %.64s, was %.64s", list->n > 0 ? "; " : "", what,
                 ab_text_printable(a, sizeof a, or_none(now)),
                 ab_text_printable(b, sizeof b, or_none(was)));
}

static void compare(struct ab_text *list, const char *what, const char *now, const char *was)
{
    if (strcmp(or_none(now), or_none(was)) != 0)
        add_difference(list, what, now, was);
}

static void compare_numbers(struct ab_text *list, const char *what, uint64_t now, uint64_t was)
{
    char a[32], b[32];
    snprintf(a, sizeof a, "%" PRIu64, now);
    snprintf(b, sizeof b, "%" PRIu64, was);
    compare(list, what, a, was == UINT64_MAX ? "" : b);
}

/* Lists of strings, side by side: the first pair that differs is told. */
static void compare_settings(struct ab_text *list, const struct ab_session *now,
                             const struct ab_session *was)
{
    const char *const *a = now->settings, *const *b = was->settings;
    while (a != NULL && b != NULL && *a != NULL && *b != NULL && strcmp(*a, *b) == 0)
        a++, b++;
    const char *x = a != NULL && *a != NULL ? *a : "none",
               *y = b != NULL && *b != NULL ? *b : "none";
    compare(list, "a setting", x, y);
}

static void compare_phases(struct ab_text *list, const struct ab_session *now,
                           const struct ab_session *was)
{
    compare_numbers(list, "the number of phases", now->n_phases, was->n_phases);
    for (uint32_t i = 0; i < now->n_phases && i < was->n_phases; i++)
        compare(list, "a phase", now->phases[i], was->phases[i]);
}

/* "0,2,3", as much of it as there is room for. */
static const char *cpu_list(char *buf, size_t cap, const struct ab_session *s)
{
    size_t n = 0;
    snprintf(buf, cap, "not given");
    for (uint32_t i = 0; i < s->n_cpus && n < cap; i++)
        n += (size_t)snprintf(buf + n, cap - n, "%s%d", i == 0 ? "" : ",", s->cpus[i]);
    return buf;
}

static void compare_lanes(struct ab_text *list, const struct ab_session *now,
                          const struct ab_session *was)
{
    char a[256], b[256];
    compare(list, "--cpus", cpu_list(a, sizeof a, now), cpu_list(b, sizeof b, was));
    compare(list, "--order", ab_order_names[now->is_strict], ab_order_names[was->is_strict]);
    compare_numbers(list, "--window", now->window, was->window);
}

static void compare_backend_lists(struct ab_text *list, const struct ab_session *now,
                                  const struct ab_session *was)
{
    compare_numbers(list, "the number of back ends", now->n_backends, was->n_backends);
    for (uint32_t i = 0; i < now->n_backends && now->n_backends == was->n_backends; i++) {
        compare(list, "a back end", now->backends[i].name, was->backends[i].name);
        compare(list, "a back end's boundary", now->backends[i].boundary,
                was->backends[i].boundary);
    }
}

/* AB_USAGE with the list, which it frees; AB_OK when there is none. */
static enum ab_status judge(struct ab_text *list, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    if (list->n > 0)
        status = ab_fail(err, AB_USAGE,
                         "cannot be resumed, the conditions differ: "
                         "%.900s",
                         list->s);
    ab_text_fini(list);
    return status;
}

static enum ab_status check_blocks(const struct ab_session *old, struct ab_err *err)
{
    if (old->tape_sha256 == NULL || old->tape_sha256[0] == 0)
        return ab_fail(err, AB_INPUT, "cannot be resumed: it has no digest of its tape");
    if (old->n_rounds > old->n_rounds_planned)
        return ab_fail(err, AB_INPUT, "cannot be resumed: it has %u rounds of %u", old->n_rounds,
                       old->n_rounds_planned);
    for (uint32_t i = 0; i < old->n_rounds; i++)
        if (old->rounds[i].index != i)
            return ab_fail(err, AB_INPUT, "cannot be resumed: round %u is missing", i);
    return AB_OK;
}

enum ab_status ab_resume_check(const struct ab_session *session, const struct ab_session *old,
                               struct ab_err *err)
{
    struct ab_text list = {0};
    const char *version = session->tool.version != NULL ? session->tool.version : AB_VERSION;
    compare(&list, "allocbench", version, old->tool.version);
    compare(&list, "the work", session->kind, old->kind);
    compare(&list, "the file's sha256", session->config_sha256, old->config_sha256);
    compare_settings(&list, session, old);
    compare_numbers(&list, "the seed", session->seed, old->seed);
    compare_numbers(&list, "--rounds", session->n_rounds_planned, old->n_rounds_planned);
    compare(&list, "tape_sha256", session->tape_sha256, old->tape_sha256);
    compare_phases(&list, session, old);
    compare(&list, "the machine's fingerprint", session->host.fingerprint, old->host.fingerprint);
    compare(&list, "THP", session->host.thp, old->host.thp);
    compare_lanes(&list, session, old);
    compare_backend_lists(&list, session, old);
    enum ab_status status = judge(&list, err);
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

static void compare_of(struct ab_text *list, const struct ab_backend_info *b, const char *what,
                       const char *now, const char *was)
{
    char label[256];
    snprintf(label, sizeof label, "%s of %s", what, b->name);
    compare(list, label, now, was);
}

enum ab_status ab_resume_check_backends(const struct ab_session *session,
                                        const struct ab_session *old, struct ab_err *err)
{
    struct ab_text list = {0};
    for (uint32_t i = 0; i < session->n_backends; i++) {
        const struct ab_backend_info *b = &session->backends[i], *was = &old->backends[i];
        compare_of(&list, b, "the status", ab_backend_status_name(b->status),
                   ab_backend_status_name(was->status));
        if (!ab_backend_status_has_numbers(was->status))
            continue;
        compare_of(&list, b, "the version", b->version, was->version);
        compare_of(&list, b, "the file", b->path, was->path);
        compare_of(&list, b, "the build id", b->build_id, was->build_id);
    }
    return judge(&list, err);
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
    do { \
        session->list = old->list; \
        session->n_##list = old->n_##list; \
        session->cap_##list = old->n_##list; \
        old->list = NULL; \
        old->n_##list = 0; \
    } while (0)
#define OWN_PHASES(list) \
    for (uint32_t i = 0; i < session->n_##list; i++) \
    session->list[i].phase = own_phase(session, session->list[i].phase)

void ab_resume_adopt(struct ab_session *session, struct ab_session *old)
{
    TAKE(rounds);
    TAKE(results);
    TAKE(nulls);
    TAKE(size_classes);
    TAKE(windows);
    TAKE(memory);
    TAKE(timelines);
    TAKE(dists);
    session->noise = old->noise;
    OWN_PHASES(results);
    OWN_PHASES(nulls);
    OWN_PHASES(size_classes);
    OWN_PHASES(windows);
    OWN_PHASES(memory);
    OWN_PHASES(dists);
    session->n_rounds_resumed = session->n_rounds;
}
