/* SPDX-License-Identifier: MIT
 *
 * Runs a suite: names and checks all files, divides the time, measures one file after the other and
 * keeps complete results.
 */
#include "app/measure_suite.h"

#include "app/backend_choice.h"
#include "app/baselines.h"
#include "app/file_kind.h"
#include "app/gate_set.h"
#include "app/outputs.h"
#include "app/replay.h"
#include "app/run_workload.h"
#include "app/say.h"
#include "base/bits.h"
#include "base/clock.h"
#include "core/alloc.h"
#include "core/grow.h"
#include "core/text.h"
#include "report/suite/suite_forms.h"
#include "runner/supervise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct work { /* state of one command */
    const struct ab_options *options;
    enum ab_session_kind kind;
    struct ab_suite_run *run;
    struct ab_options each; /* options for every file */
    const char **of_each;   /* gates of every file; owned */
    struct ab_gate *means;  /* gates on means; owned */
    size_t n_means;
    struct ab_suite resumed, baseline; /* n 0 = none */
    uint64_t began_ns;
    double spent_s; /* time spent on the resumed result */
    int worst;
    bool is_interrupted;
};

/* ---- exit codes ---- */

/* Returns the worse of two exit codes, in the order 4, 3, 2, 1, 5, 0. */
static int worse(int a, int b)
{
    static const int by_weight[] = {0, 5, 1, 2, 3, 4};
    size_t of_a = 0, of_b = 0;
    for (size_t i = 0; i < AB_ARRAY_LEN(by_weight); i++) {
        of_a = by_weight[i] == a ? i : of_a;
        of_b = by_weight[i] == b ? i : of_b;
    }
    return of_b > of_a ? b : a;
}

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

