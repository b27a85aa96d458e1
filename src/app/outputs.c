/* SPDX-License-Identifier: MIT
 *
 * Opens, checks and writes the requested files. Before anything is measured, makes sure that no two
 * outputs are the same file and that no input is replaced.
 */
#include "app/outputs.h"

#include "app/one_file.h"
#include "base/bits.h"
#include "base/nearest.h"
#include "core/alloc.h"
#include "core/text.h"
#include "report/html/report.h"
#include "report/sinks/sinks.h"
#include "result/merge/merge_rounds.h"
#include "stats/metric.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_of_histograms(unsigned sink)
{
    return ab_sinks[sink].write_histogram != NULL;
}

static bool is_stdout(const struct ab_outputs_wanted *wanted, unsigned sink)
{
    return !is_of_histograms(sink) && ab_sinks[sink].write_figures == NULL &&
           wanted->sinks[sink] != NULL && strcmp(wanted->sinks[sink], "-") == 0;
}

const char *ab_outputs_asked_for(const struct ab_outputs_wanted *wanted)
{
    for (unsigned i = 0; i < AB_SINK_COUNT; i++)
        if (wanted->sinks[i] != NULL)
            return ab_sinks[i].option;
    return NULL;
}

bool ab_outputs_use_stdout(const struct ab_outputs_wanted *wanted)
{
    bool is_used = false;
    for (unsigned i = 0; i < AB_SINK_COUNT; i++)
        is_used = is_used || is_stdout(wanted, i);
    return is_used;
}

/* ---- a file for each histogram ---- */

static void split_path(const char *path, struct ab_histogram_files *out)
{
    struct stat st;
    const char *slash = strrchr(path, '/');
    bool is_folder = (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) ||
                     (slash != NULL && slash[1] == 0) || path[0] == 0;
    const char *base = is_folder ? "" : slash == NULL ? path : slash + 1;
    size_t n = is_folder ? strlen(path) : (size_t)(base - path);
    out->folder = n == 0 && !is_folder ? ab_strdup(".") : ab_strndup(path, n);
    out->prefix = ab_alloc(strlen(base) + 2);
    sprintf(out->prefix, "%s%s", base, *base != 0 ? "." : "");
}

/* Checks, before anything runs, that histograms can be written to the folder. */
static enum ab_status open_histograms(const struct ab_sink *sink, const char *path,
                                      struct ab_histogram_files *out, struct ab_err *err)
{
    struct ab_output trial;
    if (strcmp(path, "-") == 0)
        return ab_fail(err, AB_USAGE,
                       "--%s -: several files will be written; give a folder or a prefix",
                       sink->option);
    split_path(path, out);
    AB_TRY(ab_output_open_new(out->folder, &trial, err));
    ab_output_abandon(&trial);
    return AB_OK;
}

enum { OF_ITERATIONS = AB_OP_ALL + 1 };

struct histogram { /* one histogram of a session and its file */
    uint32_t backend;
    const char *phase;
    unsigned op; /* kind of op, or OF_ITERATIONS */
    char name[AB_TAG_BYTES + 4096];
};

static void name_histogram(const struct ab_sink *sink, const struct ab_histogram_files *files,
                           const struct ab_session *s, struct histogram *h)
{
    char tag[AB_TAG_BYTES];
    const char *op = h->op == OF_ITERATIONS ? AB_TAG_ITERATION : ab_result_op_name(h->op);
    AB_FIT(h->name, "%s%s.%s", files->prefix,
           ab_sink_tag(tag, s->backends[h->backend].name, h->phase, op), sink->option);
}

static enum ab_status check_name(const struct ab_sink *sink, const char *folder, const char *name,
                                 struct ab_err *err)
{
    struct stat st;
    size_t cap = strlen(folder) + strlen(name) + 2;
    char *path = ab_alloc(cap);
    enum ab_status status = AB_OK;
    snprintf(path, cap, "%s/%s", folder, name);
    if (strlen(name) > 255)
        status = ab_fail(err, AB_USAGE, "--%s: '%s' is too long for a file name", sink->option,
                         name);
    else if (lstat(path, &st) == 0)
        status = ab_fail(err, AB_USAGE,
                         "--%s: '%s' already exists and will not be overwritten; give another "
                         "folder or prefix",
                         sink->option, path);
    free(path);
    return status;
}

