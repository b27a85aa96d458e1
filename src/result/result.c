/* SPDX-License-Identifier: MIT
 *
 * The frozen names in results, and the rule that decides which percentiles may be reported.
 */
#include "result/result.h"

#include "base/bits.h"
#include "core/text.h"
#include "result/numbers.h"
#include "tape/op.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const ab_backend_status_names[AB_BACKEND_STATUS_COUNT] = {
    [AB_BACKEND_OK] = "ok",
    [AB_BACKEND_PARTIAL] = "partial",
    [AB_BACKEND_CRASHED] = "crashed",
    [AB_BACKEND_TIMEOUT] = "timeout",
    [AB_BACKEND_OOM] = "oom",
    [AB_BACKEND_WRONG_LIBRARY] = "wrong_library",
    [AB_BACKEND_FAILED_CHECK] = "failed_check",
    [AB_BACKEND_ABSENT] = "absent",
    [AB_BACKEND_NONCONFORMING] = "nonconforming",
    [AB_BACKEND_DECORATED] = "decorated",
};

const char *const ab_setting_state_names[AB_SETTING_STATE_COUNT] = {
    [AB_SETTING_UNPROVEN] = "not proven",
    [AB_SETTING_PROVEN] = "proven",
    [AB_SETTING_IGNORED] = "ignored",
};

const char *const ab_quantile_names[AB_QUANTILE_COUNT] = {
#define X(name, q) name,
    AB_QUANTILES(X)
#undef X
};

const double ab_quantile_values[AB_QUANTILE_COUNT] = {
#define X(name, q) q,
    AB_QUANTILES(X)
#undef X
};

const char *const ab_drain_names[AB_DRAIN_COUNT] = {"0s", "0.1s", "1s", "10s", "purge"};

const char *const ab_pin_moment_names[AB_PIN_MOMENT_COUNT] = {"resident_peak", "live_peak", "worst",
                                                              "end", "half_time"};
const char *const ab_pin_group_names[AB_PIN_GROUP_COUNT] = {"site", "size", "set"};
const char *const ab_idle_at_names[AB_IDLE_COUNT] = {NULL, "begin", "during", "end"};

const char *const ab_memory_at_names[AB_AT_COUNT] = {"footprint_peak", "live_peak", "end"};

const char *const ab_boundary_names[AB_BOUNDARY_COUNT] = {[AB_BOUNDARY_MALLOC] = "malloc",
                                                          [AB_BOUNDARY_HEAP] = "heap",
                                                          [AB_BOUNDARY_INLINE] = "inline",
                                                          [AB_BOUNDARY_CURSOR] = "cursor",
                                                          [AB_BOUNDARY_PLACED] = "routed"};

const char *const ab_ended_names[AB_ENDED_COUNT] = {[AB_ENDED_NOT] = "",
                                                    [AB_ENDED_ROUNDS] = "rounds",
                                                    [AB_ENDED_PRECISION] = "precision",
                                                    [AB_ENDED_TIME] = "time_budget"};

const char *const ab_order_names[] = {"free", "strict", NULL};

const char *ab_backend_status_name(enum ab_backend_status status)
{
    return (unsigned)status < AB_BACKEND_STATUS_COUNT ? ab_backend_status_names[status] : "unknown";
}

static const char *without_values(const struct ab_backend_info *b, const char *name,
                                  char buf[AB_BACKEND_NAME_BYTES])
{
    size_t n = strlen(name), behind = b->values[0] != 0 ? strlen(b->values) + 1 : 0;
    snprintf(buf, AB_BACKEND_NAME_BYTES, "%.*s", (int)(n - behind), name);
    return buf;
}

const char *ab_backend_own_name(const struct ab_backend_info *b, char buf[AB_BACKEND_NAME_BYTES])
{
    return without_values(b, b->name, buf);
}

bool ab_backend_is_named(const struct ab_backend_info *b, const char *own_name)
{
    return b->values[0] == 0 ? strcmp(b->name, own_name) == 0
                             : strcmp(AB_OWN_NAME(b), own_name) == 0;
}

/* ---- labels ---- */

enum { LABEL_BYTES = 24 };

/* Returns the largest length, up to n, at which s ends with a whole name. A cut within "dirty_" of
 * dirty_decay_ms and dirty_decay_max is not allowed, nor at the point of the value 0.5. */
static size_t whole_names(const char *s, size_t n)
{
    while (n > 0 && s[n - 1] != '{' && s[n - 1] != '=' &&
           (s[n - 1] != '.' || n < 2 || (s[n - 2] >= '0' && s[n - 2] <= '9')))
        n--;
    return memchr(s, '{', n) != NULL ? n : 0;
}

