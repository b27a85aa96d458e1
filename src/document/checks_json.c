/* SPDX-License-Identifier: MIT
 *
 * The tables of the JSON members of each kind of check, and of a comparison.
 */
#include "document/checks_json.h"

#include "base/bits.h"
#include "core/alloc.h"
#include "document/stored_reader.h"
#include "result/shown.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- the result of verify ---- */

static const struct ab_member crash_members[] = {
    AB_CHARS("call", struct ab_crash_text, call),
    AB_CHARS("memory", struct ab_crash_text, memory),
    AB_CHARS("function", struct ab_crash_text, function),
};
AB_TABLE(crash, struct ab_crash_text);

static const char *const kinds[] = {"required", "info"};

static bool is_required(const void *line, const void *context)
{
    (void)context;
    return !((const struct ab_verify_line *)line)->is_info;
}

static json_t *write_text(const struct ab_writing *x)
{
    const struct ab_verify_line *l = x->record;
    const char *key = l->verdict == AB_VERIFY_INFO ? "answer" : "reason";
    ab_json_put(x->o, key, ab_json_string(l->text));
    return NULL;
}

static const struct ab_member line_members[] = {
    AB_TEXT("check", struct ab_verify_line, check),
    AB_TEXT("rule", struct ab_verify_line, rule),
    AB_NAME("kind", struct ab_verify_line, is_info, 2, .names = kinds),
    AB_NAME("verdict", struct ab_verify_line, verdict, 0, .name = ab_verify_verdict_name),
    AB_WHOLE("work", struct ab_verify_line, work, INT64_MAX, 0, .has = is_required),
    AB_TEXT("unit", struct ab_verify_line, unit),
    {.type = AB_IS_RULE, .write = write_text},
    AB_MEMBER(PART, NULL, struct ab_verify_line, crash, .record = &crash_record),
    AB_TEXT("repeat", struct ab_verify_line, repeat),
};
AB_TABLE(line, struct ab_verify_line);

static json_t *write_status(const struct ab_writing *x)
{
    const struct ab_verify_backend *b = x->record;
    return ab_json_string(b->info->status == AB_BACKEND_OK
                              ? ab_verify_status_name(b)
                              : ab_backend_status_name(b->info->status));
}

/* Writes the checks of a back end; nothing if it could not be verified. */
static json_t *write_checks(const struct ab_writing *x)
{
    const struct ab_verify_session *v = x->context;
    const struct ab_verify_backend *b = x->record;
    json_t *list = json_array();
    for (uint32_t i = 0; b->info->status == AB_BACKEND_OK && i < v->n_lines; i++)
        ab_json_append(list, ab_record_json(&line_record, &b->lines[i], v));
    return list;
}

static const struct ab_member info_members[] = {
    AB_CHARS("name", struct ab_backend_info, name),
    AB_TEXT("boundary", struct ab_backend_info, boundary),
    AB_CHARS("version", struct ab_backend_info, version),
    AB_CHARS("path", struct ab_backend_info, path),
};
AB_TABLE(info, struct ab_backend_info);

static json_t *write_reason(const struct ab_writing *x)
{
    return ab_json_string(((const struct ab_verify_backend *)x->record)->info->reason);
}

static const struct ab_member backend_members[] = {
    AB_MEMBER(PART, NULL, struct ab_verify_backend, info, .record = &info_record,
              .flags = AB_POINTER),
    {.key = "status", .type = AB_IS_RULE, .write = write_status},
    {.key = "reason", .type = AB_IS_RULE, .write = write_reason},
    AB_WHOLE("failed", struct ab_verify_backend, n_failed, UINT32_MAX, 0),
    AB_WHOLE("not_proven", struct ab_verify_backend, n_not_proven, UINT32_MAX, 0),
    AB_MEMBER(PART, NULL, struct ab_verify_backend, crash, .record = &crash_record),
    AB_TEXT("repeat", struct ab_verify_backend, repeat),
    {.key = "checks", .type = AB_IS_RULE, .write = write_checks},
};
AB_TABLE(backend, struct ab_verify_backend);

