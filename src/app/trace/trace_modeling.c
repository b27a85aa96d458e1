/* SPDX-License-Identifier: MIT
 *
 * Writes a workload with its two tables, and how far it is from the trace. The distance is found by
 * compiling the workload. More parts bring live memory closer to the trace's, but make larger
 * tables. So the number of parts is doubled until the live peak is close enough.
 */
#include "app/trace/trace_modeling.h"

#include "core/output.h"
#include "core/text.h"
#include "core/unfinished.h"
#include "core/units_show.h"
#include "workload/workload.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LEAST_PARTS = 32, SUFFIXES = 3, BURST_BYTES = 4 << 20 };
#define NEAR_PEAK 0.02
static const char *const suffixes[SUFFIXES] = {".yaml", "-blocks.csv", "-sequence.csv"};

struct modeling {
    const struct ab_trace_pass *pass;
    struct ab_modeled *out;
    struct ab_temporary folder; /* folder of the draft, which is compiled to find the distance */
    char draft[SUFFIXES][1100];
};

static double change(uint64_t from, uint64_t to)
{
    return from > 0 ? 100 * ((double)to / (double)from - 1) : 0;
}

void ab_model_trace_distance(FILE *to, const struct ab_modeled *s, const char *lead)
{
    const struct ab_trace_model *m = &s->model;
    const struct ab_model_distance *d = &s->distance;
    fprintf(to, "%scalls      %llu; in the trace %llu (%+.2f %%)\n", lead,
            (unsigned long long)d->calls, (unsigned long long)m->n_calls,
            change(m->n_calls, d->calls));
    fprintf(to, "%slive peak  %s; in the trace %s (%+.2f %%)\n", lead, AB_BYTES(d->live_peak_bytes),
            AB_BYTES(m->live_peak_bytes), change(m->live_peak_bytes, d->live_peak_bytes));
    fprintf(to, "%ssizes      Kolmogorov distance %.2f %%\n", lead, 100 * d->sizes);
    fprintf(to, "%stables     %llu kinds of blocks, %llu rows of sequence in %u parts\n", lead,
            (unsigned long long)m->n_kinds, (unsigned long long)m->n_rows, m->n_parts);
}

static void write_workload(FILE *to, const struct ab_modeled *s, const char *name)
{
    const struct ab_trace_model *m = &s->model;
    fputs(
        "# A model of a recorded program: sizes, lifetimes, live memory over time and threads of its\n"
        "# calls to malloc as tables, written by `allocbench trace model`. How near it is to the "
        "trace:\n",
        to);
    if (s->has_distance)
        ab_model_trace_distance(to, s, "#   ");
    fprintf(to,
            "allocbench: 1\nname: model\nsets:\n"
            "  - {name: heap, kind: model, per: all, part: %llu,\n"
            "     blocks: \"%s-blocks.csv\", sequence: \"%s-sequence.csv\"}\n"
            "phases:\n  - name: play\n    lanes: %u\n    do:\n      - {play: heap}\n",
            (unsigned long long)m->part_calls, name, name, m->n_lanes);
}

/* ---- the draft of the workload, which is compiled ---- */

static enum ab_status open_draft(struct modeling *s, FILE *files[SUFFIXES], struct ab_err *err)
{
    for (size_t i = 0; i < SUFFIXES; i++) {
        AB_FIT(s->draft[i], "%s/draft%s", s->folder.path, suffixes[i]);
        files[i] = fopen(s->draft[i], "we");
        if (files[i] == NULL)
            return ab_fail_errno(err, AB_SYSTEM, "cannot write %s", s->draft[i]);
    }
    return AB_OK;
}

static enum ab_status close_draft(FILE *files[SUFFIXES], enum ab_status status, struct ab_err *err)
{
    bool is_written = true;
    for (size_t i = 0; i < SUFFIXES; i++)
        if (files[i] != NULL)
            is_written = fclose(files[i]) == 0 && is_written;
    return status != AB_OK || is_written ? status
                                         : ab_fail_errno(err, AB_SYSTEM, "cannot write the draft");
}

static enum ab_status write_draft(struct modeling *s, struct ab_err *err)
{
    FILE *files[SUFFIXES] = {NULL};
    enum ab_status status = open_draft(s, files, err);
    if (status == AB_OK) {
        write_workload(files[0], s->out, "draft");
        status = ab_trace_model_write(&s->out->model, files[1], files[2], err);
    }
    return close_draft(files, status, err);
}

