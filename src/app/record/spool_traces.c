/* SPDX-License-Identifier: MIT
 *
 * Converts the images of a spool one by one, names each trace, and decides whether the recording is
 * complete.
 */
#include "app/record/spool_traces.h"

#include "app/record/descendants.h"
#include "base/bits.h"
#include "core/alloc.h"
#include "core/text.h"
#include "record/convert.h"
#include "record/converter_live.h"
#include "trace_tools/rewrite.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool ab_spool_is_written(const char *folder, const struct ab_spool_entry *e)
{
    char path[PATH_MAX], name[32];
    struct stat st;
    AB_FIT(name, "%u.%u", e->image.pid, e->generation);
    AB_FIT(path, "%s/%s", folder, name);
    return stat(path, &st) == 0 && ab_process_maps((pid_t)e->image.pid, name, st.st_ino);
}

/* ---- how a recording ended ---- */

/* Reasons why recording had to stop. The reasons in `ends` were requested by the user. */
static const char *const stops[] = {
    [AB_SPOOL_NO_SPACE] = "the disk is full",
    [AB_SPOOL_FILE_LIMIT] = "the limit on file sizes (ulimit -f) was reached",
    [AB_SPOOL_NO_MEMORY] = "the spool could not be mapped",
    [AB_SPOOL_NO_FILE] = "the program can no longer open the spool (chroot, another user, no "
                         "descriptors)",
    [AB_SPOOL_NO_SLOT] = "more than 65,536 concurrent threads",
    [AB_SPOOL_SHARE] = "the spool had taken half of the space that was free on its disk "
                       "(--max-spool sets another bound)",
    [AB_SPOOL_STRICT] = "the program entered seccomp's strict mode, which forbids what a recorder "
                        "does",
};

static const char *const ends[] = {
    [AB_SPOOL_ENOUGH] = "at --max-events", [AB_SPOOL_FULL] = "at --max-spool",
    [AB_SPOOL_TIME_UP] = "at --duration",  [AB_SPOOL_SIGNAL] = "at a signal",
    [AB_SPOOL_ENDED] = "with the command",
};

const char *ab_spool_stop_text(uint32_t stop)
{
    return stop < AB_ARRAY_LEN(stops) ? stops[stop] : NULL;
}

const char *ab_spool_short_text(const struct ab_convert_report *report)
{
    const char *stop = ab_spool_stop_text(report->stop);
    return stop != NULL ? stop : report->damage[0] != 0 ? report->damage : NULL;
}

const char *ab_spool_end_text(uint32_t stop)
{
    return stop < AB_ARRAY_LEN(ends) ? ends[stop] : NULL;
}

/* ---- one trace ---- */

/* True if a signal that `record` blocked while the command ran is pending. Such a signal now
 * interrupts the conversion. */
static bool is_interrupted(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t pending;
    if (sigpending(&pending) != 0)
        return false;
    for (size_t i = 0; i < AB_ARRAY_LEN(signals); i++)
        if (sigismember(&pending, signals[i]) == 1)
            return true;
    return false;
}

static bool show_progress(void *user, uint64_t done, uint64_t total)
{
    ab_file_progress_count(user, done, total);
    return !is_interrupted();
}

/* Classifies a trace by the report of its conversion. */
static enum ab_spool_outcome outcome_of(const struct ab_convert_report *r)
{
    if (r->info.events == r->n_inherited)
        return AB_SPOOL_EMPTY;
    return ab_spool_short_text(r) != NULL ? AB_SPOOL_SHORT : AB_SPOOL_WHOLE;
}

/* Recovery of an unfinished trace. The trace is read as far as possible, and all events that were
 * read are written again. */

/* Writes the complete chunks of the file `part` to `to`, as a short but well-formed trace. */
static enum ab_status spool_part_write(const char *part, FILE *to, struct ab_convert_report *report,
                                       struct ab_err *err)
{
    struct ab_walk walk = {.path = part, .is_partial = true};
    struct ab_filter all = {.sizes = AB_EXTENT_ALL, .events = AB_EXTENT_ALL};
    struct ab_filter_report written;
    *report = (struct ab_convert_report){.is_short = true};
    AB_TRY(ab_trace_filter(&walk, &all, to, &written, err));
    report->info = written.info;
    report->n_threads = written.info.threads;
    AB_FIT(report->damage,
           "it was converted while it ran, but not to the end; later events are lost");
    return AB_OK;
}

