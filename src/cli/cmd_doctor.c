/* SPDX-License-Identifier: MIT
 *
 * Implements `doctor`: prints, as text or JSON, what disturbs measurements on this machine. Only
 * reads.
 */
#include "app/doctor.h"
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/terminal.h"
#include "core/text.h"
#include "report/table/table.h"

#include <stdio.h>

/* ---- output as text ---- */

/* Returns a style that does not wrap, for commands that users copy. */
static struct ab_table_style unwrapped(struct ab_table_style style)
{
    style.width = 4096;
    return style;
}

static void print_finding(const struct ab_doctor_finding *f, struct ab_table_style style)
{
    static const char *const words[AB_DOCTOR_STATE_COUNT] = {"ok", "note", "WARNING", "unknown"};
    static const enum ab_emphasis emphases[AB_DOCTOR_STATE_COUNT] = {AB_PLAIN, AB_PLAIN, AB_STRONG,
                                                                     AB_FAINT};
    char line[512];
    snprintf(line, sizeof line, "  %-7s  %-16s  %s", words[f->state], f->id, f->found);
    ab_table_line(stdout, unwrapped(style), emphases[f->state], line);
    snprintf(line, sizeof line, "           why: %s", f->why);
    if (f->state == AB_DOCTOR_WARNING || style.is_verbose)
        ab_table_prose(stdout, style, AB_PLAIN, line);
    snprintf(line, sizeof line, "           try: %s", f->remedy);
    if (f->remedy[0] != 0)
        ab_table_line(stdout, unwrapped(style), AB_PLAIN, line);
}

static void print_all(const struct ab_diagnosis *d, struct ab_table_style style)
{
    struct ab_text head = {0};
    const struct ab_host *h = &d->view.host;
    ab_text_addf(&head, "%s, %u CPU%s, %s", h->cpu[0] != 0 ? h->cpu : "unknown CPU", h->cpus_online,
                 h->cpus_online == 1 ? "" : "s", h->kernel);
    ab_table_prose(stdout, style, AB_STRONG, head.s);
    ab_text_fini(&head);
    for (size_t i = 0; i < d->n; i++)
        print_finding(&d->findings[i], style);
    printf("\n%zu warning%s, %zu note%s; nothing was changed\n", d->counts[AB_DOCTOR_WARNING],
           d->counts[AB_DOCTOR_WARNING] == 1 ? "" : "s", d->counts[AB_DOCTOR_NOTE],
           d->counts[AB_DOCTOR_NOTE] == 1 ? "" : "s");
}

/* ---- output as JSON ---- */

static const struct ab_member finding_members[] = {
    AB_TEXT("id", struct ab_doctor_finding, id),
    AB_NAME("state", struct ab_doctor_finding, state, AB_DOCTOR_STATE_COUNT,
            .names = ab_doctor_state_names),
    AB_CHARS("found", struct ab_doctor_finding, found),
    AB_TEXT("why", struct ab_doctor_finding, why),
    AB_CHARS("remedy", struct ab_doctor_finding, remedy),
};
AB_TABLE(finding, struct ab_doctor_finding);

static const struct ab_member document_members[] = {
    AB_FIXED("schema", "allocbench-doctor/1"),
    AB_FIXED("version", AB_VERSION),
    AB_WHOLE("warnings", struct ab_diagnosis, counts[AB_DOCTOR_WARNING], INT64_MAX, 0),
    AB_ARRAY("checks", struct ab_diagnosis, findings, n, AB_DOCTOR_MAX, .record = &finding_record),
};
AB_TABLE(document, struct ab_diagnosis);

enum ab_status ab_cmd_doctor(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    static struct ab_diagnosis diagnosis;
    struct ab_diagnosis *d = &diagnosis;
    struct ab_format_guard guard;
    if (o->n_args > 0)
        return ab_fail(err, AB_USAGE, "doctor takes no arguments, but got \"%s\"",
                       AB_SHOWN(128, o->args[0]));
    struct ab_table_style style = ab_terminal_style(o);
    ab_format_begin(&guard);
    ab_diagnosis_make(d);
    enum ab_status status = ab_document_write(o, ab_record_json(&document_record, d, NULL), 12,
                                              err);
    if (status == AB_OK && ab_document_leaves_stdout(o))
        print_all(d, style);
    ab_format_end(&guard);
    *exit_code = o->is_strict_doctor && d->counts[AB_DOCTOR_WARNING] > 0
                     ? ab_status_exit_code(AB_GATE)
                     : 0;
    return status;
}
