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
#include "document/verify_json.h"
#include "report/table/verify_table.h"

#include <stdio.h>

static void tell_failure(const char *backend, const char *what, const char *why)
{
    fprintf(stderr, "allocbench: error: %s: %s: %s\n", AB_SHOWN(300, backend), what,
            AB_SHOWN(4400, why));
}

/* Prints one line for each failure: the only part of the table that -q keeps. */
static void tell_failures(const struct ab_verification *v)
{
    for (uint32_t i = 0; i < v->session.n_backends; i++) {
        const struct ab_verify_backend *b = &v->session.backends[i];
        if (b->info->status != AB_BACKEND_OK)
            tell_failure(b->info->name, ab_backend_status_name(b->info->status), b->info->reason);
        for (uint32_t k = 0; k < v->session.n_lines; k++)
            if (ab_verify_verdict_fails(b->lines[k].verdict))
                tell_failure(b->info->name, b->lines[k].check, b->lines[k].text);
    }
}

static struct ab_verification_request request_of(const struct ab_options *o)
{
    return (struct ab_verification_request){
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
    };
}

enum ab_status ab_cmd_verify(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    struct ab_verification v;
    struct ab_output json = {0};
    if (o->json != NULL && !o->checks.is_alone)
        AB_TRY(ab_output_open(o->json, &json, err));
    const struct ab_verification_request request = request_of(o);
    enum ab_status status = ab_verify(&request, &v, exit_code, err);
    if (status == AB_OK && o->talk.is_quiet)
        tell_failures(&v);
    else if (status == AB_OK && ab_document_leaves_stdout(o))
        ab_verify_table(stdout, &v.session, ab_terminal_style(o));
    if (status == AB_OK && json.to != NULL) {
        ab_verify_json(json.to, &v.session);
        status = ab_output_commit(&json, err);
    }
    ab_output_abandon(&json);
    ab_verification_fini(&v);
    return status;
}