/* True if the session may have results of this op. Only the run shows which phases have iterations,
 * so every phase counts as having them. */
static bool may_have(const struct ab_session *s, unsigned op)
{
    return op >= AB_OP_ALL || (s->facts.kinds >> op & 1) != 0;
}

static enum ab_status check_histograms(const struct ab_sink *sink,
                                       const struct ab_histogram_files *files,
                                       const struct ab_session *s, struct ab_err *err)
{
    struct histogram h;
    enum ab_status status = AB_OK;
    for (h.backend = 0; h.backend < s->n_backends; h.backend++)
        for (uint32_t p = 0; p < s->n_phases; p++)
            for (h.op = 0; h.op <= OF_ITERATIONS && status == AB_OK; h.op++) {
                h.phase = s->phases[p];
                name_histogram(sink, files, s, &h);
                if (may_have(s, h.op))
                    status = check_name(sink, files->folder, h.name, err);
            }
    return status;
}

enum ab_status ab_outputs_check(const struct ab_outputs *outputs, const struct ab_session *s,
                                struct ab_err *err)
{
    enum ab_status status = AB_OK;
    for (unsigned i = 0; i < AB_SINK_COUNT && status == AB_OK; i++)
        if (outputs->histograms[i].folder != NULL)
            status = check_histograms(&ab_sinks[i], &outputs->histograms[i], s, err);
    return status;
}

static enum ab_status write_histogram(const struct ab_sink *sink, const char *folder,
                                      const struct ab_hdr *hdr, const char *name,
                                      struct ab_err *err)
{
    struct ab_output file;
    AB_TRY(ab_output_open_new(folder, &file, err));
    sink->write_histogram(file.to, hdr);
    return ab_output_commit_as(&file, name, err);
}

/* Merges the histograms of all rounds. The result is empty if no round has one. */
static void merge(const struct ab_session *s, const struct histogram *h, struct ab_hdr *hdr)
{
    struct ab_iterations x;
    if (h->op == OF_ITERATIONS)
        ab_session_merge_iterations(s, h->backend, h->phase, AB_ITERATIONS_ALL_ROUNDS, hdr, &x);
    else
        ab_session_merge(s, h->backend, h->phase, h->op, hdr);
}

static enum ab_status write_histograms(const struct ab_sink *sink,
                                       const struct ab_histogram_files *files,
                                       const struct ab_session *s, struct ab_err *err)
{
    struct histogram h;
    enum ab_status status = AB_OK;
    struct ab_hdr *hdr = ab_alloc(sizeof *hdr);
    for (h.backend = 0; h.backend < s->n_backends; h.backend++)
        for (uint32_t p = 0; ab_session_has_numbers(s, h.backend) && p < s->n_phases; p++)
            for (h.op = 0; h.op <= OF_ITERATIONS && status == AB_OK; h.op++) {
                h.phase = s->phases[p];
                name_histogram(sink, files, s, &h);
                merge(s, &h, hdr);
                if (ab_hdr_total(hdr) > 0)
                    status = write_histogram(sink, files->folder, hdr, h.name, err);
            }
    free(hdr);
    return status;
}

/* ---- all ---- */

static enum ab_status check_stdout(const struct ab_outputs_wanted *wanted, struct ab_err *err)
{
    const char *first = NULL;
    for (unsigned i = 0; i < AB_SINK_COUNT; i++) {
        if (!is_stdout(wanted, i))
            continue;
        if (first != NULL)
            return ab_fail(err, AB_USAGE, "--%s - and --%s - cannot both write to standard output",
                           first, ab_sinks[i].option);
        first = ab_sinks[i].option;
    }
    return AB_OK;
}

