/* SPDX-License-Identifier: MIT
 *
 * Runs a command under the recorder, then converts its spool to a trace or keeps the spool.
 */
#include "app/record/record.h"

#include "core/text.h"
#include "record/relay.h"
#include "symbols/symbols.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static enum ab_status check_seen(const struct ab_launch *l, const struct ab_spool_traces *t,
                                 struct ab_err *err)
{
    if (t->main != NULL || (l->takes_children && t->n_images > 0))
        return AB_OK;
    for (size_t i = 0; i < t->n_images; i++)
        if (ab_spool_stop_text(t->images[i].image.stop) != NULL)
            return ab_fail(err, AB_SYSTEM, "%s could not be recorded: %s",
                           AB_SHOWN(600, basename(l->program)),
                           ab_spool_stop_text(t->images[i].image.stop));
    return ab_fail(err, AB_INPUT,
                   "%s: no call of malloc was recorded. It may include its own malloc, or do its "
                   "work in another process: --follow records that too",
                   AB_SHOWN(600, basename(l->program)));
}

/* Keeps the spool as the result. */
static enum ab_status keep_spool(struct ab_recording *r, struct ab_err *err)
{
    const struct ab_spool_traces *t = &r->traces;
    const char *stop = NULL;
    for (size_t i = 0; i < t->n_images; i++) {
        r->n_calls += t->images[i].n_calls;
        stop = stop != NULL ? stop : ab_spool_stop_text(t->images[i].image.stop);
    }
    r->launch.is_kept = true;
    if (stop != NULL)
        return ab_fail(err, AB_SYSTEM,
                       "recording stopped: %s; the part before is in %s; use "
                       "allocbench trace recover --partial",
                       stop, AB_SHOWN(512, t->path));
    return AB_OK;
}

/* Writes the traces, and keeps the spool if one of them may be incomplete. Because a recording may
 * have taken hours, a file that cannot be written, an interruption or a spool that cannot be read
 * is no reason to discard it. */
static enum ab_status write_traces(struct ab_recording *r, struct ab_output *out,
                                   struct ab_err *err)
{
    enum ab_status status = ab_spool_traces_write(&r->traces, out, err);
    if (r->traces.n_in_doubt == 0 || r->launch.is_contained)
        return status;
    r->launch.is_kept = true;
    if (status == AB_OK)
        return AB_OK;
    ab_err_context(err,
                   "the recording is kept in %s; use allocbench trace recover: ", r->launch.folder);
    return AB_SYSTEM;
}

/* Converts the recording of the command, or keeps its spool. */
static enum ab_status keep(struct ab_recording *r, struct ab_output *out, struct ab_err *err)
{
    const struct ab_launch *l = &r->launch;
    struct ab_spool_traces *t = &r->traces;
    t->folder = l->spool;
    t->path = r->place.path;
    t->has_folder = r->place.is_in_folder;
    t->ns_per_tick = (double)l->end.wall_ns / (double)(l->end.wall_ticks | 1);
    t->wall_ns = (double)l->end.wall_ns;
    t->cpu_ns = (double)l->end.cpu_ns;
    t->last_name = l->end.comm;
    t->along = l->along;
    t->keeps_old = true;
    AB_TRY(ab_spool_traces_open(t, err));
    AB_TRY(check_seen(l, t, err));
    return r->is_unconverted ? keep_spool(r, err) : write_traces(r, out, err);
}

/* Chooses when to convert. Short recordings are converted at the end, so that converting costs
 * nothing while the command runs. Tests set another size of the spool in bytes (0 = only at the
 * end) and do not wait for a free CPU. */
static void choose_control(struct ab_launch *l, const struct ab_record_request *r)
{
    const char *of_test = getenv("ALLOCBENCH_TEST_CONVERT_FROM");
    l->is_eager = of_test != NULL;
    l->along_bytes = UINT64_C(64) << 20;
    if (of_test != NULL)
        l->along_bytes = strtoull(of_test, NULL, 10);
    if (r->is_unconverted)
        l->along_bytes = 0;
}

static void set_launch(struct ab_launch *l, const struct ab_record_request *r)
{
    l->takes_children = r->takes_children;
    l->is_waiting = r->is_waiting;
    l->is_contained = r->is_contained;
    l->stdin_path = r->stdin_path;
    l->most_events = r->most_events;
    l->most_bytes = r->most_bytes;
    l->duration_ns = r->duration_ns;
    l->site_depth = r->site_depth;
    l->has_time = r->has_call_times;
    l->marks_frames = r->marks_frames;
    l->watch = r->watch;
    choose_control(l, r);
}

/* Sets *out from the request, finds the program and opens the output. */
static enum ab_status prepare(const struct ab_record_request *r, struct ab_recording *out,
                              struct ab_output *file, int *exit_code, struct ab_err *err)
{
    const char *extension = r->is_unconverted ? "spool" : "abt";
    AB_TRY(ab_trace_place_find(r->output, basename(r->args[0]), extension, &out->place, err));
    const struct ab_launch_folder folder = {.kept = r->is_unconverted ? out->place.path : NULL,
                                            .in = r->spool_in};
    AB_TRY(ab_launch_prepare(r->args[0], folder, &out->launch, exit_code, err));
    set_launch(&out->launch, r);
    out->is_unconverted = r->is_unconverted;
    out->traces.progress = r->conversion;
    return r->is_unconverted ? AB_OK : ab_output_open(out->place.path, file, err);
}

static enum ab_status start(struct ab_recording *r, const char *const *args, int *exit_code,
                            struct ab_err *err)
{
    enum ab_status status = ab_launch_start(&r->launch, args, err);
    if (status == AB_USAGE)
        *exit_code = AB_LAUNCH_CANNOT_RUN;
    r->is_started = status == AB_OK;
    return status;
}

