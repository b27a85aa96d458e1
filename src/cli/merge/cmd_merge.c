/* SPDX-License-Identifier: MIT
 *
 * `merge`: reads the parts of a measurement, joins them, judges and stores the whole.
 */
#include "cli/benchmark/failures.h"
#include "cli/benchmark/result_store.h"
#include "cli/commands.h"
#include "cli/compare/verdict.h"
#include "cli/merge/merged_gates.h"
#include "cli/one_file.h"
#include "cli/terminal.h"
#include "core/file_digest.h"
#include "core/text.h"
#include "report/output.h"
#include "report/read/read_result.h"
#include "report/sinks/sinks.h"
#include "report/table/sink_claims.h"
#include "report/table/sink_gates.h"
#include "result/merge/merge.h"
#include "result/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_folder(const char *path)
{
    struct stat st;
    size_t n = strlen(path);
    return (n > 0 && path[n - 1] == '/') || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* Into one named file, which may be standard output. */
static enum ab_status write_file(const struct ab_options *o, const struct ab_session *s,
                                 struct ab_err *err)
{
    struct ab_output file;
    AB_TRY(ab_output_open(o->output, &file, err));
    enum ab_status status = ab_spare_inputs(o, 0, &file, o->output, err);
    if (status != AB_OK) {
        ab_output_abandon(&file);
        return status;
    }
    if (!ab_sink_json(file.to, s)) {
        ab_output_abandon(&file);
        return ab_fail(err, AB_SYSTEM, "out of memory for the result");
    }
    return ab_output_commit(&file, err);
}

/* Into a folder, under a name of its own, where results are kept without being asked for. */
static enum ab_status store(const struct ab_options *o, const struct ab_session *s, char *place,
                            size_t cap, struct ab_err *err)
{
    struct ab_options options = *o;
    struct ab_store store;
    options.results = o->output != NULL ? o->output : o->results;
    enum ab_status status = ab_store_open(&options, &store, err);
    if (status != AB_OK)
        return status;
    if (store.folder == NULL)
        return ab_fail(err, AB_USAGE, "merge: results are not stored here; say where with -o FILE");
    status = ab_store_write(&store, s, err);
    size_t n = strlen(store.folder);
    snprintf(place, cap, "%s%s%s", store.folder, n > 0 && store.folder[n - 1] == '/' ? "" : "/",
             store.name);
    ab_store_close(&store);
    return status;
}

static void tell(const struct ab_session *s, const char *place)
{
    char shown[512];
    fprintf(stderr, "Merged: %u result%s, %u of %u rounds, %u machine%s%s\n", s->n_parts,
            s->n_parts == 1 ? "" : "s", s->n_rounds, s->n_rounds_planned, ab_session_host_count(s),
            ab_session_host_count(s) == 1 ? "" : "s", s->is_complete ? "" : "; incomplete");
    if (strcmp(place, "-") != 0)
        fprintf(stderr, "Stored: %s\n", ab_text_printable(shown, sizeof shown, place));
}

/* Verdicts beside a document that goes to standard output. */
static void print_verdicts(const struct ab_options *o, const struct ab_session *s)
{
    bool is_taken = o->output != NULL && strcmp(o->output, "-") == 0;
    struct ab_table_style style = ab_terminal_style(o);
    if (o->is_quiet) {
        ab_verdicts_tell(s, o->fails_inconclusive);
        return;
    }
    style.color = style.color && !is_taken;
    if (!is_taken)
        ab_sink_claims(stdout, s, style);
    ab_sink_gates(is_taken ? stderr : stdout, s, style);
    fflush(stdout);
}

static enum ab_status write_merged(const struct ab_options *o, const struct ab_session *s,
                                   struct ab_err *err)
{
    char place[4096 + 200];
    enum ab_status status;
    if (o->output != NULL && !is_folder(o->output)) {
        snprintf(place, sizeof place, "%s", o->output);
        status = write_file(o, s, err);
    } else {
        status = store(o, s, place, sizeof place, err);
    }
    if (status == AB_OK)
        print_verdicts(o, s);
    if (status == AB_OK && !o->is_quiet)
        tell(s, place);
    return status;
}

/* A failed back end outweighs a gate, as in `run`. */
static enum ab_status finish(const struct ab_options *o, struct ab_session *s, int *exit_code,
                             struct ab_err *err)
{
    struct ab_merged_gates gates;
    s->command_line = ab_command_line;
    enum ab_status status = ab_merged_gates_judge(o, s, &gates, err);
    if (status != AB_OK)
        return status;
    status = write_merged(o, s, err);
    if (status == AB_OK) {
        *exit_code = ab_failures_tell(s, o->is_quiet);
        if (*exit_code == 0)
            *exit_code = ab_status_exit_code(ab_verdict_status(o, NULL, s));
    }
    free(s->gates);
    free(s->claims);
    ab_merged_gates_fini(&gates);
    return status;
}

static uint32_t first_round(const struct ab_merge_part *part)
{
    return part->session->n_rounds > 0 ? part->session->rounds[0].index : UINT32_MAX;
}

/* So that the order in which they are named makes no difference. */
static int by_shard(const void *a, const void *b)
{
    const struct ab_merge_part *x = a, *y = b;
    uint32_t i = x->session->shard.index, k = y->session->shard.index;
    if (i == k) {
        i = first_round(x);
        k = first_round(y);
    }
    return i != k ? (i > k) - (i < k) : strcmp(x->file, y->file);
}

static enum ab_status read_parts(const struct ab_options *o, struct ab_stored *stored,
                                 struct ab_merge_part *parts, uint32_t *n, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    for (size_t i = 0; i < o->n_args && status == AB_OK; i++) {
        status = ab_stored_read_unaltered(o->args[i], &stored[i], err);
        if (status != AB_OK)
            break;
        *n = (uint32_t)i + 1;
        parts[i] = (struct ab_merge_part){.session = &stored[i].session, .file = o->args[i]};
        if (!ab_file_digest(o->args[i], parts[i].sha256))
            parts[i].sha256[0] = 0;
    }
    if (*n > 0)
        qsort(parts, *n, sizeof parts[0], by_shard);
    return status;
}

enum ab_status ab_cmd_merge(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_session merged;
    uint32_t n = 0;
    if (o->n_args == 0)
        return ab_fail(err, AB_USAGE, "merge needs results; see allocbench merge --help");
    if (o->n_args > AB_STORED_ROUNDS_MAX)
        return ab_fail(err, AB_USAGE, "merge: at most %d results", AB_STORED_ROUNDS_MAX);
    if (o->output != NULL && o->results != NULL)
        return ab_fail(err, AB_USAGE, "--output and --results are mutually exclusive");
    struct ab_stored *stored = calloc(o->n_args, sizeof stored[0]);
    struct ab_merge_part *parts = calloc(o->n_args, sizeof parts[0]);
    enum ab_status status = stored == NULL || parts == NULL
                                ? ab_fail(err, AB_SYSTEM, "out of memory")
                                : read_parts(o, stored, parts, &n, err);
    if (status == AB_OK && (status = ab_merge(parts, n, o->is_partial, &merged, err)) == AB_OK) {
        status = finish(o, &merged, exit_code, err);
        ab_session_fini(&merged);
        free(merged.backends);
    }
    for (uint32_t i = 0; i < n; i++)
        ab_stored_fini(&stored[i]);
    free(stored);
    free(parts);
    return status;
}
