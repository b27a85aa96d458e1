/* SPDX-License-Identifier: MIT
 *
 * Digests of the work and of the program.
 */
#include "cli/exec/exec_work.h"

#include "core/file_digest.h"
#include "core/text.h"

#include <inttypes.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_setting(struct ab_exec_work *w, const char *name, const char *value)
{
    struct ab_text t = {0};
    ab_text_addf(&t, "%s=%s", name, value);
    if (t.s != NULL && w->n_settings < AB_EXEC_SETTINGS_MAX)
        w->settings[w->n_settings++] = t.s;
    else
        ab_text_fini(&t);
}

/* The first word by its last part: the same program may lie elsewhere. */
static void digest_work(const struct ab_options *o, const struct ab_exec_work *w,
                        const char *stdin_sha256, char hex[65])
{
    SHA2_CTX sha;
    SHA256Init(&sha);
    SHA256Update(&sha, (const uint8_t *)w->name, strlen(w->name) + 1);
    for (size_t i = 1; i < o->n_args; i++)
        SHA256Update(&sha, (const uint8_t *)o->args[i], strlen(o->args[i]) + 1);
    SHA256Update(&sha, (const uint8_t *)stdin_sha256, strlen(stdin_sha256));
    SHA256End(&sha, hex);
}

enum ab_status ab_exec_work_describe(const struct ab_options *o, struct ab_exec_work *w,
                                     struct ab_err *err)
{
    char stdin_sha256[65] = "", shown[512];
    const char *slash = strrchr(w->program, '/');
    snprintf(w->name, sizeof w->name, "%.100s", slash != NULL ? slash + 1 : w->program);
    if (!ab_file_digest(w->program, w->program_sha256))
        w->program_sha256[0] = 0;
    if (o->stdin_path != NULL && !ab_file_digest(o->stdin_path, stdin_sha256))
        return ab_fail_errno(err, AB_INPUT, "--stdin: cannot read %s",
                             ab_text_printable(shown, sizeof shown, o->stdin_path));
    digest_work(o, w, stdin_sha256, w->work_sha256);
    if (o->stdin_path != NULL)
        add_setting(w, "stdin", o->stdin_path);
    if (o->prepare != NULL)
        add_setting(w, "prepare", o->prepare);
    add_setting(w, "check_output", o->is_output_free ? "false" : "true");
    return AB_OK;
}

void ab_exec_work_note(struct ab_exec_work *w, const struct ab_program_summary *s,
                       bool is_output_free)
{
    char text[40];
    if (is_output_free)
        return;
    snprintf(text, sizeof text, "%" PRIu64, s->output.bytes);
    add_setting(w, "output_bytes", text);
    snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, s->output.high, s->output.low);
    add_setting(w, "output_xxh128", text);
}

void ab_exec_work_fini(struct ab_exec_work *w)
{
    for (size_t i = 0; i < w->n_settings; i++)
        free((void *)w->settings[i]);
    w->n_settings = 0;
}