/* Names the items after their files, or by path if two names are equal. */
static enum ab_status name_items(struct work *w, struct ab_err *err)
{
    const struct ab_options *o = w->options;
    struct ab_suite *suite = &w->run->suite;
    if (o->n_args > AB_SUITE_MOST)
        return ab_fail(err, AB_USAGE, "%zu files; at most %d are allowed", o->n_args,
                       AB_SUITE_MOST);
    suite->items = ab_alloc_zeroed(o->n_args + 1, sizeof suite->items[0]);
    for (size_t i = 0; i < o->n_args; i++) {
        struct ab_suite_item *item = &suite->items[i];
        *item = (struct ab_suite_item){.path = o->args[i], .reason = "not measured"};
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
    suite->n = (uint32_t)o->n_args;
    return AB_OK;
}

/* ---- what is of all together, and what of each ---- */

static enum ab_status split_gates(struct work *w, struct ab_err *err)
{
    const struct ab_options *o = w->options;
    size_t n = 0;
    w->of_each = ab_alloc_zeroed(o->verdicts.n_gates + 1, sizeof w->of_each[0]);
    w->means = ab_alloc_zeroed(o->verdicts.n_gates + 1, sizeof w->means[0]);
    for (size_t i = 0; i < o->verdicts.n_gates; i++)
        if (ab_suite_gate_is_mean(o->verdicts.gates[i]))
            AB_TRY(ab_gate_of_mean(o, o->verdicts.gates[i], &w->means[w->n_means++], err));
        else
            w->of_each[n++] = o->verdicts.gates[i];
    w->each.verdicts.gates = w->of_each;
    w->each.verdicts.n_gates = n;
    return AB_OK;
}

/* Divides the outputs. An output with a placeholder is one file per item; some of the others are
 * for the whole suite. */
static enum ab_status split_outputs(struct work *w, struct ab_err *err)
{
    const struct ab_options *o = w->options;
    const char *kind = ab_session_kind_names[w->kind];
    for (unsigned i = 0; i < AB_SINK_COUNT; i++) {
        w->each.outputs.wants_lines[i] = false;
        if (o->outputs.sinks[i] == NULL || ab_outputs_is_of_each(o->outputs.sinks[i]))
            continue;
        w->each.outputs.sinks[i] = NULL;
        if (ab_sinks[i].write_suite == NULL)
            return ab_fail(err, AB_USAGE,
                           "--%s %s: %zu %ss, and one name; put {%s} into it, as in --%s "
                           "'out/{%s}.%s'",
                           ab_sinks[i].option, AB_SHOWN(256, o->outputs.sinks[i]), o->n_args, kind,
                           kind, ab_sinks[i].option, kind, ab_sinks[i].option);
    }
    return ab_named_outputs_check(&w->each, err);
}

/* Returns the options with only the outputs for the whole suite, which are opened before anything
 * is measured. */
static struct ab_options whole_outputs(const struct ab_options *o)
{
    struct ab_options whole = *o;
    for (unsigned i = 0; i < AB_SINK_COUNT; i++)
        if (o->outputs.sinks[i] != NULL &&
            (ab_outputs_is_of_each(o->outputs.sinks[i]) || ab_sinks[i].write_suite == NULL))
            whole.outputs.sinks[i] = NULL;
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

static enum ab_status open_outputs(const struct ab_options *o, struct ab_outputs *out,
                                   struct ab_err *err)
{
    struct ab_options whole = whole_outputs(o);
    AB_TRY(ab_outputs_open(&whole, out, err));
    return ab_outputs_spare_inputs(out, &whole, err);
}

enum ab_status ab_suite_outputs(const struct ab_options *o, const struct ab_suite *suite,
                                struct ab_err *err)
{
    struct ab_outputs outputs = {0};
    for (unsigned i = 0; i < AB_SINK_COUNT; i++)
        if (o->outputs.sinks[i] != NULL && ab_sinks[i].write_suite == NULL)
            return ab_fail(err, AB_USAGE,
                           "--%s is of one result, and this one is of several; --json, --csv, "
                           "--junit, --markdown and --html are of all together",
                           ab_sinks[i].option);
    enum ab_status status = open_outputs(o, &outputs, err);
    if (status == AB_OK)
        status = write_outputs(&outputs, suite, err);
    ab_outputs_abandon(&outputs);
    return status;
}

/* ---- a result that goes on, a baseline ---- */

bool ab_suite_is_asked(const struct ab_options *o)
{
    return o->n_args > 1 || o->is_group ||
           (o->resume.path != NULL && ab_file_kind_of(o->resume.path) == AB_FILE_SUITE);
}

/* Returns the path of a baseline or file, malloc'ed; NULL = no such name. */
static char *path_of(const struct ab_options *o, const char *name_or_file)
{
    struct ab_err ignored;
    char *folder = NULL, *path;
    if (ab_base_is_file(name_or_file))
        return ab_strdup(name_or_file);
    if (ab_baseline_check_name(name_or_file, &ignored) != AB_OK ||
        ab_baseline_folder(o, &folder, &ignored) != AB_OK)
        return NULL;
    path = ab_baseline_path(folder, name_or_file);
    free(folder);
    return path;
}

bool ab_suite_is_file(const struct ab_options *o, const char *name_or_file)
{
    char *path = path_of(o, name_or_file);
    bool is = path != NULL && ab_file_kind_of(path) == AB_FILE_SUITE;
    free(path);
    return is;
}

enum ab_status ab_suite_find_file(const struct ab_options *o, const char *name_or_file,
                                  struct ab_suite *out, struct ab_err *err)
{
    char *path = path_of(o, name_or_file);
    bool is = path != NULL && ab_file_kind_of(path) == AB_FILE_SUITE;
    enum ab_status status =
        is ? ab_suite_read_unaltered(path, out, err)
           : ab_fail(err, path != NULL && access(path, R_OK) != 0 ? AB_INPUT : AB_USAGE,
                     "%s is not the result of several workloads, as of run FILE FILE or run "
                     "@GROUP",
                     AB_SHOWN(512, name_or_file));
    if (status == AB_OK)
        ab_unsealed_tell(o, AB_SHOWN(512, name_or_file), out->checksum, out->is_unsealed);
    free(path);
    return status;
}

/* Reads the baseline and the suite to resume. The time that its results took counts. */
static enum ab_status read_others(struct work *w, struct ab_err *err)
{
    const struct ab_options *o = w->options;
    if (o->rules.shard.count > 0)
        return ab_fail(err, AB_USAGE, "--shard is of one %s, %zu are given",
                       ab_session_kind_names[w->kind], o->n_args);
    if (o->verdicts.baseline != NULL)
        AB_TRY(ab_suite_find_file(o, o->verdicts.baseline, &w->baseline, err));
    if (o->resume.path == NULL)
        return AB_OK;
    if (o->n_args == 0)
        return ab_fail(err, AB_USAGE,
                       "--resume of several goes on with the same command line: give the files "
                       "again, and their options");
    AB_TRY(ab_suite_find_file(o, o->resume.path, &w->resumed, err));
    for (uint32_t i = 0; i < w->resumed.n; i++)
        if (w->resumed.items[i].document != NULL)
            w->spent_s += w->resumed.items[i].stored.session.stopping.spent_s;
    return AB_OK;
}

/* ---- one of them ---- */

/* Returns the time in ns for item `i`: an equal share of the budget that is left; 0 = no limit. */
static uint64_t share_of_time(const struct work *w, uint32_t i)
{
    uint64_t budget = w->options->rules.time_budget_ns;
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

/* Returns the options for measuring item `i`. */
static struct ab_options options_of(const struct work *w, uint32_t i)
{
    const struct ab_suite_item *item = &w->run->suite.items[i];
    struct ab_options one = w->each;
    one.args = &w->options->args[i];
    one.n_args = 1;
    one.rules.time_budget_ns = share_of_time(w, i);
    one.resume.item = other(&w->resumed, item->name);
    one.verdicts.baseline_item = other(&w->baseline, item->name);
    one.talk.stage = (struct ab_stage){
        .name = item->name, .number = i + 1, .n = w->run->suite.n, .started_ns = w->began_ns};
    if (one.resume.item == NULL)
        one.resume.path = NULL;
    if (one.verdicts.baseline_item == NULL && one.verdicts.baseline != NULL) {
        one.verdicts.baseline = NULL;
        one.verdicts.has_limit = one.verdicts.is_strict = one.verdicts.is_joint = false;
    }
    return one;
}

static enum ab_status run_one(const struct work *w, const struct ab_options *one, int *exit_code,
                              struct ab_err *err)
{
    static const struct ab_replay_watch whole;
    return w->kind == AB_SESSION_TRACE ? ab_replay(one, &whole, exit_code, err)
                                       : ab_run_workload(one, NULL, NULL, exit_code, err);
}

/* Reports an error of a file, and adds the file's name if the text lacks it. */
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
    ab_complain(w->options, t.s);
    ab_text_fini(&t);
}

/* Checks all files and reports their errors with names. If the first file refuses the command line,
 * the error is reported once for all. */
static enum ab_status check_all(struct work *w, struct ab_err *err)
{
    struct ab_suite *suite = &w->run->suite;
    uint32_t n_bad = 0;
    enum ab_status worst = AB_OK;
    for (uint32_t i = 0; i < suite->n; i++) {
        struct ab_options one = options_of(w, i);
        int exit_code = 0;
        one.is_trial = one.talk.is_quiet = true;
        enum ab_status status = run_one(w, &one, &exit_code, err);
        if (status == AB_OK)
            continue;
        if (status == AB_INTERRUPTED || (status == AB_USAGE && i == 0))
            return status;
        complain(w, suite->items[i].path, err);
        if (worst == AB_OK || worse(ab_status_exit_code(worst), ab_status_exit_code(status)) !=
                                  ab_status_exit_code(worst))
            worst = status;
        n_bad++;
    }
    if (n_bad == 0)
        return AB_OK;
    return ab_fail(err, worst, "nothing was measured: %u of %u %ss cannot be", n_bad, suite->n,
                   ab_session_kind_names[w->kind]);
}

static struct work *now; /* target of the listener's `show`; one use case runs at a time */
static uint32_t now_at;

/* Keeps the result of one item. Shows it only if -v requests details; the table of all follows at
 * the end. */
static void keep(const struct ab_measured *m)
{
    ab_suite_item_take(&now->run->suite.items[now_at], m->session);
    if (m->options->passes.topics != 0 && !m->options->talk.is_quiet)
        now->options->talk.listener->show(m);
}

static bool is_done(const struct ab_suite_item *item)
{
    return item != NULL && item->stored.session.is_complete;
}

static void fail_item(struct work *w, struct ab_suite_item *item, const struct ab_err *err)
{
    char line[1200];
    snprintf(line, sizeof line, "%s", err->text);
    line[strcspn(line, "\n")] = 0;
    item->reason = own(w->run, ab_strdup(line[0] != 0 ? line : "failed"));
    complain(w, item->path, err);
    w->worst = worse(w->worst, ab_status_exit_code(err->status));
}

/* Moves an item of the resumed result into the suite unchanged, with its verdicts. */
static void take_over(struct work *w, uint32_t i, const struct ab_suite_item *from)
{
    const struct ab_session *s = &from->stored.session;
    struct ab_suite_item *item = &w->run->suite.items[i];
    item->document = from->document;
    item->stored = from->stored;
    item->reason = "";
    w->worst = worse(
        w->worst,
        ab_status_exit_code(ab_case_has_failed(s) ? AB_BACKEND : ab_verdict_status(w->options, s)));
    w->resumed.items[from - w->resumed.items].document = NULL;
}

/* Measures one item. Returns AB_OK even if it failed, so that the others are measured. */
static enum ab_status measure_one(struct work *w, uint32_t i, struct ab_err *err)
{
    struct ab_options one = options_of(w, i);
    struct ab_listener listener = *w->options->talk.listener;
    int exit_code = 0;
    if (is_done(one.resume.item)) {
        take_over(w, i, one.resume.item);
        return AB_OK;
    }
    if (one.verdicts.baseline == NULL && w->options->verdicts.baseline != NULL)
        ab_say(w->options, "allocbench: note: the baseline has no result of %s",
               AB_SHOWN(256, w->run->suite.items[i].name));
    now = w;
    now_at = i;
    listener.show = keep;
    one.talk.listener = &listener;
    enum ab_status status = run_one(w, &one, &exit_code, err);
    w->worst = worse(w->worst, exit_code);
    if (status == AB_INTERRUPTED || (status == AB_USAGE && i == 0))
        return status;
    if (status != AB_OK)
        fail_item(w, &w->run->suite.items[i], err);
    return AB_OK;
}

/* ---- all of them ---- */

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
        if (s->gates[i].status != AB_INCONCLUSIVE || w->options->verdicts.fails_inconclusive)
            w->worst = worse(w->worst, ab_status_exit_code(s->gates[i].status));
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
        const char *before = strstr(w->options->command.text, " --resume ");
        size_t head = before != NULL ? (size_t)(before - w->options->command.text)
                                     : strlen(w->options->command.text);
        char *path = ab_strdupf("%s/%s", store->folder, store->name);
        ab_text_addf(&t, "\ncontinue:  %.*s", (int)head, w->options->command.text);
        if (before != NULL)
            ab_text_add(&t, before + 10 + ab_text_shell_word(before + 10));
        ab_text_add(&t, " --resume ");
        ab_text_add_shell(&t, path);
        free(path);
    }
    ab_fail(err, AB_INTERRUPTED, "%s", w->options->talk.is_quiet ? "" : t.s);
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

/* Makes all checks that are possible before anything is measured. */
static enum ab_status prepare(struct work *w, struct ab_outputs *outputs, struct ab_err *err)
{
    const struct ab_options *o = w->options;
    struct ab_suite *suite = &w->run->suite;
    AB_TRY(name_items(w, err));
    AB_TRY(split_gates(w, err));
    AB_TRY(split_outputs(w, err));
    AB_TRY(read_others(w, err));
    suite->kind = w->kind;
    suite->command_line = o->command.kept;
    suite->is_unsealed = w->resumed.is_unsealed;
    suite->time_budget_s = (double)o->rules.time_budget_ns * 1e-9;
    suite->base = o->verdicts.base;
    w->began_ns = ab_clock_now_ns();
    AB_TRY(check_all(w, err));
    AB_TRY(ab_store_open(o, &w->run->store, err));
    return open_outputs(o, outputs, err);
}

static void release(struct work *w, struct ab_outputs *outputs)
{
    ab_outputs_abandon(outputs);
    ab_suite_fini(&w->resumed);
    ab_suite_fini(&w->baseline);
    free(w->of_each);
}

enum ab_status ab_suite_measure(const struct ab_options *o, enum ab_session_kind kind,
                                struct ab_suite_run *run, int *exit_code, struct ab_err *err)
{
    struct work w = {.options = o, .kind = kind, .run = run, .each = *o};
    struct ab_outputs outputs = {0};
    w.each.talk.is_in_suite = true;
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
    own(run, (char *)w.means); /* the verdicts borrow from the gates */
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
