/* SPDX-License-Identifier: MIT
 *
 * The frozen names of results and the rule which percentiles may be told.
 */
#include "result/result.h"

#include "base/bits.h"
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

const char *ab_backend_own_name(const struct ab_backend_info *b, char buf[AB_BACKEND_NAME_BYTES])
{
    size_t n = strlen(b->name), behind = b->values[0] != 0 ? strlen(b->values) + 1 : 0;
    snprintf(buf, AB_BACKEND_NAME_BYTES, "%.*s", (int)(n - behind), b->name);
    return buf;
}

bool ab_backend_is_named(const struct ab_backend_info *b, const char *own_name)
{
    return b->values[0] == 0 ? strcmp(b->name, own_name) == 0
                             : strcmp(AB_OWN_NAME(b), own_name) == 0;
}

void ab_backend_set_values(struct ab_backend_info *b, const char *values)
{
    char own[AB_BACKEND_NAME_BYTES];
    snprintf(own, sizeof own, "%.*s", AB_BACKEND_NAME_BYTES - 1, b->name);
    snprintf(b->values, sizeof b->values, "%s", values);
    snprintf(b->name, sizeof b->name, "%s%s%s", own, values[0] != 0 ? " " : "", b->values);
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

bool ab_session_is_exec(const struct ab_session *session)
{
    return session->kind != NULL && strcmp(session->kind, AB_KIND_EXEC) == 0;
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
    /* 1 − 0.9999 is a little less than 0.0001 in binary: 100,000 samples must still do. */
    const double rounding = 1e-6;
    uint64_t recorded = ab_hdr_total(hdr);
    double n = (double)recorded + (double)hdr->overflow;
    if (recorded == 0 || n * (1 - q) < AB_QUANTILE_MIN_SAMPLES_BEHIND - rounding)
        return NAN;
    if (hdr->overflow == 0)
        return (double)ab_hdr_quantile(hdr, q);
    /* What overflowed was slower than all that is in the counters, so it moves every rank. */
    double rank = fmax(1, ceil(q * n - rounding));
    if (rank > (double)recorded)
        return NAN; /* beyond what the histogram holds: known to be slow, not how slow */
    return (double)ab_hdr_quantile(hdr, (rank - 0.5) / (double)recorded);
}
