/* SPDX-License-Identifier: MIT
 *
 * Reads the parts of a measurement, joins them, and judges and stores the result.
 */
#include "app/merge_results.h"

#include "app/backend_choice.h"
#include "app/decision.h"
#include "app/gate_set.h"
#include "app/one_file.h"
#include "app/result_store.h"
#include "core/alloc.h"
#include "core/file_digest.h"
#include "core/output.h"
#include "core/text.h"
#include "document/read_result.h"
#include "report/sinks/sinks.h"
#include "result/merge/merge.h"
#include "result/numbers.h"
#include "result/session.h"
#include "stats/gate.h"
#include "workload/config.h"
#include "workload/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct merged {
    struct ab_session session; /* borrows from the members below */
    char place[4096 + 200];
    struct ab_stored *stored; /* n_stored results, from which `session` was joined */
    uint32_t n_stored;
    bool is_joined;               /* False if `session` is not set */
    struct ab_workload *workload; /* NULL = a trace, or a workload without gates or claims */
    struct ab_gate_set gates;
    struct ab_phase *phases;
};

static bool is_folder(const char *path)
{
    struct stat st;
    size_t n = strlen(path);
    return (n > 0 && path[n - 1] == '/') || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* Writes the result to r->output, which may be standard output. */
static enum ab_status write_file(const struct ab_merge_results_request *r,
                                 const struct ab_session *s, struct ab_err *err)
{
    struct ab_output file;
    AB_TRY(ab_output_open(r->output, &file, err));
    enum ab_status status = ab_spare_inputs(&r->inputs, &file, r->output, err);
    if (status != AB_OK) {
        ab_output_abandon(&file);
        return status;
    }
    ab_sink_json(file.to, s);
    return ab_output_commit(&file, err);
}

/* Stores the result in a folder under an automatic name. */
static enum ab_status store(const struct ab_merge_results_request *r, const struct ab_session *s,
                            char *place, size_t cap, struct ab_err *err)
{
    const struct ab_store_wanted wanted = {
        .folder = r->output != NULL ? r->output : r->store.folder, .is_off = r->store.is_off};
    struct ab_store store;
    AB_TRY(ab_store_open(&wanted, &r->talk, &store, err));
    if (store.folder == NULL)
        return ab_fail(err, AB_USAGE,
                       "merge: results are not stored here; name a file with -o FILE");
    enum ab_status status = ab_store_write(&store, s, err);
    size_t n = strlen(store.folder);
    snprintf(place, cap, "%s%s%s", store.folder, n > 0 && store.folder[n - 1] == '/' ? "" : "/",
             store.name);
    ab_store_close(&store);
    return status;
}

static enum ab_status write_merged(const struct ab_merge_results_request *r, struct merged *m,
                                   struct ab_err *err)
{
    if (r->output == NULL || is_folder(r->output))
        return store(r, &m->session, m->place, sizeof m->place, err);
    AB_COPY(m->place, r->output);
    return write_file(r, &m->session, err);
}

/* Functions that read a workload from the text in a result, for its gates and claims. */

/* True if a line of the text begins with `key`. */
static bool has_key(const char *text, const char *key)
{
    for (const char *at = strstr(text, key); at != NULL; at = strstr(at + 1, key))
        if (at == text || at[-1] == '\n')
            return true;
    return false;
}

/* Returns the file descriptor of an unnamed file with the text; -1 on failure. */
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

/* Replaces the temporary file's name in positions of gates and claims by the name of the measured
 * workload. */
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

/* Creates the measured phases. Each phase gets one op of each kind for which the result has
 * numbers. */
static void make_phases(const struct ab_session *s, struct merged *g)
{
    g->phases = ab_alloc_zeroed((size_t)s->n_phases + 1, sizeof g->phases[0]);
    for (uint32_t p = 0; p < s->n_phases; p++) {
        struct ab_phase *phase = &g->phases[p];
        AB_COPY(phase->name, s->phases[p]);
        phase->is_measured = true;
        for (uint32_t i = 0; i < s->n_results; i++)
            if (s->results[i].op < AB_OP_KIND_COUNT &&
                strcmp(s->results[i].phase, phase->name) == 0)
                phase->n_ops[s->results[i].op] = 1;
    }
}

static enum ab_status read_gates(const struct ab_merge_results_request *r,
                                 const struct ab_session *s, struct merged *g, struct ab_err *err)
{
    const char **names = ab_alloc_zeroed(s->n_backends + 1u, sizeof names[0]);
    char(*own)[AB_BACKEND_NAME_BYTES] = ab_alloc_zeroed(s->n_backends + 1u, sizeof own[0]);
    struct ab_gate_source source = {
        .talk = &r->talk,
        .gates = r->verdicts.gates,
        .n_gates = r->verdicts.n_gates,
        .workload = g->workload,
        .phases = g->phases,
        .n_phases = s->n_phases,
        .backends = names,
    };
    for (uint32_t i = 0; i < s->n_backends; i++)
        names[source.n_backends++] = ab_backend_own_name(&s->backends[i], own[i]);
    enum ab_status status = ab_gate_set_read(&source, &g->gates, err);
    free(names);
    free(own);
    return status;
}

static enum ab_status load_workload(const struct ab_merge_results_request *r,
                                    const struct ab_session *s, const char *path, struct merged *g,
                                    struct ab_err *err)
{
    size_t n = 0;
    while (s->settings != NULL && s->settings[n] != NULL)
        n++;
    const struct ab_settings_wanted settings = {.sets = (const char **)(uintptr_t)s->settings,
                                                .n_sets = n}; /* the settings are only read */
    const struct ab_workload_options how = ab_workload_options_of(&settings, NULL, false);
    return ab_load_workload(&r->talk, &how, path, &g->workload, err);
}

/* Reads the gates. If the workload's text has gates or claims, it is read from an unnamed file. */
static enum ab_status read_all(const struct ab_merge_results_request *r, const struct ab_session *s,
                               struct merged *g, struct ab_err *err)
{
    const char *text = s->config_text != NULL ? s->config_text : "";
    bool has_any = has_key(text, "gates:") || has_key(text, "claims:");
    char path[64] = "";
    int fd = -1;
    if (has_any) {
        if ((fd = text_file(text)) < 0)
            return ab_fail_errno(err, AB_SYSTEM, "cannot make a file of the workload");
        AB_FIT(path, "/proc/self/fd/%d", fd);
    }
    enum ab_status status = AB_OK;
    make_phases(s, g);
    if (has_any)
        status = load_workload(r, s, path, g, err);
    if (status == AB_OK)
        status = read_gates(r, s, g, err);
    if (status == AB_OK && has_any)
        rename_places(&g->gates, path, s->config_path);
    if (fd >= 0)
        close(fd);
    return status;
}

/* Judges the gates of --gate and of the workload whose text the session has. Fails with AB_CONFIG
 * or AB_USAGE if a gate cannot be read, because a gate that is not judged must not look like one
 * that passed. */
static enum ab_status judge(const struct ab_merge_results_request *r, struct merged *m,
                            struct ab_err *err)
{
    AB_TRY(read_all(r, &m->session, m, err));
    ab_gates_judge(m->gates.gates, m->gates.n_gates, &m->session, NULL);
    ab_claims_measure(m->gates.claims, m->gates.n_claims, &m->session);
    return AB_OK;
}

static uint32_t first_round(const struct ab_merge_part *part)
{
    return part->session->n_rounds > 0 ? part->session->rounds[0].index : UINT32_MAX;
}

/* Orders the parts by their shards, so that the order on the command line does not matter. */
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

static enum ab_status read_parts(const struct ab_merge_results_request *r, struct merged *m,
                                 struct ab_merge_part *parts, struct ab_err *err)
{
    const char *const *files = r->inputs.files;
    for (size_t i = 0; i < r->inputs.n; i++) {
        struct ab_stored *stored = &m->stored[i];
        AB_TRY(ab_stored_read_unaltered(files[i], stored, err));
        ab_unsealed_tell(&r->talk, AB_SHOWN(512, files[i]), stored->checksum,
                         stored->session.is_unsealed);
        m->n_stored++;
        parts[i] = (struct ab_merge_part){.session = &stored->session, .file = files[i]};
        if (!ab_file_digest(files[i], parts[i].sha256))
            parts[i].sha256[0] = 0;
    }
    qsort(parts, r->inputs.n, sizeof parts[0], by_shard);
    return AB_OK;
}

static enum ab_status join(const struct ab_merge_results_request *r, struct merged *m,
                           struct ab_err *err)
{
    if (r->inputs.n > AB_STORED_ROUNDS_MAX)
        return ab_fail(err, AB_USAGE, "merge: at most %d results", AB_STORED_ROUNDS_MAX);
    struct ab_merge_part *parts = ab_alloc_zeroed(r->inputs.n, sizeof parts[0]);
    m->stored = ab_alloc_zeroed(r->inputs.n, sizeof m->stored[0]);
    enum ab_status status = read_parts(r, m, parts, err);
    if (status == AB_OK)
        status = ab_merge(parts, m->n_stored, r->is_partial, &m->session, err);
    m->is_joined = status == AB_OK;
    m->session.command_line = r->command.text;
    free(parts);
    return status;
}

static void release(struct merged *m)
{
    if (m->is_joined) {
        free(m->session.gates);
        free(m->session.claims);
        ab_session_fini(&m->session);
        free(m->session.backends);
    }
    ab_gate_set_fini(&m->gates);
    ab_workload_free(m->workload);
    free(m->phases);
    for (uint32_t i = 0; i < m->n_stored; i++)
        ab_stored_fini(&m->stored[i]);
    free(m->stored);
}

enum ab_status ab_merge_results(const struct ab_merge_results_request *r, int *exit_code,
                                struct ab_err *err)
{
    struct merged m = {.n_stored = 0};
    enum ab_status status = join(r, &m, err);
    if (status == AB_OK)
        status = judge(r, &m, err);
    if (status == AB_OK)
        status = write_merged(r, &m, err);
    if (status == AB_OK) {
        r->show(r->user, &m.session, m.place);
        *exit_code = ab_status_exit_code(ab_case_has_failed(&m.session)
                                             ? AB_BACKEND
                                             : ab_verdict_status(&r->verdicts, &m.session));
    }
    release(&m);
    return status;
}
