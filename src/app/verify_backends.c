/* SPDX-License-Identifier: MIT
 *
 * Sets up the verification: the back ends by name, and at most one workload or trace, recognized by
 * its suffix (a trace also by its magic bytes).
 */
#include "app/verify_backends.h"

#include "app/backend_choice.h"
#include "app/file_kind.h"
#include "app/one_file.h"
#include "app/result_store.h"
#include "app/say.h"
#include "backend/selection.h"
#include "base/nearest.h"
#include "core/alloc.h"
#include "core/text.h"
#include "runner/estimate.h"
#include "runner/run_checks.h"
#include "runner/supervise.h"
#include "symbols/symbols.h"
#include "tape/tape_file.h"
#include "trace_tools/to_tape.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct verification {
    const struct ab_verification_request *asked;
    const char **names; /* names of the back ends to verify */
    size_t n_names;
    const char *work; /* path of a workload or trace; NULL = none */
    struct ab_selection_list selection;
    struct ab_tape tape;
    struct ab_tape_map map;
    struct ab_verify_plan plan;
    struct ab_verify_session session;
    struct ab_backend_info *infos;
    struct ab_verify_line *lines;
    char worker_path[PATH_MAX];
};

/* Recognizes a trace by its suffix or its magic bytes, because any file name is allowed. */
static bool is_trace(const char *path)
{
    return ab_text_ends_with(path, ".abt") || ab_file_kind_of(path) == AB_FILE_TRACE;
}

static bool is_work(const char *path)
{
    return is_trace(path) || ab_text_ends_with(path, ".yaml") || ab_text_ends_with(path, ".yml");
}

static enum ab_status sort_arguments(struct verification *v, struct ab_err *err)
{
    const struct ab_verification_request *asked = v->asked;
    v->names = ab_alloc_zeroed(asked->n_args + 1, sizeof v->names[0]);
    for (size_t i = 0; i < asked->n_args; i++) {
        if (!is_work(asked->args[i]))
            v->names[v->n_names++] = asked->args[i];
        else if (v->work == NULL)
            v->work = asked->args[i];
        else
            return ab_fail(err, AB_USAGE, "verify takes one workload or trace; unexpected '%s'",
                           AB_SHOWN(256, asked->args[i]));
    }
    if (v->n_names == 0)
        return ab_fail(err, AB_USAGE, "verify needs a back end; see allocbench verify --help");
    if (asked->settings.n_sets > 0 && (v->work == NULL || is_trace(v->work)))
        return ab_fail(err, AB_USAGE, "--set is for the params of a workload; there is %s",
                       v->work == NULL ? "none" : "a trace");
    return AB_OK;
}

/* Refuses inline+, checked+ and fault+. These prefixes have no effect here, but a row with such a
 * name would suggest that they had. */
static enum ab_status refuse_decorators(const struct ab_selection_list *list, struct ab_err *err)
{
    char shown[256];
    for (size_t i = 0; i < list->n; i++) {
        const struct ab_selection *s = &list->items[i];
        const char *plus = strchr(ab_text_printable(shown, sizeof shown, s->name), '+');
        if (s->is_inline)
            return ab_fail(err, AB_USAGE, "%s: an inlined back end cannot be verified; use %s",
                           shown, plus + 1);
        if (s->is_checked || s->fault_n > 0)
            return ab_fail(err, AB_USAGE,
                           "%s: verify checks every call anyway; give the back end "
                           "alone (checked+ and fault+ are for run and replay)",
                           shown);
    }
    return AB_OK;
}

