/* SPDX-License-Identifier: MIT
 *
 * The tables of a stored result, and the rules that concern more than one member of a struct.
 * Unknown values are null, never 0 and never missing. A file may be hostile: histograms are decoded
 * and must match their record, references must exist, and every size has a bound.
 */
#include "document/session_record.h"

#include "base/bits.h"
#include "base/limits.h"
#include "core/alloc.h"
#include "core/text.h"
#include "document/checks_json.h"
#include "result/memory_dist.h"
#include "result/merge/merge_rounds.h"
#include "result/merge/shard_part.h"
#include "result/numbers.h"
#include "result/passes.h"
#include "result/result_fields.h"
#include "result/session.h"
#include "result/shown.h"
#include "stats/growth.h"
#include "stats/metric.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef AB_FLAGS
#define AB_FLAGS "" /* the Makefile may define the compiler flags that it used */
#endif
#if defined(__clang__)
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

#define SCHEMA_FAMILY "allocbench/"
#define SCHEMA SCHEMA_FAMILY "2"
#define SCHEMA_OLD SCHEMA_FAMILY "1"

static struct ab_json_node node_of(const struct ab_json_node *o, const char *key)
{
    return (struct ab_json_node){.parent = o, .key = key};
}

static struct ab_session *session_of(const struct ab_reading *x)
{
    return ((struct ab_stored_reader *)x->context)->session;
}

/* Returns the text; "" if the member is missing. */
static const char *text_if_any(const struct ab_reading *x)
{
    return ab_json_has(x->r, x->o, x->m->key) ? ab_json_text(x->r, x->o, x->m->key) : "";
}

/* ---- combinations of values ---- */

/* Writes a value in the form that rows use: "1000", "0.25", "many". Returns false for any other
 * JSON value. */
static bool value_text(const json_t *value, char *buf, size_t cap)
{
    int n = -1;
    if (json_is_integer(value))
        n = snprintf(buf, cap, "%lld", (long long)json_integer_value(value));
    else if (json_is_string(value) && strpbrk(json_string_value(value), " =") == NULL)
        n = snprintf(buf, cap, "%s", json_string_value(value));
    else if (json_is_real(value))
        n = snprintf(buf, cap, "%.6f", json_real_value(value));
    for (int i = n; json_is_real(value) && i-- > 0 && (buf[i] == '0' || buf[i] == '.');) {
        bool is_point = buf[i] == '.';
        buf[i] = 0;
        if (is_point)
            break;
    }
    return n > 0 && (size_t)n < cap;
}

/* Writes the params as "n=1 m=2". They are in the order of `like`, which has the same form; if that
 * is "", in the order of the document. Returns false if a param is missing or invalid, or if they
 * do not fit. */
static bool values_text(const json_t *params, const char *like, char out[AB_VALUES_BYTES])
{
    size_t n = 0, n_params = 0;
    const char *key;
    const json_t *value;
    char text[AB_VALUES_BYTES], name[AB_VALUES_BYTES];
    void *at = json_object_iter((json_t *)(uintptr_t)params);
    while (like[0] != 0 ? *like != 0 : at != NULL) {
        size_t n_name = strcspn(like, "=");
        AB_FIT(name, "%.*s", (int)n_name, like);
        key = like[0] != 0 ? name : json_object_iter_key(at);
        value = json_object_get(params, key);
        if (value == NULL || strpbrk(key, " =") != NULL || !value_text(value, text, sizeof text) ||
            n + strlen(key) + strlen(text) + 2 >= AB_VALUES_BYTES)
            return false;
        n += (size_t)snprintf(out + n, AB_VALUES_BYTES - n, "%s%s=%s", n > 0 ? " " : "", key, text);
        n_params++;
        if (like[0] == 0) {
            at = json_object_iter_next((json_t *)(uintptr_t)params, at);
            continue;
        }
        like += strcspn(like, " ");
        like += *like == ' ';
        if (*like == 0)
            break;
    }
    return n > 0 && n_params == json_object_size(params);
}

/* Writes o.params as "n=1000 m=4"; "" after an error. The order is that of the first
 * combination. */
static void stored_values(struct ab_stored_reader *x, const struct ab_json_node *o,
                          char out[AB_VALUES_BYTES])
{
    const struct ab_session *s = x->session;
    struct ab_json_node at = {.parent = o, .key = "params"};
    /* "" while the first combination itself is read */
    char like[AB_VALUES_BYTES] = ""; /* a copy, because `out` may be the text of the first */
    if (s->n_combinations > 0)
        memcpy(like, s->combinations[0].values, sizeof like);
    if (!values_text(json_object_get(o->json, at.key), like, out)) {
        out[0] = 0;
        ab_json_fail(&x->json, &at,
                     "must be an object with a number or a word for each param that has values");
    }
}

/* Returns the index in s->combinations of the values in o.params. Returns 0 after an error, or if
 * the session has no combinations. */
static uint32_t stored_combination(struct ab_stored_reader *x, const struct ab_json_node *o)
{
    const struct ab_session *s = x->session;
    struct ab_json_node at = {.parent = o, .key = "params"};
    char values[AB_VALUES_BYTES];
    if (s->n_combinations == 0 || x->json.status != AB_OK)
        return 0;
    stored_values(x, o, values);
    for (uint32_t i = 0; i < s->n_combinations && x->json.status == AB_OK; i++)
        if (strcmp(s->combinations[i].values, values) == 0)
            return i;
    ab_json_fail(&x->json, &at, "%s is not among config.combinations",
                 AB_SHOWN(AB_VALUES_BYTES, values));
    return 0;
}

/* Returns the index of the row whose back end o[key] names and whose values are o.params. */
static uint32_t stored_row(struct ab_stored_reader *x, const struct ab_json_node *o,
                           const char *key)
{
    struct ab_json_node at = {.parent = o, .key = key};
    uint32_t combination = stored_combination(x, o);
    const char *name = ab_json_text(&x->json, o, key);
    char shown[160];
    if (x->session->n_combinations == 0)
        return x->json.status == AB_OK ? ab_stored_named(x, &at, name) : 0;
    for (uint32_t i = 0; i < x->session->n_backends && x->json.status == AB_OK; i++)
        if (x->session->backends[i].combination == combination &&
            ab_backend_is_named(&x->session->backends[i], name))
            return i;
    ab_json_fail(&x->json, &at, "\"%s\" is not among the back ends",
                 ab_text_printable(shown, sizeof shown, name));
    return 0;
}

/* ---- references between records ---- */

/* True if the back end of a record has numbers. Each record of a list begins with the index of its
 * back end. */
static bool has_numbers(const void *record, const void *session)
{
    return ab_session_has_numbers(session, *(const uint32_t *)record);
}

static json_t *write_backend(const struct ab_writing *x)
{
    const struct ab_session *s = x->context;
    return ab_json_string(AB_OWN_NAME(&s->backends[*(const uint32_t *)x->record]));
}

static void read_backend(const struct ab_reading *x)
{
    *(uint32_t *)x->record = stored_row(x->context, x->o, x->m->key);
}

/* Returns a number if the text looks like one (digits, or digits around a point), otherwise a
 * string. */
static json_t *param_json(const char *text)
{
    size_t digits = strspn(text, "0123456789"), n = strlen(text);
    bool is_whole = digits == n && n > 0 && n <= 18;
    bool is_real = digits > 0 && text[digits] == '.' && n > digits + 1 && n <= 26 &&
                   digits + 1 + strspn(text + digits + 1, "0123456789") == n;
    if (is_whole)
        return ab_json_integer(strtoull(text, NULL, 10));
    return is_real ? ab_json_real(strtod(text, NULL)) : ab_json_string(text);
}

/* Converts "n=1000 m=many" into {"n": 1000, "m": "many"}; returns NULL for "". */
static json_t *json_params(const char *values)
{
    char text[AB_VALUES_BYTES], *rest = NULL;
    AB_COPY(text, values);
    json_t *o = text[0] != 0 ? json_object() : NULL;
    for (char *p = strtok_r(text, " ", &rest); p != NULL; p = strtok_r(NULL, " ", &rest)) {
        size_t n = strcspn(p, "=");
        bool has_value = p[n] == '=';
        p[n] = 0;
        ab_json_put(o, p, param_json(has_value ? p + n + 1 : ""));
    }
    return o;
}

static json_t *write_params(const struct ab_writing *x)
{
    const struct ab_session *s = x->context;
    return json_params(s->backends[*(const uint32_t *)x->record].values);
}

static void read_phase(const struct ab_reading *x)
{
    char shown[160];
    const struct ab_session *s = session_of(x);
    const char **to = x->p, *name = ab_json_text(x->r, x->o, x->m->key);
    for (uint32_t i = 0; i < s->n_phases && x->r->status == AB_OK; i++)
        if (strcmp(s->phases[i], name) == 0) {
            *to = s->phases[i];
            return;
        }
    *to = "";
    ab_json_fail(x->r, &x->at, "\"%s\" is not among config.phases",
                 ab_text_printable(shown, sizeof shown, name));
}

/* Sets the phase of the copy to the session's own string of that name. */
static void copy_phase(const struct ab_copying *x)
{
    const struct ab_session *s = x->context;
    const char **to = x->p;
    uint32_t i = 0;
    while (i < s->n_phases && strcmp(s->phases[i], *to) != 0)
        i++;
    *to = i < s->n_phases ? s->phases[i] : ab_copied_text(x, *to);
}

static int by_index(const void *key, const void *round)
{
    uint32_t a = *(const uint32_t *)key, b = ((const struct ab_round *)round)->index;
    return (a > b) - (a < b);
}

static void read_round(const struct ab_reading *x)
{
    const struct ab_session *s = session_of(x);
    uint32_t index = (uint32_t)ab_json_whole(x->r, x->o, x->m->key, UINT32_MAX - 1, UINT32_MAX);
    if (s->n_rounds == 0 ||
        bsearch(&index, s->rounds, s->n_rounds, sizeof s->rounds[0], by_index) == NULL)
        ab_json_fail(x->r, &x->at, "no round has this index");
    *(uint32_t *)x->p = index;
}

#define BACKEND(of) \
    AB_RULE("backend", of, backend, .write = write_backend, .read = read_backend, \
            .flags = AB_NEVER_NULL), \
        RULE("params", write_params, NULL, PARAMS, .flags = AB_OMIT)
/* Values of the params, with their names as keys. */
#define PARAMS \
    .values = AB_IS_RULE, \
    .doc = "Values of the params that have lists: sizes in bytes, times in ns, words as texts.", \
    .schema = "{\"type\": \"object\", \"minProperties\": 1, " \
              "\"additionalProperties\": {\"type\": [\"number\", \"string\"]}}"

#define PHASE(of) \
    AB_TEXT("phase", of, phase, .read = read_phase, .copy = copy_phase, .flags = AB_NEVER_NULL)
#define ROUND(of) AB_WHOLE("round", of, round, UINT32_MAX, 0, .read = read_round)
/* A rule that reads or writes the whole record, not one member of the struct. */
#define RULE(k, writing, reading, ...) \
    { \
        .key = (k), .type = AB_IS_RULE, .write = (writing), .read = (reading), __VA_ARGS__ \
    }
#define OP(of, ...) AB_NAME("op", of, op, AB_OP_ALL + 1, .name = ab_result_op_name, __VA_ARGS__)
#define COUNTS(item) .values = AB_IS_WHOLE, .stride = sizeof(item)
#define COUNT(key, of, member, ...) AB_WHOLE(key, of, member, INT64_MAX, UINT64_MAX, __VA_ARGS__)

/* ---- histograms ---- */

static const char histogram_key[] = "hdr_v2";

/* Subtracts the pages of a histogram that are in use from the memory that histograms may take. Most
 * pages of a histogram are never touched. */
static void count_pages(struct ab_stored_reader *x, const struct ab_hdr *hdr)
{
    enum { PAGE_COUNTS = 4096 / sizeof(uint64_t) };
    uint64_t bytes = 4096;
    for (uint32_t i = ab_hdr_first(hdr), page = UINT32_MAX; i < ab_hdr_end(hdr); i++)
        if (hdr->counts[i] != 0) {
            bytes += i / PAGE_COUNTS != page ? 4096 : 0;
            page = i / PAGE_COUNTS;
        }
    x->hdr_bytes_left -= bytes < x->hdr_bytes_left ? bytes : x->hdr_bytes_left;
}

/* Reads a histogram; returns NULL after an error. Removes its text from the document, because such
 * texts are most of a document. */
static struct ab_hdr *read_histogram(struct ab_stored_reader *x, const struct ab_json_node *o)
{
    struct ab_err why;
    struct ab_json_node at = node_of(o, histogram_key);
    const char *text = ab_json_text(&x->json, o, histogram_key);
    if (x->json.status != AB_OK)
        return NULL;
    struct ab_hdr *hdr = ab_hdr_new();
    if (ab_hdr_decode_into_empty(text, hdr, x->room, &why) != AB_OK)
        ab_json_fail(&x->json, &at, "%s", why.text);
    else if (x->hdr_bytes_left == 0)
        ab_json_fail(&x->json, &at, "the histograms need more than %" PRIu64 " MiB of memory",
                     AB_STORED_HISTOGRAMS_MAX >> 20);
    if (x->json.status != AB_OK) {
        free(hdr);
        return NULL;
    }
    json_object_del(o->json, histogram_key);
    count_pages(x, hdr);
    return hdr;
}

/* Reads a histogram that must contain n values. */
static struct ab_hdr *read_histogram_of(struct ab_stored_reader *x, const struct ab_json_node *o,
                                        uint64_t n)
{
    struct ab_json_node n_at = node_of(o, "n");
    struct ab_hdr *hdr = read_histogram(x, o);
    uint64_t total = hdr != NULL ? ab_hdr_total(hdr) : n;
    if (total != n)
        ab_json_fail(&x->json, &n_at, "is %" PRIu64 ", but hdr_v2 holds %" PRIu64 " values", n,
                     total);
    return hdr;
}

/* Sets the exact maximum, if it lies in the counter that has the maximum. HDR V2 does not store the
 * value itself. */
static void refine_max(struct ab_hdr *hdr, uint64_t max)
{
    if (max <= hdr->max && max <= AB_HDR_HIGHEST && ab_hdr_index(max) == ab_hdr_index(hdr->max))
        hdr->max = max;
}

static bool is_empty(const struct ab_hdr *hdr)
{
    return hdr == NULL || ab_hdr_total(hdr) == 0;
}

static json_t *write_histogram(const struct ab_writing *x)
{
    return ab_json_histogram(*(struct ab_hdr *const *)x->p);
}

static json_t *write_histogram_or_null(const struct ab_writing *x)
{
    return is_empty(*(struct ab_hdr *const *)x->p) ? json_null() : write_histogram(x);
}

/* A member that contains a histogram. */
#define HISTOGRAM(of, writing, ...) \
    AB_RULE(histogram_key, of, hdr, .write = (writing), \
            .doc = "HdrHistogram V2, compressed, base64. Values are ns, in memory_distributions " \
                   "multiples of step.", \
            .schema = "{\"pattern\": \"^HISTFA[A-Za-z0-9+/]+=*$\"}", __VA_ARGS__)

static void copy_histogram(const struct ab_copying *x)
{
    struct ab_hdr **to = x->p;
    const struct ab_hdr *from = *to;
    if (from == NULL)
        return;
    *to = ab_hdr_new();
    ab_hdr_merge(*to, from); /* copies only the pages that are in use */
}