/* Returns the length at which a name is cut. If the rest would begin with a value, moves the cut
 * before the name of that value, because a value alone is meaningless. */
static size_t keep_name(const char *s, size_t n)
{
    bool is_value = n > 0 && s[n - 1] == '=' && strcspn(s + n, "=:") >= strcspn(s + n, ";}");
    return is_value ? whole_names(s, n - 1) : n;
}

static size_t shared_bytes(const char *a, const char *b, size_t most)
{
    size_t n = 0;
    while (n < most && a[n] != 0 && a[n] == b[n])
        n++;
    return n;
}

/* Returns the length of the beginning that the names of all rows of this allocator share:
 * "jemalloc{MALLOC_CONF=". */
static size_t shared_head(const struct ab_backend_info *list, uint32_t n, const char *name)
{
    size_t brace = strcspn(name, "{"), head = strlen(name);
    for (int is_second = 0; is_second < 2; is_second++) {
        for (uint32_t i = 0; i < n; i++) {
            const char *other = AB_OWN_NAME(&list[i]);
            if (strncmp(other, name, brace) != 0 || other[brace] != '{')
                continue;
            head = is_second ? keep_name(other, head) : shared_bytes(name, other, head);
        }
        head = is_second ? head : whole_names(name, head);
    }
    return head;
}

/* True if a row with another name has this label. */
static bool is_taken(const struct ab_backend_info *list, uint32_t n, uint32_t own,
                     const char *label)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(list[i].label, label) == 0 &&
            strcmp(AB_OWN_NAME(&list[i]), AB_OWN_NAME(&list[own])) != 0)
            return true;
    return false;
}

/* Writes a label without the settings that all rows of the allocator share: "jemalloc{narenas:1}"
 * for "jemalloc{MALLOC_CONF=narenas:1}". */
static void shorten(const struct ab_backend_info *list, uint32_t n, uint32_t at, char *to,
                    size_t cap)
{
    const char *name = AB_OWN_NAME(&list[at]);
    size_t brace = strcspn(name, "{"), head = name[brace] != 0 ? shared_head(list, n, name) : 0;
    snprintf(to, cap, "%.*s%s", (int)(head > 0 ? brace + 1 : 0), name, name + head);
}

/* Writes a label with a number, the lowest that no other row has: "jemalloc{2}". */
static void number(const struct ab_backend_info *list, uint32_t n, uint32_t at, char *to,
                   size_t cap)
{
    const char *name = AB_OWN_NAME(&list[at]);
    size_t stem = strcspn(name, ":{");
    for (unsigned k = 1; k <= n; k++) {
        snprintf(to, cap, "%.*s{%u}", (int)stem, name, k);
        if (!is_taken(list, n, at, to))
            return;
    }
}

static void set_label(struct ab_backend_info *list, uint32_t n, uint32_t at)
{
    struct ab_backend_info *b = &list[at];
    char label[AB_BACKEND_NAME_BYTES];
    AB_COPY(label, AB_OWN_NAME(b));
    if (strlen(label) > LABEL_BYTES && ab_backend_settings(label)[0] != 0) {
        shorten(list, n, at, label, sizeof label);
        if (strlen(label) > LABEL_BYTES || is_taken(list, n, at, label))
            number(list, n, at, label, sizeof label);
    }
    AB_COPY(b->label, label);
}

void ab_backends_set_labels(struct ab_backend_info *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        list[i].label[0] = 0;
    for (uint32_t i = 0; i < n; i++)
        set_label(list, n, i);
    for (uint32_t i = 0; i < n; i++)
        if (list[i].values[0] != 0)
            snprintf(list[i].label + strlen(list[i].label), AB_VALUES_BYTES, " %.*s",
                     AB_VALUES_BYTES - 2, list[i].values);
}

const char *ab_backend_label(const struct ab_backend_info *b)
{
    return b->label[0] != 0 ? b->label : b->name;
}

const char *ab_backend_own_label(const struct ab_backend_info *b, char buf[AB_BACKEND_NAME_BYTES])
{
    return without_values(b, ab_backend_label(b), buf);
}

/* ---- session state ---- */

void ab_backend_set_values(struct ab_backend_info *b, const char *values)
{
    char own[AB_BACKEND_NAME_BYTES];
    AB_FIT(own, "%.*s", AB_BACKEND_NAME_BYTES - 1, b->name);
    AB_COPY(b->values, values);
    AB_FIT(b->name, "%s%s%s", own, values[0] != 0 ? " " : "", b->values);
}

const char *ab_backend_spelling(const struct ab_backend_info *b, char buf[AB_BACKEND_FULL_BYTES])
{
    if (b->full_name[0] == 0)
        return ab_backend_own_name(b, buf);
    snprintf(buf, AB_BACKEND_FULL_BYTES, "%s", b->full_name);
    return buf;
}