static const struct ab_member members[] = {
    AB_FIXED("schema", "allocbench-verify/1"),
    AB_WHOLE("seed", struct ab_verify_session, seed, INT64_MAX, 0),
    AB_TEXT("work", struct ab_verify_session, work_name),
    AB_LIST("backends", struct ab_verify_session, backends, n_backends, UINT32_MAX,
            .record = &backend_record),
};
static const struct ab_record record = AB_RECORD_OF(struct ab_verify_session, members);

void ab_verify_json(FILE *to, const struct ab_verify_session *v)
{
    ab_json_write(ab_record_json(&record, v, v), to, 0);
}

#define CHARS(key, member, ...) AB_CHARS(key, struct ab_checked, member, __VA_ARGS__)
#define TEXT(key, member, ...) AB_TEXT(key, struct ab_checked, member, __VA_ARGS__)
#define REAL(key, member, ...) AB_NUMBER(key, struct ab_checked, member, __VA_ARGS__)
#define WHOLE(key, member, ...) AB_WHOLE(key, struct ab_checked, member, UINT32_MAX, 0, __VA_ARGS__)
/* A text that may be NULL, which is written as null, for example the phase of a number of the whole
 * run. */
#define TEXT_OR_NULL(key, member, ...) TEXT(key, member, .flags = AB_ZERO, __VA_ARGS__)
/* Number of rounds that are needed; both "unknown" (0) and "never" (UINT32_MAX) are written as
 * null. */
#define ROUNDS_NEEDED(...) \
    AB_WHOLE("rounds_needed", struct ab_checked, rounds_needed, UINT32_MAX - 1, 0, \
             .has = can_be_settled, .doc = "Rounds that would settle an open verdict.", \
             __VA_ARGS__)

static bool can_be_settled(const void *check, const void *context)
{
    (void)context;
    return ((const struct ab_checked *)check)->rounds_needed != UINT32_MAX;
}

/* Initializes a check before its members are read, because documents do not contain all members. */
static void begin(const struct ab_reading *x)
{
    const struct ab_effect none = {
        .ratio = NAN, .low = NAN, .high = NAN, .sd = NAN, .p_larger = NAN, .p_smaller = NAN};
    *(struct ab_checked *)x->record = (struct ab_checked){.effect = none,
                                                          .relative = none,
                                                          .machine_ratio = NAN,
                                                          .confirm = NAN,
                                                          .unit = "",
                                                          .base_backend = ""};
}

static void copy_check(const struct ab_copying *x)
{
    struct ab_checked *c = x->record;
    const char **const texts[] = {&c->backend, &c->base_backend, &c->phase,    &c->op,
                                  &c->metric,  &c->unit,         &c->text,     &c->place,
                                  &c->says,    &c->source,       &c->iteration};
    for (size_t i = 0; i < AB_ARRAY_LEN(texts); i++)
        *texts[i] = ab_copied_text(x, *texts[i]);
}

/* ---- numbers of a comparison ---- */

static bool is_relative(const void *check, const void *context)
{
    const struct ab_checked *c = check;
    (void)context;
    return ab_check_judged_effect(c) != &c->effect;
}

static bool is_judged(const void *check, const void *context)
{
    (void)context;
    return ab_check_is_judged(check);
}

/* Writes the direction of a number: worse, better or neither. It follows from the number and its
 * interval. */
static json_t *write_direction(const struct ab_writing *x)
{
    return ab_check_is_judged(x->record) ? json_null() : ab_json_string(ab_check_word(x->record));
}

static void read_verdict(const struct ab_reading *x)
{
    if (!isnan(((const struct ab_checked *)x->record)->bound) &&
        ab_json_has(x->r, x->o, x->m->key) && !ab_json_has_value(x->r, x->o, x->m->key))
        ab_json_fail(x->r, x->o, "has a limit and no verdict");
}

static void check_cell(const struct ab_reading *x)
{
    const struct ab_checked *c = x->record;
    bool is_bound = !isnan(c->bound) && c->verdict != AB_VERDICT_NOT_EVALUATED;
    if (is_bound && !(isfinite(c->effect.ratio) && c->effect.ratio > 0))
        ab_json_fail(x->r, x->o, "has a verdict and no ratio");
    if (c->backend == NULL || c->metric == NULL)
        ab_json_fail(x->r, x->o, "must name a back end and a metric");
}

