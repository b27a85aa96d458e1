/* SPDX-License-Identifier: MIT
 *
 * What is missing from a trace, repaired in it or only counted never goes unsaid, and neither does
 * what the recording cost: a program that spends half its time in the recorder is not the program.
 */
#include "cli/spool_traces.h"

#include "cli/progress.h"
#include "core/bits.h"
#include "core/clock.h"
#include "core/text.h"
#include "core/units.h"
#include "record/convert.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *ab_spool_stop_text(uint32_t stop)
{
    switch (stop) {
    case AB_SPOOL_NO_SPACE:
        return "the disk is full";
    case AB_SPOOL_FILE_LIMIT:
        return "the limit on file sizes (ulimit -f) was reached";
    case AB_SPOOL_NO_MEMORY:
        return "the spool could not be mapped";
    case AB_SPOOL_NO_FILE:
        return "the program can no longer open the spool (chroot, another user, no descriptors)";
    case AB_SPOOL_NO_SLOT:
        return "more than 65,536 threads at once";
    default:
        return NULL;
    }
}

bool ab_spool_is_written(const char *folder, const struct ab_spool_entry *e)
{
    char path[PATH_MAX], line[PATH_MAX + 256], inode[32];
    struct stat st;
    bool is_found = false;
    snprintf(path, sizeof path, "%s/%u.%u", folder, e->image.pid, e->generation);
    if (stat(path, &st) != 0)
        return false;
    snprintf(inode, sizeof inode, " %llu ", (unsigned long long)st.st_ino);
    snprintf(path, sizeof path, "/%u.%u\n", e->image.pid, e->generation);
    snprintf(line, sizeof line, "/proc/%u/maps", e->image.pid);
    FILE *maps = fopen(line, "re");
    while (maps != NULL && !is_found && fgets(line, sizeof line, maps) != NULL) {
        size_t n = strlen(line), n_name = strlen(path);
        is_found = n > n_name && strcmp(line + n - n_name, path) == 0 &&
                   strstr(line, inode) != NULL;
    }
    if (maps != NULL)
        fclose(maps);
    return is_found;
}

/* ---- what is told ---- */

static void print_size(const char *path, const struct ab_trace_info *info)
{
    char bytes[32], peak[32];
    fprintf(stderr, "allocbench: %s: %llu events of %llu thread%s, live peak %s in %llu blocks, "
                    "%s (%.3f bytes an event)\n",
            path, (unsigned long long)info->events, (unsigned long long)info->threads,
            info->threads == 1 ? "" : "s",
            ab_units_bytes(peak, sizeof peak, (double)info->live_peak_bytes),
            (unsigned long long)info->live_peak_blocks,
            ab_units_bytes(bytes, sizeof bytes, (double)info->file_bytes),
            (double)info->file_bytes / (double)info->events);
}

static void print_losses(const struct ab_convert_report *r, bool is_running)
{
    if (is_running)
        fprintf(stderr, "allocbench: the command has ended, this process runs on: what it asks for "
                        "from here on is lost\n");
    if (r->n_shared_threads > 0)
        fprintf(stderr, "allocbench: %llu threads beyond the 1,048,576th have its number\n",
                (unsigned long long)r->n_shared_threads);
    if (r->n_foreign > 0)
        fprintf(stderr, "allocbench: %llu frees or resizes of blocks that no recorded call had "
                        "given out were left out\n", (unsigned long long)r->n_foreign);
    if (r->n_reused > 0)
        fprintf(stderr, "allocbench: %llu blocks were given back by a way that cannot be seen; "
                        "their frees were put in\n", (unsigned long long)r->n_reused);
    if (r->n_unfinished > 0)
        fprintf(stderr, "allocbench: %llu call%s cut off by the end of the program\n",
                (unsigned long long)r->n_unfinished, r->n_unfinished == 1 ? " was" : "s were");
    if (ab_spool_stop_text(r->stop) != NULL)
        fprintf(stderr, "allocbench: recording stopped before the program did: %s\n",
                ab_spool_stop_text(r->stop));
}

