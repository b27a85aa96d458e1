/* SPDX-License-Identifier: MIT
 *
 * Implements `merge`: prints the verdicts on the joined result, and the path where the result is
 * stored.
 */
#include "app/merge_results.h"
#include "cli/commands.h"
#include "cli/requests.h"
#include "cli/show.h"
#include "cli/terminal.h"
#include "core/text.h"
#include "report/table/sink_checks.h"

#include <stdio.h>
#include <string.h>

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

static void show(void *user, const struct ab_session *s, const char *place)
{
    const struct ab_options *o = user;
    print_verdicts(o, s);
    if (!o->talk.is_quiet)
        tell(s, place);
    ab_failures_tell(s, "", o->talk.is_quiet);
}

enum ab_status ab_cmd_merge(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    const struct ab_merge_results_request request = {
        .talk = o->talk,
        .command = o->command,
        .inputs = ab_inputs_of(o),
        .is_partial = o->is_partial,
        .verdicts = o->verdicts,
        .store = o->store,
        .output = o->output,
        .show = show,
        .user = (void *)(uintptr_t)o,
    };
    if (o->n_args == 0)
        return ab_fail(err, AB_USAGE, "merge needs results; see allocbench merge --help");
    if (o->output != NULL && o->store.folder != NULL)
        return ab_fail(err, AB_USAGE, "--output and --results are mutually exclusive");
    return ab_merge_results(&request, exit_code, err);
}