static const struct ab_member relative_members[] = {
    CHARS("witnesses", controls, .doc = "Back ends with the same build in both results."),
    REAL("machine_ratio", machine_ratio, .doc = "Change of these back ends themselves."),
    REAL("ratio", relative.ratio),
    REAL("low", relative.low),
    REAL("high", relative.high),
};
AB_TABLE(relative, struct ab_checked);

#define VERDICT "verdict"

static const struct ab_member cell_members[] = {
    {.type = AB_IS_RULE, .read = begin},
    TEXT("backend", backend, .flags = AB_ZERO | AB_NEVER_NULL),
    TEXT("base_backend", base_backend, .flags = AB_NEVER_NULL),
    TEXT_OR_NULL("phase", phase, .doc = "Null = the whole run."),
    TEXT_OR_NULL("op", op, .doc = "Null = not about an op."),
    TEXT("iteration", iteration, AB_WHEN(struct ab_checked, iteration), .flags = AB_OMIT | AB_ZERO,
         .doc = "Name of the iteration; only of times per iteration."),
    TEXT("metric", metric, .flags = AB_ZERO | AB_NEVER_NULL),
    TEXT("unit", unit, .flags = AB_NEVER_NULL),
    REAL("base", base),
    REAL("new", now),
    REAL("ratio", effect.ratio, .doc = "Above 1 is worse."),
    REAL("low", effect.low, .doc = "90 % interval."),
    REAL("high", effect.high, .doc = "90 % interval."),
    AB_NAME("method", struct ab_checked, effect.method, AB_EFFECT_METHOD_COUNT,
            .names = ab_effect_method_names),
    WHOLE("n_base", effect.n_base),
    WHOLE("n_new", effect.n_new),
    AB_RECORD_HERE("relative", &relative_record, .has = is_relative, .flags = AB_OMIT,
                   .doc = "The effect relative to what did not change, which decides the "
                          "verdict; otherwise no such key."),
    REAL("limit", bound, .doc = "0.05 = 5 %; null = shown only."),
    {.key = VERDICT, .type = AB_IS_RULE, .read = read_verdict},
    AB_NAME(VERDICT, struct ab_checked, verdict, AB_VERDICT_COUNT, .names = ab_comparison_verdicts,
            .has = is_judged, .doc = "With a limit; otherwise null."),
    AB_WRITTEN("direction", write_direction, .values = AB_IS_RULE,
               .schema = "{\"enum\": [\"worse\", \"better\", \"~\", \"n/a\", null]}",
               .doc = "Without a limit; otherwise null."),
    ROUNDS_NEEDED(.flags = AB_ZERO),
    WHOLE("confirm_rounds", n_confirm, .doc = "Rounds that confirmed a failure; 0 = none."),
    REAL("confirm_ratio", confirm, .doc = "Effect in these rounds."),
    CHARS("reason", reason),
};
AB_TABLE(cell, struct ab_checked, .check = check_cell, .copy = copy_check);

/* ---- gates ---- */

static json_t *write_exit_code(const struct ab_writing *x)
{
    const struct ab_checked *c = x->record;
    return ab_json_integer((uint64_t)ab_status_exit_code(c->status));
}

static void read_exit_code(const struct ab_reading *x)
{
    static const enum ab_status allowed[] = {AB_OK, AB_GATE, AB_CONFIG, AB_INCONCLUSIVE};
    uint64_t code = ab_json_whole(x->r, x->o, x->m->key, UINT8_MAX, UINT8_MAX);
    for (size_t i = 0; i < AB_ARRAY_LEN(allowed); i++)
        if ((uint64_t)ab_status_exit_code(allowed[i]) == code) {
            ((struct ab_checked *)x->record)->status = allowed[i];
            return;
        }
    ab_json_fail(x->r, x->o, "%s is not one of a gate", x->m->key);
}

static json_t *write_unit(const struct ab_writing *x)
{
    char unit[160];
    return ab_json_string(ab_check_unit(x->record, unit, sizeof unit));
}

