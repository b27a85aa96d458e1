/* SPDX-License-Identifier: MIT
 *
 * Prints what of this machine disturbs measurements, as text or JSON. Reads and changes nothing.
 */
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/terminal.h"
#include "core/text.h"
#include "doctor/doctor.h"
#include "report/json.h"
#include "report/table/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct diagnosis {
    struct ab_doctor_view view;
    struct ab_doctor_finding findings[AB_DOCTOR_MAX];
    size_t n, counts[AB_DOCTOR_STATE_COUNT];
};

/* Tests bring machines of their own. */
static void look(struct diagnosis *d)
{
    const char *root = getenv("ALLOCBENCH_DOCTOR_ROOT"), *path = getenv("PATH");
    ab_doctor_look(root != NULL ? root : "", path != NULL ? path : "", &d->view);
    d->n = ab_doctor_run(&d->view, d->findings);
    for (size_t i = 0; i < d->n; i++)
        d->counts[d->findings[i].state]++;
}

/* ---- for people ---- */

/* A command is not wrapped: it is to be copied. */
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

static void print_all(const struct diagnosis *d, struct ab_table_style style)
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

/* ---- for programs ---- */

static json_t *finding(const struct ab_doctor_finding *f)
{
    json_t *o = json_object();
    ab_json_put(o, "id", ab_json_string(f->id));
    ab_json_put(o, "state", ab_json_string(ab_doctor_state_names[f->state]));
    ab_json_put(o, "found", ab_json_string(f->found));
    ab_json_put(o, "why", ab_json_string(f->why));
    ab_json_put(o, "remedy", ab_json_string(f->remedy));
    return o;
}

static json_t *document(const struct diagnosis *d)
{
    json_t *o = json_object(), *list = json_array();
    ab_json_put(o, "schema", ab_json_string("allocbench-doctor/1"));
    ab_json_put(o, "version", ab_json_string(AB_VERSION));
    ab_json_put(o, "warnings", ab_json_integer(d->counts[AB_DOCTOR_WARNING]));
    for (size_t i = 0; i < d->n; i++)
        ab_json_append(list, finding(&d->findings[i]));
    ab_json_put(o, "checks", list);
    return o;
}

enum ab_status ab_cmd_doctor(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    static struct diagnosis diagnosis;
    struct diagnosis *d = &diagnosis;
    struct ab_format_guard guard;
    if (o->n_args > 0)
        return ab_fail(err, AB_USAGE, "doctor takes no arguments, \"%s\" is given",
                       AB_SHOWN(128, o->args[0]));
    struct ab_table_style style = ab_terminal_style(o);
    ab_format_begin(&guard);
    look(d);
    enum ab_status status = ab_document_write(o, document(d), 12, err);
    if (status == AB_OK && ab_document_leaves_stdout(o))
        print_all(d, style);
    ab_format_end(&guard);
    *exit_code = o->is_strict_doctor && d->counts[AB_DOCTOR_WARNING] > 0
                     ? ab_status_exit_code(AB_GATE)
                     : 0;
    return status;
}
