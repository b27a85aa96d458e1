/* SPDX-License-Identifier: MIT
 *
 * Reads the values of options that are more than a number, a word or a text: touches, CPU lists,
 * shares, ranges of events, passes.
 */
#include "cli/options/option_value.h"

#include "base/bits.h"
#include "base/nearest.h"
#include "base/units.h"
#include "core/text.h"
#include "result/merge/shard.h"
#include "result/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ab_option_touches[] = AB_TOUCH_WORDS("first(N)");

enum ab_status ab_option_bad_value(const char *name, const char *value, const char *why,
                                   struct ab_err *err)
{
    char shown[256];
    return ab_fail(err, AB_USAGE, "--%s %s: %s", name,
                   ab_text_printable(shown, sizeof shown, value), why);
}

enum ab_status ab_option_word(const char *name, const char *value, const char *const *words,
                              size_t *out, struct ab_err *err)
{
    struct ab_text list = {0};
    enum ab_status status = AB_OK;
    size_t n = 0;
    for (; words[n] != NULL; n++) {
        if (strcmp(value, words[n]) == 0) {
            *out = n;
            goto out;
        }
        ab_text_addf(&list, "%s%s", n == 0 ? "one of " : ", ", words[n]);
    }
    const char *near = ab_text_nearest(value, words, n);
    if (near != NULL)
        ab_text_addf(&list, "; did you mean %s?", near);
    status = ab_option_bad_value(name, value, list.s, err);
out:
    ab_text_fini(&list);
    return status;
}

enum ab_status ab_option_touch(const char *name, const char *value, struct ab_options *o,
                               struct ab_err *err)
{
    size_t n = strlen(value), word = 0;
    if (n > 7 && strncmp(value, "first(", 6) == 0 && value[n - 1] == ')') {
        struct ab_number bytes;
        const char *bad = ab_units_parse(value + 6, n - 7, AB_UNIT_BYTES, &bytes);
        if (bad == NULL && (bytes.whole == 0 || bytes.whole >= 1u << 29))
            bad = "must be from 1 to 512MiB";
        if (bad != NULL)
            return ab_option_bad_value(name, value, bad, err);
        o->touch = AB_TOUCH_FIRST;
        o->touch_bytes = (uint32_t)bytes.whole;
        return AB_OK;
    }
    if (strncmp(value, "first", 5) == 0)
        return ab_option_bad_value(name, value, "give the number of bytes, as in first(8)", err);
    enum ab_status status = ab_option_word(name, value, ab_option_touches, &word, err);
    if (status == AB_OK)
        o->touch = (enum ab_touch)word;
    return status;
}

enum ab_status ab_option_tape_mem(const char *name, const char *value, struct ab_options *o,
                                  struct ab_err *err)
{
    size_t n = strlen(value);
    bool is_share = n > 0 && value[n - 1] == '%';
    struct ab_number x;
    const char *bad = ab_units_parse(value, n, is_share ? AB_UNIT_FRACTION : AB_UNIT_BYTES, &x);
    if (bad == NULL && is_share && (x.value < 0.01 || x.value > 0.9))
        bad = "must be from 1% to 90% of available memory";
    if (bad == NULL && !is_share && x.whole < AB_TAPE_MEM_LEAST)
        bad = "must be at least 64KiB";
    if (bad != NULL)
        return ab_option_bad_value(name, value, bad, err);
    o->tape_mem_bytes = is_share ? 0 : x.whole;
    o->tape_mem_share = is_share ? x.value : 0;
    return AB_OK;
}

/* One CPU number or range at *s, moving after it; false when it is none. */
static bool read_cpus(const char **s, struct ab_options *o)
{
    char *end;
    if (**s < '0' || **s > '9')
        return false;
    long first = strtol(*s, &end, 10), last = first;
    if (*end == '-' && end[1] >= '0' && end[1] <= '9')
        last = strtol(end + 1, &end, 10);
    *s = end;
    for (long cpu = first; cpu <= last && last < 65536; cpu++) {
        if (o->n_cpus == AB_CPUS_MAX)
            return false;
        o->cpus[o->n_cpus++] = (int)cpu;
    }
    return first <= last && last < 65536;
}

enum ab_status ab_option_cpus(const char *name, const char *value, struct ab_options *o,
                              struct ab_err *err)
{
    const char *s = value;
    o->n_cpus = 0;
    while (read_cpus(&s, o)) {
        if (*s == 0)
            return AB_OK;
        if (*s++ != ',')
            break;
    }
    return ab_option_bad_value(name, value, "expected a list of CPUs such as 1 or 0,2-3", err);
}