/* Reads the unit of a gate. A unit such as "x glibc" also tells what the bound is a factor of. */
static void read_unit(const struct ab_reading *x)
{
    struct ab_checked *c = x->record;
    c->unit = ab_json_text(x->r, x->o, x->m->key);
    bool is_factor = strncmp(c->unit, "x ", 2) == 0;
    c->base_backend = is_factor ? c->unit + 2 : "";
    c->against = !is_factor                                 ? AB_AGAINST_NOTHING
                 : strcmp(c->base_backend, "live") == 0     ? AB_AGAINST_LIVE
                 : strcmp(c->base_backend, "baseline") == 0 ? AB_AGAINST_BASELINE
                                                            : AB_AGAINST_BACKEND;
}

/* Reads the name of a back end of this session. null leaves the member as it is. */
static void read_backend(const struct ab_reading *x)
{
    const char *name = ab_json_text(x->r, x->o, x->m->key);
    if (name[0] == 0)
        return;
    *(const char **)x->p = name;
    ab_stored_named(x->context, &x->at, name);
}

static const char *const levels[] = {"error", "warn"};

static const struct ab_member gate_members[] = {
    {.type = AB_IS_RULE, .read = begin},
    TEXT("gate", text, .flags = AB_NEVER_NULL, .doc = "As written."),
    TEXT("place", place, .flags = AB_NEVER_NULL, .doc = "FILE:LINE:COLUMN, or --gate."),
    TEXT("backend", backend, .read = read_backend),
    AB_NAME("verdict", struct ab_checked, verdict, AB_VERDICT_COUNT, .names = ab_gate_verdicts,
            .doc = "not_evaluated: no number to judge by, which fails. skipped: absent "
                   "or partial, of the default list. inconclusive: the bound is within "
                   "the interval, the failure was not confirmed, or the machine "
                   "changed."),
    {.key = "exit_code",
     .type = AB_IS_RULE,
     .write = write_exit_code,
     .read = read_exit_code,
     .values = AB_IS_RULE,
     .schema = "{\"enum\": [0, 1, 2, 5]}",
     .doc = "1: failed or not evaluated; 2: bound below the floor of the clock; "
            "5: inconclusive, with --inconclusive=fail. The 4 of a failed back "
            "end outweighs them."},
    REAL("value", effect.ratio, .flags = AB_SIGNED),
    REAL("bound", bound, .flags = AB_SIGNED),
    {.key = "unit",
     .type = AB_IS_RULE,
     .write = write_unit,
     .read = read_unit,
     .flags = AB_NEVER_NULL,
     .doc = "ns, bytes, ratio (0.05 = 5 %), percent, 1/s ..., x glibc, x live, "
            "x baseline."},
    CHARS("reason", reason),
    REAL("low", effect.low, .flags = AB_LATER, .doc = "90 % interval."),
    REAL("high", effect.high, .flags = AB_LATER, .doc = "90 % interval."),
    AB_NAME("level", struct ab_checked, is_warning, 2, .names = levels, .flags = AB_LATER),
    WHOLE("confirm_rounds", n_confirm, .flags = AB_LATER,
          .doc = "Rounds that confirmed a failure; 0 = none."),
    REAL("confirm_value", confirm, .flags = AB_LATER, .doc = "Value in these rounds."),
    ROUNDS_NEEDED(.flags = AB_ZERO | AB_LATER),
};
AB_TABLE(gate, struct ab_checked, .copy = copy_check);

/* ---- claims, which are written but never read ---- */

static const struct ab_member claim_members[] = {
    TEXT("claim", text, .flags = AB_NEVER_NULL, .doc = "As written."),
    TEXT("place", place, .flags = AB_NEVER_NULL),
    TEXT("says", says),
    TEXT("source", source),
    TEXT("backend", backend, .flags = AB_NEVER_NULL),
    TEXT("base", base_backend, .flags = AB_NEVER_NULL),
    TEXT("phase", phase, .flags = AB_NEVER_NULL),
    TEXT("op", op, .flags = AB_NEVER_NULL),
    TEXT("stat", metric, .flags = AB_NEVER_NULL),
    REAL("claimed", bound, .doc = "Published ratio to the base."),
    REAL("measured", effect.ratio, .doc = "Median of the rounds."),
    REAL("low", low, .doc = "Least of the rounds."),
    REAL("high", high, .doc = "Most of the rounds."),
    REAL("interval_low", effect.low, .doc = "90 % interval."),
    REAL("interval_high", effect.high, .doc = "90 % interval."),
    REAL("net", relative.ratio,
         .doc = "Ratio less the nulls, only of all/ns_per_op; null = that leaves "
                "nothing in some round."),
    REAL("net_interval_low", relative.low),
    REAL("net_interval_high", relative.high),
    WHOLE("n_rounds", effect.n_new),
    CHARS("reason", reason),
};
AB_TABLE(claim, struct ab_checked);