enum ab_status ab_record(const struct ab_record_request *r, struct ab_recording *out,
                         int *exit_code, struct ab_err *err)
{
    struct ab_output file = {0};
    *out = (struct ab_recording){.launch.owner_fd = -1};
    *exit_code = AB_LAUNCH_FAILED;
    enum ab_status status = prepare(r, out, &file, exit_code, err);
    if (status == AB_OK)
        status = start(out, r->args, exit_code, err);
    if (status == AB_OK) {
        if (r->begun != NULL)
            r->begun(out->launch.folder);
        bool is_time_up = ab_launch_await(&out->launch);
        if (is_time_up && r->stops_command)
            ab_launch_stop(&out->launch);
        status = keep(out, &file, err);
    }
    ab_output_abandon(&file);
    return status;
}

/* Returns NULL if the command executed another program, as a shell does, because the file of that
 * program is unknown. */
const char *ab_recording_lineless(const struct ab_recording *r)
{
    struct ab_symbols *symbols;
    const struct ab_spool_entry *main = r->traces.main;
    if (r->launch.site_depth == 0 || main == NULL ||
        strncmp(basename(r->launch.program), main->image.program, sizeof main->image.program - 1) !=
            0 ||
        ab_symbols_open(r->launch.program, NULL, 0, &symbols) != AB_SYMBOLS_OPEN)
        return NULL;
    enum ab_symbols_depth depth = ab_symbols_depth(symbols);
    ab_symbols_close(symbols);
    return depth == AB_SYMBOLS_LINES       ? NULL
           : depth == AB_SYMBOLS_FUNCTIONS ? "functions"
                                           : "addresses";
}

int ab_recording_end(struct ab_recording *r)
{
    int code = r->is_started ? ab_launch_finish(&r->launch) : 0;
    if (r->launch.is_stopped && r->launch.signal == 0)
        code = 0;
    ab_spool_facts_fini(&r->facts);
    ab_spool_traces_close(&r->traces);
    ab_launch_clean(&r->launch);
    return code;
}

/* ---- traces of a spool that was left behind ---- */

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Finds the spool in the folder or in one of its subfolders (spool.h). */
static bool find_spool(const char *in, char *buf, size_t cap)
{
    int n = snprintf(buf, cap, "%s/" AB_SPOOL_FOLDER, in);
    bool is_found = n > 0 && (size_t)n < cap && is_folder(buf);
    DIR *folder = is_found ? NULL : opendir(in);
    for (struct dirent *e; folder != NULL && !is_found && (e = readdir(folder)) != NULL;) {
        n = snprintf(buf, cap, "%s/%s/" AB_SPOOL_FOLDER, in, e->d_name);
        is_found = e->d_name[0] != '.' && n > 0 && (size_t)n < cap && is_folder(buf);
    }
    if (folder != NULL)
        closedir(folder);
    return is_found;
}

/* Returns the folder of the spool that the user means by `given`: buf or `given`. */
static const char *spool_folder(const char *given, char *buf, size_t cap)
{
    char outer[PATH_MAX];
    static const char name[] = "/" AB_SPOOL_FOLDER;
    if (is_folder(given))
        return find_spool(given, buf, cap) ? buf : given;
    AB_COPY(outer, given);
    if (!ab_text_ends_with(outer, name))
        return given;
    outer[strlen(outer) - strlen(name)] = 0;
    return find_spool(outer, buf, cap) ? buf : given;
}

/* Fails if the spool is still being written, or is not a spool. */
static enum ab_status check_ended(const struct ab_spool_traces *t, struct ab_err *err)
{
    for (size_t i = 0; i < t->n_images; i++)
        if (ab_spool_is_written(t->folder, &t->images[i]))
            return ab_fail(err, AB_INPUT, "process %u (%s) is still being recorded; end it first",
                           t->images[i].image.pid, AB_SHOWN(600, t->images[i].image.program));
    return t->n_images > 0 ? AB_OK
                           : ab_fail(err, AB_INPUT,
                                     "not a spool of this version of allocbench: "
                                     "contains no recorded process");
}

static enum ab_status recover(const struct ab_recover_request *r, struct ab_recording *out,
                              struct ab_err *err)
{
    struct ab_output file = {0};
    struct ab_spool_traces *t = &out->traces;
    const char *program = t->main != NULL ? t->main->image.program : "";
    enum ab_status status = check_ended(t, err);
    if (status != AB_OK)
        return ab_err_context(err, "%s: ", AB_SHOWN(512, t->folder));
    AB_TRY(ab_trace_place_find(r->output, program[0] != 0 ? program : "trace", "abt", &out->place,
                               err));
    t->path = out->place.path;
    t->has_folder = out->place.is_in_folder;
    AB_TRY(ab_output_open(t->path, &file, err));
    status = ab_spool_traces_write(t, &file, err);
    ab_output_abandon(&file);
    return status;
}

enum ab_status ab_recover(const struct ab_recover_request *r, struct ab_recording *out,
                          struct ab_err *err)
{
    *out = (struct ab_recording){.launch.owner_fd = -1};
    struct ab_spool_traces *t = &out->traces;
    t->folder = spool_folder(r->spool, out->folder, sizeof out->folder);
    AB_FIT(out->part, "%s/../" AB_LIVE_CONVERTER_PART, t->folder);
    t->part = out->part;
    t->is_partial = r->is_partial;
    t->progress = r->progress;
    AB_TRY(ab_spool_traces_open(t, err));
    return recover(r, out, err);
}
