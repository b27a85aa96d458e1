/* SPDX-License-Identifier: MIT
 *
 * Runs a suite: names and checks all files, divides the time, measures one file after the other and
 * keeps complete results.
 */
#include "app/measure_suite.h"

#include "allocators/builtin.h"
#include "app/backend_choice.h"
#include "app/baselines.h"
#include "app/file_kind.h"
#include "app/gate_set.h"
#include "app/outputs.h"
#include "app/replay.h"
#include "app/run_workload.h"
#include "app/say.h"
#include "backend/presets.h"
#include "backend/settings.h"
#include "base/bits.h"
#include "base/clock.h"
#include "core/alloc.h"
#include "core/command_line.h"
#include "core/text.h"
#include "report/suite/suite_forms.h"
#include "runner/supervise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct work { /* state of one command that measures several files */
    const struct ab_measure_request *asked;
    enum ab_session_kind kind;
    struct ab_suite_run *run;
    struct ab_outputs_wanted each; /* outputs that each file gets */
    const char **of_each;          /* n_of_each gates that apply to every file; owned */
    size_t n_of_each;
    struct ab_gate *means; /* n_means gates on means over several files; owned */
    size_t n_means;
    struct ab_suite resumed, baseline; /* n 0 = none */
    uint64_t began_ns;
    double spent_s; /* time that the resumed result took, s */
    int worst;
};

/* ---- names ---- */

static const char *own(struct ab_suite_run *run, char *text)
{
    AB_GROW(run->owned, run->cap_owned, run->n_owned);
    return run->owned[run->n_owned++] = text;
}

static const char *stem(struct ab_suite_run *run, const char *path)
{
    size_t n;
    const char *s = ab_outputs_stem(path, &n);
    return own(run, ab_strndup(s, n));
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return strcmp(a, b) == 0 || (stat(a, &of_a) == 0 && stat(b, &of_b) == 0 &&
                                 of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino);
}

/* Names the items after their files, or by their whole paths if two names are equal. */
static enum ab_status name_items(struct work *w, struct ab_err *err)
{
    const struct ab_measure_request *asked = w->asked;
    struct ab_suite *suite = &w->run->suite;
    if (asked->n_args > AB_SUITE_MOST)
        return ab_fail(err, AB_USAGE, "%zu files; at most %d are allowed", asked->n_args,
                       AB_SUITE_MOST);
    suite->items = ab_alloc_zeroed(asked->n_args + 1, sizeof suite->items[0]);
    for (size_t i = 0; i < asked->n_args; i++) {
        struct ab_suite_item *item = &suite->items[i];
        *item = (struct ab_suite_item){.path = asked->args[i], .reason = "not measured"};
        if (strcmp(item->path, "-") == 0)
            return ab_fail(err, AB_USAGE, "standard input (-) cannot be one of several %ss",
                           ab_session_kind_names[w->kind]);
        item->name = stem(w->run, item->path);
        for (size_t k = 0; k < i; k++) {
            if (is_same_file(suite->items[k].path, item->path))
                return ab_fail(err, AB_USAGE, "%s is given twice", AB_SHOWN(512, item->path));
            if (strcmp(suite->items[k].name, item->name) != 0)
                continue;
            suite->items[k].name = suite->items[k].path;
            item->name = item->path;
        }
    }
    suite->n = (uint32_t)asked->n_args;
    return AB_OK;
}

/* ---- gates and outputs of the suite, and of each file ---- */

/* Lists the names that may stand for a back end: the names in -b as typed, and all known names. */
static const char **name_backends(const struct ab_backends_wanted *backends, char **words,
                                  size_t *n)
{
    size_t most = ab_preset_count() + ab_builtin_count();
    for (size_t i = 0; i < backends->n; i++)
        most += strlen(backends->names[i]);
    const char **known = ab_alloc_zeroed(most + 1, sizeof known[0]);
    *n = 0;
    for (size_t i = 0; i < backends->n; i++)
        for (char *at = words[i] = ab_strdup(backends->names[i]), *next; at != NULL; at = next) {
            next = ab_settings_comma(at);
            if (next != NULL)
                *next++ = 0;
            known[(*n)++] = at;
        }
    for (size_t i = 0; i < ab_preset_count(); i++)
        known[(*n)++] = ab_preset_at(i)->name;
    for (size_t i = 0; i < ab_builtin_count(); i++)
        known[(*n)++] = ab_builtin_at(i)->name;
    return known;
}