/* I/N, both whole numbers. */
enum ab_status ab_option_shard(const char *name, const char *value, struct ab_options *o,
                               struct ab_err *err)
{
    struct ab_number index, count;
    const char *slash = strchr(value, '/'), *bad = NULL;
    if (slash == NULL || slash == value || slash[1] == 0)
        return ab_option_bad_value(name, value, "expected a part of a number, such as 1/4 to 4/4",
                                   err);
    bad = ab_units_parse(value, (size_t)(slash - value), AB_UNIT_COUNT, &index);
    if (bad == NULL)
        bad = ab_units_parse(slash + 1, strlen(slash + 1), AB_UNIT_COUNT, &count);
    if (bad == NULL && (count.whole == 0 || count.whole > AB_SHARDS_MAX))
        bad = "the second number is how many shards there are, 1 to 10000";
    if (bad == NULL && (index.whole == 0 || index.whole > count.whole))
        bad = "the first number must be from 1 to the second";
    if (bad != NULL)
        return ab_option_bad_value(name, value, bad, err);
    o->shard = (struct ab_run_shard){(uint32_t)index.whole, (uint32_t)count.whole};
    return AB_OK;
}

/* A..B, A.. or ..B: at least one. `wrong` says what is expected. */
static enum ab_status read_span(const char *name, const char *value, enum ab_unit_kind unit,
                                const char *wrong, struct ab_extent *out, struct ab_err *err)
{
    struct ab_number first = {0}, end = {.whole = UINT64_MAX};
    const char *dots = strstr(value, ".."), *bad = NULL;
    if (dots == NULL || dots[dots == value ? 2 : 0] == 0)
        return ab_option_bad_value(name, value, wrong, err);
    if (dots > value)
        bad = ab_units_parse(value, (size_t)(dots - value), unit, &first);
    if (bad == NULL && dots[2] != 0)
        bad = ab_units_parse(dots + 2, strlen(dots + 2), unit, &end);
    if (bad == NULL && first.whole >= end.whole)
        bad = "the second number must be greater than the first: A..B excludes B";
    if (bad != NULL)
        return ab_option_bad_value(name, value, bad, err);
    *out = (struct ab_extent){first.whole, end.whole};
    return AB_OK;
}

enum ab_status ab_option_events(const char *name, const char *value, struct ab_options *o,
                                struct ab_err *err)
{
    struct ab_extent span;
    AB_TRY(read_span(name, value, AB_UNIT_COUNT,
                     "expected a range of events such as 0..1000, 5k.. or ..2M", &span, err));
    o->has_events = true;
    o->first_event = span.first;
    o->end_event = span.end;
    return AB_OK;
}

enum ab_status ab_option_size(const char *name, const char *value, struct ab_options *o,
                              struct ab_err *err)
{
    AB_TRY(read_span(name, value, AB_UNIT_BYTES,
                     "expected a range of sizes such as 16..65, 4KiB.. or ..1MiB", &o->sizes, err));
    o->has_sizes = true;
    return AB_OK;
}

enum ab_status ab_option_time(const char *name, const char *value, struct ab_options *o,
                              struct ab_err *err)
{
    AB_TRY(read_span(name, value, AB_UNIT_TIME,
                     "expected a range of times such as 0..10ms, 2s.. or ..500ms", &o->times, err));
    o->has_times = true;
    return AB_OK;
}

/* Numbers and ranges of them, A-B with both ends, separated by commas. */
enum ab_status ab_option_thread(const char *name, const char *value, struct ab_options *o,
                                struct ab_err *err)
{
    static const char wrong[] = "expected a list of at most 64 threads or ranges such as 0,2-5";
    const char *at = value;
    o->n_trace_threads = 0;
    for (;; at++) {
        struct ab_number first, last;
        size_t n = strcspn(at, ",-");
        if (o->n_trace_threads == AB_TRACE_THREADS_LISTED ||
            ab_units_parse(at, n, AB_UNIT_COUNT, &first) != NULL)
            return ab_option_bad_value(name, value, wrong, err);
        last = first;
        at += n;
        if (*at == '-') {
            n = strcspn(++at, ",");
            if (ab_units_parse(at, n, AB_UNIT_COUNT, &last) != NULL || last.whole < first.whole)
                return ab_option_bad_value(name, value, wrong, err);
            at += n;
        }
        o->trace_threads[o->n_trace_threads++] = (struct ab_extent){first.whole, last.whole + 1};
        if (*at == 0)
            return AB_OK;
    }
}

