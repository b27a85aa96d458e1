/* SPDX-License-Identifier: MIT
 *
 * Completes the request from a stored result, and passes on the rounds of the result to be
 * continued.
 */
#include "app/resume_result.h"

#include "allocators/builtin.h"
#include "app/baselines.h"
#include "app/say.h"
#include "backend/presets.h"
#include "core/alloc.h"
#include "core/text.h"
#include "document/json_in.h"
#include "document/suite_document.h"
#include "result/session.h"
#include "workload/yaml_index.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* limit of budgets in stored results; in ns it fits 64 bits */
enum { TIME_BUDGET_MOST_S = 1000000000 };

/* Copies n strings to the list of an option, which ends with NULL. */
static void take_list(struct ab_resume *r, int which, const char *const *items, size_t n)
{
    r->lists[which] = ab_alloc_zeroed(n + 1, sizeof items[0]);
    for (size_t i = 0; i < n; i++)
        r->lists[which][i] = items[i];
}

/* Refuses a workload whose text differs from the text in the result. Errors of a workload show its
 * lines, and a result must not choose which of the user's files is shown. */
static enum ab_status check_text(const struct ab_session *s, struct ab_err *err)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    const char *text = s->config_text != NULL ? s->config_text : "";
    size_t n, skipped = 0;
    char *found;
    AB_TRY(ab_json_read_file(s->config_path, AB_CONFIG_MAX_BYTES, &found, &n, err));
    if (n >= 3 && memcmp(found, byte_order_mark, 3) == 0)
        skipped = 3;
    bool is_same = n - skipped == strlen(text) && memcmp(found + skipped, text, n - skipped) == 0;
    free(found);
    return is_same ? AB_OK
                   : ab_fail(err, AB_USAGE,
                             "the workload %s is not the one that was measured; to resume with it "
                             "name it on the command line",
                             AB_SHOWN(512, s->config_path));
}

static enum ab_status take_path(struct ab_resume *r, bool is_trace, struct ab_err *err)
{
    const char *path = r->stored.session.config_path;
    if (r->asked.n_args > 0 || path[0] == 0)
        return AB_OK;
    if (!is_trace)
        AB_TRY(check_text(&r->stored.session, err));
    take_list(r, 0, &path, 1);
    r->asked.args = r->lists[0];
    r->asked.n_args = 1;
    return AB_OK;
}

/* Refuses a library that only the result names. A result may come from anywhere, so it may not
 * choose code to run. */
static enum ab_status check_known(const struct ab_backend_info *b, struct ab_err *err)
{
    char name[AB_BACKEND_FULL_BYTES], shown[256];
    ab_backend_spelling(b, name);
    name[strcspn(name, ":{")] = 0;
    const char *plus = strchr(name, '+'), *known = plus != NULL ? plus + 1 : name;
    bool is_file = b->full_name[0] != 0 && b->path[0] != 0 && b->package[0] == 0 &&
                   strcmp(known, "glibc") != 0;
    if (!is_file && (ab_builtin_find(known) != NULL || ab_preset_find(known) != NULL))
        return AB_OK;
    return ab_fail(err, AB_USAGE,
                   "its back end %s is a library given by path: give all back ends "
                   "again with -b, with their paths",
                   ab_text_printable(shown, sizeof shown, b->name));
}

/* Writes the back end as -b takes it: "jemalloc{A=b}", or "bg=jemalloc{A=b}" for a row with a given
 * name. A prefix such as checked+ is written only once, in front of the full name. */
static const char *spell_for_b(const struct ab_backend_info *b, char *to, size_t cap)
{
    char full[AB_BACKEND_FULL_BYTES];
    const char *own = AB_OWN_NAME(b), *plus = strchr(own, '+');
    if (b->full_name[0] == 0)
        return strcpy(to, own);
    own = plus != NULL ? plus + 1 : own;
    snprintf(to, cap, "%.*s=%s", (int)strcspn(own, ":"), own, ab_backend_spelling(b, full));
    return to;
}

static enum ab_status take_backends(struct ab_resume *r, struct ab_err *err)
{
    const struct ab_session *s = &r->stored.session;
    const char *names[AB_STORED_BACKENDS_MAX];
    enum ab_status status = AB_OK;
    size_t n = 0;
    if (r->asked.backends.n > 0)
        return AB_OK;
    r->names = ab_alloc_zeroed(s->n_backends + 1u, sizeof r->names[0]);
    for (uint32_t i = 0; i < s->n_backends && status == AB_OK; i++) {
        /* mappings are read by take_maps(); further combinations repeat the back ends */
        if (s->backends[i].n_heaps > 0 || s->backends[i].combination > 0)
            continue;
        names[n] = spell_for_b(&s->backends[i], r->names[n], sizeof r->names[n]);
        n++;
        status = check_known(&s->backends[i], err);
    }
    if (status == AB_OK)
        take_list(r, 1, names, n);
    r->asked.backends.are_stored = true;
    r->asked.backends.names = r->lists[1];
    r->asked.backends.n = n;
    return status;
}