/* Reads a gate of --gate on a mean over several workloads (stats/suite_means.h). */
static enum ab_status read_gate_of_mean(const struct ab_backends_wanted *backends, const char *text,
                                        struct ab_gate *out, struct ab_err *err)
{
    struct ab_gate_error error;
    char **words = ab_alloc_zeroed(backends->n + 1, sizeof words[0]);
    size_t n;
    const char **known = name_backends(backends, words, &n);
    bool is_read = ab_suite_gate_parse(text, known, n, out, &error);
    for (size_t i = 0; i < backends->n; i++)
        free(words[i]);
    free(words);
    free(known);
    if (!is_read)
        return ab_fail(err, AB_USAGE, "--gate '%s': %s", AB_SHOWN(300, text), error.text);
    out->place = "--gate";
    return AB_OK;
}

static enum ab_status split_gates(struct work *w, struct ab_err *err)
{
    const struct ab_measure_request *asked = w->asked;
    size_t n = 0;
    w->of_each = ab_alloc_zeroed(asked->verdicts.n_gates + 1, sizeof w->of_each[0]);
    w->means = ab_alloc_zeroed(asked->verdicts.n_gates + 1, sizeof w->means[0]);
    for (size_t i = 0; i < asked->verdicts.n_gates; i++)
        if (ab_suite_gate_is_mean(asked->verdicts.gates[i]))
            AB_TRY(read_gate_of_mean(&asked->backends, asked->verdicts.gates[i],
                                     &w->means[w->n_means++], err));
        else
            w->of_each[n++] = asked->verdicts.gates[i];
    w->n_of_each = n;
    return AB_OK;
}

/* Selects the outputs that each file gets: those with a placeholder in their name. Refuses other
 * outputs that cannot show a whole suite. */
static enum ab_status split_outputs(struct work *w, struct ab_err *err)
{
    const struct ab_measure_request *asked = w->asked;
    const char *kind = ab_session_kind_names[w->kind];
    w->each = asked->outputs;
    for (unsigned i = 0; i < AB_SINK_COUNT; i++) {
        w->each.wants_lines[i] = false;
        if (asked->outputs.sinks[i] == NULL || ab_outputs_is_of_each(asked->outputs.sinks[i]))
            continue;
        w->each.sinks[i] = NULL;
        if (ab_sinks[i].write_suite == NULL)
            return ab_fail(err, AB_USAGE,
                           "--%s %s: %zu %ss, and one name; put {%s} into it, as in --%s "
                           "'out/{%s}.%s'",
                           ab_sinks[i].option, AB_SHOWN(256, asked->outputs.sinks[i]),
                           asked->n_args, kind, kind, ab_sinks[i].option, kind, ab_sinks[i].option);
    }
    return ab_named_outputs_check(&w->each, asked->args, asked->n_args, err);
}

/* Returns only the outputs for the whole suite, which are opened before anything is measured. */
static struct ab_outputs_wanted whole_outputs(const struct ab_outputs_wanted *wanted)
{
    struct ab_outputs_wanted whole = {.embed = wanted->embed};
    for (unsigned i = 0; i < AB_SINK_COUNT; i++)
        if (wanted->sinks[i] != NULL && !ab_outputs_is_of_each(wanted->sinks[i]) &&
            ab_sinks[i].write_suite != NULL)
            whole.sinks[i] = wanted->sinks[i];
    return whole;
}

static enum ab_status write_outputs(struct ab_outputs *outputs, const struct ab_suite *suite,
                                    struct ab_err *err)
{
    enum ab_status first = AB_OK;
    struct ab_err more;
    for (unsigned i = 0; i < AB_SINK_COUNT; i++) {
        if (outputs->files[i].to == NULL)
            continue;
        ab_sinks[i].write_suite(outputs->files[i].to, suite);
        enum ab_status status = ab_output_commit(&outputs->files[i], first == AB_OK ? err : &more);
        first = first == AB_OK ? status : first;
    }
    return first;
}

