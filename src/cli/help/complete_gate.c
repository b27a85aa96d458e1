/* SPDX-License-Identifier: MIT
 *
 * Reads the workload of the line, silently, and offers its params and what gates can be made of its
 * phases.
 */
#include "cli/help/complete_gate.h"

#include "cli/arguments/named_workload.h"
#include "result/result_fields.h"
#include "stats/gates/gate.h"
#include "stats/metric/metric_iterations.h"
#include "trace_tools/to_tape.h"
#include "workload/config.h"

#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);
    return n >= k && strcmp(s + n - k, end) == 0;
}

/* The first word that is a workload which can be read; NULL = none. */
static struct ab_workload *find_workload(int n, char **words)
{
    struct ab_workload_options options = {.sets = NULL};
    struct ab_workload *w = NULL;
    struct ab_err err;
    for (int i = 1; i < n - 1; i++) {
        char *messages = NULL, *named = NULL;
        if (words[i][0] == '@' && ab_named_workload(words[i], &named, &err) != AB_OK)
            continue;
        const char *path = named != NULL ? named : words[i];
        enum ab_status status = ends_with(path, ".yaml") || ends_with(path, ".yml")
                                    ? ab_workload_load(path, &options, &w, &messages, &err)
                                    : AB_INPUT;
        free(messages);
        free(named);
        if (status == AB_OK)
            return w;
    }
    return NULL;
}

void ab_complete_set(struct ab_offer *o, int n, char **words)
{
    struct ab_workload *w = find_workload(n, words);
    if (w == NULL)
        return;
    for (const char *const *p = ab_workload_params(w); *p != NULL; p++) {
        char name[AB_NAME_MAX + 1];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*p, "="), *p);
        ab_offer(o, name, "=");
    }
    ab_workload_free(w);
}

/* ---- gates ---- */

static void offer_phases(struct ab_offer *o, enum ab_command_id command, int n, char **words)
{
    struct ab_workload *w = find_workload(n, words);
    ab_offer(o, "*", "/");
    if (command == AB_COMMAND_REPLAY)
        ab_offer(o, AB_TRACE_PHASE, "/");
    if (command == AB_COMMAND_EXEC)
        ab_offer(o, AB_PROGRAM_PHASE, "/");
    for (size_t i = 0; w != NULL && i < w->n_phases; i++)
        if (w->phases[i].is_measured)
            ab_offer(o, w->phases[i].name, "/");
    for (size_t i = 0; w != NULL && o->begin == o->word && i < w->gates.n; i++)
        ab_offer(o, w->gates.items[i].node.text, "");
    ab_workload_free(w);
}

/* Is `phase` the end of [begin, begin + n), alone or after a back end's name? '*' is any. */
static bool is_phase(const char *begin, size_t n, const char *phase)
{
    size_t own = strlen(phase);
    if (n > 0 && begin[n - 1] == '*' && (n == 1 || begin[n - 2] == ':'))
        return true;
    return n >= own && strncmp(begin + n - own, phase, own) == 0 &&
           (n == own || begin[n - own - 1] == ':');
}

/* The iterations of the phase that is before the word. */
static void offer_iterations(struct ab_offer *o, const char *phase, size_t n_phase, int n,
                             char **words)
{
    struct ab_workload *w = find_workload(n, words);
    for (size_t i = 0; w != NULL && i < w->n_phases; i++)
        if (w->phases[i].is_measured && w->phases[i].each[0] != 0 &&
            is_phase(phase, n_phase, w->phases[i].name))
            ab_offer(o, w->phases[i].each, "/");
    for (int i = 1; i < n - 1 && is_phase(phase, n_phase, AB_TRACE_PHASE); i++)
        if (strcmp(words[i], "--each") == 0 || strcmp(words[i], "--each=scope") == 0) {
            ab_offer(o, AB_GATE_ITERATION, "/");
            break;
        }
    ab_workload_free(w);
}

static bool is_op(const char *op, size_t n)
{
    for (unsigned k = 0; k <= AB_OP_ALL; k++)
        if (strlen(ab_result_op_name(k)) == n && strncmp(op, ab_result_op_name(k), n) == 0)
            return true;
    return false;
}

static void offer_ops(struct ab_offer *o)
{
    for (unsigned op = 0; op <= AB_OP_ALL; op++)
        ab_offer(o, ab_result_op_name(op), "/");
    ab_offer(o, "memory", "/");
}

static bool is_memory_op(const char *op, size_t n)
{
    for (unsigned at = 0; at < AB_AT_COUNT; at++)
        if (strlen(ab_memory_at_names[at]) == n && strncmp(op, ab_memory_at_names[at], n) == 0)
            return true;
    return n == strlen("memory") && strncmp(op, "memory", n) == 0;
}

static void offer_numbers(struct ab_offer *o, bool is_memory, bool is_all)
{
    for (size_t i = 0; is_memory && i < ab_memory_field_count; i++)
        ab_offer(o, ab_memory_fields[i].name, "");
    for (size_t i = 0; !is_memory && i < ab_field_count; i++)
        if (is_all ||
            (ab_fields[i].group != AB_FIELD_ALL && ab_fields[i].group != AB_FIELD_PROGRAM))
            ab_offer(o, ab_fields[i].name, "");
}

static void offer_iteration_numbers(struct ab_offer *o)
{
    for (size_t i = 0; i < AB_ITERATION_FIELDS; i++)
        ab_offer(o, ab_iteration_fields[i].name, "");
}

void ab_complete_gate(struct ab_offer *o, enum ab_command_id command, int n, char **words)
{
    const char *begin = o->begin, *op = strchr(begin, '/');
    const char *number = op != NULL ? strchr(op + 1, '/') : NULL;
    if (op == NULL) {
        offer_phases(o, command, n, words);
        const char *colon = strchr(begin, ':');
        if (colon != NULL) {
            ab_offer_lead(o, colon + 1);
            offer_phases(o, command, n, words);
        }
    } else if (number == NULL) {
        ab_offer_lead(o, op + 1);
        offer_ops(o);
        offer_iterations(o, begin, (size_t)(op - begin), n, words);
    } else {
        size_t n_op = (size_t)(number - op - 1);
        ab_offer_lead(o, number + 1);
        if (!is_op(op + 1, n_op) && !is_memory_op(op + 1, n_op))
            offer_iteration_numbers(o);
        else
            offer_numbers(o, is_memory_op(op + 1, n_op),
                          n_op == 3 && strncmp(op + 1, "all", 3) == 0);
    }
}