/* True if the mapping names no file: the row is @map or @map2 and not named after a file. */
static bool is_plain_map(const struct ab_backend_info *b)
{
    const char *name = AB_OWN_NAME(b);
    return strncmp(name, "@map", 4) == 0 && name[4 + strspn(name + 4, "0123456789")] == 0 &&
           b->map[0] != '@' && strchr(b->map, '/') == NULL && strstr(b->map, ".so") == NULL;
}

static enum ab_status take_maps(struct ab_resume *r, struct ab_err *err)
{
    const struct ab_session *s = &r->stored.session;
    const char *maps[AB_STORED_BACKENDS_MAX];
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_backends && r->asked.maps.n == 0; i++) {
        if (s->backends[i].n_heaps == 0 || s->backends[i].combination > 0)
            continue;
        maps[n++] = s->backends[i].map;
        if (!is_plain_map(&s->backends[i]))
            return ab_fail(err, AB_USAGE,
                           "its row %s has rules from a file or a library given by path: give its "
                           "rules again with --map",
                           AB_SHOWN(256, s->backends[i].name));
    }
    if (n == 0)
        return AB_OK;
    take_list(r, 3, maps, n);
    r->asked.maps.are_stored = true;
    r->asked.maps.rules = r->lists[3];
    r->asked.maps.n = n;
    return AB_OK;
}

static void take_sets(struct ab_resume *r)
{
    const char *const *settings = r->stored.session.settings;
    unsigned long long bytes;
    size_t n = 0;
    for (; settings[n] != NULL; n++)
        if (sscanf(settings[n], AB_TAPE_MEM_SETTING "%llu", &bytes) == 1 && bytes > 0)
            break; /* this setting is the last one */
    if (settings[n] != NULL && r->asked.settings.tape_mem_bytes == 0)
        r->asked.settings.tape_mem_bytes = bytes;
    if (r->asked.settings.n_sets > 0)
        return;
    take_list(r, 2, settings, n);
    r->asked.settings.sets = r->lists[2];
    r->asked.settings.n_sets = n;
}

static enum ab_status bad_setting(const char *name, const char *value, struct ab_err *err)
{
    return ab_fail(err, AB_INPUT, "has a setting that is not known: %s=%s", name,
                   AB_SHOWN(256, value));
}

/* Sets the touch from the result's setting "touch=…", in the form that replay.c writes. */
static enum ab_status take_touch(struct ab_resume *r, struct ab_err *err)
{
    static const char *const words[] = AB_TOUCH_WORDS("");
    static const struct {
        const char *word;
        unsigned touch;
        enum ab_touch_recorded how;
    } recorded[] = {
        {"auto", AB_TOUCH_PAGE, AB_RECORDED_AUTO},
        {"recorded", AB_TOUCH_PAGE, AB_RECORDED_MUST},
        {"recorded,apart", AB_TOUCH_APART, AB_RECORDED_MUST},
    };
    const char *value = ab_session_setting(&r->stored.session, "touch");
    struct ab_measure_request *asked = &r->asked;
    unsigned long long bytes;
    char end[8] = "";
    double percent;
    if (asked->replay.has_touch || value == NULL)
        return AB_OK;
    asked->replay.has_touch = true;
    asked->replay.recorded = AB_RECORDED_NOT;
    if (sscanf(value, "%lf%%%7s", &percent, end) == 1 && percent > 0 && percent <= 100) {
        asked->replay.touch = AB_TOUCH_SHARE;
        asked->replay.touch_bytes = (uint32_t)(percent * (AB_TOUCH_WHOLE / 100.0) + 0.5);
        return AB_OK;
    }
    for (size_t i = 0; i < AB_ARRAY_LEN(recorded); i++)
        if (strcmp(recorded[i].word, value) == 0) {
            asked->replay.touch = recorded[i].touch;
            asked->replay.recorded = recorded[i].how;
            return AB_OK;
        }
    if (sscanf(value, "first(%llu)", &bytes) == 1 && bytes > 0 && bytes < 1u << 29) {
        asked->replay.touch = AB_TOUCH_FIRST;
        asked->replay.touch_bytes = (uint32_t)bytes;
        return AB_OK;
    }
    for (size_t i = 0; words[i] != NULL; i++)
        if (words[i][0] != 0 && strcmp(words[i], value) == 0) {
            asked->replay.touch = (enum ab_touch)i;
            return AB_OK;
        }
    return bad_setting("touch", value, err);
}