static enum ab_status convert_image(struct ab_spool_traces *t, struct ab_spool_result *r, FILE *to,
                                    struct ab_err *err)
{
    if (ab_live_converter_has(t->along, r->entry))
        return ab_live_converter_finish(t->along, r->entry, to, &r->report, show_progress,
                                        &t->progress, err);
    if (t->part != NULL && ab_spool_is_freed(t->folder, r->entry))
        return spool_part_write(t->part, to, &r->report, err);
    return ab_convert(t->forks, r->entry, to, &r->report, show_progress, &t->progress, err);
}

/* Converts one image into an open output, and commits it unless it is empty. */
static enum ab_status convert_one(struct ab_spool_traces *t, struct ab_spool_result *r,
                                  struct ab_output *out, struct ab_err *err)
{
    ab_file_progress_begin(&t->progress, r->path);
    enum ab_status status = convert_image(t, r, out->to, err);
    ab_file_progress_end(&t->progress);
    if (status != AB_OK)
        return status;
    r->outcome = outcome_of(&r->report);
    if (r->outcome == AB_SPOOL_EMPTY)
        return AB_OK;
    out->has_old = t->keeps_old ? &r->has_old : NULL;
    return ab_output_commit(out, err);
}

/* Writes one trace. Stores a failure in the result of the trace, and returns it; the caller decides
 * whether to go on. */
static enum ab_status write_one(struct ab_spool_traces *t, struct ab_spool_result *r,
                                struct ab_output *opened, struct ab_err *err)
{
    struct ab_output own = {0}, *out = opened != NULL ? opened : &own;
    enum ab_status status = AB_OK;
    if (r->entry->n_events == 0) {
        r->outcome = AB_SPOOL_EMPTY;
        return AB_OK;
    }
    if (opened == NULL)
        status = ab_output_open(r->path, out, err);
    if (status == AB_OK)
        status = convert_one(t, r, out, err);
    ab_output_abandon(out);
    r->is_running = ab_spool_is_written(t->folder, r->entry);
    if (status == AB_OK) {
        t->n_written += r->outcome != AB_SPOOL_EMPTY;
        t->n_in_doubt += r->report.damage[0] != 0;
        return AB_OK;
    }
    r->outcome = AB_SPOOL_FAILED;
    r->why = ab_strdup(err->text);
    t->n_failed++;
    t->n_in_doubt++;
    return status;
}

/* Returns the path of another program's trace: "app.17.abt" for process 17 of "app.abt",
 * "app.17.1.abt" for its second program. If the user named a folder, the trace is named after its
 * own program. */
static char *other_path(const struct ab_spool_traces *t, const struct ab_spool_entry *image)
{
    struct ab_text path = {0};
    const char *name = basename(t->path), *dot = strrchr(name, '.');
    size_t n_folder = (size_t)(name - t->path),
           n_stem = dot != NULL ? (size_t)(dot - name) : strlen(name);
    if (t->has_folder && image->image.program[0] != 0)
        ab_text_addf(&path, "%.*s%s.%u", (int)n_folder, t->path, image->image.program,
                     image->image.pid);
    else
        ab_text_addf(&path, "%.*s.%u", (int)(n_folder + n_stem), t->path, image->image.pid);
    if (image->generation > 0)
        ab_text_addf(&path, ".%u", image->generation);
    ab_text_addf(&path, "%s", name + n_stem);
    return path.s;
}