/* Fails if output `last` is the same file as an earlier one. */
static enum ab_status check_same(const struct ab_outputs *outputs, unsigned last,
                                 struct ab_err *err)
{
    for (unsigned i = 0; i < last; i++)
        if (ab_output_is_same(&outputs->files[i], &outputs->files[last]))
            return ab_fail(err, AB_USAGE, "--%s and --%s name the same file", ab_sinks[i].option,
                           ab_sinks[last].option);
    return AB_OK;
}

static enum ab_status open_sink(const char *path, unsigned sink, struct ab_outputs *out,
                                struct ab_err *err)
{
    if (ab_sinks[sink].write_figures != NULL) {
        out->figures[sink] = path;
        return ab_figures_prepare(path, err);
    }
    if (is_of_histograms(sink))
        return open_histograms(&ab_sinks[sink], path, &out->histograms[sink], err);
    enum ab_status status = ab_output_open(path, &out->files[sink], err);
    return status == AB_OK ? check_same(out, sink, err) : status;
}

enum ab_status ab_outputs_open(const struct ab_outputs_wanted *wanted, struct ab_outputs *out,
                               struct ab_err *err)
{
    *out = (struct ab_outputs){.embed = wanted->embed};
    enum ab_status status = check_stdout(wanted, err);
    for (unsigned i = 0; i < AB_SINK_COUNT && status == AB_OK; i++)
        if (wanted->sinks[i] != NULL)
            status = open_sink(wanted->sinks[i], i, out, err);
    return status;
}

enum ab_status ab_outputs_spare_inputs(const struct ab_outputs *outputs,
                                       const struct ab_outputs_wanted *wanted,
                                       const struct ab_inputs *inputs, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    for (unsigned i = 0; i < AB_SINK_COUNT && status == AB_OK; i++) {
        status = ab_spare_inputs(inputs, &outputs->files[i], wanted->sinks[i], err);
        if (status != AB_OK)
            ab_err_context(err, "--%s: ", ab_sinks[i].option);
    }
    return status;
}

static enum ab_status write_sink(struct ab_outputs *outputs, unsigned i,
                                 const struct ab_session *session, struct ab_err *err)
{
    const struct ab_sink *sink = &ab_sinks[i];
    if (outputs->figures[i] != NULL)
        return sink->write_figures(outputs->figures[i], session, err);
    if (outputs->histograms[i].folder != NULL)
        return write_histograms(sink, &outputs->histograms[i], session, err);
    if (outputs->files[i].to == NULL)
        return AB_OK;
    sink->write(outputs->files[i].to, session);
    return ab_output_commit(&outputs->files[i], err);
}

enum ab_status ab_outputs_write(struct ab_outputs *outputs, const struct ab_session *session,
                                struct ab_err *err)
{
    struct ab_err more;
    enum ab_status first = AB_OK;
    struct ab_session asked = *session;
    asked.embed = outputs->embed;
    for (unsigned i = 0; i < AB_SINK_COUNT; i++) {
        enum ab_status status = write_sink(outputs, i, &asked, first == AB_OK ? err : &more);
        first = first == AB_OK ? status : first;
    }
    return first;
}

void ab_outputs_abandon(struct ab_outputs *outputs)
{
    for (unsigned i = 0; i < AB_SINK_COUNT; i++) {
        ab_output_abandon(&outputs->files[i]);
        free(outputs->histograms[i].folder);
        free(outputs->histograms[i].prefix);
    }
    *outputs = (struct ab_outputs){0};
}

/* ---- checking -v phase=NAME ---- */