static enum ab_status take_between(const struct ab_session *s, struct ab_measure_request *asked,
                                   struct ab_err *err)
{
    const char *between = ab_session_setting(s, "between");
    if (asked->conditions.has_between || between == NULL)
        return AB_OK;
    asked->conditions.has_between = sscanf(between, "%" SCNu32, &asked->conditions.between) == 1 &&
                                    asked->conditions.between <= AB_BETWEEN_MOST;
    return asked->conditions.has_between ? AB_OK : bad_setting("between", between, err);
}

static enum ab_status take_replay(struct ab_resume *r, struct ab_err *err)
{
    const struct ab_session *s = &r->stored.session;
    struct ab_measure_request *asked = &r->asked;
    const char *each = ab_session_setting(s, "each"), *budget = ab_session_setting(s, "budget");
    unsigned long long ns;
    if (ab_session_setting(s, "cache") != NULL)
        return ab_fail(err, AB_USAGE, "was replayed with --cache, which was removed; replay again");
    if (each != NULL && strcmp(each, "scope") != 0)
        return bad_setting("each", each, err);
    asked->replay.has_each_scope = asked->replay.has_each_scope || each != NULL;
    AB_TRY(take_between(s, asked, err));
    if (asked->replay.each_budget_ns != 0 || budget == NULL)
        return AB_OK;
    if (sscanf(budget, "%lluns", &ns) != 1 || ns == 0 || ns > AB_ITERATION_BUDGET_MOST_NS)
        return bad_setting("budget", budget, err);
    asked->replay.each_budget_ns = ns;
    return AB_OK;
}

/* Sets the number of lanes and the burst length to those of the result; a result without "burst="
 * was measured without bursts. */
static void take_tape(struct ab_resume *r)
{
    const struct ab_session *s = &r->stored.session;
    struct ab_measure_request *asked = &r->asked;
    unsigned n;
    if (asked->replay.n_lanes == 0)
        asked->replay.n_lanes = s->facts.lanes;
    if (asked->replay.has_burst)
        return;
    asked->replay.has_burst = true;
    asked->replay.burst_events = 0;
    for (const char *const *text = s->settings; *text != NULL; text++)
        if (sscanf(*text, "burst=%u", &n) == 1 && n >= AB_BURST_LEAST && n <= AB_BURST_MAX)
            asked->replay.burst_events = n;
}

static bool has_rule(const struct ab_session *s)
{
    return s->stopping.time_budget_s > 0 || s->stopping.precision > 0;
}

/* True if the session reached its precision and the command line has a time budget. The old
 * precision would then end the continued session at once. */
static bool is_reached(const struct ab_session *s, const struct ab_measure_request *asked)
{
    return s->stopping.ended == AB_ENDED_PRECISION && asked->rules.time_budget_ns > 0;
}

/* Sets the number of rounds, and the rule that ends them, from the result unless the command line
 * gives them. With a rule, the limit of rounds may differ from the result's. */
static void take_rounds(struct ab_resume *r)
{
    struct ab_session *s = &r->stored.session;
    struct ab_measure_request *asked = &r->asked;
    if (asked->rules.precision <= 0 && !is_reached(s, asked))
        asked->rules.precision = s->stopping.precision;
    if (asked->rules.time_budget_ns == 0)
        asked->rules.time_budget_ns = (uint64_t)(s->stopping.time_budget_s * 1e9);
    bool is_ruled = asked->rules.time_budget_ns > 0 || asked->rules.precision > 0;
    if (!asked->rules.has_rounds)
        asked->rules.rounds = has_rule(s) ? s->stopping.n_rounds_most : s->n_rounds_planned;
    asked->rules.has_rounds = true;
    if (is_ruled)
        s->n_rounds_planned = asked->rules.rounds;
}

/* True if a rule ended the session and the command line gives a new rule or number of rounds, so
 * that the session continues. */
static bool asks_for_more(const struct ab_measure_request *asked, const struct ab_session *s)
{
    return has_rule(s) && (asked->rules.time_budget_ns > 0 || asked->rules.precision > 0 ||
                           asked->rules.has_rounds);
}