/* Numbers that are stored beside a histogram. */
struct timed {
    uint64_t n, overflow, max;
    double mean, quantiles[AB_QUANTILE_COUNT];
    double stats[AB_DIST_STATS], step; /* used for distributions of memory only */
};

static struct timed timed_of(const struct ab_hdr *hdr)
{
    bool has_any = !is_empty(hdr);
    struct timed t = {.n = hdr != NULL ? ab_hdr_total(hdr) : 0,
                      .overflow = hdr != NULL ? hdr->overflow : 0,
                      .max = has_any ? hdr->max : UINT64_MAX,
                      .mean = has_any ? ab_hdr_mean(hdr) : (double)NAN};
    for (unsigned q = 0; q < AB_QUANTILE_COUNT && hdr != NULL; q++)
        t.quantiles[q] = ab_result_quantile(hdr, ab_quantile_values[q]);
    return t;
}

/* Writes those numbers of a histogram for which m->record has members. */
static json_t *write_timed(const struct ab_writing *x)
{
    const struct ab_hdr *hdr = *(struct ab_hdr *const *)x->p;
    struct timed t = timed_of(hdr);
    ab_record_put(x->o, x->m->record, &t, x->context);
    return NULL;
}

static void read_timed(const struct ab_reading *x)
{
    struct ab_hdr **to = x->p;
    struct timed t = {0};
    ab_record_read(x->r, x->o, x->m->record, &t, x->context);
    if ((*to = read_histogram_of(x->context, x->o, t.n)) == NULL)
        return;
    (*to)->overflow = t.overflow;
    refine_max(*to, t.max);
}

#define TIMED(of, table) \
    AB_RULE(NULL, of, hdr, .record = (table), .write = write_timed, .read = read_timed, \
            .copy = copy_histogram, .values = AB_IS_PART), \
        HISTOGRAM(of, write_histogram, .flags = AB_NEVER_NULL)

/* ---- tool and machine ---- */

static const struct ab_member tool_members[] = {
    /* a stored result keeps the version of the allocbench that measured it */
    AB_TEXT("version", struct ab_session, tool.version, .text = AB_VERSION, .flags = AB_NEVER_NULL),
    AB_TEXT("compiler", struct ab_session, tool.compiler, .text = COMPILER),
    AB_TEXT("flags", struct ab_session, tool.flags, .text = AB_FLAGS),
};
AB_TABLE(tool, struct ab_session);

static const struct ab_member host_members[] = {
    AB_CHARS("fingerprint", struct ab_host, fingerprint, AB_SHA256,
             .doc = "SHA-256 of cpu, number of CPUs, kernel and libc: machines with the "
                    "same value are comparable."),
    AB_CHARS("name", struct ab_host, name, .flags = AB_LATER,
             .doc = "Name of the node; only of shards."),
    AB_CHARS("cpu", struct ab_host, cpu),
    AB_WHOLE("cpus_online", struct ab_host, cpus_online, UINT32_MAX, 0, .flags = AB_ZERO),
    AB_WHOLE("cpus_allowed", struct ab_host, cpus_allowed, UINT32_MAX, 0, .flags = AB_ZERO),
    AB_CHARS("kernel", struct ab_host, kernel),
    AB_CHARS("libc", struct ab_host, libc),
    AB_CHARS("os", struct ab_host, os),
    AB_CHARS("governor", struct ab_host, governor),
    AB_CHARS("virt", struct ab_host, virt, .doc = "The hypervisor, or none."),
    AB_CHARS("thp", struct ab_host, thp, .doc = "Transparent huge pages."),
    AB_CHARS("aslr", struct ab_host, aslr,
             .schema = "{\"enum\": [\"off\", \"partial\", \"full\", null]}"),
    AB_WHOLE("memory_bytes", struct ab_host, memory_bytes, INT64_MAX, 0, .flags = AB_ZERO),
    AB_WHOLE("page_bytes", struct ab_host, page_bytes, INT64_MAX, 0, .flags = AB_ZERO),
    AB_NUMBER("load_1min", struct ab_host, load_1min, .doc = "Before the first run."),
};
AB_TABLE(host, struct ab_host);

static json_t *write_null_params(const struct ab_writing *x)
{
    const struct ab_session *s = x->context;
    const struct ab_null_cost *null = x->record;
    return s->n_combinations > 0 ? json_params(s->combinations[null->combination].values) : NULL;
}

static void read_null_params(const struct ab_reading *x)
{
    struct ab_null_cost *null = x->record;
    null->combination = stored_combination(x->context, x->o);
}

static const struct ab_member null_members[] = {
    PHASE(struct ab_null_cost),
    RULE("params", write_null_params, read_null_params, PARAMS, .flags = AB_OMIT),
    AB_WORD("boundary", struct ab_null_cost, boundary, AB_BOUNDARY_COUNT,
            .names = ab_boundary_names),
    AB_CHARS("placement", struct ab_null_cost, placement, .flags = AB_LATER, AB_SHA256,
             .doc = "The rows of several heaps whose harness this is; null = all rows "
                    "at the boundary."),
    ROUND(struct ab_null_cost),
    COUNT("n_ops", struct ab_null_cost, n_ops),
    AB_NUMBER("ns_per_op", struct ab_null_cost, ns_per_op),
    AB_NUMBER("wall_ns_per_op", struct ab_null_cost, wall_ns_per_op, .flags = AB_LATER),
    AB_NUMBER("latency_pass_ns_per_op", struct ab_null_cost, latency_pass_ns_per_op),
    AB_NUMBER("floor_ns", struct ab_null_cost, floor_ns, .doc = "Median of the timed empty ops."),
    AB_NUMBER("floor_mean_ns", struct ab_null_cost, floor_mean_ns, .flags = AB_LATER,
              .doc = "The trimmed mean instead of the median."),
    AB_NUMBER("instr_per_op", struct ab_null_cost, instr_per_op, .flags = AB_LATER,
              .doc = "With --instr."),
};
AB_TABLE(null, struct ab_null_cost);

static const struct ab_member timer_members[] = {
    AB_TEXT("source", struct ab_session, timer.source),
    AB_NUMBER("ns_per_tick", struct ab_session, timer.ns_per_tick),
    AB_NUMBER("floor_ns", struct ab_session, timer.floor_ns, .doc = "Median of timing nothing."),
    AB_NUMBER("quantum_ns", struct ab_session, timer.quantum_ns, .doc = "Step of the counter."),
    AB_LIST("null", struct ab_session, nulls, n_nulls, AB_STORED_RECORDS_MAX,
            .record = &null_record, .doc = "The cost of the harness itself: the null back end."),
};
AB_TABLE(timer, struct ab_session);

static const struct ab_member counting_members[] = {
    AB_CHARS("method", struct ab_counting, method,
             .schema = "{\"enum\": [\"callgrind\", \"cpu counter\", null]}",
             .doc = "Null: reason says why."),
    AB_WHOLE("n_ops", struct ab_counting, n_ops, INT64_MAX, 0, .flags = AB_ZERO),
    AB_CHARS("reason", struct ab_counting, reason),
};
AB_TABLE(counting, struct ab_counting);

static const struct ab_member noise_members[] = {
#define NUMBER(name, ...) AB_NUMBER(#name, struct ab_noise, name, __VA_ARGS__)
    NUMBER(runs),
    NUMBER(wall_s, .doc = "Of the measured phases."),
    NUMBER(cpu_s, .doc = "Of these: CPU time of the threads that ran the ops."),
    NUMBER(slices_s, .doc = "Measured between readings of the canary: one thread."),
    NUMBER(quiet_s, .doc = "Of these: nothing else used the core."),
    NUMBER(waited_s, .doc = "For quiet, between slices."),
    NUMBER(interruptions, .doc = "Something else ran on the CPU between slices."),
    NUMBER(switches_involuntary),
    NUMBER(canary_quiet_ns, .doc = "The canary, undisturbed."),
#undef NUMBER
};
AB_TABLE(noise, struct ab_noise);

/* ---- the work ---- */

static json_t *write_kinds(const struct ab_writing *x)
{
    const struct ab_facts *facts = x->p;
    json_t *kinds = json_array();
    for (unsigned k = 0; k < AB_OP_KIND_COUNT; k++)
        if ((facts->kinds >> k & 1) != 0)
            ab_json_append(kinds, ab_json_string(ab_result_op_name(k)));
    return kinds;
}

static void read_kinds(const struct ab_reading *x)
{
    struct ab_facts *facts = x->p;
    struct ab_json_node list = ab_json_array(x->r, x->o, x->m->key);
    size_t n = ab_json_count(x->r, &list, AB_OP_KIND_COUNT);
    for (size_t i = 0; i < n; i++) {
        struct ab_json_node item = ab_json_item(&list, i);
        const char *name = json_string_value(item.json);
        unsigned k = 0;
        while (name != NULL && k < AB_OP_KIND_COUNT && strcmp(name, ab_result_op_name(k)) != 0)
            k++;
        if (name == NULL || k == AB_OP_KIND_COUNT)
            ab_json_fail(x->r, &item, "must be the name of an op");
        else
            facts->kinds |= 1u << k;
    }
}

static const struct ab_member kind_members[] = {
    {.type = AB_IS_NAME, .most = AB_OP_ALL, .name = ab_result_op_name},
};
AB_TABLE(kind, unsigned);

static const char *const counts_names[] = {NULL, "ops"};
static const struct ab_member tape_members[] = {
    COUNT("n_ops", struct ab_session, n_tape_ops),
    AB_NAME("counts", struct ab_session, counts_ops, 2, .names = counts_names,
            AB_WHEN(struct ab_session, counts_ops), .flags = AB_OMIT,
            .doc = "ops: n_ops and every position count operations, as n_ops of "
                   "results does. Not in older results, which count page touches and "
                   "waits as well, so nothing is compared with them by position."),
    AB_WHOLE("n_slots", struct ab_session, n_slots, UINT32_MAX, 0,
             .doc = "Most blocks that have a name at one time."),
    AB_WHOLE("lanes", struct ab_session, facts.lanes, UINT32_MAX, 0),
    COUNT("largest_bytes", struct ab_session, facts.largest_bytes),
    COUNT("largest_align", struct ab_session, facts.largest_align, .doc = "0 = natural."),
    COUNT("live_peak_blocks", struct ab_session, facts.live_peak_blocks),
    COUNT("live_peak_bytes", struct ab_session, facts.live_peak_bytes, .doc = "Requested bytes."),
    COUNT("total_blocks", struct ab_session, facts.total_blocks),
    COUNT("total_bytes", struct ab_session, facts.total_bytes,
          .doc = "Requested bytes; a resize counts with its new size."),
    AB_RULE("kinds", struct ab_session, facts, .write = write_kinds, .read = read_kinds,
            .values = AB_IS_LIST, .record = &kind_record),
};
AB_TABLE(tape, struct ab_session);

json_t *ab_json_passes(const struct ab_pass_plan *plan)
{
    if (!plan->is_known)
        return json_null();
    json_t *o = json_object();
#define PUT(pass) \
    if (pass != AB_PASS_THROUGHPUT) \
        ab_json_put(o, ab_pass_names[pass], \
                    plan->rounds[pass] == AB_EVERY_ROUND ? ab_json_string("all") \
                                                         : ab_json_integer(plan->rounds[pass]));
    AB_ROUND_PASSES(PUT)
#undef PUT
    return o;
}

static json_t *write_passes(const struct ab_writing *x)
{
    return ab_json_passes(x->p);
}

#define ROUNDS_SCHEMA "{\"anyOf\": [{\"const\": \"all\"}, {\"type\": \"integer\", \"minimum\": 0}]}"
#define PASSES_SCHEMA \
    "{\"type\": [\"object\", \"null\"], \"required\": [\"latency\", \"tail\", \"memory\"], " \
    "\"additionalProperties\": false, \"properties\": {\"latency\": " ROUNDS_SCHEMA \
    ", \"tail\": " ROUNDS_SCHEMA ", \"memory\": " ROUNDS_SCHEMA "}}"

/* Reads a number of rounds; "all" becomes AB_EVERY_ROUND. */
static uint32_t read_rounds_of(struct ab_json_reader *r, const struct ab_json_node *o,
                               const char *key)
{
    const char *text = json_string_value(json_object_get(o->json, key));
    if (text != NULL && strcmp(text, "all") == 0)
        return AB_EVERY_ROUND;
    return (uint32_t)ab_json_whole(r, o, key, AB_EVERY_ROUND, AB_EVERY_ROUND);
}

/* Reads the pass plan. Older results have none, because in these every pass ran in every round. */
static void read_passes(const struct ab_reading *x)
{
    struct ab_pass_plan *plan = x->p;
    if (!ab_json_has_value(x->r, x->o, x->m->key))
        return;
    struct ab_json_node o = ab_json_object(x->r, x->o, x->m->key);
    plan->is_known = true;
#define READ(pass) \
    plan->rounds[pass] = pass == AB_PASS_THROUGHPUT \
                             ? AB_EVERY_ROUND \
                             : read_rounds_of(x->r, &o, ab_pass_names[pass]);
    AB_ROUND_PASSES(READ)
#undef READ
}

/* True if a rule ends the session. If the number of rounds was fixed, the member is null. */
static bool has_stopping(const void *session, const void *context)
{
    const struct ab_stopping *stopping = &((const struct ab_session *)session)->stopping;
    (void)context;
    return stopping->time_budget_s > 0 || stopping->precision > 0;
}

static void check_stopping(const struct ab_reading *x)
{
    struct ab_stopping *stopping = x->record;
    stopping->time_budget_s = fmax(stopping->time_budget_s, 0); /* fmax ignores NaN */
    stopping->precision = fmax(stopping->precision, 0);
    stopping->spent_s = fmax(stopping->spent_s, 0);
}

static const struct ab_member stopping_members[] = {
    AB_NUMBER("time_budget_s", struct ab_stopping, time_budget_s, .flags = AB_ZERO),
    AB_NUMBER("precision", struct ab_stopping, precision, .flags = AB_ZERO,
              .doc = "Half of the width of the intervals: 0.02 = 2 %."),
    AB_WHOLE("rounds_most", struct ab_stopping, n_rounds_most, UINT32_MAX, 0),
    AB_NUMBER("spent_s", struct ab_stopping, spent_s),
    AB_NAME("ended", struct ab_stopping, ended, AB_ENDED_COUNT, .names = ab_ended_names,
            .flags = AB_WRITTEN_ALWAYS | AB_ZERO | AB_LATER,
            .doc = "rounds: the most were run, or 10 with nothing left to compare; "
                   "null = not yet."),
};
AB_TABLE(stopping, struct ab_stopping, .check = check_stopping);

/* Writes "2/4". */
static json_t *write_shard(const struct ab_writing *x)
{
    const struct ab_run_shard *shard = x->p;
    char text[32];
    AB_FIT(text, "%u/%u", shard->index, shard->count);
    return shard->count > 0 ? ab_json_string(text) : json_null();
}