enum ab_status ab_trace_place_find(const char *output, const char *name, const char *extension,
                                   struct ab_trace_place *out, struct ab_err *err)
{
    size_t n = output == NULL ? 0 : strlen(output);
    struct stat st;
    bool is_spool = strcmp(extension, "spool") == 0; /* a spool is a folder itself */
    *out = (struct ab_trace_place){.is_in_folder = false};
    if (n > sizeof out->path / 2 || strlen(name) > sizeof out->path / 4)
        return ab_fail(err, AB_USAGE, "the path of the output is too long");
    if (n == 0) {
        AB_FIT(out->path, "%s.%s", name, extension);
        return AB_OK;
    }
    out->is_in_folder = !is_spool &&
                        (output[n - 1] == '/' || (stat(output, &st) == 0 && S_ISDIR(st.st_mode)));
    if (out->is_in_folder && mkdir(output, 0777) != 0 && errno != EEXIST)
        return ab_fail_errno(err, AB_USAGE, "cannot create the folder %s", AB_SHOWN(512, output));
    if (out->is_in_folder)
        AB_FIT(out->path, "%s%s%s.%s", output, output[n - 1] == '/' ? "" : "/", name, extension);
    else
        AB_COPY(out->path, output);
    return AB_OK;
}

/* ---- all ---- */

enum ab_status ab_spool_traces_open(struct ab_spool_traces *t, struct ab_err *err)
{
    AB_TRY(ab_spool_list(t->folder, &t->images, &t->n_images, err));
    t->main = NULL;
    t->n_programs = 0;
    for (size_t i = 0; i < t->n_images; i++) {
        const struct ab_spool_entry *e = &t->images[i];
        if (e->image.pid == e->image.command && e->n_calls > 0) {
            t->main = e;
            t->n_programs++;
        }
    }
    t->forks = ab_forks_open(t->folder, t->images, t->n_images);
    return AB_OK;
}

void ab_spool_traces_close(struct ab_spool_traces *t)
{
    for (size_t i = 0; i < t->n_results; i++) {
        free(t->results[i].path);
        free(t->results[i].why);
    }
    ab_forks_close(t->forks);
    t->forks = NULL;
    free(t->results);
    free(t->images);
    t->results = NULL;
    t->images = NULL;
    t->n_results = t->n_images = 0;
}

/* Lists the results. The result of the command's own process is the first. */
static void list_results(struct ab_spool_traces *t)
{
    t->results = ab_alloc_zeroed(t->n_images + 1, sizeof t->results[0]);
    if (t->main != NULL)
        t->results[t->n_results++] = (struct ab_spool_result){.entry = t->main,
                                                              .path = ab_strdup(t->path)};
    for (size_t i = 0; i < t->n_images && ab_spool_takes_children(t); i++)
        if (&t->images[i] != t->main)
            t->results[t->n_results++] = (struct ab_spool_result){
                .entry = &t->images[i], .path = other_path(t, &t->images[i])};
}

static enum ab_status judge_main(const struct ab_spool_traces *t, struct ab_err *err)
{
    const struct ab_spool_result *main = t->main != NULL ? &t->results[0] : NULL;
    if (main != NULL && main->outcome == AB_SPOOL_SHORT && !t->is_partial)
        return ab_fail(err, AB_SYSTEM,
                       "recording stopped after %llu events: %s; %s contains the events before",
                       (unsigned long long)main->report.info.events,
                       ab_spool_short_text(&main->report), AB_SHOWN(512, main->path));
    if (t->n_written == 0 && t->n_failed == 0)
        return ab_fail(err, AB_INPUT, "no complete event; no trace was written");
    return AB_OK;
}

enum ab_status ab_spool_traces_write(struct ab_spool_traces *t, struct ab_output *out,
                                     struct ab_err *err)
{
    enum ab_status status = AB_OK, of_main = AB_OK;
    struct ab_err why = {0};
    list_results(t);
    for (size_t i = 0; i < t->n_results && status == AB_OK; i++) {
        bool is_main = t->results[i].entry == t->main;
        enum ab_status one = write_one(t, &t->results[i], is_main ? out : NULL,
                                       is_main ? err : &why);
        if (is_main)
            of_main = one;
        if (one == AB_INTERRUPTED)
            status = is_main ? one : ab_fail(err, one, "%s", why.text);
    }
    if (status != AB_OK)
        return status;
    t->is_written = true;
    return of_main != AB_OK ? of_main : judge_main(t, err);
}