static enum ab_status take_burst(void *user, const struct ab_tape *burst, bool is_only,
                                 struct ab_err *err)
{
    (void)is_only;
    (void)err;
    ab_trace_model_take(user, burst);
    return AB_OK;
}

static enum ab_status measure_draft(struct modeling *s, struct ab_err *err)
{
    struct ab_workload *w = NULL;
    struct ab_workload_options options = {0};
    struct ab_tape total = {0};
    struct ab_workload_bursts bursts = {
        .most_bytes = BURST_BYTES, .take = take_burst, .user = &s->out->model};
    char *messages = NULL;
    AB_TRY(write_draft(s, err));
    enum ab_status status = ab_workload_load(s->draft[0], &options, &w, &messages, err);
    if (status == AB_CONFIG)
        ab_fail(err, status, "%.900s", messages != NULL ? messages : "");
    if (status == AB_OK)
        status = ab_workload_compile_bursts(w, &bursts, &total, err);
    if (status == AB_OK)
        ab_trace_model_compare(&s->out->model, &total, &s->out->distance);
    ab_tape_fini(&total);
    ab_workload_free(w);
    free(messages);
    return status;
}

static enum ab_status make_model(struct modeling *s, uint32_t parts, struct ab_err *err)
{
    struct ab_walk walk = {0};
    ab_trace_model_fini(&s->out->model);
    ab_trace_pass_begin(s->pass, &walk);
    enum ab_status status = ab_trace_model_make(&walk, parts, &s->out->model, err);
    ab_file_progress_end(&s->pass->progress);
    return status;
}

static enum ab_status find_model(struct modeling *s, struct ab_err *err)
{
    const struct ab_modeled *m = s->out;
    uint32_t parts = LEAST_PARTS;
    for (;; parts *= 2) {
        AB_TRY(make_model(s, parts, err));
        AB_TRY(measure_draft(s, err));
        double peak = change(m->model.live_peak_bytes, m->distance.live_peak_bytes) / 100;
        if (parts == AB_TRACE_MODEL_PARTS_MAX || fabs(peak) <= NEAR_PEAK)
            break;
    }
    s->out->has_distance = true;
    return AB_OK;
}

/* ---- the files of the final workload ---- */

static enum ab_status write_files(struct modeling *s, struct ab_output out[SUFFIXES],
                                  struct ab_err *err)
{
    enum ab_status status = AB_OK;
    sigset_t all, before;
    AB_TRY(ab_trace_model_write(&s->out->model, out[1].to, out[2].to, err));
    write_workload(out[0].to, s->out, basename(s->out->stem));
    sigfillset(&all);
    /* signals wait, because all three files are needed together */
    sigprocmask(SIG_BLOCK, &all, &before);
    /* commits the workload last, because it names the tables */
    for (size_t i = SUFFIXES; i-- > 0 && status == AB_OK;)
        status = ab_output_commit(&out[i], err);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

static void path_of(const struct modeling *s, size_t i, char path[1100])
{
    snprintf(path, 1100, "%s%s", s->out->stem, suffixes[i]);
}

static enum ab_status open_files(const struct modeling *s, struct ab_output out[SUFFIXES],
                                 struct ab_err *err)
{
    char path[1100];
    for (size_t i = 0; i < SUFFIXES; i++) {
        path_of(s, i, path);
        AB_TRY(ab_output_open(path, &out[i], err));
        AB_TRY(ab_output_spare(&out[i], path, &s->pass->path, 1, err));
    }
    return AB_OK;
}

static uint64_t bytes_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void add_sizes(const struct modeling *s)
{
    char path[1100];
    s->out->trace_bytes = bytes_of(s->pass->path);
    for (size_t i = 0; i < SUFFIXES; i++) {
        path_of(s, i, path);
        s->out->bytes += bytes_of(path);
    }
}

enum ab_status ab_model_trace(const struct ab_trace_pass *pass, struct ab_modeled *out,
                              struct ab_err *err)
{
    struct modeling s = {.pass = pass, .out = out};
    struct ab_output files[SUFFIXES] = {{0}};
    enum ab_status status = open_files(&s, files, err);
    if (status == AB_OK)
        status = ab_temporary_make("model", &s.folder, err);
    if (status == AB_OK)
        status = find_model(&s, err);
    if (status == AB_OK)
        status = write_files(&s, files, err);
    for (size_t i = 0; i < SUFFIXES; i++)
        ab_output_abandon(&files[i]);
    ab_temporary_remove(&s.folder);
    add_sizes(&s);
    return status;
}