static enum ab_status check_only(const char *only, bool has_work, struct ab_err *err)
{
    enum { GROUPS = 4 };
    const char *names[64] = {"required", "info", "work", "work-lanes"};
    char word[64], shown[160];
    size_t n_names = GROUPS, n = 0, n_words = 0;
    while (n_names < 64 &&
           (names[n_names] = ab_verify_check_name((uint32_t)n_names - GROUPS)) != NULL)
        n_names++;
    for (const char *w = only; w != NULL && (w = ab_verify_word(w, &n)) != NULL;) {
        AB_FIT(word, "%.*s", (int)n, w);
        n_words++;
        bool is_known = false;
        for (size_t i = 0; i < n_names; i++)
            is_known = is_known || strcmp(names[i], word) == 0;
        if (strncmp(word, "work", 4) == 0 && is_known && !has_work)
            return ab_fail(err, AB_USAGE, "--check %s: there is no workload or trace", word);
        const char *near = is_known ? NULL : ab_text_nearest(word, names, n_names);
        ab_text_printable(shown, sizeof shown, word);
        if (near != NULL)
            return ab_fail(err, AB_USAGE, "--check: unknown check %s; did you mean %s?", shown,
                           near);
        if (!is_known)
            return ab_fail(err, AB_USAGE,
                           "--check: unknown check %s; allocbench verify glibc -v lists all",
                           shown);
    }
    if (only != NULL && n_words == 0)
        return ab_fail(err, AB_USAGE,
                       "--check is empty; allocbench verify glibc -v lists all checks");
    return AB_OK;
}

/* Checks that --no-fork is given with a single back end and a single check, because it is meant for
 * a debugger. */
static enum ab_status check_alone(const struct verification *v, struct ab_err *err)
{
    const char *only = v->asked->checks.only;
    if (!v->asked->checks.is_alone)
        return AB_OK;
    if (v->selection.n != 1)
        return ab_fail(err, AB_USAGE, "--no-fork takes one back end, not %zu", v->selection.n);
    if (only == NULL || strchr(only, ',') != NULL || strcmp(only, "required") == 0 ||
        strcmp(only, "info") == 0)
        return ab_fail(err, AB_USAGE, "--no-fork takes one check: --check NAME, not %s",
                       only == NULL ? "all" : AB_SHOWN(256, only));
    if (v->asked->writes_json || v->asked->mem_limit_bytes != 0)
        return ab_fail(err, AB_USAGE, "--no-fork %s; leave out %s",
                       v->asked->writes_json ? "writes no result" : "has no limit of memory",
                       v->asked->writes_json ? "--json" : "--mem-limit");
    return AB_OK;
}

/* Creates a tape that allocates and frees one block, for checks that bring their own work. */
static enum ab_status make_nothing(struct ab_tape *out, struct ab_err *err)
{
    struct ab_request request = {.size = 16};
    struct ab_tape_builder *b = ab_tape_begin();
    enum ab_status status = ab_tape_phase(b, "check", true, err);
    if (status == AB_OK)
        status = ab_tape_alloc(b, 0, &request, err);
    if (status == AB_OK)
        status = ab_tape_free(b, 0, err);
    if (status == AB_OK)
        return ab_tape_end(b, out, err);
    ab_tape_abandon(b);
    return status;
}

static enum ab_status load_work(struct verification *v, struct ab_err *err)
{
    struct ab_workload *workload = NULL;
    struct ab_trace_info info;
    struct ab_trace_tape_options options = {.touch = AB_TOUCH_NONE};
    if (v->work == NULL)
        return make_nothing(&v->tape, err);
    enum ab_status status = AB_OK;
    if (is_trace(v->work)) {
        ab_say_prepare(&v->asked->talk, v->work);
        status = ab_trace_to_tape(v->work, &options, &v->tape, &info, err);
        ab_say_prepare(&v->asked->talk, NULL);
        return status;
    }
    const struct ab_workload_options how = ab_workload_options_of(&v->asked->settings, NULL, false);
    status = ab_load_workload(&v->asked->talk, &how, v->work, &workload, err);
    if (status == AB_OK)
        status = ab_one_combination(v->work, workload, err);
    if (status == AB_OK)
        status = ab_compile_workload(&v->asked->talk, v->work, workload, &v->tape, err);
    ab_workload_free(workload);
    return status;
}