static void read_shard(const struct ab_reading *x)
{
    struct ab_run_shard shard = {0};
    const char *text = text_if_any(x);
    char again[32] = "";
    if (text[0] == 0)
        return;
    if (sscanf(text, "%5u/%5u", &shard.index, &shard.count) == 2 && shard.index >= 1 &&
        shard.index <= shard.count && shard.count <= AB_SHARDS_MAX)
        AB_FIT(again, "%u/%u", shard.index, shard.count);
    if (strcmp(again, text) != 0)
        ab_json_fail(x->r, &x->at, "must be a part of a number, such as \"1/4\"");
    else
        *(struct ab_run_shard *)x->p = shard;
}

#define SHARD(of, ...) \
    AB_RULE("shard", of, shard, .write = write_shard, .read = read_shard, \
            .schema = "{\"pattern\": \"^[1-9][0-9]*/[1-9][0-9]*$\"}", __VA_ARGS__)

static const struct ab_member part_members[] = {
    AB_TEXT("file", struct ab_part, file),
    AB_CHARS("sha256", struct ab_part, sha256, AB_SHA256),
    SHARD(struct ab_part),
    AB_WHOLE("host", struct ab_part, host, UINT32_MAX, 0, .doc = "Index of hosts."),
    AB_WHOLE("n_rounds", struct ab_part, n_rounds, UINT32_MAX, 0),
};
AB_TABLE(part, struct ab_part);

static const struct ab_member resumption_members[] = {
    AB_TEXT("resumed_from", struct ab_session, resumed_from, .flags = AB_ZERO,
            .doc = "The result that the first rounds were taken from."),
    AB_WHOLE("rounds_resumed", struct ab_session, n_rounds_resumed, UINT32_MAX, 0),
};
AB_TABLE(resumption, struct ab_session);

/* The lanes of the work: their CPUs, order, window and edges. */
static const struct ab_member lane_members[] = {
    AB_LIST("cpus", struct ab_session, cpus, n_cpus, AB_STORED_CPUS_MAX, .values = AB_IS_INDEX,
            .stride = sizeof(int), .flags = AB_NEVER_NULL, .text = "must be the number of a CPU",
            .doc = "CPUs that the lanes took in turn."),
    AB_NAME("order", struct ab_session, is_strict, 2, .names = ab_order_names,
            .doc = "free: lanes run within the window; strict: in the exact order, "
                   "without latencies."),
    AB_WHOLE("window", struct ab_session, window, UINT32_MAX, 0,
             .doc = "Ops that lanes may run ahead of each other, in the narrowest "
                    "phase; 0 = one lane, or not bounded."),
    AB_FLAG("window_given", struct ab_session, is_window_given, .unknown = true, .flags = AB_LATER,
            .doc = "By --window; otherwise it follows from the live bytes."),
    COUNT("n_edges", struct ab_session, n_edges, .doc = "Waits for another lane's block."),
    COUNT("n_remote", struct ab_session, n_remote, .doc = "Frees and resizes by another lane."),
    COUNT("thread_ends_left_out", struct ab_session, thread_ends_left_out, .flags = AB_LATER,
          .doc = "Ends of recorded threads that the replay leaves out, because the "
                 "lane plays other threads at the same time (--threads); null = "
                 "older result."),
    AB_COUNT(struct ab_session, program_cpu_ns, AB_WHEN(struct ab_session, program_cpu_ns),
             .flags = AB_OMIT,
             .doc = "CPU time of the recorded program, without that of recording; only "
                    "of replays, if the trace has it."),
    AB_COUNT(struct ab_session, program_calls, AB_WHEN(struct ab_session, program_calls),
             .flags = AB_OMIT,
             .doc = "Calls that the recorded program made; only of replays, if the "
                    "trace has it."),
    AB_COUNT(struct ab_session, anonymous_bytes, AB_WHEN(struct ab_session, anonymous_bytes),
             .flags = AB_OMIT,
             .doc = "Largest reading of the anonymous memory of the program: of a "
                    "replay the recorded one, of exec its first, untimed run; absent if "
                    "not known."),
    AB_WHOLE("unasked_bytes", struct ab_session, unasked_bytes, INT64_MAX, UINT64_MAX,
             AB_WHEN(struct ab_session, anonymous_bytes), .flags = AB_OMIT,
             .doc = "How much of that was not asked of malloc."),
    AB_TEXT("base", struct ab_session, base, .flags = AB_ZERO | AB_LATER,
            .doc = "Of --base; null = glibc, otherwise the first."),
};
AB_TABLE(lane, struct ab_session);

#define TEXTS(key, member, ...) \
    AB_MEMBER(LIST, key, struct ab_session, member, .most = AB_STORED_PHASES_MAX, \
              .values = AB_IS_TEXT, .stride = sizeof(const char *), .text = "must be a string", \
              .flags = AB_ENDS, __VA_ARGS__)

static json_t *write_values(const struct ab_writing *x)
{
    return json_params(x->p);
}

static void read_values(const struct ab_reading *x)
{
    stored_values(x->context, x->o, x->p);
}

static const struct ab_member combination_members[] = {
    AB_RULE("params", struct ab_combination, values, .write = write_values, .read = read_values,
            PARAMS),
    AB_CHARS("tape_sha256", struct ab_combination, tape_sha256, AB_SHA256),
    COUNT("n_ops", struct ab_combination, n_ops),
    AB_WHOLE("lanes", struct ab_combination, lanes, UINT32_MAX, 0),
    COUNT("live_peak_blocks", struct ab_combination, live_peak_blocks),
    COUNT("live_peak_bytes", struct ab_combination, live_peak_bytes),
};
const struct ab_record ab_combination_record = AB_RECORD_OF(struct ab_combination,
                                                            combination_members);

/* Metrics that the user defined for a server's load: their names, and which direction is better. */
static const char *const better_names[] = {
    [AB_FIELD_LOWER] = "lower", [AB_FIELD_HIGHER] = "higher"};
static const struct ab_member named_members[] = {
    AB_TEXT("name", struct ab_field, name, .flags = AB_NEVER_NULL),
    AB_TEXT("unit", struct ab_field, unit, .flags = AB_NEVER_NULL | AB_SHOWN),
    AB_NAME("better", struct ab_field, better, 2, .names = better_names),
};
AB_TABLE(named, struct ab_field);

static json_t *write_metrics(const struct ab_writing *x)
{
    const struct ab_session *s = x->record;
    json_t *list = s->n_named > 0 ? json_array() : NULL;
    for (uint32_t i = 0; i < s->n_named; i++)
        ab_json_append(list, ab_record_json(&named_record, s->named[i], s));
    return list;
}

static void read_metrics(const struct ab_reading *x)
{
    struct ab_session *s = x->record;
    if (!ab_json_has(x->r, x->o, x->m->key))
        return;
    struct ab_json_node list = ab_json_array(x->r, x->o, x->m->key);
    size_t n = ab_json_count(x->r, &list, AB_NAMED_MAX);
    for (size_t i = 0; i < n && x->r->status == AB_OK; i++) {
        struct ab_json_node item = ab_json_item_object(x->r, &list, i);
        struct ab_field field = {.name = ""};
        ab_record_read(x->r, &item, &named_record, &field, x->context);
        if (x->r->status != AB_OK)
            return;
        s->named[i] = ab_named_field(field.name, field.better);
        if (s->named[i] == NULL)
            ab_json_fail(x->r, &item, "must have a valid name, and there can be at most %d metrics",
                         AB_NAMED_MAX);
        else
            s->n_named++;
    }
}

static const struct ab_member build_members[] = {
    AB_TEXT("name", struct ab_program_build, name, .flags = AB_NEVER_NULL),
    AB_TEXT("command", struct ab_program_build, command, .flags = AB_NEVER_NULL,
            .doc = "As given; (left out) with --no-command-line."),
    AB_CHARS("sha256", struct ab_program_build, sha256, AB_SHA256, .doc = "Of the file."),
};
AB_TABLE(build, struct ab_program_build);

static const struct ab_member config_members[] = {
    AB_NAME("kind", struct ab_session, kind, AB_SESSION_KIND_COUNT, .names = ab_session_kind_names,
            .flags = AB_ZERO),
    AB_TEXT("name", struct ab_session, name,
            .doc = "As the workload says; of a trace its file name."),
    AB_TEXT("about", struct ab_session, about, .doc = "As the workload says."),
    AB_TEXT("path", struct ab_session, config_path, .doc = "Of the file."),
    AB_TEXT("sha256", struct ab_session, config_sha256, AB_SHA256, .doc = "Of the file."),
    AB_TEXT("text", struct ab_session, config_text, .doc = "The workload file itself."),
    AB_TEXT("tape_sha256", struct ab_session, tape_sha256, AB_SHA256,
            .doc = "Digest of the compiled ops, which names the work: the same digest, "
                   "exactly the same ops. With combinations it is the digest of "
                   "theirs, each with a line feed."),
    AB_RECORD_HERE("tape", &tape_record,
                   .doc = "The compiled ops; with combinations the most of any."),
    AB_LIST("combinations", struct ab_session, combinations, n_combinations, AB_COMBINATIONS_MAX,
            .record = &ab_combination_record, AB_WHEN(struct ab_session, n_combinations),
            .flags = AB_OMIT,
            .doc = "The work of each combination of values, if params have lists of "
                   "values."),
    AB_LIST("programs", struct ab_session, programs, n_programs, AB_PROGRAMS_MAX,
            .record = &build_record, AB_WHEN(struct ab_session, n_programs), .flags = AB_OMIT,
            .doc = "The builds that are compared (exec --program); path and sha256 are "
                   "those of the first."),
    TEXTS("phases", phases, .n_offset = offsetof(struct ab_session, n_phases),
          .n_bytes = sizeof(uint32_t), .doc = "The measured phases, in order."),
    TEXTS("settings", settings,
          .doc = "NAME=VALUE. Of a workload its final params. Of a trace: touch (the "
                 "mode that --touch came to: page, recorded, auto ...), untouched "
                 "(most live bytes of large zeroed blocks that were not written to), "
                 "burst=N calls, M of them (unless it was held whole). Of a program: "
                 "stdin, prepare, check_output, output_bytes, output_xxh128 (XXH3 of "
                 "its standard output), inside, instr (the caches that callgrind "
                 "simulated), replayed (how much of the trace of --trace, if not "
                 "all)."),
    AB_TEXT("command_line", struct ab_session, command_line,
            .doc = "Quoted for a shell, with all arguments."),
    AB_WHOLE("rounds_planned", struct ab_session, n_rounds_planned, UINT32_MAX, 0,
             .doc = "Asked for; if a rule ended the run, those that ran; of divided "
                    "rounds the number of their parts."),
    AB_RULE("passes", struct ab_session, passes, .write = write_passes, .read = read_passes,
            .values = AB_IS_RULE, .flags = AB_LATER, .schema = PASSES_SCHEMA,
            .doc = "Rounds in which each pass ran: all, or the first so many; null = "
                   "older result, in which every pass ran in every round."),
    AB_RECORD("stopping", struct ab_session, stopping, &stopping_record, .has = has_stopping,
              .flags = AB_LATER, .schema = "{\"additionalProperties\": false}",
              .doc = "The rule that ends the run; null = the number of rounds was fixed."),
    AB_PART(&resumption_record, .flags = AB_LATER),
    RULE("metrics", write_metrics, read_metrics, .values = AB_IS_LIST, .record = &named_record,
         .most = AB_NAMED_MAX, .flags = AB_OMIT,
         .doc = "Numbers of a server that the user named (--metric)."),
    AB_INDEX("cpu", struct ab_session, cpu, .doc = "CPU of lane 0; null = not pinned."),
    SHARD(struct ab_session, .flags = AB_LATER,
          .doc = "2/4 is the second of four parts; null = all rounds."),
    AB_LIST("parts", struct ab_session, parts, n_parts, AB_SHARDS_MAX, .record = &part_record,
            AB_WHEN(struct ab_session, n_parts), .flags = AB_OMIT,
            .doc = "The results that were merged into this one."),
    AB_PART(&lane_record, .flags = AB_LATER),
};
AB_TABLE(config, struct ab_session);

/* ---- back ends ---- */

static void append_parts(json_t *list, const char *s, size_t n, char separator)
{
    char part[sizeof((struct ab_backend_info *)0)->settings];
    for (size_t i = 0, begin = 0; i <= n; i++) {
        if (i < n && s[i] != separator)
            continue;
        AB_FIT(part, "%.*s", (int)(i - begin), s + begin);
        if (i > begin)
            ab_json_append(list, ab_json_string(part));
        begin = i + 1;
    }
}

/* Writes the settings in a name such as "keep=8:spare=0{A=b;C=d}" as a list of texts, for other
 * programs. allocbench itself reads them from the name. */
static json_t *write_settings(const struct ab_writing *x)
{
    const char *s = x->p;
    json_t *list = json_array();
    size_t n = strcspn(s, "{"), all = strlen(s);
    append_parts(list, s, n, ':');
    if (n < all && s[all - 1] == '}')
        append_parts(list, s + n + 1, all - n - 2, ';');
    return list;
}

static const struct ab_member growth_members[] = {
    AB_NUMBER("bytes_per_million_ops", struct ab_growth, bytes, .flags = AB_SIGNED,
              .doc = "Median of the rounds. Of each round it is the Theil-Sen slope of "
                     "the second half (a fifth of all ops at least) of the longest "
                     "stretch with requested bytes within a tenth."),
    AB_NUMBER("over_ops", struct ab_growth, over_ops, .doc = "The least of the rounds."),
    AB_TEXT("reason", struct ab_growth, why),
};
AB_TABLE(growth, struct ab_growth);

static json_t *write_growth(const struct ab_writing *x)
{
    const struct ab_session *s = x->context;
    const struct ab_backend_info *b = x->record;
    if (s->n_timelines == 0)
        return NULL;
    struct ab_growth growth = ab_growth_of(s, (uint32_t)(b - s->backends), AB_GROWTH_ALL_ROUNDS);
    return ab_record_json(&growth_record, &growth, x->context);
}

static const struct ab_member heap_members[] = {
    AB_CHARS("name", struct ab_mapped_heap, name, .flags = AB_NEVER_NULL),
    AB_CHARS("keys", struct ab_mapped_heap, keys, .flags = AB_LATER,
             .doc = "The keys of its rules."),
    AB_CHARS("version", struct ab_mapped_heap, version, .flags = AB_LATER),
    AB_CHARS("build_id", struct ab_mapped_heap, build_id, .flags = AB_LATER),
    AB_WHOLE("n_requests", struct ab_mapped_heap, n_requests, INT64_MAX, 0),
    AB_WHOLE("requested_bytes", struct ab_mapped_heap, requested_bytes, INT64_MAX, 0),
    AB_WHOLE("live_peak_blocks", struct ab_mapped_heap, live_peak_blocks, INT64_MAX, 0),
    AB_WHOLE("live_peak_bytes", struct ab_mapped_heap, live_peak_bytes, INT64_MAX, 0),
};
AB_TABLE(heap, struct ab_mapped_heap);

static const struct ab_member map_members[] = {
    AB_CHARS("rules", struct ab_backend_info, map, .flags = AB_NEVER_NULL,
             .doc = "The first rule that fits decides."),
    AB_CHARS("placement", struct ab_backend_info, rules.placement, .flags = AB_LATER, AB_SHA256,
             .doc = "Digest; rows of the same placement share a null."),
    AB_ARRAY("heaps", struct ab_backend_info, heaps, n_heaps, AB_PLACEMENT_HEAPS_MAX,
             .record = &heap_record, .doc = "The heaps; their numbers are exact."),
    AB_ARRAY("rule_requests", struct ab_backend_info, rules.n_requests, rules.n,
             AB_PLACEMENT_RULES_MAX, COUNTS(uint64_t), .text = "must be a whole number, 0 or more",
             .flags = AB_LATER | AB_NEVER_NULL, .doc = "Requests by rule; not in older results."),
};
AB_TABLE(map, struct ab_backend_info);