static enum ab_status open_outputs(const struct ab_outputs_wanted *wanted,
                                   const struct ab_inputs *inputs, struct ab_outputs *out,
                                   struct ab_err *err)
{
    struct ab_outputs_wanted whole = whole_outputs(wanted);
    AB_TRY(ab_outputs_open(&whole, out, err));
    return ab_outputs_spare_inputs(out, &whole, inputs, err);
}

enum ab_status ab_suite_outputs(const struct ab_outputs_wanted *wanted,
                                const struct ab_inputs *inputs, const struct ab_suite *suite,
                                struct ab_err *err)
{
    struct ab_outputs outputs = {0};
    for (unsigned i = 0; i < AB_SINK_COUNT; i++)
        if (wanted->sinks[i] != NULL && ab_sinks[i].write_suite == NULL)
            return ab_fail(err, AB_USAGE,
                           "--%s is of one result, and this one is of several; --json, --csv, "
                           "--junit, --markdown and --html are of all together",
                           ab_sinks[i].option);
    enum ab_status status = open_outputs(wanted, inputs, &outputs, err);
    if (status == AB_OK)
        status = write_outputs(&outputs, suite, err);
    ab_outputs_abandon(&outputs);
    return status;
}

/* ---- the result to resume, and the baseline ---- */

/* Reads the baseline and the suite to resume. Adds the time that the resumed results took to
 * w->spent_s, because it counts towards --time-budget. */
static enum ab_status read_others(struct work *w, struct ab_err *err)
{
    const struct ab_measure_request *asked = w->asked;
    if (asked->rules.shard.count > 0)
        return ab_fail(err, AB_USAGE, "--shard is of one %s, %zu are given",
                       ab_session_kind_names[w->kind], asked->n_args);
    if (asked->verdicts.baseline != NULL)
        AB_TRY(ab_base_find_suite(&asked->store, &asked->talk, asked->verdicts.baseline,
                                  &w->baseline, err));
    if (asked->resume.path == NULL)
        return AB_OK;
    if (asked->n_args == 0)
        return ab_fail(err, AB_USAGE,
                       "--resume of several goes on with the same command line: give the files "
                       "again, and their options");
    AB_TRY(ab_base_find_suite(&asked->store, &asked->talk, asked->resume.path, &w->resumed, err));
    for (uint32_t i = 0; i < w->resumed.n; i++)
        if (w->resumed.items[i].document != NULL)
            w->spent_s += w->resumed.items[i].stored.session.stopping.spent_s;
    return AB_OK;
}

/* ---- one file ---- */

/* Returns the time in ns for item `i`: an equal share of the budget that is left; 0 = no limit. */
static uint64_t share_of_time(const struct work *w, uint32_t i)
{
    uint64_t budget = w->asked->rules.time_budget_ns;
    double spent = w->spent_s * 1e9 + (double)(ab_clock_now_ns() - w->began_ns);
    double left = (double)budget - spent;
    uint32_t n = w->run->suite.n - i;
    if (budget == 0)
        return 0;
    return left > 1e6 * n ? (uint64_t)(left / n) : 1000000;
}

static const struct ab_suite_item *other(const struct ab_suite *suite, const char *name)
{
    const struct ab_suite_item *item = ab_suite_find(suite, name);
    return item != NULL && item->document != NULL ? item : NULL;
}

/* Returns the comparison and the gates for one file. If the baseline has no result of the file,
 * nothing is compared. */
static struct ab_verdicts_wanted verdicts_of(const struct work *w, const struct ab_suite_item *base)
{
    const struct ab_verdicts_wanted *of_all = &w->asked->verdicts;
    bool is_compared = base != NULL || of_all->baseline == NULL;
    return (struct ab_verdicts_wanted){
        .gates = w->of_each,
        .n_gates = w->n_of_each,
        .baseline = base != NULL ? of_all->baseline : NULL,
        .baseline_item = base,
        .base = of_all->base,
        .has_limit = is_compared && of_all->has_limit,
        .limit = of_all->limit,
        .is_strict = is_compared && of_all->is_strict,
        .is_joint = is_compared && of_all->is_joint,
        .fails_inconclusive = of_all->fails_inconclusive,
    };
}

