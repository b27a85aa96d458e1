/* SPDX-License-Identifier: MIT
 *
 * Words for an interruption, and a command line that a shell takes as it is.
 */
#include "cli/benchmark/rounds/interruption.h"

#include "core/text.h"
#include "result/merge/shard.h"

#include <string.h>

static void add_option(struct ab_text *t, const char *option, const char *value)
{
    ab_text_addf(t, " %s ", option);
    ab_text_add_shell(t, value);
}

/* Adds what has to be repeated of -b: a result is not trusted to name libraries. */
static void add_libraries(const struct ab_interruption *it, struct ab_text *t)
{
    bool has_file = false;
    for (size_t i = 0; i < it->selection->n; i++)
        has_file = has_file || it->selection->items[i].is_file;
    for (size_t i = 0; has_file && i < it->options->n_backends; i++)
        add_option(t, "-b", it->options->backends[i]);
}

/* Nor about the rules of a mapping: those of --map, or of `via`. */
static void add_maps(const struct ab_interruption *it, struct ab_text *t)
{
    const struct ab_session *s = it->session;
    for (size_t i = 0; i < it->options->n_maps; i++)
        add_option(t, "--map", it->options->maps[i]);
    for (uint32_t i = 0; i < s->n_backends && it->options->n_maps == 0; i++)
        if (s->backends[i].n_heaps > 0)
            add_option(t, "--map", s->backends[i].map);
}

static void add_command(const struct ab_interruption *it, struct ab_text *t)
{
    struct ab_text path = {0};
    bool is_trace = strcmp(it->session->kind, "trace") == 0;
    ab_text_addf(&path, "%s/%s", it->store->folder, it->store->name);
    ab_text_addf(t, "\ncontinue:  allocbench %s", is_trace ? "replay" : "run");
    add_option(t, "--resume", path.s != NULL ? path.s : "");
    if (it->options->results != NULL)
        add_option(t, "--results", it->options->results);
    add_libraries(it, t);
    add_maps(it, t);
    ab_text_fini(&path);
}

static void add_rounds(const struct ab_session *s, struct ab_text *t)
{
    uint32_t planned = ab_shard_n_rounds(s->shard, s->n_rounds_planned);
    ab_text_addf(t, "interrupted after %u ", s->n_rounds);
    if (s->stopping.time_budget_s > 0 || s->stopping.precision > 0)
        ab_text_addf(t, "round%s", s->n_rounds == 1 ? "" : "s");
    else
        ab_text_addf(t, "of %u rounds", planned);
}

void ab_interruption_explain(const struct ab_interruption *it, struct ab_err *err)
{
    const struct ab_session *s = it->session;
    struct ab_text t = {0};
    if (s->n_rounds == s->n_rounds_resumed) {
        ab_text_add(&t, "interrupted before a round was complete; nothing new was stored");
    } else {
        add_rounds(s, &t);
        ab_text_add(&t, it->store->name[0] != 0 ? "; what is complete is kept" : "; not stored");
    }
    if (it->store->name[0] != 0 && !ab_session_is_exec(s)) /* a program cannot be resumed */
        add_command(it, &t);
    ab_fail(err, AB_INTERRUPTED, "%s", it->options->is_quiet || t.s == NULL ? "" : t.s);
    ab_text_fini(&t);
}