/* A number of the aged heap; null if no run of the back end got as far as allocating the heap. */
#define MADE(member, ...) \
    AB_WHOLE(#member, struct ab_backend_info, aged.member, INT64_MAX, 0, \
             AB_WHEN(struct ab_backend_info, aged.made_blocks), __VA_ARGS__)
static const struct ab_member aging_members[] = {
    AB_NUMBER("occupancy", struct ab_backend_info, aging.occupancy, .flags = AB_NEVER_NULL,
              .schema = "{\"minimum\": 0.01, \"maximum\": 0.95}"),
    AB_NUMBER("multiple", struct ab_backend_info, aging.multiple, .flags = AB_NEVER_NULL,
              .schema = "{\"exclusiveMinimum\": 0}"),
    AB_WHOLE("seed", struct ab_backend_info, aging.seed, INT64_MAX, 0),
    MADE(blocks, .doc = "Those that stay until the end."),
    MADE(bytes),
    MADE(made_blocks, .doc = "Allocated before the work; null = no run allocated them."),
    MADE(made_bytes),
};
#undef MADE
AB_TABLE(aging, struct ab_backend_info);

static const struct ab_member proof_members[] = {
    AB_CHARS("setting", struct ab_setting, text, .flags = AB_NEVER_NULL,
             .doc = "MALLOC_CONF=narenas:1"),
    AB_NAME("proof", struct ab_setting, state, AB_SETTING_STATE_COUNT,
            .names = ab_setting_state_names,
            .doc = "proven: the library reports that it is in force, and its manual "
                   "says that it has an effect. not proven: one of the two is missing "
                   "(reason). ignored: the row fails (reason)."),
    AB_CHARS("reason", struct ab_setting, why),
};
AB_TABLE(proof, struct ab_setting);

/* Checks that the list of programs has the program of this row, and copies its digest to the
 * row. */
static void check_program(const struct ab_reading *x, struct ab_backend_info *b)
{
    const struct ab_session *s = session_of(x);
    const char *sha256 = s->kind == AB_SESSION_EXEC ? s->config_sha256 : NULL;
    uint32_t i = 0;
    while (i < s->n_programs && strcmp(s->programs[i].name, b->program) != 0)
        i++;
    if (i == s->n_programs && (b->program[0] != 0 || s->n_programs > 0))
        ab_json_fail(x->r, x->o, "has no program of config.programs");
    else if (s->n_programs > 0)
        sha256 = s->programs[i].sha256;
    if (sha256 != NULL)
        AB_COPY(b->program_sha256, sha256);
}

static void check_backend(const struct ab_reading *x)
{
    struct ab_backend_info *b = x->record, *all = session_of(x)->backends;
    AB_COPY(b->settings, ab_backend_settings(b->full_name[0] != 0 ? b->full_name : b->name));
    if (b->name[0] == 0 || strlen(b->name) >= AB_BACKEND_NAME_BYTES)
        ab_json_fail(x->r, x->o, "has no name, or one of more than %d bytes",
                     AB_BACKEND_NAME_BYTES - 1);
    check_program(x, b);
    b->combination = stored_combination(x->context, x->o);
    if (session_of(x)->n_combinations > 0)
        ab_backend_set_values(b, session_of(x)->combinations[b->combination].values);
    for (size_t k = 0; k < x->o->index; k++)
        if (strcmp(all[k].name, b->name) == 0)
            ab_json_fail(x->r, x->o, "has the name of backends[%zu]", k);
}

static json_t *write_own_name(const struct ab_writing *x)
{
    return ab_json_string(AB_OWN_NAME((const struct ab_backend_info *)x->record));
}

static const struct ab_member backend_members[] = {
    AB_CHARS("name", struct ab_backend_info, name, .write = write_own_name, .flags = AB_NEVER_NULL,
             .doc = "As asked for."),
    AB_CHARS("full_name", struct ab_backend_info, full_name, .flags = AB_OMIT,
             .when = offsetof(struct ab_backend_info, full_name), .when_bytes = 1,
             .doc = "What a row stands for that was given a name: jemalloc{A=b} of "
                    "bg=jemalloc{A=b}; otherwise no such key."),
    AB_RULE("params", struct ab_backend_info, values, .write = write_values, PARAMS,
            .flags = AB_OMIT),
    AB_CHARS("program", struct ab_backend_info, program, .flags = AB_OMIT,
             .when = offsetof(struct ab_backend_info, program), .when_bytes = 1,
             .doc = "Which of config.programs the row runs (exec --program)."),
    AB_CHARS("version", struct ab_backend_info, version,
             .doc = "Of what served the ops, as the worker found it."),
    AB_CHARS("path", struct ab_backend_info, path),
    AB_CHARS("build_id", struct ab_backend_info, build_id),
    AB_NUMBER("library_bytes", struct ab_backend_info, library_bytes, .flags = AB_ZERO | AB_LATER,
              .doc = "Resident bytes that preloading the library adds to a process "
                     "before its first block, its files included; no row of memory "
                     "includes them. Null where nothing is preloaded (glibc, built-ins, "
                     "plug-ins), without the throughput pass, and in exec, where they "
                     "are part of the program's peak."),
    AB_NUMBER("library_private_bytes", struct ab_backend_info, library_private_bytes,
              .flags = AB_ZERO | AB_LATER, .doc = "Those of library_bytes that are private."),
    AB_NAME("status", struct ab_backend_info, status, AB_BACKEND_STATUS_COUNT,
            .names = ab_backend_status_names,
            .doc = "partial: no function for some op. oom: out of memory, or would be. "
                   "failed_check: wrong alignment, content ..., not measured. "
                   "nonconforming: failed its checks, measured by --allow-broken, in "
                   "no comparison. decorated: checked+NAME or fault+NAME, whose time "
                   "is no measurement."),
    AB_CHARS("reason", struct ab_backend_info, reason, .doc = "Why the status is not ok."),
    AB_WORD("boundary", struct ab_backend_info, boundary, AB_BOUNDARY_COUNT,
            .names = ab_boundary_names, .flags = AB_ZERO,
            .doc = "inline, cursor: compiled into the loop, plain or by its cursor. "
                   "routed: several back ends (map). Each boundary has its null."),
    AB_RULE("settings", struct ab_backend_info, settings, .write = write_settings,
            .values = AB_IS_LIST, .flags = AB_LATER,
            .doc = "What was set: parameters (reserve=1GiB), prefix=mi_, environment "
                   "(A=b)."),
    AB_ARRAY("proofs", struct ab_backend_info, proofs, n_proofs, AB_SETTINGS_MAX,
             .record = &proof_record, AB_WHEN(struct ab_backend_info, n_proofs), .flags = AB_OMIT,
             .doc = "Whether each setting of the environment is in force; no such key "
                    "if there is none."),
    AB_FLAG("never_frees", struct ab_backend_info, never_frees,
            .doc = "Gives nothing back before a reset."),
    AB_FLAG("has_reset", struct ab_backend_info, has_reset, .flags = AB_LATER,
            .doc = "Resets in bulk; otherwise block by block, in the same number of "
                   "ops."),
    AB_FLAG("was_named", struct ab_backend_info, was_named,
            .doc = "Asked for by name, so that its failure is exit 4."),
    AB_FLAG("verified", struct ab_backend_info, is_verified, .flags = AB_OMIT,
            .doc = "This build had passed verify; otherwise no such key."),
    AB_ARRAY("verify_failed", struct ab_backend_info, verify_failed, n_verify_failed,
             AB_VERIFY_FAILED_MAX, .values = AB_IS_CHARS, .stride = AB_VERIFY_NAME_BYTES,
             .text = "must be a string", AB_WHEN(struct ab_backend_info, n_verify_failed),
             .flags = AB_OMIT,
             .doc = "Checks that this build failed when verify last ran with it; no "
                    "such key if none is known."),
    AB_CHARS("package", struct ab_backend_info, package, .doc = "What to install if it is absent."),
    AB_CHARS("caveat", struct ab_backend_info, caveat, .flags = AB_LATER,
             .doc = "What it is known to do wrong outside this work."),
    AB_CHARS("sized_free", struct ab_backend_info, sized_free, .flags = AB_OMIT,
             .when = offsetof(struct ab_backend_info, sized_free), .when_bytes = 1,
             .doc = "The function that serves fn: sized; free if the library has none "
                    "of its own. No such key if the work has no such frees or the back "
                    "end always takes the size."),
    AB_CHARS("clock", struct ab_backend_info, clock, .flags = AB_OMIT,
             .when = offsetof(struct ab_backend_info, clock), .when_bytes = 1,
             .schema = "{\"enum\": [\"virtual\", \"none\", \"real\"]}",
             .doc = "The clock by which the library ran in the memory pass, only of "
                    "work with times. none: it asked for none. real: that of the "
                    "system, and clock_reason says why."),
    AB_CHARS("clock_reason", struct ab_backend_info, clock_reason, .flags = AB_OMIT,
             .when = offsetof(struct ab_backend_info, clock_reason), .when_bytes = 1),
    AB_CHARS("uncounted", struct ab_backend_info, uncounted, .flags = AB_LATER,
             .doc = "Why --instr has no counts, or not all."),
    AB_CHARS("not_inside", struct ab_backend_info, not_inside, .flags = AB_OMIT,
             .when = offsetof(struct ab_backend_info, not_inside), .when_bytes = 1,
             .doc = "Why --inside failed in some or all rounds; otherwise no such key."),
    AB_CHARS("deepbound", struct ab_backend_info, deepbound, .flags = AB_OMIT,
             .when = offsetof(struct ab_backend_info, deepbound), .when_bytes = 1,
             .doc = "Libraries of the program (exec) whose calls go to the C library's "
                    "malloc, bypassing the preloaded allocator or the interposer of "
                    "--inside; no such key if none was seen."),
    AB_RECORD_HERE("map", &map_record, AB_WHEN(struct ab_backend_info, n_heaps), .flags = AB_LATER,
                   .doc = "Several heaps in one row; otherwise null."),
    AB_RECORD_HERE("litter", &aging_record, AB_WHEN(struct ab_backend_info, aging.occupancy),
                   .flags = AB_OMIT,
                   .doc = "The aged heap of a row NAME:litter=OCCxMULT; no such key on a "
                          "fresh heap. Memory counts its blocks as live bytes, and so does "
                          "every ratio."),
    RULE("growth", write_growth, NULL, .values = AB_IS_RECORD, .record = &growth_record,
         .flags = AB_OMIT, .doc = "Growth of the footprint while live bytes stay the same."),
};
AB_TABLE(backend, struct ab_backend_info, .check = check_backend);

/* ---- rounds ---- */

static json_t *write_order(const struct ab_writing *x)
{
    const struct ab_session *s = x->context;
    const struct ab_round *b = x->record;
    json_t *order = json_array();
    for (uint32_t i = 0; i < b->n_order; i++)
        if (b->order[i] < s->n_backends)
            ab_json_append(order, ab_json_string(s->backends[b->order[i]].name));
    return order;
}

static void read_order(const struct ab_reading *x)
{
    struct ab_round *round = x->record;
    struct ab_json_node list = ab_json_array(x->r, x->o, x->m->key);
    size_t n = ab_json_count(x->r, &list, session_of(x)->n_backends);
    uint32_t *order = n > 0 ? ab_alloc_zeroed(n, sizeof order[0]) : NULL;
    for (size_t i = 0; i < n && x->r->status == AB_OK; i++) {
        struct ab_json_node item = ab_json_item(&list, i);
        const char *name = json_string_value(item.json);
        if (name == NULL)
            ab_json_fail(x->r, &item, "must be the name of a back end");
        else
            order[i] = ab_stored_named(x->context, &item, name);
        for (size_t k = 0; k < i; k++)
            if (order[k] == order[i])
                ab_json_fail(x->r, &item, "ran twice in its round");
    }
    round->order = order;
    round->n_order = (uint32_t)n;
}

static void copy_order(const struct ab_copying *x)
{
    struct ab_round *round = x->record;
    if (round->n_order > 0)
        round->order = ab_memdup(round->order, round->n_order * sizeof round->order[0]);
    else
        round->order = NULL;
}

static void check_round(const struct ab_reading *x)
{
    const struct ab_session *s = session_of(x);
    const struct ab_round *round = x->record;
    struct ab_json_node host = node_of(x->o, "host");
    if (x->o->index > 0 && round->index <= round[-1].index)
        ab_json_fail(x->r, x->o, "index %u is not ascending", round->index);
    if (round->host >= ab_session_host_count(s))
        ab_json_fail(x->r, &host, "is not among the hosts");
}

static bool has_several_hosts(const void *record, const void *session)
{
    (void)record;
    return ((const struct ab_session *)session)->n_hosts > 1;
}

static const struct ab_member round_members[] = {
    AB_WHOLE("index", struct ab_round, index, UINT32_MAX - 1, 0),
    AB_RULE("order", struct ab_round, order, .write = write_order, .read = read_order,
            .copy = copy_order, .values = AB_IS_LIST,
            .doc = "Names of the back ends, as they ran."),
    AB_WHOLE("host", struct ab_round, host, UINT32_MAX, 0, .has = has_several_hosts,
             .flags = AB_OMIT, .doc = "Index of hosts."),
};
AB_TABLE(round, struct ab_round, .check = check_round);

/* ---- results ---- */

#define FIELD_U64(key, member, ...) COUNT(key, struct ab_result, member, __VA_ARGS__)
#define FIELD_F64(key, member, ...) AB_NUMBER(key, struct ab_result, member, __VA_ARGS__)
#define SINCE_ALWAYS 0
#define SINCE_LATER AB_LATER
#define SINCE_LATER_SIGNED (AB_LATER | AB_SIGNED)
#define SINCE_LATER_REQUIRED (AB_LATER | AB_WRITTEN_ALWAYS)

/* Members of all groups of fields; there is one record for each group. */
static const struct ab_member field_members[] = {
#define AB_FIELD(g, n, member, type, u, b, since, d) \
    FIELD_##type(AB_FIELD_KEY(g, n), member, .group = AB_FIELD_##g, .flags = SINCE_##since),
#include "build/fields/result_fields.inc"
#undef AB_FIELD
};
#define FIELDS(g) AB_RECORD_OF(struct ab_result, field_members, .group = AB_FIELD_##g)
static const struct ab_record each_record = FIELDS(EACH), quantile_record = FIELDS(QUANTILE),
                              all_record = FIELDS(ALL), tail_numbers_record = FIELDS(TAIL),
                              program_numbers_record = FIELDS(PROGRAM),
                              inside_record = FIELDS(INSIDE);

/* Sets all fields of a result to unknown, because a result lacks the fields of some groups. */
static void forget_fields(const struct ab_reading *x)
{
    ab_fields_forget(x->record, AB_FIELD_ALL);
    ab_fields_forget(x->record, AB_FIELD_PROGRAM);
    ab_fields_forget(x->record, AB_FIELD_INSIDE);
}

/* Writes the histogram of a result. If rounds are merged, one result has the histogram of all
 * rounds, and null is written for the others. */