/* Returns the request to measure item `i`. */
static struct ab_measure_request request_of(const struct work *w, uint32_t i)
{
    const struct ab_measure_request *asked = w->asked;
    const struct ab_suite_item *item = &w->run->suite.items[i];
    const struct ab_suite_item *resumed = other(&w->resumed, item->name);
    struct ab_measure_request one = {
        .talk = {.listener = asked->talk.listener,
                 .is_quiet = asked->talk.is_quiet,
                 .is_repeated = i > 0,
                 .prepare_ns = asked->talk.prepare_ns,
                 .stage = {.name = item->name,
                           .number = i + 1,
                           .n = w->run->suite.n,
                           .started_ns = w->began_ns}},
        .command = asked->command,
        .args = &asked->args[i],
        .n_args = 1,
        .backends = asked->backends,
        .maps = asked->maps,
        .settings = asked->settings,
        .rules = asked->rules,
        .passes = asked->passes,
        .conditions = asked->conditions,
        .replay = asked->replay,
        .scopes_wish = asked->scopes_wish,
        .verdicts = verdicts_of(w, other(&w->baseline, item->name)),
        .outputs = w->each,
        .store = asked->store,
        .resume = {.path = resumed != NULL ? asked->resume.path : NULL, .item = resumed},
    };
    one.rules.time_budget_ns = share_of_time(w, i);
    one.store.is_part = true;
    return one;
}

static enum ab_status run_one(const struct work *w, const struct ab_measure_request *one,
                              int *exit_code, struct ab_err *err)
{
    return w->kind == AB_SESSION_TRACE ? ab_replay(one, exit_code, err)
                                       : ab_run_workload(one, exit_code, err);
}

/* Reports an error of a file, with the file's name in front if the text of the error lacks it. */
static void complain(const struct work *w, const char *path, const struct ab_err *err)
{
    struct ab_text t = {0};
    char *quoted = ab_strdupf("'%s'", path);
    bool is_named = strncmp(err->text, path, strlen(path)) == 0 ||
                    strstr(err->text, quoted) != NULL;
    free(quoted);
    if (err->text[0] == 0)
        return; /* reported already, with positions */
    ab_text_addf(&t, "allocbench: %s%s%s", is_named ? "" : AB_SHOWN(512, path),
                 is_named ? "" : ": ", err->text);
    ab_complain(&w->asked->talk, t.s);
    ab_text_fini(&t);
}

/* Checks all files and reports their errors with the names of the files. If the first file refuses
 * the command line, the error is reported once for all files. */
static enum ab_status check_all(struct work *w, struct ab_err *err)
{
    struct ab_suite *suite = &w->run->suite;
    uint32_t n_bad = 0;
    enum ab_status worst = AB_OK;
    for (uint32_t i = 0; i < suite->n; i++) {
        struct ab_measure_request one = request_of(w, i);
        int exit_code = 0;
        one.is_trial = one.talk.is_quiet = true;
        enum ab_status status = run_one(w, &one, &exit_code, err);
        if (status == AB_OK)
            continue;
        if (status == AB_INTERRUPTED || (status == AB_USAGE && i == 0))
            return status;
        complain(w, suite->items[i].path, err);
        worst = ab_status_worse(worst, status);
        n_bad++;
    }
    if (n_bad == 0)
        return AB_OK;
    return ab_fail(err, worst, "nothing was measured: %u of %u %ss cannot be", n_bad, suite->n,
                   ab_session_kind_names[w->kind]);
}

struct measured_item {
    struct work *work;
    uint32_t at;
};

/* Keeps the result of one item. Shows it only if -v requests details; the table of all follows at
 * the end. */
static void keep(void *user, const struct ab_measured *m)
{
    const struct measured_item *item = user;
    const struct ab_measure_request *asked = item->work->asked;
    ab_suite_item_take(&item->work->run->suite.items[item->at], m->session);
    if (asked->passes.topics != 0 && !asked->talk.is_quiet && asked->show != NULL)
        asked->show(asked->user, m);
}