static void prepare(struct verification *v)
{
    const struct ab_verification_request *asked = v->asked;
    v->plan = (struct ab_verify_plan){
        .context = {.tape = &v->map,
                    .worker_path = v->worker_path,
                    .timeout_ns = asked->timeout_ns},
        .has_work = v->work != NULL,
        .only = asked->checks.only,
        .seed = asked->settings.has_seed ? asked->settings.seed : 1,
    };
    v->plan.context.memory_limit_bytes = asked->mem_limit_bytes != 0 ? asked->mem_limit_bytes
                                                                     : ab_default_memory_limit();
    ab_clock_calibrate(&v->plan.context.clock);
    size_t n = v->selection.n;
    uint32_t n_lines = ab_verify_count(&v->plan);
    v->infos = ab_alloc_zeroed(n + 1, sizeof v->infos[0]);
    v->session.backends = ab_alloc_zeroed(n + 1, sizeof v->session.backends[0]);
    v->lines = ab_alloc_zeroed(n * n_lines + 1, sizeof v->lines[0]);
    v->session.n_backends = (uint32_t)n;
    v->session.n_lines = n_lines;
    v->session.seed = v->plan.seed;
    v->session.work_name = v->work;
    for (size_t i = 0; i < n; i++) {
        ab_case_describe(&v->selection.items[i], &v->infos[i]);
        v->session.backends[i].info = &v->infos[i];
        v->session.backends[i].lines = v->lines + i * n_lines;
    }
}

/* Runs the check in this process. Fails if the back end is missing. */
static enum ab_status run_alone(struct verification *v, struct ab_err *err)
{
    const struct ab_backend_info *info = &v->infos[0];
    struct ab_case c = {.path = NULL};
    if (info->status != AB_BACKEND_OK)
        return ab_fail(err, AB_BACKEND, "%s: %s: %s", AB_SHOWN(300, info->name),
                       ab_backend_status_name(info->status), info->reason);
    ab_case_make(&v->selection.items[0], &c);
    return ab_verify_alone(&v->plan, &c, err);
}

/* Functions that write the command that repeats a check, with its back end and options. */

static void add_word(struct ab_text *t, const char *word)
{
    ab_text_add(t, " ");
    ab_text_add_shell(t, word);
}

static void add_path(struct ab_text *t, const char *path)
{
    for (const char *c = path; *c != 0; c++)
        ab_text_addf(t, strchr(",:={}\\", *c) != NULL ? "\\%c" : "%c", *c);
}

/* Appends the back end as the user must type it. A library given as a file has only its short name
 * in the selection, so its path is added. */
static void add_backend(struct ab_text *t, const struct ab_selection *s)
{
    struct ab_text spelled = {0};
    char stem[sizeof s->name];
    const char *full = s->full_name[0] != 0 ? s->full_name : s->name;
    size_t n = strcspn(s->name, ":{");
    bool is_given = s->full_name[0] != 0;
    if (s->is_file) {
        ab_selection_stem(s->path, stem, sizeof stem);
        is_given = strlen(stem) != n || strncmp(stem, s->name, n) != 0;
    }
    if (is_given)
        ab_text_addf(&spelled, "%.*s=", (int)n, s->name);
    if (s->is_file)
        add_path(&spelled, s->path);
    ab_text_add(&spelled, s->is_file ? full + strcspn(full, ":{") : full);
    add_word(t, spelled.s);
    ab_text_fini(&spelled);
}

static void add_option(struct ab_text *t, const char *option, const char *value)
{
    if (value == NULL)
        return;
    ab_text_addf(t, " %s", option);
    add_word(t, value);
}

/* Returns the command that repeats a check, such as "gdb -q -ex run --args allocbench verify
 * ./libmine.so --check resize --seed 1 --no-fork". The command is quoted for a shell and malloc'ed.
 * `work` is the path of the workload or trace; NULL = none. */