static json_t *write_result_histogram(const struct ab_writing *x)
{
    const struct ab_session *s = x->context;
    const struct ab_result *result = x->record;
    bool is_elsewhere = s->is_histogram_merged && is_empty(result->hdr);
    return is_elsewhere ? json_null() : ab_json_histogram(result->hdr);
}

static void read_result_histogram(const struct ab_reading *x)
{
    struct ab_result *result = x->record;
    struct ab_hdr *hdr;
    if (!session_of(x)->is_histogram_merged)
        hdr = read_histogram_of(x->context, x->o, result->n);
    else if (ab_json_has(x->r, x->o, x->m->key) && !ab_json_has_value(x->r, x->o, x->m->key))
        hdr = ab_hdr_new();
    else
        hdr = read_histogram(x->context, x->o);
    result->hdr = hdr;
    if (hdr == NULL)
        return;
    hdr->overflow = result->overflow;
    /* HDR V2 stores only the counters of the extremes, so the exact minimum comes from `min` */
    if (hdr->min <= AB_HDR_HIGHEST && result->min >= (double)hdr->min &&
        result->min <= (double)ab_hdr_high(ab_hdr_index(hdr->min)))
        hdr->min = (uint64_t)result->min;
}

static json_t *write_waiting(const struct ab_writing *x)
{
    const struct ab_result *result = x->record;
    bool is_known = result->op == AB_OP_ALL && !isnan(result->wait_percent);
    return is_known ? json_boolean(ab_result_is_waiting(result)) : NULL;
}

static const struct ab_member worst_members[] = {
    AB_WHOLE("position", struct ab_worst_op, position, UINT32_MAX, UINT32_MAX,
             .doc = "Ops before it in the tape, which has those of a phase one thread "
                    "after the other."),
    COUNT("size", struct ab_worst_op, size,
          .doc = "Of a free that of its block; null = latency pass."),
    AB_NUMBER("ns", struct ab_worst_op, ns),
    AB_WHOLE("iteration", struct ab_worst_op, iteration, UINT32_MAX, 0,
             AB_WHEN(struct ab_worst_op, iteration), .flags = AB_OMIT,
             .schema = "{\"minimum\": 1}"),
};
AB_TABLE(worst, struct ab_worst_op);

static void check_tail(const struct ab_reading *x)
{
    if (((const struct ab_result *)x->record)->tail_n == 0)
        ab_json_fail(x->r, x->o, "has no ops: must be null");
}

static const struct ab_member tail_members[] = {
    AB_PART(&tail_numbers_record),
    AB_ARRAY("worst", struct ab_result, worst, n_worst, AB_WORST_MAX, .record = &worst_record,
             .doc = "The slowest ops."),
};
AB_TABLE(tail, struct ab_result, .check = check_tail);

static bool is_exec(const void *record, const void *session)
{
    return ab_session_is_exec(session) && ((const struct ab_result *)record)->op == AB_OP_ALL;
}

/* Writes the metrics that the user defined; nothing if there are none. */
static json_t *write_named(const struct ab_writing *x)
{
    const struct ab_session *s = x->context;
    const struct ab_result *result = x->record;
    json_t *o = s->n_named > 0 ? json_object() : NULL;
    for (uint32_t i = 0; i < s->n_named; i++)
        ab_json_put(o, s->named[i]->name, ab_json_real(ab_field_f64(s->named[i], result)));
    return o;
}

static void read_named(const struct ab_reading *x)
{
    const struct ab_session *s = session_of(x);
    struct ab_result *result = x->record;
    if (s->n_named == 0)
        return;
    struct ab_json_node o = ab_json_object(x->r, x->o, x->m->key);
    for (uint32_t i = 0; i < s->n_named && x->r->status == AB_OK; i++)
        result->named[ab_named_slot(s->named[i])] = ab_json_number(x->r, &o, s->named[i]->name);
}

static const struct ab_member program_members[] = {
    AB_PART(&program_numbers_record),
    RULE("metrics", write_named, read_named, .values = AB_IS_RULE, .flags = AB_OMIT,
         .schema = "{\"type\": \"object\", "
                   "\"additionalProperties\": {\"type\": [\"number\", \"null\"], \"minimum\": 0}}",
         .doc = "The numbers that the user named (--metric)."),
};
AB_TABLE(program, struct ab_result);

static bool is_inside(const void *record, const void *session)
{
    const struct ab_result *result = record;
    return ab_session_is_exec(session) && result->op != AB_OP_ALL && !isnan(result->n_looked);
}

static const struct ab_member result_members[] = {
    RULE(NULL, NULL, forget_fields),
    BACKEND(struct ab_result),
    PHASE(struct ab_result),
    OP(struct ab_result),
    ROUND(struct ab_result),
    AB_PART(&each_record),
    AB_RECORD_HERE("quantiles", &quantile_record),
    HISTOGRAM(struct ab_result, write_result_histogram, .read = read_result_histogram,
              .copy = copy_histogram),
    AB_PART(&all_record, AB_WHEN_IS(struct ab_result, op, AB_OP_ALL)),
    RULE("is_waiting", write_waiting, NULL, .values = AB_IS_FLAG, .flags = AB_OMIT,
         .doc = "Lanes waited for each other for more than 20 % of their time."),
    AB_RECORD_HERE("tail", &tail_record, AB_WHEN(struct ab_result, tail_n),
                   .doc = "The tail pass, which times every op; null = it did not run, or saw "
                          "no such op."),
    AB_RECORD_HERE("program", &program_record, .has = is_exec, .flags = AB_OMIT,
                   .doc = "A real program (exec)."),
    AB_RECORD_HERE("inside", &inside_record, .has = is_inside, .flags = AB_OMIT,
                   .doc = "Calls of a real program (exec --inside)."),
};
AB_TABLE(result, struct ab_result, .is_written = has_numbers);

/* ---- latency in detail: by size, over time, by heap ---- */

static const struct ab_member class_members[] = {
    COUNT("n", struct timed, n),
    AB_WHOLE("overflow", struct timed, overflow, INT64_MAX, 0),
    AB_NUMBER("p50", struct timed, quantiles[0], .flags = AB_SHOWN),
    AB_NUMBER("p90", struct timed, quantiles[1], .flags = AB_SHOWN),
    AB_NUMBER("p99", struct timed, quantiles[2], .flags = AB_SHOWN),
    AB_NUMBER("p99.9", struct timed, quantiles[4], .flags = AB_SHOWN),
    COUNT("max", struct timed, max),
};
AB_TABLE(class, struct timed);

/* Writes the size 1 << log2; null if JSON integers cannot hold it. */
static json_t *write_log2(const struct ab_writing *x)
{
    unsigned log2 = *(const unsigned *)x->p;
    return log2 < 63 ? ab_json_integer(UINT64_C(1) << log2) : json_null();
}

static void read_log2(const struct ab_reading *x)
{
    uint64_t bytes = ab_json_whole(x->r, x->o, x->m->key, INT64_MAX, 0);
    if (bytes != 0 && !ab_is_pow2(bytes))
        ab_json_fail(x->r, &x->at, "must be a power of two");
    *(unsigned *)x->p = bytes != 0 ? ab_log2(bytes) : AB_SIZE_CLASS_COUNT - 1;
}

static const struct ab_member size_members[] = {
    BACKEND(struct ab_size_class),
    PHASE(struct ab_size_class),
    OP(struct ab_size_class,
       .schema = "{\"enum\": [\"alloc\", \"alloc_zeroed\", \"alloc_aligned\", "
                 "\"resize\", \"free\", \"access\"]}"),
    ROUND(struct ab_size_class),
    AB_RULE("le_bytes", struct ab_size_class, log2, .write = write_log2, .read = read_log2,
            .values = AB_IS_WHOLE, .flags = AB_ZERO,
            .doc = "Sizes in (le_bytes / 2, le_bytes]; null = above 2^62."),
    TIMED(struct ab_size_class, &class_record),
};
AB_TABLE(size, struct ab_size_class, .is_written = has_numbers);

/* Writes the bins of a window as "BIN:COUNT,COUNT …", from the first to the last that is not empty;
 * null if the bins are not known. */
static json_t *write_window_counts(const struct ab_writing *x)
{
    const struct ab_window *window = x->record;
    char text[AB_WINDOW_BINS * 11 + 16];
    unsigned first = 0, end = AB_WINDOW_BINS;
    while (end > 0 && window->counts[end - 1] == 0)
        end--;
    while (first < end && window->counts[first] == 0)
        first++;
    size_t n = (size_t)snprintf(text, sizeof text, "%u:", first);
    for (unsigned i = first; i < end; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%u", i > first ? "," : "",
                              window->counts[i]);
    return end > 0 ? json_string(text) : json_null();
}

/* Reads the number at *text, at most UINT32_MAX, and moves *text past it. Returns false if there is
 * none. */
static bool take_number(const char **text, uint32_t *out)
{
    uint64_t n = 0;
    const char *p = *text;
    for (; *p >= '0' && *p <= '9' && n <= UINT32_MAX; p++)
        n = n * 10 + (uint64_t)(*p - '0');
    if (p == *text || n > UINT32_MAX)
        return false;
    *text = p;
    *out = (uint32_t)n;
    return true;
}

static bool parse_counts(const char *text, struct ab_window *window, uint64_t *sum)
{
    uint32_t bin;
    if (!take_number(&text, &bin) || *text++ != ':')
        return false;
    for (;; text++) {
        if (bin >= AB_WINDOW_BINS || !take_number(&text, &window->counts[bin]))
            return false;
        *sum += window->counts[bin++];
        if (*text != ',')
            return *text == 0;
    }
}

/* Reads the bins of a window. They must add up to n, unless rounds are merged. */
static void read_window_counts(const struct ab_reading *x)
{
    const struct ab_session *s = session_of(x);
    struct ab_window *window = x->record;
    const char *text = text_if_any(x);
    uint64_t sum = 0;
    if (text[0] == 0)
        return;
    if (!parse_counts(text, window, &sum))
        ab_json_fail(x->r, &x->at, "must be BIN:COUNT,COUNT,… of at most %d bins", AB_WINDOW_BINS);
    else if (sum != window->n && !s->is_histogram_merged)
        ab_json_fail(x->r, &x->at, "add up to %llu, but n is %llu", (unsigned long long)sum,
                     (unsigned long long)window->n);
}

static void check_window(const struct ab_reading *x)
{
    const struct ab_window *window = x->record;
    struct ab_json_node end = node_of(x->o, "end");
    if (window->end < window->begin)
        ab_json_fail(x->r, &end, "is before its begin");
}

static const struct ab_member window_members[] = {
    BACKEND(struct ab_window),
    PHASE(struct ab_window),
    ROUND(struct ab_window),
    AB_WHOLE("begin", struct ab_window, begin, UINT32_MAX, 0, .doc = "Ops done."),
    AB_WHOLE("end", struct ab_window, end, UINT32_MAX, 0, .doc = "Ops done."),
    COUNT("n", struct ab_window, n),
    AB_NUMBER("p50", struct ab_window, p50),
    AB_NUMBER("p99", struct ab_window, p99),
    AB_NUMBER("max", struct ab_window, max),
    RULE("counts", write_window_counts, read_window_counts, .flags = AB_LATER,
         .schema = "{\"pattern\": \"^[0-9]+:[0-9]+(,[0-9]+)*$\"}",
         .doc = "BIN:COUNT,COUNT ... from the first bin that is not empty: bin 2e "
                "holds 2^e to 1.5 * 2^e - 1 ns, bin 2e + 1 the rest up to 2^(e+1) - "
                "1; bins 0 and 1 hold 0 and 1 ns."),
};
AB_TABLE(window, struct ab_window, .is_written = has_numbers, .check = check_window);

static const char heap_key[] = "heap";

static json_t *heap_name(const struct ab_session *s, uint32_t backend, uint32_t heap)
{
    return ab_json_string(s->backends[backend].heaps[heap].name);
}

static uint32_t find_heap(struct ab_stored_reader *x, const struct ab_json_node *o,
                          uint32_t backend)
{
    struct ab_json_node at = node_of(o, heap_key);
    const char *name = ab_json_text(&x->json, o, at.key);
    char shown[160];
    if (x->json.status != AB_OK)
        return 0;
    const struct ab_backend_info *b = &x->session->backends[backend];
    for (uint32_t h = 0; h < b->n_heaps; h++)
        if (strcmp(b->heaps[h].name, name) == 0)
            return h;
    ab_json_fail(&x->json, &at, "\"%s\" is not among the heaps of %s",
                 ab_text_printable(shown, sizeof shown, name), b->name);
    return 0;
}

static json_t *write_heap(const struct ab_writing *x)
{
    const struct ab_heap_part *p = x->record;
    return heap_name(x->context, p->backend, p->heap);
}

static void read_heap(const struct ab_reading *x)
{
    struct ab_heap_part *p = x->record;
    p->heap = find_heap(x->context, x->o, p->backend);
}

static const struct ab_member heap_timed_members[] = {
    COUNT("n", struct timed, n),
    AB_WHOLE("overflow", struct timed, overflow, INT64_MAX, 0),
    AB_NUMBER("mean", struct timed, mean, .flags = AB_SHOWN),
    AB_NUMBERS(NULL, struct timed, quantiles, AB_QUANTILE_COUNT, ab_quantile_names,
               .flags = AB_SHOWN),
    COUNT("max", struct timed, max),
};
AB_TABLE(heap_timed, struct timed);

static const struct ab_member heap_part_members[] = {
    BACKEND(struct ab_heap_part),
    RULE(heap_key, write_heap, read_heap, .flags = AB_NEVER_NULL, .doc = "Its name."),
    PHASE(struct ab_heap_part),
    OP(struct ab_heap_part),
    ROUND(struct ab_heap_part),
    AB_WHOLE("n_calls", struct ab_heap_part, n_calls, INT64_MAX, 0,
             .doc = "Exact; of all without resets."),
    AB_NUMBER("time_ns", struct ab_heap_part, time_ns,
              .doc = "Of all calls, estimated, clock included."),
    AB_WHOLE("live_peak_blocks", struct ab_heap_part, live_peak_blocks, INT64_MAX, 0,
             AB_WHEN_IS(struct ab_heap_part, op, AB_OP_ALL), .doc = "Only of all."),
    AB_WHOLE("live_peak_bytes", struct ab_heap_part, live_peak_bytes, INT64_MAX, 0,
             AB_WHEN_IS(struct ab_heap_part, op, AB_OP_ALL), .doc = "Only of all."),
    TIMED(struct ab_heap_part, &heap_timed_record),
};
AB_TABLE(heap_part, struct ab_heap_part, .is_written = has_numbers);

/* ---- the memory pass ---- */

static const struct ab_member heap_memory_members[] = {
#define NUMBER(member) AB_NUMBER(#member, struct ab_heap_memory, member),
    AB_HEAP_MEMORY_FIELDS(NUMBER)
#undef NUMBER
        AB_NUMBERS("drained_bytes", struct ab_heap_memory, drained_bytes, AB_DRAIN_COUNT,
                   ab_drain_names),
};
AB_TABLE(heap_memory, struct ab_heap_memory);

/* Schema of the items that write_heap_memory writes. */
static const struct ab_member told_heap_members[] = {
    {.key = heap_key, .type = AB_IS_TEXT, .flags = AB_NEVER_NULL},
    AB_PART(&heap_memory_record),
};
AB_TABLE(told_heap, struct ab_heap_memory);