static void take_conditions(struct ab_resume *r)
{
    const struct ab_session *s = &r->stored.session;
    struct ab_measure_request *asked = &r->asked;
    take_rounds(r);
    if (asked->verdicts.base == NULL)
        asked->verdicts.base = s->base;
    if (!asked->settings.has_seed && s->seed <= INT64_MAX) {
        asked->settings.has_seed = true;
        asked->settings.seed = s->seed;
    }
    for (uint32_t i = 0; asked->conditions.n_cpus == i && i < s->n_cpus && i < AB_CPUS_MAX; i++)
        asked->conditions.cpus[asked->conditions.n_cpus++] = s->cpus[i];
    asked->conditions.is_strict = asked->conditions.is_strict || s->is_strict;
    if (asked->rules.shard.count == 0)
        asked->rules.shard = s->shard;
    if (!asked->conditions.has_window && s->is_window_given && s->facts.lanes > 1) {
        asked->conditions.has_window = true;
        asked->conditions.window = s->window;
    }
    asked->passes.wants_instr = asked->passes.wants_instr || s->counting.is_asked;
    if (strncmp(s->host.thp, "never (", 7) == 0)
        asked->conditions.is_thp_off = true;
}

static enum ab_status complete_options(struct ab_resume *r, enum ab_session_kind kind,
                                       struct ab_err *err)
{
    const struct ab_session *s = &r->stored.session;
    const char *command = ab_session_resume_commands[s->kind];
    if (command == NULL)
        return ab_fail(err, AB_USAGE,
                       "is not a result of run or replay; only these can be resumed");
    if (s->kind != kind)
        return ab_fail(err, AB_USAGE, "is a %s result; resume it with allocbench %s --resume",
                       ab_session_kind_names[s->kind], command);
    if (s->n_rounds_planned == 0 || s->n_rounds_planned > AB_ROUNDS_MAX)
        return ab_fail(err, AB_INPUT, "has %u rounds planned; 1 to %d are allowed",
                       s->n_rounds_planned, AB_ROUNDS_MAX);
    if (has_rule(s) &&
        (s->stopping.n_rounds_most == 0 || s->stopping.n_rounds_most > AB_ROUNDS_MAX ||
         s->stopping.time_budget_s > TIME_BUDGET_MOST_S))
        return ab_fail(err, AB_INPUT,
                       "config.stopping has %u rounds and %.4g s; 1 to %d rounds and at most %d s "
                       "are allowed",
                       s->stopping.n_rounds_most, s->stopping.time_budget_s, AB_ROUNDS_MAX,
                       TIME_BUDGET_MOST_S);
    if (!has_rule(s) && s->n_rounds == s->n_rounds_planned &&
        (r->asked.rules.time_budget_ns > 0 || r->asked.rules.precision > 0))
        return ab_fail(err, AB_USAGE,
                       "--time-budget and --precision cannot extend a result whose number of "
                       "rounds was fixed");
    take_conditions(r);
    AB_TRY(take_path(r, s->kind == AB_SESSION_TRACE, err));
    enum ab_status status = take_backends(r, err);
    if (status == AB_OK)
        status = take_maps(r, err);
    if (status == AB_OK && s->kind == AB_SESSION_TRACE)
        status = take_touch(r, err);
    else if (status == AB_OK)
        take_sets(r);
    if (status == AB_OK && s->kind == AB_SESSION_TRACE)
        status = take_replay(r, err);
    if (s->kind == AB_SESSION_TRACE)
        take_tape(r);
    return status;
}

enum ab_status ab_resume_begin(const struct ab_measure_request *asked, enum ab_session_kind kind,
                               struct ab_resume *out, struct ab_err *err)
{
    struct ab_resume r = {.asked = *asked, .is_on = asked->resume.path != NULL};
    enum ab_status status = AB_OK;
    char shown[512];
    if (r.is_on) {
        ab_text_printable(shown, sizeof shown, asked->resume.path);
        if (asked->resume.item != NULL)
            ab_suite_item_copy(asked->resume.item, &r.stored);
        else
            AB_TRY(ab_stored_read_unaltered(asked->resume.path, &r.stored, err));
        ab_unsealed_tell(&asked->talk, shown, r.stored.checksum, r.stored.session.is_unsealed);
        r.is_done = !asked->is_trial && r.stored.session.is_complete &&
                    !asks_for_more(asked, &r.stored.session);
        if (r.is_done)
            ab_say(&asked->talk, "%s is complete; nothing to run", shown);
        if (!r.is_done && (status = complete_options(&r, kind, err)) != AB_OK)
            ab_err_context(err, "%s: ", shown);
    }
    if (status == AB_OK)
        *out = r;
    else
        ab_resume_end(&r);
    return status;
}

void ab_resume_end(struct ab_resume *resume)
{
    free(resume->names);
    for (size_t i = 0; i < sizeof resume->lists / sizeof resume->lists[0]; i++)
        free(resume->lists[i]);
    if (resume->is_on)
        ab_stored_fini(&resume->stored);
    *resume = (struct ab_resume){0};
}