/* ---- a comparison ---- */

static const struct ab_member work_members[] = {
    AB_TEXT("tape_sha256", struct ab_session, tape_sha256, AB_SHA256),
};
AB_TABLE(work, struct ab_session);

static_assert(AB_COMPARE_NOTE_BYTES == 300, "as the table of notes says");

static const struct ab_member comparison_members[] = {
    AB_TEXT("base", struct ab_comparison, base_label, .flags = AB_ZERO,
            .doc = "File or name; null = the comparison is within one result."),
    AB_TEXT("new", struct ab_comparison, now_label, .flags = AB_ZERO),
    AB_MEMBER(PART, NULL, struct ab_comparison, now, .record = &work_record,
              .flags = AB_POINTER | AB_SHOWN),
    AB_CHARS("advisory", struct ab_comparison, advisory, .doc = "Why verdicts do not count."),
    AB_LIST("notes", struct ab_comparison, notes, n_notes, AB_STORED_RECORDS_MAX,
            .values = AB_IS_CHARS, .stride = AB_COMPARE_NOTE_BYTES, .flags = AB_NEVER_NULL,
            .text = "must be a text below 300 bytes", .doc = "Differences that affect no verdict."),
    AB_FLAG("jointly", struct ab_comparison, is_joint, .flags = AB_OMIT,
            .doc = "Verdicts hold for all rows together (--jointly); otherwise no such "
                   "key."),
    AB_UNSEALED(struct ab_comparison),
    AB_LIST("cells", struct ab_comparison, cells, n_cells, AB_STORED_RECORDS_MAX,
            .record = &cell_record, .doc = "A number of a back end in both."),
};
AB_TABLE(comparison, struct ab_comparison);

static const struct ab_member checks_members[] = {
    AB_LIST("gates", struct ab_session, gates, n_gates, AB_STORED_RECORDS_MAX,
            .record = &gate_record, .doc = "Gates and their verdicts."),
    AB_LIST("claims", struct ab_session, claims, n_claims, AB_STORED_RECORDS_MAX,
            .record = &claim_record, .flags = AB_SHOWN,
            .doc = "Published figures beside what was measured, without a verdict."),
    AB_RECORD("comparison", struct ab_session, comparison, &comparison_record,
              .flags = AB_POINTER | AB_LATER, .doc = "With --baseline or --limit; otherwise null."),
};
const struct ab_record ab_checks_record = AB_RECORD_OF(struct ab_session, checks_members);

/* ---- the document of several comparisons ---- */

const struct ab_record ab_gates_record = {checks_members, 1, sizeof(struct ab_session),
                                          .check = NULL};

static const struct ab_member compared_members[] = {
    AB_PART(&comparison_record),
    AB_MEMBER(PART, NULL, struct ab_comparison, now, .record = &ab_gates_record,
              .flags = AB_POINTER),
};
AB_TABLE(compared, struct ab_comparison);

struct document {
    uint32_t exit_code;
    const struct ab_comparison *comparisons;
    size_t n;
};
static const struct ab_member document_members[] = {
    AB_FIXED("schema", "allocbench-compare/1"),
    AB_FIXED("version", AB_VERSION),
    AB_WHOLE("exit_code", struct document, exit_code, UINT32_MAX, 0),
    AB_LIST("comparisons", struct document, comparisons, n, UINT32_MAX, .record = &compared_record),
};
AB_TABLE(document, struct document);

void ab_comparisons_write(FILE *to, const struct ab_comparison *comparisons, size_t n,
                          int exit_code)
{
    struct ab_format_guard guard;
    const struct document d = {(uint32_t)exit_code, comparisons, n};
    ab_format_begin(&guard);
    ab_json_write(ab_record_json(&document_record, &d, NULL), to, 12);
    ab_format_end(&guard);
}