static void print_order(const struct ab_convert_report *r, bool is_running, double ns_per_tick)
{
    bool is_whole = !is_running && r->n_foreign + r->n_reused + r->n_unfinished == 0 &&
                    ab_spool_stop_text(r->stop) == NULL;
    char distance[32];
    fprintf(stderr, "allocbench: %s%llu repair%s of the order of threads",
            is_whole ? "no call was lost; " : "", (unsigned long long)r->n_repairs,
            r->n_repairs == 1 ? "" : "s");
    if (r->n_repairs > 0)
        fprintf(stderr, ", the farthest %llu ticks (%s) apart",
                (unsigned long long)r->repair_ticks_max,
                ab_units_time(distance, sizeof distance,
                              (double)r->repair_ticks_max * ns_per_tick));
    fprintf(stderr, "; %llu call%s of malloc_usable_size, not in the trace\n",
            (unsigned long long)r->n_usable_size, r->n_usable_size == 1 ? "" : "s");
}

/* Threads record side by side: of the time on the wall the sum of their times may be more than
 * all. Without the command's own time (trace recover) that between its first and last call. */
static void print_cost(const struct ab_convert_report *r, double wall_ns, double ns_per_tick)
{
    double noting_ns = r->noting_ticks * ns_per_tick, turn_ns = (double)r->turn_ticks * ns_per_tick;
    double span_ns = (double)r->span_ticks * ns_per_tick, of_ns = wall_ns > 0 ? wall_ns : span_ns;
    char sum[32], each[32], turns[32], of[32];
    if (noting_ns <= 0 || of_ns <= 0)
        return;
    fprintf(stderr, "allocbench: recording took about %s of %s (%.1f %%%s): an estimate of %s an "
                    "event, and %s for writing\n",
            ab_units_time(sum, sizeof sum, noting_ns + turn_ns),
            ab_units_time(of, sizeof of, of_ns), 100 * (noting_ns + turn_ns) / of_ns,
            r->info.threads > 1 ? ", all threads together" : "",
            ab_units_time(each, sizeof each, noting_ns / (double)r->info.events),
            ab_units_time(turns, sizeof turns, turn_ns));
}

static void print_summary(struct ab_spool_traces *t, const char *path,
                          const struct ab_spool_entry *image, const struct ab_convert_report *r)
{
    double wall_ns = image == t->main ? t->wall_ns : 0;
    bool is_running = ab_spool_is_written(t->folder, image);
    struct ab_clock clock;
    char shown[512];
    if (t->ns_per_tick <= 0) {
        ab_clock_calibrate(&clock);
        t->ns_per_tick = clock.ns_per_tick;
    }
    print_size(ab_text_printable(shown, sizeof shown, path), &r->info);
    print_losses(r, is_running);
    print_order(r, is_running, t->ns_per_tick);
    print_cost(r, wall_ns, t->ns_per_tick);
}

/* ---- one trace ---- */

struct watch {
    struct ab_progress_line line;
    const char *path;
};

/* Signals that `record` holds back while the command runs are for us by now. */
static bool is_interrupted(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t pending;
    if (sigpending(&pending) != 0)
        return false;
    for (size_t i = 0; i < AB_ARRAY_LEN(ends); i++)
        if (sigismember(&pending, ends[i]) == 1)
            return true;
    return false;
}

static bool show_progress(void *user, uint64_t done, uint64_t total)
{
    struct watch *w = user;
    ab_progress_show_events(&w->line, w->path, done, total);
    return !is_interrupted();
}