static json_t *write_heap_memory(const struct ab_writing *x)
{
    const struct ab_session *s = x->context;
    const struct ab_memory *memory = x->record;
    uint32_t n_heaps = s->backends[memory->backend].n_heaps;
    json_t *list = n_heaps > 0 ? json_array() : NULL;
    for (uint32_t h = 0; h < n_heaps; h++) {
        json_t *item = json_object();
        ab_json_put(item, heap_key, heap_name(s, memory->backend, h));
        ab_record_put(item, &heap_memory_record, &memory->heaps[h], x->context);
        ab_json_append(list, item);
    }
    return list;
}

/* Reads the memory of each heap. If the member is missing, all numbers are n/a. */
static void read_heap_memory(const struct ab_reading *x)
{
    struct ab_memory *memory = x->record;
    struct ab_json_node list = {.json = NULL};
    if (ab_json_has(x->r, x->o, x->m->key))
        list = ab_json_array(x->r, x->o, x->m->key);
    size_t n = ab_json_count(x->r, &list, AB_PLACEMENT_HEAPS_MAX);
    for (uint32_t h = 0; h < AB_PLACEMENT_HEAPS_MAX; h++)
        ab_record_forget(&heap_memory_record, &memory->heaps[h]);
    for (size_t i = 0; i < n && x->r->status == AB_OK; i++) {
        struct ab_json_node item = ab_json_item_object(x->r, &list, i);
        uint32_t heap = find_heap(x->context, &item, memory->backend);
        ab_record_read(x->r, &item, &heap_memory_record, &memory->heaps[heap], x->context);
    }
}

static bool is_measured(const void *memory, const void *context)
{
    (void)context;
    return !isnan(((const struct ab_memory *)memory)->requested_bytes);
}

static bool has_walks(const void *memory, const void *context)
{
    (void)context;
    return !isnan(((const struct ab_memory *)memory)->walk_blocks);
}

static const struct ab_member memory_members[] = {
    BACKEND(struct ab_memory),
    PHASE(struct ab_memory),
    ROUND(struct ab_memory),
    AB_NAME("at", struct ab_memory, at, AB_AT_COUNT, .names = ab_memory_at_names),
    AB_WHOLE("position", struct ab_memory, position, UINT32_MAX, 0, .has = is_measured,
             .doc = "Ops done."),
#define AB_MEMORY_FIELD(name, member, u, b, d) AB_NUMBER(name, struct ab_memory, member),
#define AB_MEMORY_LATER_FIELD(name, member, u, b, d) \
    AB_NUMBER(name, struct ab_memory, member, .flags = AB_LATER),
#define AB_MEMORY_WALK_FIELD(name, member, u, b, d) \
    AB_NUMBER(name, struct ab_memory, member, .has = has_walks, .flags = AB_OMIT | AB_NEVER_NULL),
#include "build/fields/memory_fields.inc"
#undef AB_MEMORY_FIELD
    AB_NUMBERS("drained_bytes", struct ab_memory, drained_bytes, AB_DRAIN_COUNT, ab_drain_names,
               .doc = "Resident bytes after all blocks were freed; at the end of the last "
                      "phase."),
    RULE("heaps", write_heap_memory, read_heap_memory, .values = AB_IS_LIST,
         .record = &told_heap_record, .most = AB_PLACEMENT_HEAPS_MAX, .flags = AB_OMIT,
         .doc = "The same by heap, in rows of several heaps."),
    AB_CHARS("reason", struct ab_memory, reason, .doc = "Why a number is null."),
};
AB_TABLE(memory, struct ab_memory, .is_written = has_numbers);

static const struct ab_member timed_dist_members[] = {
    COUNT("n", struct timed, n, .doc = "Ops whose samples know the number."),
    AB_WHOLE("overflow", struct timed, overflow, INT64_MAX, 0,
             .doc = "Ops beyond the largest value that a histogram holds."),
    AB_NUMBERS(NULL, struct timed, stats, AB_DIST_STATS, ab_dist_stat_names, .flags = AB_SHOWN),
    AB_NUMBER("step", struct timed, step, .flags = AB_NEVER_NULL | AB_SHOWN,
              .doc = "What values of the histogram are multiples of."),
    COUNT("highest", struct timed, max, .doc = "The exact maximum, in steps."),
};
AB_TABLE(timed_dist, struct timed);

static json_t *write_dist_unit(const struct ab_writing *x)
{
    const struct ab_memory_dist *d = x->record;
    return ab_json_string(ab_memory_dists[d->kind].unit);
}

static json_t *write_dist(const struct ab_writing *x)
{
    const struct ab_memory_dist *d = x->record;
    struct timed t = timed_of(d->hdr);
    t.step = ab_memory_dists[d->kind].step;
    for (unsigned i = 0; i < AB_DIST_STATS; i++)
        t.stats[i] = ab_memory_dist_value(d, i);
    ab_record_put(x->o, &timed_dist_record, &t, x->context);
    return NULL;
}

/* Reads a distribution. Its histogram must match the numbers beside it, and is NULL if nothing is
 * known. */
static void read_dist(const struct ab_reading *x)
{
    struct ab_memory_dist *d = x->record;
    struct ab_json_node at = node_of(x->o, "n");
    struct timed t = {0};
    ab_record_read(x->r, x->o, &timed_dist_record, &t, x->context);
    if (x->r->status == AB_OK &&
        (t.n > d->n_ops || t.overflow > d->n_ops - t.n || d->n_samples > t.n))
        ab_json_fail(x->r, &at, "does not go with n_ops, n_samples and overflow");
    if (x->r->status != AB_OK || t.n == 0)
        return;
    d->hdr = read_histogram_of(x->context, x->o, t.n);
    if (d->hdr == NULL)
        return;
    d->hdr->overflow = t.overflow;
    refine_max(d->hdr, t.max);
}

static const struct ab_member dist_members[] = {
    BACKEND(struct ab_memory_dist),
    PHASE(struct ab_memory_dist),
    ROUND(struct ab_memory_dist),
    AB_NAME("metric", struct ab_memory_dist, kind, AB_DIST_COUNT, .names = ab_memory_dist_names),
    RULE("unit", write_dist_unit, NULL, .values = AB_IS_RULE,
         .schema = "{\"enum\": [\"x live\", \"bytes\"]}"),
    AB_WHOLE("n_ops", struct ab_memory_dist, n_ops, UINT32_MAX, UINT64_MAX),
    AB_WHOLE("n_samples", struct ab_memory_dist, n_samples, UINT32_MAX, UINT64_MAX),
    AB_RULE(NULL, struct ab_memory_dist, hdr, .write = write_dist, .read = read_dist,
            .copy = copy_histogram, .values = AB_IS_PART, .record = &timed_dist_record),
    HISTOGRAM(struct ab_memory_dist, write_histogram_or_null),
    AB_CHARS("reason", struct ab_memory_dist, reason, .doc = "Why ops are missing."),
};
AB_TABLE(dist, struct ab_memory_dist, .is_written = has_numbers);

#define POINT_IS "must be a position and three numbers"
static const struct ab_member point_members[] = {
    AB_WHOLE(NULL, struct ab_timeline_point, position, UINT32_MAX, 0, .flags = AB_NEVER_NULL,
             .text = POINT_IS),
    AB_NUMBER(NULL, struct ab_timeline_point, requested_bytes),
    AB_NUMBER(NULL, struct ab_timeline_point, usable_bytes),
    AB_NUMBER(NULL, struct ab_timeline_point, footprint_bytes),
};
AB_TABLE(point, struct ab_timeline_point);

static const struct ab_member external_members[] = {
    AB_NUMBER(NULL, struct ab_timeline_point, external_bytes, .text = "must be a number or null"),
};
AB_TABLE(external, struct ab_timeline_point);

static void check_timeline(const struct ab_reading *x)
{
    const struct ab_timeline *t = x->record;
    struct ab_json_node list = ab_json_member(x->r, x->o, "points");
    for (size_t i = 1; i < t->n; i++) {
        struct ab_json_node at = ab_json_item(&list, i);
        if (t->points[i].position < t->points[i - 1].position)
            ab_json_fail(x->r, &at, "position %u is not ascending", t->points[i].position);
    }
}

static const struct ab_member timeline_members[] = {
    BACKEND(struct ab_timeline),
    ROUND(struct ab_timeline),
    AB_LIST("points", struct ab_timeline, points, n, AB_STORED_POINTS_MAX, .record = &point_record,
            .schema = "{\"maxItems\": 1000}",
            .doc = "Position, requested, usable and footprint bytes, and the peaks. Of "
                   "a program: ms, null, null, and the resident memory of all "
                   "processes (each 10 ms, at most 100 points, the largest of its "
                   "looks)."),
    AB_LIST("external", struct ab_timeline, points, n, AB_STORED_RECORDS_MAX,
            .record = &external_record, .same = "must be one number a point",
            .flags = AB_SAME | AB_LATER, .schema = "{\"maxItems\": 1000}",
            .doc = "External bytes at each point."),
};
AB_TABLE(timeline, struct ab_timeline, .is_written = has_numbers, .check = check_timeline);

/* True if the work has times. Otherwise the list is missing in the document. */
static bool has_over_time(const void *session, const void *context)
{
    (void)context;
    return ((const struct ab_session *)session)->n_over_time > 0;
}

static bool has_position(const void *row, const void *context)
{
    (void)context;
    return ((const struct ab_over_time *)row)->position != AB_NO_POSITION;
}

static void check_over_time(const struct ab_reading *x)
{
    const struct ab_over_time *row = x->record;
    struct ab_json_node at = node_of(x->o, "time_ns");
    if (x->o->index > 0 && row[-1].backend == row->backend && row[-1].round == row->round &&
        row[-1].time_ns > row->time_ns)
        ab_json_fail(x->r, &at, "is before that of the row above it");
}

static const struct ab_member over_time_members[] = {
    BACKEND(struct ab_over_time),
    PHASE(struct ab_over_time),
    ROUND(struct ab_over_time),
    AB_WHOLE("time_ns", struct ab_over_time, time_ns, INT64_MAX, 0, .flags = AB_NEVER_NULL,
             .doc = "Since the beginning of the work."),
    AB_WHOLE("position", struct ab_over_time, position, AB_NO_POSITION - 1, AB_NO_POSITION,
             .has = has_position),
    AB_NAME("idle", struct ab_over_time, idle, AB_IDLE_COUNT, .names = ab_idle_at_names,
            .flags = AB_ZERO,
            .doc = "Place in a stretch in which nothing is called; null = not in one."),
#define NUMBER(member, ...) AB_NUMBER(#member, struct ab_over_time, member, __VA_ARGS__)
    NUMBER(live_bytes, .doc = "Requested bytes."),
    NUMBER(resident_bytes, .doc = "Without the baseline, like footprint_bytes."),
    NUMBER(external_bytes),
    NUMBER(retained_bytes),
    NUMBER(lazyfree_bytes, .doc = "Resident bytes that the kernel may take at any time."),
#undef NUMBER
};
AB_TABLE(over_time, struct ab_over_time, .is_written = has_numbers, .check = check_over_time);

static bool has_pins(const void *session, const void *context)
{
    (void)context;
    return ((const struct ab_session *)session)->n_pins > 0;
}

static bool has_lane(const void *pin, const void *context)
{
    (void)context;
    return ((const struct ab_pin *)pin)->lane != AB_PIN_SEVERAL;
}

static bool has_call_sites(const void *session, const void *context)
{
    (void)context;
    return ((const struct ab_session *)session)->n_call_sites > 0;
}

static const struct ab_member call_site_members[] = {
    BACKEND(struct ab_call_site),
    ROUND(struct ab_call_site),
    AB_CHARS("function", struct ab_call_site, function, .flags = AB_NEVER_NULL,
             .doc = "(unknown): its place is not known; (others): all beyond 200."),
    AB_CHARS("file", struct ab_call_site, file),
    AB_WHOLE("line", struct ab_call_site, line, INT32_MAX, 0, .flags = AB_ZERO),
    AB_CHARS("object", struct ab_call_site, object, .doc = "The ELF file."),
    COUNT("offset", struct ab_call_site, offset, .doc = "Within that file."),
    COUNT("n", struct ab_call_site, n, .doc = "Calls that were timed."),
    AB_NUMBER("calls", struct ab_call_site, all_calls, .doc = "Estimate for all calls."),
    AB_NUMBER("inside_ns", struct ab_call_site, inside_ns, .flags = AB_SIGNED,
              .doc = "Estimate for all calls; with few timed calls it can be below 0, so "
                     "that sums over rounds and places stay right."),
};
AB_TABLE(call_site, struct ab_call_site, .is_written = has_numbers);

static const char *const age_units[] = {"ops", "s"};

static const struct ab_member pin_members[] = {
    BACKEND(struct ab_pin),
    PHASE(struct ab_pin),
    ROUND(struct ab_pin),
    AB_CHARS("at", struct ab_pin, at, .flags = AB_NEVER_NULL,
             .doc = "The moment: resident_peak, live_peak, worst (most external bytes), "
                    "end of a phase, half_time of work with times, the name of a mark "
                    "(its last one, or NAME#N of --at), or as --at says it."),
    AB_WHOLE("position", struct ab_pin, position, UINT32_MAX - 1, 0),
    AB_NAME("group", struct ab_pin, group, AB_PIN_GROUP_COUNT, .names = ab_pin_group_names),
    AB_CHARS("function", struct ab_pin, function, .flags = AB_NEVER_NULL,
             .doc = "Or the set, or the sizes (33-64 B). (unknown): no site is known; "
                    "(allocator): pages without blocks; (others): all beyond 100 "
                    "owners."),
    AB_CHARS("file", struct ab_pin, file),
    AB_WHOLE("line", struct ab_pin, line, INT32_MAX, 0, .flags = AB_ZERO),
#define NUMBER(member, ...) AB_NUMBER(#member, struct ab_pin, member, __VA_ARGS__)
    NUMBER(pinned_bytes, .doc = "External bytes. Those of all owners, with internal, retained and "
                                "live bytes, add up to those of the row."),
    NUMBER(internal_bytes),
    NUMBER(retained_bytes),
    NUMBER(live_bytes),
    NUMBER(pinned_2m_bytes, .doc = "External bytes if pages were 2 MiB."),
    NUMBER(blocks, .doc = "Live ones."),
    NUMBER(pages, .doc = "Pages with live blocks."),
    NUMBER(median_bytes),
    NUMBER(median_age),
#undef NUMBER
    AB_NAME("age_unit", struct ab_pin, is_age_in_seconds, AB_ARRAY_LEN(age_units),
            .names = age_units),
    AB_WHOLE("lane", struct ab_pin, lane, AB_LANES_MAX - 1, AB_PIN_SEVERAL, .has = has_lane,
             .doc = "The lane that allocated all of them; null = several."),
};
AB_TABLE(pin, struct ab_pin, .is_written = has_numbers);

/* ---- iterations ---- */

static const struct ab_member iteration_time_members[] = {
    AB_WHOLE("iteration", struct ab_iteration_time, iteration, UINT32_MAX, 0,
             .schema = "{\"minimum\": 1}", .doc = "Of its lane, from 1, over all repetitions."),
    AB_WHOLE("lane", struct ab_iteration_time, lane, AB_LANES_MAX - 1, 0),
    AB_WHOLE("ns", struct ab_iteration_time, ns, INT64_MAX, 0, .flags = AB_NEVER_NULL),
};
AB_TABLE(iteration_time, struct ab_iteration_time);

