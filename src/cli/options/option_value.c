/* SPDX-License-Identifier: MIT
 *
 * Reads the values of options that are more than a number, a word or a text: touches, CPU lists,
 * shares, ranges of events.
 */
#include "cli/options/option_value.h"

#include "base/nearest.h"
#include "base/units.h"
#include "core/text.h"
#include "result/merge/shard.h"

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
        bad = "1% to 90% of available memory";
    if (bad == NULL && !is_share && x.whole < AB_TAPE_MEM_LEAST)
        bad = "at least 64KiB";
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

/* A..B, A.. or ..B: at least one event. */
enum ab_status ab_option_events(const char *name, const char *value, struct ab_options *o,
                                struct ab_err *err)
{
    struct ab_number first = {0}, end = {.whole = UINT64_MAX};
    const char *dots = strstr(value, ".."), *bad = NULL;
    if (dots == NULL || dots[dots == value ? 2 : 0] == 0)
        return ab_option_bad_value(name, value,
                                   "expected a range of events such as 0..1000, 5k.. or ..2M", err);
    if (dots > value)
        bad = ab_units_parse(value, (size_t)(dots - value), AB_UNIT_COUNT, &first);
    if (bad == NULL && dots[2] != 0)
        bad = ab_units_parse(dots + 2, strlen(dots + 2), AB_UNIT_COUNT, &end);
    if (bad == NULL && first.whole >= end.whole)
        bad = "the second number must be greater than the first: A..B excludes B";
    if (bad != NULL)
        return ab_option_bad_value(name, value, bad, err);
    o->has_events = true;
    o->first_event = first.whole;
    o->end_event = end.whole;
    return AB_OK;
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