static enum ab_status check_report(const struct ab_spool_traces *t,
                                   const struct ab_convert_report *r, struct ab_err *err)
{
    const char *stop = ab_spool_stop_text(r->stop);
    if (stop != NULL && !t->is_partial)
        return ab_fail(err, AB_SYSTEM, "recording stopped after %llu events: %s; no trace is "
                       "written", (unsigned long long)r->info.events, stop);
    if (r->info.events == 0)
        return ab_fail(err, AB_INPUT, "no event is whole; no trace is written");
    return AB_OK;
}

/* One image into an output that is open; committed when it is whole. */
static enum ab_status write_one(struct ab_spool_traces *t, const struct ab_spool_entry *image,
                                struct ab_output *out, const char *path, struct ab_err *err)
{
    struct ab_convert_report report;
    struct watch watch = {.path = path};
    ab_progress_begin(&watch.line, t->is_quiet);
    enum ab_status status = ab_convert(t->folder, image, out->to, &report, show_progress, &watch,
                                       err);
    ab_progress_end(&watch.line);
    if (status == AB_OK)
        status = check_report(t, &report, err);
    if (status == AB_OK)
        status = ab_output_commit(out, err);
    if (status == AB_OK && !t->is_quiet)
        print_summary(t, path, image, &report);
    return status;
}

/* "app.abt" of process 17 is "app.17.abt", of its second program "app.17.1.abt". */
static void other_path(char *out, size_t cap, const char *path, const struct ab_spool_entry *image)
{
    const char *dot = strrchr(basename(path), '.');
    size_t stem = dot != NULL ? (size_t)(dot - path) : strlen(path);
    char generation[16] = "";
    if (image->generation > 0)
        snprintf(generation, sizeof generation, ".%u", image->generation);
    snprintf(out, cap, "%.*s.%u%s%s", (int)stem, path, image->image.pid, generation,
             path + stem);
}

static enum ab_status write_other(struct ab_spool_traces *t, const struct ab_spool_entry *image,
                                  struct ab_err *err)
{
    struct ab_output out = {0};
    char path[PATH_MAX];
    other_path(path, sizeof path, t->path, image);
    enum ab_status status = ab_output_open(path, &out, err);
    if (status == AB_OK)
        status = write_one(t, image, &out, path, err);
    ab_output_abandon(&out);
    return status;
}

/* ---- all ---- */

enum ab_status ab_spool_traces_open(struct ab_spool_traces *t, struct ab_err *err)
{
    enum ab_status status = ab_spool_list(t->folder, &t->images, &t->n_images, err);
    if (status != AB_OK)
        return status;
    t->main = NULL;
    t->n_programs = 0;
    for (size_t i = 0; i < t->n_images; i++) {
        const struct ab_spool_entry *e = &t->images[i];
        if (e->image.pid == e->image.command && e->n_events > 0) {
            t->main = e;
            t->n_programs++;
        }
    }
    return AB_OK;
}

void ab_spool_traces_close(struct ab_spool_traces *t)
{
    free(t->images);
    t->images = NULL;
    t->n_images = 0;
}

enum ab_status ab_spool_traces_write(struct ab_spool_traces *t, struct ab_output *out,
                                     struct ab_err *err)
{
    enum ab_status status = t->main != NULL ? write_one(t, t->main, out, t->path, err) : AB_OK;
    size_t n_written = t->main != NULL;
    bool is_following = t->n_images > 0 && t->images[0].image.takes_children != 0;
    for (size_t i = 0; i < t->n_images && is_following && status == AB_OK; i++)
        if (&t->images[i] != t->main && t->images[i].n_events > 0) {
            status = write_other(t, &t->images[i], err);
            n_written++;
        }
    if (status == AB_OK && n_written == 0)
        return ab_fail(err, AB_INPUT, "there is no event in %s", t->folder);
    if (status == AB_OK && !is_following && t->n_programs > 1 && !t->is_quiet)
        fprintf(stderr, "allocbench: the process replaced its program %u time%s (exec); the last "
                        "one is what was kept (--follow keeps each)\n", t->n_programs - 1,
                t->n_programs == 2 ? "" : "s");
    return status;
}