/* A share of the time of a run, always with its %. */
enum ab_status ab_option_limit(const char *name, const char *value, struct ab_options *o,
                               struct ab_err *err)
{
    struct ab_number x;
    size_t n = strlen(value);
    const char *bad = ab_units_parse(value, n, AB_UNIT_FRACTION, &x);
    if (bad != NULL || value[n - 1] != '%')
        bad = "expected a percentage such as 5%";
    else if (x.value <= 0 || x.value > 10)
        bad = "must be above 0% and at most 1000%";
    if (bad != NULL)
        return ab_option_bad_value(name, value, bad, err);
    o->limit = x.value;
    return AB_OK;
}

/* How close the bounds of a ratio have to come to it. */
enum ab_status ab_option_precision(const char *name, const char *value, struct ab_options *o,
                                   struct ab_err *err)
{
    struct ab_number x;
    size_t n = strlen(value);
    const char *bad = ab_units_parse(value, n, AB_UNIT_FRACTION, &x);
    if (bad != NULL || value[n - 1] != '%')
        bad = "expected a percentage such as 2%";
    else if (x.value < 0.001 || x.value > 0.5)
        bad = "must be from 0.1% to 50%";
    if (bad != NULL)
        return ab_option_bad_value(name, value, bad, err);
    o->precision = x.value;
    return AB_OK;
}

/* "latency", "memory:3" or "tail:all", n characters of which `name` are the name, that of `pass`:
 * into the plan. NULL, or what is wrong. */
static const char *read_pass(const char *s, size_t n, size_t name, enum ab_pass pass,
                             struct ab_pass_plan *plan)
{
    struct ab_number rounds;
    uint32_t *out = &plan->rounds[pass];
    *out = AB_PASS_AS_NEEDED;
    if (name == n)
        return NULL;
    *out = AB_EVERY_ROUND;
    if (n - name == 4 && strncmp(s + name, ":all", 4) == 0)
        return NULL;
    if (ab_units_parse(s + name + 1, n - name - 1, AB_UNIT_COUNT, &rounds) != NULL ||
        rounds.whole == 0 || rounds.whole > AB_ROUNDS_MAX)
        return "expected NAME, NAME:all or NAME:N with N from 1 to 1000";
    if (pass == AB_PASS_THROUGHPUT)
        return "throughput runs in every round";
    *out = (uint32_t)rounds.whole;
    return NULL;
}

static const enum ab_pass passes[] = {
#define ITEM(pass) pass,
    AB_ROUND_PASSES(ITEM)
#undef ITEM
};

/* AB_USAGE, with the list of all and the nearest. */
static enum ab_status find_pass(const char *option, const char *s, size_t n, enum ab_pass *out,
                                struct ab_err *err)
{
    const char *names[AB_ARRAY_LEN(passes)];
    char word[32], why[200];
    snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), s);
    for (size_t i = 0; i < AB_ARRAY_LEN(passes); i++) {
        names[i] = ab_pass_names[passes[i]];
        *out = passes[i];
        if (strcmp(names[i], word) == 0)
            return AB_OK;
    }
    const char *near = ab_text_nearest(word, names, AB_ARRAY_LEN(names));
    snprintf(why, sizeof why,
             "%s%s%sexpected some of throughput, latency, tail and memory, separated by commas",
             near != NULL ? "did you mean " : "", near != NULL ? near : "",
             near != NULL ? "? " : "");
    return ab_option_bad_value(option, word, why, err);
}

enum ab_status ab_option_passes(const char *name, const char *value, struct ab_options *o,
                                struct ab_err *err)
{
    struct ab_pass_plan plan = {.is_known = true};
    for (const char *s = value;; s++) {
        size_t n = strcspn(s, ","), length = strcspn(s, ":,");
        enum ab_pass pass;
        enum ab_status status = find_pass(name, s, length, &pass, err);
        if (status != AB_OK)
            return status;
        const char *bad = read_pass(s, n, length, pass, &plan);
        if (bad != NULL)
            return ab_option_bad_value(name, value, bad, err);
        s += n;
        if (*s == 0)
            break;
    }
    o->passes = plan;
    return AB_OK;
}