static char *repeat_command(const struct ab_verification_request *asked,
                            const struct ab_selection *backend, const char *work, const char *check)
{
    struct ab_text t = {0};
    bool is_called_by_path = strchr(program_invocation_name, '/') != NULL;
    bool is_work = strncmp(check, "work", 4) == 0;
    ab_text_add(&t, "gdb -q -ex run --args");
    add_word(&t, is_called_by_path ? program_invocation_name : "allocbench");
    ab_text_add(&t, " verify");
    add_backend(&t, backend);
    if (is_work && work != NULL)
        add_word(&t, work);
    for (size_t i = 0; is_work && i < asked->settings.n_sets; i++)
        add_option(&t, "--set", asked->settings.sets[i]);
    add_option(&t, "--backend-path", asked->backend_path);
    add_option(&t, "--check", check);
    ab_text_addf(&t, " --seed %" PRIu64 " --no-fork",
                 asked->settings.has_seed ? asked->settings.seed : 1);
    return t.s;
}

/* Adds the source line to a place in a library such as "libmine.so+0x1139 (free+0x29)", if the
 * library has debug information. */
static void add_source_line(struct ab_crash_text *crash, struct ab_symbols *symbols)
{
    struct ab_symbol found[AB_SYMBOLS_MAX];
    const char *plus = strstr(crash->function, "+0x");
    const char *call = strstr(crash->function, " (");
    if (plus == NULL || call == NULL || plus > call || strchr(crash->function, ',') != NULL)
        return;
    ab_symbols_find(symbols, strtoull(plus + 3, NULL, 16), found);
    if (found[0].line <= 0)
        return;
    size_t n = strlen(crash->function);
    snprintf(crash->function + n, sizeof crash->function - n, ", %s:%d", basename(found[0].file),
             found[0].line);
}

/* Returns the usual cause of a failure like this one; NULL = unknown. */
static const char *usual_cause(const struct ab_verify_line *line)
{
    bool is_deep = strstr(line->crash.memory, "stack has overflowed") != NULL;
    bool is_calloc = strstr(line->crash.function, "(calloc+") != NULL;
    if (line->verdict == AB_VERIFY_CRASHED && is_deep)
        return is_calloc ? "calloc calls itself: gcc makes malloc and memset a calloc; build with "
                           "-fno-builtin"
                         : "the function calls itself, perhaps through a function of the C library "
                           "that allocates";
    if (line->verdict == AB_VERIFY_TIMEOUT && strstr(line->crash.call, "in calloc(") != NULL)
        return "calloc calls itself: gcc makes malloc and memset a calloc; build with -fno-builtin";
    if (strcmp(line->check, "fork") == 0 && line->verdict != AB_VERIFY_CRASHED)
        return "another thread held the lock when the process forked; lock in pthread_atfork";
    return NULL;
}

static void explain_line(struct ab_verify_line *line, struct ab_symbols *symbols)
{
    if (!ab_verify_verdict_fails(line->verdict))
        return;
    const char *cause = usual_cause(line);
    size_t n = strlen(line->text);
    if (cause != NULL)
        snprintf(line->text + n, sizeof line->text - n, "; usual cause: %s", cause);
    if (symbols != NULL)
        add_source_line(&line->crash, symbols);
}

static void explain_failures(struct verification *v)
{
    for (uint32_t i = 0; i < v->session.n_backends; i++) {
        struct ab_verify_backend *b = &v->session.backends[i];
        const char *path = v->selection.items[i].path;
        struct ab_symbols *symbols = NULL;
        if (b->n_failed == 0 || b->info->status != AB_BACKEND_OK)
            continue;
        if (path[0] != 0)
            ab_symbols_open(path, NULL, 0, &symbols);
        for (uint32_t k = 0; k < v->session.n_lines; k++)
            explain_line(&b->lines[k], symbols);
        ab_symbols_close(symbols);
    }
}

/* Adds to each crash, timeout and failed check the command that repeats the check under a
 * debugger. */