const char *ab_backend_settings(const char *name)
{
    const char *settings = name + strcspn(name, ":{");
    return settings + (*settings == ':');
}

bool ab_backend_status_has_numbers(enum ab_backend_status status)
{
    return status == AB_BACKEND_OK || ab_backend_status_is_aside(status);
}

bool ab_backend_status_is_aside(enum ab_backend_status status)
{
    return status == AB_BACKEND_PARTIAL || status == AB_BACKEND_NONCONFORMING ||
           status == AB_BACKEND_DECORATED;
}

bool ab_session_has_numbers(const struct ab_session *session, uint32_t backend)
{
    return backend < session->n_backends &&
           ab_backend_status_has_numbers(session->backends[backend].status);
}

uint32_t ab_session_host_count(const struct ab_session *session)
{
    return session->n_hosts > 1 ? session->n_hosts : 1;
}

const struct ab_host *ab_session_round_host(const struct ab_session *session, uint32_t round)
{
    for (uint32_t i = 0; i < session->n_rounds && session->n_hosts > 1; i++)
        if (session->rounds[i].index == round && session->rounds[i].host < session->n_hosts)
            return &session->hosts[session->rounds[i].host];
    return &session->host;
}

bool ab_host_is_same(const struct ab_host *a, const struct ab_host *b)
{
    bool is_named = a->name[0] != 0 && b->name[0] != 0;
    return a->fingerprint[0] != 0 && strcmp(a->fingerprint, b->fingerprint) == 0 &&
           (!is_named || strcmp(a->name, b->name) == 0);
}

static const struct ab_host *host_at(const struct ab_session *s, uint32_t i)
{
    return s->n_hosts > 1 ? &s->hosts[i] : &s->host;
}

bool ab_sessions_share_host(const struct ab_session *a, const struct ab_session *b,
                            const struct ab_host **of_a, const struct ab_host **of_b)
{
    for (uint32_t i = 0; i < ab_session_host_count(a); i++)
        for (uint32_t k = 0; k < ab_session_host_count(b); k++)
            if (!ab_host_is_same(host_at(a, i), host_at(b, k))) {
                *of_a = host_at(a, i);
                *of_b = host_at(b, k);
                return false;
            }
    return true;
}

const char *const ab_session_kind_names[AB_SESSION_KIND_COUNT] = {
#define X(id, name, command) [AB_SESSION_##id] = name,
    AB_SESSION_KINDS(X)
#undef X
};
const char *const ab_session_resume_commands[AB_SESSION_KIND_COUNT] = {
#define X(id, name, command) [AB_SESSION_##id] = command,
    AB_SESSION_KINDS(X)
#undef X
};

bool ab_session_is_exec(const struct ab_session *session)
{
    return session->kind == AB_SESSION_EXEC;
}

const char *ab_result_op_name(unsigned op)
{
    return op < AB_OP_KIND_COUNT ? ab_op_kind_name((enum ab_op_kind)op) : "all";
}

bool ab_result_is_waiting(const struct ab_result *r)
{
    return r->wait_percent > 20;
}

bool ab_is_mostly_waiting(double subtracted_percent)
{
    return subtracted_percent > 50;
}

unsigned ab_window_bin(uint64_t ns)
{
    if (ns < 2)
        return (unsigned)ns;
    unsigned e = ab_log2(ns), bin = 2 * e + (unsigned)(ns >> (e - 1) & 1);
    return bin < AB_WINDOW_BINS ? bin : AB_WINDOW_BINS - 1;
}

uint64_t ab_window_bin_low(unsigned bin)
{
    return bin < 2 ? bin : (UINT64_C(2) + (bin & 1)) << (bin / 2 - 1);
}

double ab_result_quantile(const struct ab_hdr *hdr, double q)
{
    /* needed because 1 − 0.9999 is slightly below 0.0001 in binary, but 100,000 samples must
     * suffice for p99.99 */
    const double rounding = 1e-6;
    uint64_t recorded = ab_hdr_total(hdr);
    double n = (double)recorded + (double)hdr->overflow;
    if (recorded == 0 || n * (1 - q) < AB_QUANTILE_MIN_SAMPLES_BEHIND - rounding)
        return NAN;
    if (hdr->overflow == 0)
        return (double)ab_hdr_quantile(hdr, q);
    /* Values that overflowed are larger than all in the counters, so they count in every rank. */
    double rank = fmax(1, ceil(q * n - rounding));
    if (rank > (double)recorded)
        return NAN; /* the value overflowed: it is large, but not known */
    return (double)ab_hdr_quantile(hdr, (rank - 0.5) / (double)recorded);
}