static bool is_done(const struct ab_suite_item *item)
{
    return item != NULL && item->stored.session.is_complete;
}

static void fail_item(struct work *w, struct ab_suite_item *item, const struct ab_err *err)
{
    char line[1200];
    AB_COPY(line, err->text);
    line[strcspn(line, "\n")] = 0;
    item->reason = own(w->run, ab_strdup(line[0] != 0 ? line : "failed"));
    complain(w, item->path, err);
    w->worst = ab_exit_code_worse(w->worst, ab_status_exit_code(err->status));
}

/* Moves an item of the resumed result into the suite unchanged, with its verdicts. The session is
 * copied, because its comparison points into it. */
static void take_over(struct work *w, uint32_t i, const struct ab_suite_item *from)
{
    struct ab_suite_item *item = &w->run->suite.items[i],
                         *old = &w->resumed.items[from - w->resumed.items];
    const struct ab_session *s = &item->stored.session;
    ab_stored_copy(&old->stored.session, old->stored.checksum, &item->stored);
    ab_stored_fini(&old->stored);
    item->document = old->document;
    old->document = NULL;
    item->reason = "";
    w->worst = ab_exit_code_worse(
        w->worst,
        ab_status_exit_code(ab_case_has_failed(s) ? AB_BACKEND
                                                  : ab_verdict_status(&w->asked->verdicts, s)));
}

/* Measures one item. Returns AB_OK even if it failed, so that the other items are measured. */
static enum ab_status measure_one(struct work *w, uint32_t i, struct ab_err *err)
{
    struct ab_measure_request one = request_of(w, i);
    struct measured_item item = {w, i};
    int exit_code = 0;
    if (is_done(one.resume.item)) {
        take_over(w, i, one.resume.item);
        return AB_OK;
    }
    if (one.verdicts.baseline == NULL && w->asked->verdicts.baseline != NULL)
        ab_say(&w->asked->talk, "allocbench: note: the baseline has no result of %s",
               AB_SHOWN(256, w->run->suite.items[i].name));
    one.show = keep;
    one.user = &item;
    enum ab_status status = run_one(w, &one, &exit_code, err);
    w->worst = ab_exit_code_worse(w->worst, exit_code);
    if (status == AB_INTERRUPTED || (status == AB_USAGE && i == 0))
        return status;
    if (status != AB_OK)
        fail_item(w, &w->run->suite.items[i], err);
    return AB_OK;
}

/* ---- all files ---- */

static bool is_all_done(const struct ab_suite *suite)
{
    for (uint32_t i = 0; i < suite->n; i++) {
        const struct ab_suite_item *item = &suite->items[i];
        if (item->document != NULL ? !item->stored.session.is_complete
                                   : strcmp(item->reason, "not measured") == 0)
            return false;
    }
    return true;
}

static void settle(struct work *w)
{
    struct ab_suite *suite = &w->run->suite;
    suite->is_complete = is_all_done(suite);
    ab_suite_settle(suite);
}

static void judge(struct work *w)
{
    struct ab_session *s = &w->run->suite.summary;
    s->gates = ab_suite_gates_judge(&w->run->suite.figures, w->means, w->n_means, &s->n_gates);
    for (uint32_t i = 0; i < s->n_gates; i++)
        if (s->gates[i].status != AB_INCONCLUSIVE || w->asked->verdicts.fails_inconclusive)
            w->worst = ab_exit_code_worse(w->worst, ab_status_exit_code(s->gates[i].status));
}

