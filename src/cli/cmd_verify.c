/* SPDX-License-Identifier: MIT
 *
 * Implements `verify`: prints the table of checks, or only the failures.
 */
#include "app/verify_backends.h"
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "core/output.h"
#include "core/text.h"
#include "document/checks_json.h"
#include "report/table/verify_table.h"

#include <stdio.h>

static void tell_failure(const char *backend, const char *what, const char *why)
{
    fprintf(stderr, "allocbench: error: %s: %s: %s\n", AB_SHOWN(300, backend), what,
            AB_SHOWN(4400, why));
}

/* Prints one line for each failure. With -q, nothing else is printed. */
static void tell_failures(const struct ab_verify_session *v)
{
    for (uint32_t i = 0; i < v->n_backends; i++) {
        const struct ab_verify_backend *b = &v->backends[i];
        if (b->info->status != AB_BACKEND_OK)
            tell_failure(b->info->name, ab_backend_status_name(b->info->status), b->info->reason);
        for (uint32_t k = 0; k < v->n_lines; k++)
            if (ab_verify_verdict_fails(b->lines[k].verdict))
                tell_failure(b->info->name, b->lines[k].check, b->lines[k].text);
    }
}

struct show {
    const struct ab_options *options;
    struct ab_output json;
};

static enum ab_status show(void *user, const struct ab_verify_session *v, struct ab_err *err)
{
    struct show *to = user;
    if (to->options->talk.is_quiet)
        tell_failures(v);
    else if (ab_document_leaves_stdout(to->options))
        ab_verify_table(stdout, v, ab_terminal_style(to->options));
    if (to->json.to == NULL)
        return AB_OK;
    ab_verify_json(to->json.to, v);
    return ab_output_commit(&to->json, err);
}

enum ab_status ab_cmd_verify(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct show to = {.options = o};
    const struct ab_verification_request request = {
        .talk = o->talk,
        .args = o->args,
        .n_args = o->n_args,
        .backend_path = o->backends.path,
        .settings = o->settings,
        .checks = o->checks,
        .store = o->store,
        .mem_limit_bytes = o->conditions.mem_limit_bytes,
        .timeout_ns = o->conditions.timeout_ns,
        .writes_json = o->json != NULL,
        .show = show,
        .user = &to,
    };
    if (o->json != NULL && !o->checks.is_alone)
        AB_TRY(ab_output_open(o->json, &to.json, err));
    enum ab_status status = ab_verify(&request, exit_code, err);
    ab_output_abandon(&to.json);
    return status;
}