static const struct ab_member stretch_members[] = {
    AB_WHOLE("stretch", struct ab_iterations, stretch, UINT32_MAX / AB_STRETCHES_MAX, 0,
             .doc = "Iterations in a row that share an entry of stretches."),
    AB_ARRAY("stretches", struct ab_iterations, stretches, n_stretches, AB_STRETCHES_MAX,
             COUNTS(uint64_t), .unknown = AB_NO_TIME, .text = "must be a whole number or null",
             .doc = "The most of each stretch, all lanes, in ns; null = none was timed. "
                    "Not in older results."),
};
AB_TABLE(stretch, struct ab_iterations);

static json_t *write_overflow(const struct ab_writing *x)
{
    return ab_json_integer((*(struct ab_hdr *const *)x->p)->overflow);
}

/* Checks the numbers of iterations, and reads their histogram. It must contain all iterations
 * except those that overflowed, and is null if all did. */
static void check_iterations(const struct ab_reading *x)
{
    struct ab_iterations *it = x->record;
    struct ab_json_node budget_at = node_of(x->o, "budget_ns"),
                        over_at = node_of(x->o, "n_over_budget"),
                        overflow_at = node_of(x->o, "overflow");
    uint64_t overflow = ab_json_whole(x->r, x->o, overflow_at.key, UINT32_MAX, 0);
    if (it->n_calls_most == UINT64_MAX)
        it->n_calls_most = it->n_calls;
    if (it->n_stretches == 0)
        it->stretch = 0;
    if (it->budget_ns < 1 || it->budget_ns > AB_ITERATION_BUDGET_MOST_NS)
        ab_json_fail(x->r, &budget_at, AB_ITERATION_BUDGET_RANGE);
    if (it->n_over_budget > it->n)
        ab_json_fail(x->r, &over_at, "is more than n");
    if (overflow > it->n)
        ab_json_fail(x->r, &overflow_at, "is more than n");
    if (x->r->status != AB_OK)
        return;
    uint64_t n = it->n - overflow;
    it->hdr = n > 0 ? read_histogram_of(x->context, x->o, n) : ab_hdr_new();
    if (it->hdr == NULL)
        return;
    it->hdr->overflow = overflow;
    if (n > 0 && it->max >= 0)
        refine_max(it->hdr, (uint64_t)fmin(it->max, 1e18));
    ab_iterations_summarise(it);
}

static const struct ab_member iterations_members[] = {
    BACKEND(struct ab_iterations),
    PHASE(struct ab_iterations),
    ROUND(struct ab_iterations),
    AB_CHARS("name", struct ab_iterations, name, .flags = AB_NEVER_NULL),
    AB_NUMBER("budget_ns", struct ab_iterations, budget_ns),
    AB_WHOLE("n", struct ab_iterations, n, UINT32_MAX, UINT64_MAX, .doc = "Timed iterations."),
    AB_RULE("overflow", struct ab_iterations, hdr, .write = write_overflow, .values = AB_IS_WHOLE,
            .doc = "Above 60 s; then max is null."),
    AB_WHOLE("n_over_budget", struct ab_iterations, n_over_budget, UINT32_MAX, UINT64_MAX),
    AB_WHOLE("n_scheduler", struct ab_iterations, n_scheduler, UINT32_MAX, UINT64_MAX,
             .doc = "Left out, because the scheduler interrupted them."),
    COUNT("n_calls", struct ab_iterations, n_calls, .doc = "Calls in the timed iterations."),
    COUNT("n_calls_most", struct ab_iterations, n_calls_most, .doc = "Calls in the one with most."),
    AB_NUMBER("call_ns", struct ab_iterations, call_ns,
              .doc = "Time of a call of the null, which is subtracted."),
    AB_NUMBER("p50", struct ab_iterations, p50, .flags = AB_SHOWN),
    AB_NUMBER("p99", struct ab_iterations, p99, .flags = AB_SHOWN),
    AB_NUMBER("max", struct ab_iterations, max),
    AB_ARRAY("worst", struct ab_iterations, worst, n_worst, AB_ITERATIONS_WORST_MAX,
             .record = &iteration_time_record, .flags = AB_LATER,
             .doc = "The slowest. Not in older results."),
    AB_PART(&stretch_record, .flags = AB_LATER),
    HISTOGRAM(struct ab_iterations, write_histogram_or_null, .copy = copy_histogram),
    AB_CHARS("reason", struct ab_iterations, reason,
             .doc = "Why numbers are null: too few, or no more than the null."),
};
AB_TABLE(iterations, struct ab_iterations, .is_written = has_numbers, .check = check_iterations);

/* True if the work has iterations. Otherwise the list is missing in the document. */
static bool has_iterations(const void *session, const void *context)
{
    const struct ab_session *s = session;
    (void)context;
    for (uint32_t i = 0; i < s->n_iterations; i++)
        if (has_numbers(&s->iterations[i], s))
            return true;
    return false;
}

/* ---- the overview of a trace ---- */

/* Number of blocks of one size class and one lifetime class. Only numbers above 0 are listed. */
struct cell {
    uint64_t le_bytes, le_calls, n;
};
static const struct ab_member cell_members[] = {
    AB_WHOLE("le_bytes", struct cell, le_bytes, INT64_MAX, 0, .flags = AB_NEVER_NULL,
             .schema = "{\"minimum\": 1}",
             .doc = "Sizes in (le_bytes / 2, le_bytes]; 2^47 holds all above."),
    COUNT("le_calls", struct cell, le_calls,
          .doc = "Calls that they lived, likewise; null = never freed."),
    COUNT("n", struct cell, n, .doc = "Blocks."),
};
AB_TABLE(cell, struct cell);

static json_t *write_blocks(const struct ab_writing *x)
{
    const struct ab_overview *view = x->record;
    json_t *list = json_array();
    for (unsigned size = 0; size < AB_OVERVIEW_CLASSES; size++)
        for (unsigned life = 0; life <= AB_OVERVIEW_CLASSES; life++) {
            struct cell cell = {UINT64_C(1) << size,
                                life < AB_OVERVIEW_CLASSES ? UINT64_C(1) << life : UINT64_MAX,
                                view->blocks[size][life]};
            if (cell.n != 0)
                ab_json_append(list, ab_record_json(&cell_record, &cell, x->context));
        }
    return list;
}

/* Returns the class of `le`, its logarithm. Fails if `le` is not a power of two below
 * 2^AB_OVERVIEW_CLASSES. */
static unsigned class_of(struct ab_json_reader *r, const struct ab_json_node *cell, const char *key,
                         uint64_t le)
{
    struct ab_json_node at = node_of(cell, key);
    if (ab_is_pow2(le) && ab_log2(le) < AB_OVERVIEW_CLASSES)
        return ab_log2(le);
    ab_json_fail(r, &at, "must be a power of two up to 2^%d", AB_OVERVIEW_CLASSES - 1);
    return 0;
}

static void read_blocks(const struct ab_reading *x)
{
    struct ab_overview *view = x->record;
    struct ab_json_node list = ab_json_array(x->r, x->o, x->m->key);
    size_t n = ab_json_count(x->r, &list, AB_OVERVIEW_CLASSES * (AB_OVERVIEW_CLASSES + 1));
    for (size_t i = 0; i < n && x->r->status == AB_OK; i++) {
        struct ab_json_node item = ab_json_item_object(x->r, &list, i);
        struct cell cell = {0};
        ab_record_read(x->r, &item, &cell_record, &cell, x->context);
        if (x->r->status != AB_OK)
            return;
        unsigned size = class_of(x->r, &item, cell_members[0].key, cell.le_bytes);
        unsigned life = cell.le_calls == UINT64_MAX
                            ? AB_OVERVIEW_CLASSES
                            : class_of(x->r, &item, cell_members[1].key, cell.le_calls);
        if (view->blocks[size][life] != 0)
            ab_json_fail(x->r, &item, "is of a class that was there before");
        view->blocks[size][life] = cell.n;
    }
}

static const struct ab_member live_members[] = {
    COUNT("step_calls", struct ab_overview, step_calls),
    AB_ARRAY("low", struct ab_overview, live[0].low, n_steps, AB_OVERVIEW_STEPS,
             COUNTS(struct ab_overview_step), .text = "must be a count", .flags = AB_NEVER_NULL,
             .doc = "Least requested live bytes in each step of step_calls calls."),
    AB_ARRAY("high", struct ab_overview, live[0].high, n_steps, AB_OVERVIEW_STEPS,
             COUNTS(struct ab_overview_step), .text = "must be a count",
             .same = "must have as many numbers as low", .flags = AB_NEVER_NULL | AB_SAME,
             .doc = "Most requested live bytes in each step."),
};
AB_TABLE(live, struct ab_overview);

/* A row of the matrix that shows who frees whose blocks: numbers of blocks that `thread` allocated,
 * by the thread that freed them. */
struct thread_row {
    int32_t thread;
    uint32_t n_rows;
    uint64_t freed_by[AB_OVERVIEW_THREADS], never_freed;
};
static const struct ab_member thread_members[] = {
    AB_INDEX("thread", struct thread_row, thread, .doc = "Null = all without a row."),
    AB_ARRAY("freed_by", struct thread_row, freed_by, n_rows, AB_OVERVIEW_THREADS, COUNTS(uint64_t),
             .text = "must be a count", .same = "must have a number for each row",
             .flags = AB_NEVER_NULL | AB_SAME, .doc = "Blocks that the thread of each row freed."),
    COUNT("never_freed", struct thread_row, never_freed),
};
AB_TABLE(thread, struct thread_row);

static json_t *write_threads(const struct ab_writing *x)
{
    const struct ab_overview *view = x->record;
    json_t *list = json_array();
    for (uint32_t i = 0; i < view->n_rows; i++) {
        struct thread_row row = {.thread = view->thread[i],
                                 .n_rows = view->n_rows,
                                 .never_freed = view->freed[i][view->n_rows]};
        memcpy(row.freed_by, view->freed[i], view->n_rows * sizeof row.freed_by[0]);
        ab_json_append(list, ab_record_json(&thread_record, &row, x->context));
    }
    return list;
}

static void read_threads(const struct ab_reading *x)
{
    struct ab_overview *view = x->record;
    struct ab_json_node list = ab_json_array(x->r, x->o, x->m->key);
    view->n_rows = (uint32_t)ab_json_count(x->r, &list, AB_OVERVIEW_THREADS);
    for (uint32_t i = 0; i < view->n_rows && x->r->status == AB_OK; i++) {
        struct ab_json_node item = ab_json_item_object(x->r, &list, i);
        struct thread_row row = {.n_rows = view->n_rows};
        ab_record_read(x->r, &item, &thread_record, &row, x->context);
        if (row.thread == AB_OVERVIEW_OTHERS && i + 1 < view->n_rows)
            ab_json_fail(x->r, &item, "has no thread, and is not the last");
        view->thread[i] = row.thread;
        memcpy(view->freed[i], row.freed_by, view->n_rows * sizeof row.freed_by[0]);
        view->freed[i][view->n_rows] = row.never_freed;
    }
}

static const struct ab_member overview_members[] = {
    COUNT("n_calls", struct ab_overview, n_calls),
    AB_WHOLE("n_threads", struct ab_overview, n_threads, UINT32_MAX, 0),
    RULE("blocks", write_blocks, read_blocks, .values = AB_IS_LIST, .record = &cell_record,
         .doc = "Blocks by size and lifetime."),
    AB_RECORD_HERE("live", &live_record, .doc = "Live bytes over the calls."),
    RULE("threads", write_threads, read_threads, .values = AB_IS_LIST, .record = &thread_record,
         .most = AB_OVERVIEW_THREADS, .doc = "Who frees the blocks of a thread."),
};
AB_TABLE(overview, struct ab_overview);

/* ---- values that follow from the numbers: not read back, but computed again ---- */

/* A ratio in the direction of the metric: for times, below 1 is faster. The tables show the
 * reciprocal of a ratio of times, a speed. */
struct ratio_row {
    uint32_t backend;
    const char *base, *phase, *metric, *method;
    struct ab_effect effect;
};
static const struct ab_member ratio_members[] = {
    BACKEND(struct ratio_row),
    AB_TEXT("base", struct ratio_row, base, .flags = AB_NEVER_NULL),
    AB_TEXT("phase", struct ratio_row, phase, .doc = "Null = the whole run."),
    AB_TEXT("metric", struct ratio_row, metric, .flags = AB_NEVER_NULL,
            .doc = "time of the whole run; peak_bytes and rss_peak_bytes, of exec both "
                   "the peak of the program; ns_per_op of a phase."),
    AB_NUMBER("ratio", struct ratio_row, effect.ratio,
              .doc = "Of the medians; of times below 1 is faster."),
    AB_NUMBER("low", struct ratio_row, effect.low, .doc = "90 % interval."),
    AB_NUMBER("high", struct ratio_row, effect.high, .doc = "90 % interval."),
    AB_WORD("method", struct ratio_row, method, AB_EFFECT_METHOD_COUNT,
            .names = ab_effect_method_names, .doc = "exact: all are equal; few_rounds: below 6."),
    AB_WHOLE("rounds", struct ratio_row, effect.n_new, UINT32_MAX, 0),
};
AB_TABLE(ratio, struct ratio_row);

static void add_ratio(const struct ab_session *s, json_t *list, struct ratio_row row,
                      struct ab_effect effect)
{
    row.effect = effect;
    row.method = ab_effect_method_names[effect.method];
    ab_json_append(list, ab_record_json(&ratio_record, &row, s));
}

/* Writes the ratios as an array, which is empty if there is nothing to compare with. */
static json_t *write_ratios(const struct ab_writing *x)
{
    const struct ab_session *s = x->record;
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->n_backends; i++) {
        uint32_t base = ab_session_base_of(s, i);
        if (base == UINT32_MAX || i == base || !ab_backend_is_comparable(&s->backends[i]))
            continue;
        struct ratio_row row = {.backend = i, .base = AB_OWN_NAME(&s->backends[base])};
        row.metric = "time";
        add_ratio(s, list, row, ab_session_speed(s, base, i, NULL));
        for (int k = 0; k < 2; k++) {
            const struct ab_metric *peak = k == 0 ? &ab_metric_run_peak : &ab_metric_run_rss;
            row.metric = ab_metric_name(peak);
            add_ratio(s, list, row, ab_metric_ratio(s, i, base, peak).effect);
        }
        for (uint32_t k = 0; k < s->n_named; k++) {
            struct ab_metric m = {.phase = AB_PROGRAM_PHASE, .op = AB_OP_ALL, .field = s->named[k]};
            row.metric = s->named[k]->name;
            add_ratio(s, list, row, ab_metric_ratio(s, i, base, &m).effect);
        }
        row.metric = "ns_per_op";
        for (uint32_t p = 0; p < s->n_phases; p++) {
            row.phase = s->phases[p];
            add_ratio(s, list, row, ab_session_speed(s, base, i, row.phase));
        }
    }
    return list;
}