/* Fails with AB_INTERRUPTED and a text that says how to continue. */
static enum ab_status explain_interruption(const struct work *w, struct ab_err *err)
{
    const struct ab_suite *suite = &w->run->suite;
    const struct ab_store *store = &w->run->store;
    struct ab_text t = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < suite->n; i++)
        n += suite->items[i].document != NULL && suite->items[i].stored.session.is_complete;
    ab_text_addf(&t, "interrupted after %u of %u %ss; what is complete is kept", n, suite->n,
                 ab_session_kind_names[w->kind]);
    if (store->folder != NULL && store->name[0] != 0) {
        static const char *const without[] = {"--resume"};
        char *path = ab_strdupf("%s/%s", store->folder, store->name);
        ab_text_add(&t, "\ncontinue:  ");
        ab_command_line_add_without(&t, w->asked->command.text, without, 1);
        ab_text_add(&t, " --resume ");
        ab_text_add_shell(&t, path);
        free(path);
    }
    ab_fail(err, AB_INTERRUPTED, "%s", w->asked->talk.is_quiet ? "" : t.s);
    ab_text_fini(&t);
    return AB_INTERRUPTED;
}

static enum ab_status measure_all(struct work *w, struct ab_err *err)
{
    struct ab_suite *suite = &w->run->suite;
    struct ab_store *store = &w->run->store;
    enum ab_status status = AB_OK;
    store->suite = suite;
    for (uint32_t i = 0; i < suite->n && status == AB_OK; i++) {
        status = measure_one(w, i, err);
        if (status == AB_OK && i + 1 < suite->n) {
            settle(w);
            ab_store_save(store, &suite->summary);
        }
    }
    settle(w);
    judge(w);
    return status;
}

/* Performs all checks that are possible before anything is measured. */
static enum ab_status prepare(struct work *w, struct ab_outputs *outputs, struct ab_err *err)
{
    const struct ab_measure_request *asked = w->asked;
    struct ab_suite *suite = &w->run->suite;
    AB_TRY(name_items(w, err));
    AB_TRY(split_gates(w, err));
    AB_TRY(split_outputs(w, err));
    AB_TRY(read_others(w, err));
    suite->kind = w->kind;
    suite->command_line = asked->command.kept;
    suite->is_unsealed = w->resumed.is_unsealed;
    suite->time_budget_s = (double)asked->rules.time_budget_ns * 1e-9;
    suite->base = asked->verdicts.base;
    w->began_ns = ab_clock_now_ns();
    AB_TRY(check_all(w, err));
    const struct ab_inputs inputs = {.files = asked->args,
                                     .n = asked->n_args,
                                     .others = {asked->verdicts.baseline},
                                     .rules = asked->maps.rules,
                                     .n_rules = asked->maps.n};
    AB_TRY(ab_store_open(&asked->store, &asked->talk, &w->run->store, err));
    return open_outputs(&asked->outputs, &inputs, outputs, err);
}

static void release(struct work *w, struct ab_outputs *outputs)
{
    ab_outputs_abandon(outputs);
    ab_suite_fini(&w->resumed);
    ab_suite_fini(&w->baseline);
    free(w->of_each);
}

enum ab_status ab_suite_measure(const struct ab_measure_request *asked, enum ab_session_kind kind,
                                struct ab_suite_run *run, int *exit_code, struct ab_err *err)
{
    struct work w = {.asked = asked, .kind = kind, .run = run};
    struct ab_outputs outputs = {0};
    enum ab_status status = prepare(&w, &outputs, err);
    if (status != AB_OK) {
        run->suite.n = 0;
    } else {
        status = measure_all(&w, err);
        if (status != AB_INTERRUPTED && status != AB_OK) {
            run->suite.n = 0; /* refused by the first file: nothing was measured */
        } else {
            struct ab_err why;
            enum ab_status written = ab_store_write(&run->store, &run->suite.summary,
                                                    status == AB_OK ? err : &why);
            if (written == AB_OK)
                written = write_outputs(&outputs, &run->suite, status == AB_OK ? err : &why);
            status = status == AB_OK ? written : explain_interruption(&w, err);
        }
    }
    *exit_code = w.worst;
    own(run, (char *)w.means); /* freed later, because the verdicts point to these gates */
    release(&w, &outputs);
    return status;
}

void ab_suite_run_fini(struct ab_suite_run *run)
{
    ab_suite_fini(&run->suite);
    ab_store_close(&run->store);
    for (size_t i = 0; i < run->n_owned; i++)
        free(run->owned[i]);
    free(run->owned);
    *run = (struct ab_suite_run){0};
}