enum ab_status ab_outputs_check_phase(const char *phase, const char *const *phases, uint32_t n,
                                      struct ab_err *err)
{
    struct ab_text list = {0};
    bool is_there = phase == NULL;
    for (uint32_t i = 0; i < n && !is_there; i++) {
        is_there = strcmp(phases[i], phase) == 0;
        ab_text_addf(&list, "%s%s", i == 0 ? "" : ", ", AB_SHOWN(300, phases[i]));
    }
    const char *near = is_there ? NULL : ab_text_nearest(phase, phases, n);
    enum ab_status status = AB_OK;
    if (!is_there)
        status = ab_fail(err, AB_USAGE, "--verbose phase=%s: no such phase among %s%s%s%s",
                         AB_SHOWN(300, phase), list.s != NULL ? list.s : "the measured ones",
                         near != NULL ? "; did you mean " : "",
                         near != NULL ? AB_SHOWN(300, near) : "", near != NULL ? "?" : "");
    ab_text_fini(&list);
    return status;
}

/* ---- {trace} and {workload} in names of outputs ---- */

static const char *const places[] = {"{trace}", "{workload}"};

/* Returns the first placeholder in the name and sets *n to its length; NULL = none. */
static const char *find_place(const char *name, size_t *n)
{
    const char *first = NULL;
    for (size_t i = 0; i < AB_ARRAY_LEN(places); i++) {
        const char *at = strstr(name, places[i]);
        if (at == NULL || (first != NULL && first < at))
            continue;
        first = at;
        *n = strlen(places[i]);
    }
    return first;
}

bool ab_outputs_is_of_each(const char *name)
{
    size_t n;
    return find_place(name, &n) != NULL;
}

const char *ab_outputs_stem(const char *path, size_t *n)
{
    static const char *const extensions[] = {".abt", ".yaml"};
    const char *stem = strcmp(path, "-") == 0 ? "stdin" : basename(path);
    *n = strlen(stem);
    for (size_t i = 0; i < AB_ARRAY_LEN(extensions); i++) {
        size_t e = strlen(extensions[i]);
        if (*n > e && strcmp(stem + *n - e, extensions[i]) == 0) {
            *n -= e;
            break;
        }
    }
    return stem;
}

static char *fill_in(const char *name, const char *path)
{
    struct ab_text t = {0};
    size_t n, n_place;
    const char *stem = ab_outputs_stem(path, &n);
    for (const char *at; (at = find_place(name, &n_place)) != NULL; name = at + n_place)
        ab_text_addf(&t, "%.*s%.*s", (int)(at - name), name, (int)n, stem);
    ab_text_add(&t, name);
    return t.s;
}

void ab_named_outputs_make(const struct ab_outputs_wanted *wanted, const char *const *args,
                           size_t n_args, struct ab_named_outputs *out)
{
    out->wanted = *wanted;
    for (unsigned i = 0; i < AB_SINK_COUNT; i++) {
        if (wanted->sinks[i] == NULL || n_args != 1 || !ab_outputs_is_of_each(wanted->sinks[i]))
            continue;
        out->owned[i] = fill_in(wanted->sinks[i], args[0]);
        out->wanted.sinks[i] = out->owned[i];
    }
}

void ab_named_outputs_fini(struct ab_named_outputs *named)
{
    for (unsigned i = 0; i < AB_SINK_COUNT; i++) {
        free(named->owned[i]);
        named->owned[i] = NULL;
    }
}

enum ab_status ab_named_outputs_check(const struct ab_outputs_wanted *wanted,
                                      const char *const *args, size_t n_args, struct ab_err *err)
{
    const char *name = NULL;
    size_t n_place, n, other;
    unsigned sink = 0;
    for (; sink < AB_SINK_COUNT && name == NULL; sink++)
        name = wanted->sinks[sink] != NULL ? find_place(wanted->sinks[sink], &n_place) : NULL;
    for (size_t i = 0; name != NULL && i < n_args; i++)
        for (size_t k = 0; k < i; k++) {
            const char *a = ab_outputs_stem(args[i], &n), *b = ab_outputs_stem(args[k], &other);
            if (n == other && memcmp(a, b, n) == 0)
                return ab_fail(err, AB_USAGE,
                               "--%s: %.*s is the same for %s and %s; measure one of them by "
                               "itself",
                               ab_sinks[sink - 1].option, (int)n_place, name,
                               AB_SHOWN(256, args[k]), AB_SHOWN(256, args[i]));
        }
    return AB_OK;
}