struct growth_row {
    uint32_t backend;
    struct ab_growth_by_time growth;
};
static const struct ab_member growth_window_members[] = {
    AB_NUMBER("begin_ns", struct growth_row, growth.begin_ns),
    AB_NUMBER("end_ns", struct growth_row, growth.end_ns),
};
AB_TABLE(growth_window, struct growth_row);

static const struct ab_member growth_site_members[] = {
    AB_CHARS("function", struct ab_growth_site, function, .flags = AB_NEVER_NULL),
    AB_CHARS("file", struct ab_growth_site, file),
    AB_WHOLE("line", struct ab_growth_site, line, INT32_MAX, 0, .flags = AB_ZERO),
    AB_NUMBER("bytes", struct ab_growth_site, bytes),
};
AB_TABLE(growth_site, struct ab_growth_site);

static const struct ab_member growth_by_time_members[] = {
    BACKEND(struct growth_row),
    AB_NAME("verdict", struct growth_row, growth.verdict, AB_GROWTH_VERDICTS,
            .names = ab_growth_verdict_names, .flags = AB_ZERO,
            .doc = "What grows, if anything (results/README.md, Memory); null = not "
                   "known, and reason says why."),
    AB_NUMBER("bytes_per_hour", struct growth_row, growth.bytes_per_hour, .flags = AB_SIGNED,
              .doc = "Of resident memory."),
    AB_NUMBER("low", struct growth_row, growth.low, .flags = AB_SIGNED, .doc = "99 % interval."),
    AB_NUMBER("high", struct growth_row, growth.high, .flags = AB_SIGNED, .doc = "99 % interval."),
    AB_RECORD_HERE("window", &growth_window_record, .doc = "The stretch of time that is judged."),
    AB_NUMBER("live_bytes", struct growth_row, growth.live_bytes, .doc = "Mean in the window."),
    AB_NUMBER("needs_ns", struct growth_row, growth.needs_ns,
              .doc = "How long the work would have to be; null = longer would not help."),
    AB_TEXT("reason", struct growth_row, growth.why),
    AB_ARRAY("sites", struct growth_row, growth.sites, growth.n_sites, AB_GROWTH_SITES,
             .record = &growth_site_record, AB_WHEN(struct growth_row, growth.n_sites),
             .flags = AB_OMIT,
             .doc = "Owners whose live bytes grow most from half of the time to the "
                    "end, if something leaked (-v pins)."),
};
AB_TABLE(growth_by_time, struct growth_row);

static json_t *write_growths(const struct ab_writing *x)
{
    const struct ab_session *s = x->record;
    json_t *list = s->n_over_time > 0 ? json_array() : NULL;
    for (uint32_t i = 0; i < s->n_backends && list != NULL; i++) {
        struct growth_row row = {i, ab_growth_by_time(s, i, AB_GROWTH_ALL_ROUNDS)};
        if (!isnan(row.growth.lasts_ns) && ab_session_has_numbers(s, i))
            ab_json_append(list, ab_record_json(&growth_by_time_record, &row, s));
    }
    return list;
}

/* ---- the document ---- */

static void read_schema(const struct ab_reading *x)
{
    char shown[64];
    struct ab_json_node schema = {json_object_get(x->o->json, x->m->key), x->o, x->m->key, 0};
    const char *name = json_string_value(schema.json);
    if (name == NULL)
        ab_json_fail(x->r, x->o,
                     "is not an allocbench result: it has no \"schema\": "
                     "\"" SCHEMA "\"");
    else if (strcmp(name, SCHEMA_OLD) == 0)
        ab_json_fail(x->r, &schema,
                     "is \"" SCHEMA_OLD "\", of an older allocbench with other names "
                     "and memory counts; this build "
                     "(" AB_VERSION ") reads " SCHEMA ": run the "
                     "measurement "
                     "again");
    else if (strcmp(name, "allocbench-suite/1") == 0)
        ab_json_fail(x->r, &schema,
                     "is \"%s\": it holds the results of several workloads; report, compare, "
                     "--resume and --baseline of several take it",
                     name);
    else if (strncmp(name, SCHEMA_FAMILY, strlen(SCHEMA_FAMILY)) != 0)
        ab_json_fail(x->r, &schema, "is \"%s\", must be " SCHEMA,
                     ab_text_printable(shown, sizeof shown, name));
    else if (strcmp(name, SCHEMA) != 0)
        ab_json_fail(x->r, &schema,
                     "is \"%s\", this build (" AB_VERSION ") reads " SCHEMA
                     "; a newer allocbench may read it",
                     ab_text_printable(shown, sizeof shown, name));
}

/* Writes "histograms" if rounds are merged. Without this key, each round has its own histograms. */
static json_t *write_histograms(const struct ab_writing *x)
{
    const struct ab_session *s = x->record;
    return s->is_histogram_merged ? ab_json_string(AB_HISTOGRAMS_MERGED) : NULL;
}

static void read_histograms(const struct ab_reading *x)
{
    static const char *const ways[] = {AB_HISTOGRAMS_MERGED};
    if (!ab_json_has(x->r, x->o, x->m->key))
        return;
    ab_json_one_of(x->r, x->o, x->m->key, ways, 1);
    ((struct ab_session *)x->record)->is_histogram_merged = true;
}

/* Checks that the merged histograms together contain as many values as were timed in all rounds. */
static void check_merged(struct ab_json_reader *r, const struct ab_json_node *list,
                         const struct ab_session *s)
{
    uint64_t said = 0, held = 0;
    for (uint32_t i = 0; i < s->n_results; i++) {
        said += s->results[i].n;
        held += ab_hdr_total(s->results[i].hdr);
    }
    if (s->is_histogram_merged && said != held)
        ab_json_fail(r, list, "have %" PRIu64 " timed ops, but histograms of %" PRIu64, said, held);
}

/* Compares two results by everything except their numbers, for sorting and to find duplicates. */
static int by_identity(const void *a, const void *b)
{
    const struct ab_result *x = *(const struct ab_result *const *)a;
    const struct ab_result *y = *(const struct ab_result *const *)b;
    if (x->backend != y->backend)
        return x->backend < y->backend ? -1 : 1;
    if (x->round != y->round)
        return x->round < y->round ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    /* both point into one list of phases, so equal pointers mean equal names */
    return (x->phase > y->phase) - (x->phase < y->phase);
}

static void check_unique(struct ab_json_reader *r, const struct ab_json_node *list,
                         const struct ab_session *s)
{
    const struct ab_result **sorted = ab_alloc_zeroed((size_t)s->n_results + 1, sizeof sorted[0]);
    for (uint32_t i = 0; i < s->n_results; i++)
        sorted[i] = &s->results[i];
    qsort(sorted, s->n_results, sizeof sorted[0], by_identity);
    for (uint32_t i = 1; i < s->n_results; i++)
        if (by_identity(&sorted[i - 1], &sorted[i]) == 0) {
            struct ab_json_node at = ab_json_item(list, (size_t)(sorted[i] - s->results));
            ab_json_fail(r, &at, "is a second result for %s, phase %s, op %s, round %u",
                         s->backends[sorted[i]->backend].name, sorted[i]->phase,
                         ab_result_op_name(sorted[i]->op), sorted[i]->round);
        }
    free(sorted);
}

static void check_document(const struct ab_reading *x)
{
    struct ab_session *s = x->record;
    struct ab_json_node results = ab_json_member(x->r, x->o, "results");
    for (uint32_t i = 0; i < s->n_parts; i++)
        if (s->parts[i].host >= ab_session_host_count(s))
            ab_json_fail(x->r, x->o, "config.parts[%u].host is not among the hosts", i);
    check_merged(x->r, &results, s);
    check_unique(x->r, &results, s);
    for (uint32_t i = 0; i < s->n_nulls; i++)
        s->nulls[i].iteration_call_ns = NAN;
    ab_session_close_lists(s);
}

#define RECORDS(key, list, table, ...) \
    AB_LIST(key, struct ab_session, list, n_##list, AB_STORED_RECORDS_MAX, .record = (table), \
            __VA_ARGS__)

static const struct ab_member document_members[] = {
    AB_FIXED("schema", SCHEMA, .read = read_schema),
    AB_RECORD_HERE("tool", &tool_record, .doc = "The allocbench that measured."),
    AB_FLAG("complete", struct ab_session, is_complete, .doc = "false: rounds are missing."),
    AB_UNSEALED(struct ab_session),
    AB_RECORD_HERE("config", &config_record, .doc = "What was measured, and how."),
    COUNT("seed", struct ab_session, seed,
          .doc = "Seed of the workload and of the order of the rounds."),
    AB_RECORD("host", struct ab_session, host, &host_record,
              .doc = "The machine; of a merged result the first."),
    AB_LIST("hosts", struct ab_session, hosts, n_hosts, AB_SHARDS_MAX, .record = &host_record,
            AB_WHEN(struct ab_session, n_hosts), .flags = AB_OMIT,
            .doc = "All machines of a result that was merged from several; otherwise "
                   "there is no such key."),
    AB_RECORD_HERE("timer", &timer_record, .flags = AB_LAST,
                   .doc = "The clock, and what the harness takes."),
    AB_RECORD("counting", struct ab_session, counting, &counting_record,
              AB_WHEN(struct ab_session, counting.is_asked), .flags = AB_LATER,
              .doc = "Counted instructions (--instr); null = not asked for."),
    AB_RECORD("noise", struct ab_session, noise, &noise_record,
              AB_WHEN(struct ab_session, noise.runs), .flags = AB_LATER,
              .doc = "Disturbances of the throughput runs, summed over them all."),
    RULE(AB_HISTOGRAMS_KEY, write_histograms, read_histograms, .values = AB_IS_FIXED,
         .text = AB_HISTOGRAMS_MERGED, .flags = AB_OMIT,
         .doc = "merged, in a result out of an HTML report: the first hdr_v2 of a "
                "back end, phase and op is that of all rounds, the others are null. "
                "The same holds for size_classes, heaps (whose time_ns is a sum) "
                "and the counts of windows; there is one timeline for each back "
                "end."),
    AB_LIST("backends", struct ab_session, backends, n_backends, AB_STORED_BACKENDS_MAX,
            .record = &backend_record,
            .doc = "The rows of the tables: a back end, or a back end in one "
                   "combination of values of params."),
    AB_LIST("rounds", struct ab_session, rounds, n_rounds, AB_STORED_ROUNDS_MAX,
            .record = &round_record, .doc = "The rounds that ran."),
    RECORDS("results", results, &result_record,
            .doc = "Latency and throughput of a back end, phase, op and round; "
                   "results/metrics.csv says what each number means."),
    RECORDS("size_classes", size_classes, &size_record, .flags = AB_WRITTEN_ALWAYS | AB_LATER,
            .doc = "Latency of one op by size."),
    RECORDS("windows", windows, &window_record, .flags = AB_WRITTEN_ALWAYS | AB_LATER,
            .doc = "Latency over time: each phase in up to 64 equal stretches of ops."),
    RECORDS("heaps", heap_parts, &heap_part_record, .flags = AB_LATER,
            .doc = "Latency by heap, in rows of several heaps."),
    RECORDS("memory", memory, &memory_record,
            .doc = "Memory at a moment of a phase; results/metrics.csv says what each "
                   "number means."),
    RECORDS("memory_distributions", dists, &dist_record, .flags = AB_LATER,
            .doc = "Distributions of memory over the ops of a phase."),
    RECORDS("timelines", timelines, &timeline_record, .flags = AB_WRITTEN_ALWAYS | AB_LATER,
            .doc = "Memory over the ops of all phases."),
    RECORDS("memory_over_time", over_time, &over_time_record, .has = has_over_time,
            .flags = AB_OMIT,
            .doc = "Memory over the time of work that has times: a row each second or "
                   "finer, at the beginning, 1, 10, 60 s and the end of idle stretches, at "
                   "the end of each phase, before the drain."),
    RECORDS("pins", pins, &pin_record, .has = has_pins, .flags = AB_OMIT,
            .doc = "Who pins the pages, with -v pins or a gate on it: a row for each "
                   "owner at a moment. The end of the last phase comes last."),
    RECORDS("call_sites", call_sites, &call_site_record, .has = has_call_sites, .flags = AB_OMIT,
            .doc = "Places in a program that called the allocator, with exec --inside "
                   "--sites, sorted by time."),
    RECORDS("iterations", iterations, &iterations_record, .has = has_iterations, .flags = AB_OMIT,
            .doc = "Time in the allocator per iteration (each, --each scope)."),
    AB_RECORD("trace_overview", struct ab_session, overview, &overview_record,
              .flags = AB_POINTER | AB_LATER,
              .doc = "Sizes, lifetimes and threads of a replayed trace; otherwise null."),
    RULE("growth", write_growths, NULL, .values = AB_IS_LIST, .record = &growth_by_time_record,
         .flags = AB_OMIT, .doc = "Growth of resident memory by time, over all rounds."),
    RULE("ratios", write_ratios, NULL, .values = AB_IS_LIST, .record = &ratio_record,
         .flags = AB_LATER, .doc = "Ratios to the base, as the tables show them."),
    AB_PART(&ab_checks_record, .flags = AB_SHOWN),
};
const struct ab_record ab_session_record = AB_RECORD_OF(struct ab_session, document_members,
                                                        .check = check_document);

void ab_session_settle(struct ab_session *s)
{
    ab_record_settle(&ab_session_record, s);
    for (uint32_t i = 0; i < s->n_results; i++)
        for (uint32_t k = 0; k < AB_NAMED_MAX; k++)
            s->results[i].named[k] = ab_number_settle(s->results[i].named[k]);
    for (uint32_t i = 0; i < s->n_memory; i++)
        for (uint32_t h = 0; h < AB_PLACEMENT_HEAPS_MAX; h++)
            ab_record_settle(&heap_memory_record, &s->memory[i].heaps[h]);
}

json_t *ab_session_schema(void)
{
    json_t *schema = json_pack(
        "{ssssssss}", "$schema", "https://json-schema.org/draft/2020-12/schema", "$id",
        "allocbench-2.schema.json", "title", SCHEMA, "description",
        "The result of one command. Times in ns, sizes in bytes; null = not known or not measured. "
        "Readers ignore keys they do not know: new ones may come within allocbench/2, none changes "
        "its meaning.");
    json_object_update_new(schema, ab_record_schema(&ab_session_record));
    json_t *checksum = json_pack(
        "{s{s{ssssss}}}", "properties", AB_CHECKSUM_KEY, "description",
        "SHA-256 of the document without this key: sorted keys, no white space, reals of 12 "
        "digits. A changed file is refused, but for the tables of report, which warn.",
        "type", "string", "pattern", "^sha256:[0-9a-f]{64}$");
    json_object_update_recursive(schema, checksum);
    json_decref(checksum);
    return schema;
}

json_t *ab_session_json(const struct ab_session *session)
{
    struct ab_format_guard guard;
    char checksum[AB_CHECKSUM_BYTES];
    ab_format_begin(&guard);
    json_t *document = ab_record_json(&ab_session_record, session, session);
    /* the checksum is the last key, and covers all keys before it */
    ab_checksum_make(document, checksum);
    ab_json_put(document, AB_CHECKSUM_KEY, ab_json_string(checksum));
    ab_format_end(&guard);
    return document;
}

void ab_sink_json(FILE *to, const struct ab_session *session)
{
    struct ab_format_guard guard;
    ab_format_begin(&guard);
    ab_json_write(ab_session_json(session), to, 12);
    ab_format_end(&guard);
}