static void add_repeats(struct verification *v)
{
    for (uint32_t i = 0; i < v->session.n_backends; i++) {
        struct ab_verify_backend *b = &v->session.backends[i];
        const struct ab_selection *s = &v->selection.items[i];
        if (b->info->status == AB_BACKEND_CRASHED || b->info->status == AB_BACKEND_TIMEOUT)
            b->repeat = repeat_command(v->asked, s, v->work, ab_verify_check_name(0));
        for (uint32_t k = 0; b->info->status == AB_BACKEND_OK && k < v->session.n_lines; k++)
            if (ab_verify_verdict_fails(b->lines[k].verdict) &&
                b->lines[k].verdict != AB_VERIFY_NOT_PROVEN)
                b->lines[k].repeat = repeat_command(v->asked, s, v->work, b->lines[k].check);
    }
}

static void free_repeats(struct verification *v)
{
    for (uint32_t i = 0; i < v->session.n_backends; i++) {
        free(v->session.backends[i].repeat);
        for (uint32_t k = 0; k < v->session.n_lines; k++)
            free(v->session.backends[i].lines[k].repeat);
    }
}

static enum ab_status run_all(struct verification *v, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    for (size_t i = 0; i < v->selection.n && status == AB_OK; i++) {
        struct ab_case c = {.path = NULL};
        if (v->infos[i].status != AB_BACKEND_OK)
            continue;
        ab_say_doing(&v->asked->talk, "verifying %s", AB_SHOWN(300, v->infos[i].name));
        ab_case_make(&v->selection.items[i], &c);
        status = ab_verify_backend_run(&v->plan, &c, &v->infos[i], &v->session.backends[i], err);
    }
    ab_say_doing(&v->asked->talk, NULL);
    return status;
}

/* Stores the verdicts of libraries given as files for later runs, if all checks ran. */
static void keep(const struct verification *v)
{
    const struct ab_verification_request *asked = v->asked;
    for (uint32_t i = 0;
         i < v->session.n_backends && asked->checks.only == NULL && !asked->checks.is_alone; i++)
        if (v->selection.items[i].is_file)
            ab_verified_keep(&asked->store, &v->session.backends[i], v->session.n_lines);
}

static bool has_failed(const struct verification *v)
{
    for (uint32_t i = 0; i < v->session.n_backends; i++)
        if (v->infos[i].status != AB_BACKEND_OK || v->session.backends[i].n_failed > 0)
            return true;
    return false;
}

static enum ab_status verify(struct verification *v, struct ab_err *err)
{
    const struct ab_verification_request *asked = v->asked;
    ab_supervise_begin();
    AB_TRY(ab_companion_path(AB_WORKER_NAME, v->worker_path, sizeof v->worker_path, err));
    AB_TRY(sort_arguments(v, err));
    AB_TRY(check_only(asked->checks.only, v->work != NULL, err));
    AB_TRY(ab_selection_parse(v->names, v->n_names, asked->backend_path, &v->selection, err));
    AB_TRY(refuse_decorators(&v->selection, err));
    AB_TRY(check_alone(v, err));
    AB_TRY(load_work(v, err));
    AB_TRY(ab_tape_map_open(&v->tape, &v->map, err));
    prepare(v);
    AB_TRY(asked->checks.is_alone ? run_alone(v, err) : run_all(v, err));
    add_repeats(v);
    explain_failures(v);
    keep(v);
    return AB_OK;
}

static void release(struct verification *v)
{
    free_repeats(v);
    ab_tape_map_close(&v->map);
    ab_tape_fini(&v->tape);
    ab_selection_list_fini(&v->selection);
    free(v->lines);
    free(v->session.backends);
    free(v->infos);
    free(v->names);
}

enum ab_status ab_verify(const struct ab_verification_request *asked, int *exit_code,
                         struct ab_err *err)
{
    struct verification v = {.asked = asked};
    enum ab_status status = verify(&v, err);
    if (status == AB_OK) {
        *exit_code = has_failed(&v) ? ab_status_exit_code(AB_BACKEND) : 0;
        status = asked->show(asked->user, &v.session, err);
    }
    release(&v);
    return status;
}
