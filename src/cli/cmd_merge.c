/* SPDX-License-Identifier: MIT
 *
 * Implements `merge`: reads the parts of a measurement, joins them, and judges and stores the
 * result.
 */
#include "app/backend_choice.h"
#include "app/decision.h"
#include "app/gate_set.h"
#include "app/one_file.h"
#include "app/result_store.h"
#include "backend/selection.h"
#include "cli/commands.h"
#include "cli/requests.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "core/alloc.h"
#include "core/file_digest.h"
#include "core/output.h"
#include "core/text.h"
#include "document/read_result.h"
#include "report/sinks/sinks.h"
#include "report/table/sink_checks.h"
#include "result/merge/merge.h"
#include "result/numbers.h"
#include "result/result.h"
#include "result/session.h"
#include "workload/config.h"
#include "workload/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *path)
{
    struct stat st;
    size_t n = strlen(path);
    return (n > 0 && path[n - 1] == '/') || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* Writes the result to o->output, which may be standard output. */
static enum ab_status write_file(const struct ab_options *o, const struct ab_session *s,
                                 struct ab_err *err)
{
    struct ab_output file;
    AB_TRY(ab_output_open(o->output, &file, err));
    const struct ab_inputs inputs = ab_inputs_of(o);
    enum ab_status status = ab_spare_inputs(&inputs, &file, o->output, err);
    if (status != AB_OK) {
        ab_output_abandon(&file);
        return status;
    }
    ab_sink_json(file.to, s);
    return ab_output_commit(&file, err);
}

/* Stores the result in a folder under an automatic name. */
static enum ab_status store(const struct ab_options *o, const struct ab_session *s, char *place,
                            size_t cap, struct ab_err *err)
{
    const struct ab_store_wanted wanted = {
        .folder = o->output != NULL ? o->output : o->store.folder, .is_off = o->store.is_off};
    struct ab_store store;
    enum ab_status status = ab_store_open(&wanted, &o->talk, &store, err);
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

/* Prints the verdicts; on standard error if a document goes to standard output. */
static void print_verdicts(const struct ab_options *o, const struct ab_session *s)
{
    bool is_taken = o->output != NULL && strcmp(o->output, "-") == 0;
    struct ab_table_style style = ab_terminal_style(o);
    if (o->talk.is_quiet) {
        ab_verdicts_tell(s, o->verdicts.fails_inconclusive);
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
    if (status == AB_OK && !o->talk.is_quiet)
        tell(s, place);
    return status;
}

struct ab_merged_gates {
    struct ab_workload *workload; /* NULL = no gates or claims, or a trace */
    struct ab_gate_set set;
    struct ab_phase *phases;
};

static void merged_gates_fini(struct ab_merged_gates *gates);

/* Functions that read a workload from the text in a result, for its gates and claims. */

/* True if a line of the text begins with `key`. */
static bool has_key(const char *text, const char *key)
{
    for (const char *at = strstr(text, key); at != NULL; at = strstr(at + 1, key))
        if (at == text || at[-1] == '\n')
            return true;
    return false;
}

/* Returns an unnamed file with the text; -1 on failure. */
static int text_file(const char *text)
{
    size_t n = strlen(text);
    int fd = memfd_create("workload", MFD_CLOEXEC);
    if (fd >= 0 && (write(fd, text, n) != (ssize_t)n || lseek(fd, 0, SEEK_SET) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void move_place(struct ab_gate_set *set, const char *from, const char *to)
{
    for (size_t i = 0; i < set->n_of_workload; i++)
        if (set->gates[i].place == from)
            set->gates[i].place = to;
    for (size_t i = 0; i < set->n_claims; i++)
        if (set->claims[i].place == from)
            set->claims[i].place = to;
}

/* Replaces the temporary file's name in positions by that of the measured workload. */
static void rename_places(struct ab_gate_set *set, const char *was, const char *name)
{
    size_t n_places = ab_workload_gates(set->workload)->n + ab_workload_claims(set->workload)->n;
    size_t n = strlen(was);
    for (size_t i = 0; i < n_places; i++) {
        struct ab_text t = {0};
        char *place = set->places[i];
        if (place == NULL || strncmp(place, was, n) != 0)
            continue;
        ab_text_addf(&t, "%s%s", name, place + n);
        move_place(set, place, t.s);
        set->places[i] = t.s;
        free(place);
    }
}

/* Makes the measured phases, with one op of each kind for which the result has numbers. */
static void make_phases(const struct ab_session *s, struct ab_merged_gates *g)
{
    g->phases = ab_alloc_zeroed((size_t)s->n_phases + 1, sizeof g->phases[0]);
    for (uint32_t p = 0; p < s->n_phases; p++) {
        struct ab_phase *phase = &g->phases[p];
        snprintf(phase->name, sizeof phase->name, "%s", s->phases[p]);
        phase->is_measured = true;
        for (uint32_t i = 0; i < s->n_results; i++)
            if (s->results[i].op < AB_OP_KIND_COUNT &&
                strcmp(s->results[i].phase, phase->name) == 0)
                phase->n_ops[s->results[i].op] = 1;
    }
}

static enum ab_status read_gates(const struct ab_options *o, const struct ab_session *s,
                                 struct ab_merged_gates *g, struct ab_err *err)
{
    const char **names = ab_alloc_zeroed(s->n_backends + 1u, sizeof names[0]);
    char(*own)[AB_BACKEND_NAME_BYTES] = ab_alloc_zeroed(s->n_backends + 1u, sizeof own[0]);
    struct ab_gate_source source = {
        .talk = &o->talk,
        .gates = o->verdicts.gates,
        .n_gates = o->verdicts.n_gates,
        .workload = g->workload,
        .phases = g->phases,
        .n_phases = s->n_phases,
        .backends = names,
    };
    for (uint32_t i = 0; i < s->n_backends; i++)
        names[source.n_backends++] = ab_backend_own_name(&s->backends[i], own[i]);
    enum ab_status status = ab_gate_set_read(&source, &g->set, err);
    free(names);
    free(own);
    return status;
}

static enum ab_status load_workload(const struct ab_options *o, const struct ab_session *s,
                                    const char *path, struct ab_merged_gates *g, struct ab_err *err)
{
    size_t n = 0;
    while (s->settings != NULL && s->settings[n] != NULL)
        n++;
    const struct ab_settings_wanted settings = {.sets = (const char **)(uintptr_t)s->settings,
                                                .n_sets = n}; /* not modified */
    const struct ab_workload_options how = ab_workload_options_of(&settings, NULL, false);
    return ab_load_workload(&o->talk, &how, path, &g->workload, err);
}

/* Reads the gates, from a file with the workload's text if that has gates or claims. */
static enum ab_status read_all(const struct ab_options *o, const struct ab_session *s,
                               struct ab_merged_gates *g, struct ab_err *err)
{
    const char *text = s->config_text != NULL ? s->config_text : "";
    bool has_any = has_key(text, "gates:") || has_key(text, "claims:");
    char path[64] = "";
    int fd = -1;
    if (has_any) {
        if ((fd = text_file(text)) < 0)
            return ab_fail_errno(err, AB_SYSTEM, "cannot make a file of the workload");
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    enum ab_status status = AB_OK;
    make_phases(s, g);
    if (has_any)
        status = load_workload(o, s, path, g, err);
    if (status == AB_OK)
        status = read_gates(o, s, g, err);
    if (status == AB_OK && has_any)
        rename_places(&g->set, path, s->config_path);
    if (fd >= 0)
        close(fd);
    return status;
}

/* Reads and judges the gates of --gate and of the workload whose text the session has. Sets
 * session->gates and session->claims, malloc'ed. Fails with AB_CONFIG or AB_USAGE if a gate cannot
 * be read: a gate that is not judged must not look like one that passed. */
static enum ab_status merged_gates_judge(const struct ab_options *o, struct ab_session *session,
                                         struct ab_merged_gates *out, struct ab_err *err)
{
    struct ab_merged_gates g = {.phases = NULL};
    enum ab_status status = read_all(o, session, &g, err);
    if (status == AB_OK) {
        ab_gates_judge(g.set.gates, g.set.n_gates, session, NULL);
        ab_claims_measure(g.set.claims, g.set.n_claims, session);
        *out = g;
    } else
        merged_gates_fini(&g);
    return status;
}

/* Frees the gates. Call it after the session is written, because its gates borrow from here. */
static void merged_gates_fini(struct ab_merged_gates *gates)
{
    ab_gate_set_fini(&gates->set);
    ab_workload_free(gates->workload);
    free(gates->phases);
    *gates = (struct ab_merged_gates){.phases = NULL};
}

/* Judges and writes the result and sets the exit code. A failed back end outweighs a gate, as in
 * `run`. */
static enum ab_status finish(const struct ab_options *o, struct ab_session *s, int *exit_code,
                             struct ab_err *err)
{
    struct ab_merged_gates gates;
    s->command_line = o->command.text;
    enum ab_status status = merged_gates_judge(o, s, &gates, err);
    if (status != AB_OK)
        return status;
    status = write_merged(o, s, err);
    if (status == AB_OK) {
        ab_failures_tell(s, "", o->talk.is_quiet);
        *exit_code = ab_status_exit_code(
            ab_case_has_failed(s) ? AB_BACKEND : ab_verdict_status(&o->verdicts, s));
    }
    free(s->gates);
    free(s->claims);
    merged_gates_fini(&gates);
    return status;
}

static uint32_t first_round(const struct ab_merge_part *part)
{
    return part->session->n_rounds > 0 ? part->session->rounds[0].index : UINT32_MAX;
}

/* Orders the parts, so that the order on the command line does not matter. */
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
        ab_unsealed_tell(&o->talk, AB_SHOWN(512, o->args[i]), stored[i].checksum,
                         stored[i].session.is_unsealed);
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
    if (o->output != NULL && o->store.folder != NULL)
        return ab_fail(err, AB_USAGE, "--output and --results are mutually exclusive");
    struct ab_stored *stored = ab_alloc_zeroed(o->n_args, sizeof stored[0]);
    struct ab_merge_part *parts = ab_alloc_zeroed(o->n_args, sizeof parts[0]);
    enum ab_status status = read_parts(o, stored, parts, &n, err);
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
