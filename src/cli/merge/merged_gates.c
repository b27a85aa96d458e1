/* SPDX-License-Identifier: MIT
 *
 * Reads a workload again from the text that a result has of it, for its gates and claims.
 */
#include "cli/merge/merged_gates.h"

#include "backend/selection.h"
#include "cli/one_file.h"
#include "core/text.h"
#include "workload/parse/gate_lines.h"
#include "workload/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Has the text a line that begins with `key`? */
static bool has_key(const char *text, const char *key)
{
    for (const char *at = strstr(text, key); at != NULL; at = strstr(at + 1, key))
        if (at == text || at[-1] == '\n')
            return true;
    return false;
}

/* A file without a name that has the text; -1 = none. */
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
        if (set->claims[i].figure.place == from)
            set->claims[i].figure.place = to;
}

/* Places name the file that was run, not the one that was made here. */
static enum ab_status rename_places(struct ab_gate_set *set, const char *was, const char *name,
                                    struct ab_err *err)
{
    size_t n_places = ab_workload_gates(set->workload)->n + ab_workload_claims(set->workload)->n;
    size_t n = strlen(was);
    for (size_t i = 0; i < n_places; i++) {
        struct ab_text t = {0};
        char *place = set->places[i];
        if (place == NULL || strncmp(place, was, n) != 0)
            continue;
        ab_text_addf(&t, "%s%s", name, place + n);
        if (t.s == NULL)
            return ab_fail(err, AB_SYSTEM, "out of memory");
        move_place(set, place, t.s);
        set->places[i] = t.s;
        free(place);
    }
    return AB_OK;
}

/* The measured phases, with one op of each kind that the result has numbers of. */
static enum ab_status make_phases(const struct ab_session *s, struct ab_merged_gates *g,
                                  struct ab_err *err)
{
    g->phases = calloc((size_t)s->n_phases + 1, sizeof g->phases[0]);
    if (g->phases == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    for (uint32_t p = 0; p < s->n_phases; p++) {
        struct ab_phase *phase = &g->phases[p];
        snprintf(phase->name, sizeof phase->name, "%s", s->phases[p]);
        phase->is_measured = true;
        for (uint32_t i = 0; i < s->n_results; i++)
            if (s->results[i].op < AB_OP_KIND_COUNT &&
                strcmp(s->results[i].phase, phase->name) == 0)
                phase->n_ops[s->results[i].op] = 1;
    }
    return AB_OK;
}

static enum ab_status read_gates(const struct ab_options *o, const struct ab_session *s,
                                 struct ab_merged_gates *g, struct ab_err *err)
{
    const char *names[AB_SELECTION_MAX];
    struct ab_gate_source source = {
        .options = o,
        .workload = g->workload,
        .phases = g->phases,
        .n_phases = s->n_phases,
        .backends = names,
    };
    for (uint32_t i = 0; i < s->n_backends && i < AB_SELECTION_MAX; i++)
        names[source.n_backends++] = s->backends[i].name;
    return ab_gate_set_read(&source, &g->set, err);
}

static enum ab_status load_workload(const struct ab_options *o, const struct ab_session *s,
                                    const char *path, struct ab_merged_gates *g, struct ab_err *err)
{
    struct ab_options options = *o;
    size_t n = 0;
    while (s->settings != NULL && s->settings[n] != NULL)
        n++;
    options.sets = (const char **)(uintptr_t)s->settings; /* only read */
    options.n_sets = n;
    return ab_load_workload(&options, path, &g->workload, err);
}

/* With the workload's text in a file, where it has something to judge. */
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
    enum ab_status status = make_phases(s, g, err);
    if (status == AB_OK && has_any)
        status = load_workload(o, s, path, g, err);
    if (status == AB_OK)
        status = read_gates(o, s, g, err);
    if (status == AB_OK && has_any)
        status = rename_places(&g->set, path, s->config_path, err);
    if (fd >= 0)
        close(fd);
    return status;
}

enum ab_status ab_merged_gates_judge(const struct ab_options *o, struct ab_session *session,
                                     struct ab_merged_gates *out, struct ab_err *err)
{
    struct ab_merged_gates g = {.phases = NULL};
    enum ab_status status = read_all(o, session, &g, err);
    if (status == AB_OK) {
        ab_gates_judge(g.set.gates, g.set.n_gates, session, NULL);
        ab_claims_measure(g.set.claims, g.set.n_claims, session);
        *out = g;
    } else
        ab_merged_gates_fini(&g);
    return status;
}

void ab_merged_gates_fini(struct ab_merged_gates *gates)
{
    ab_gate_set_fini(&gates->set);
    ab_workload_free(gates->workload);
    free(gates->phases);
    *gates = (struct ab_merged_gates){.phases = NULL};
}
