/* SPDX-License-Identifier: MIT
 *
 * Stored results, printed as they were when they were measured, or written in another form.
 */
#include "cli/commands.h"
#include "cli/terminal.h"
#include "report/read_result.h"
#include "report/sink.h"

#include <stdio.h>
#include <string.h>

static bool is_stdout(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

static enum ab_status write_file(const char *path, const struct ab_session *session, bool is_json,
                                 struct ab_err *err)
{
    struct ab_output file;
    if (path == NULL)
        return AB_OK;
    enum ab_status status = ab_output_open(path, &file, err);
    if (status != AB_OK)
        return status;
    if (!is_json) {
        ab_sink_csv(file.to, session);
    } else if (!ab_sink_json(file.to, session)) {
        ab_output_abandon(&file);
        return ab_fail(err, AB_SYSTEM, "out of memory for the JSON document");
    }
    return ab_output_commit(&file, err);
}

static enum ab_status report_one(const struct ab_options *o, const char *path, struct ab_err *err)
{
    struct ab_stored stored;
    enum ab_status status = ab_stored_read(path, &stored, err);
    if (status != AB_OK)
        return status;
    if (!is_stdout(o->json) && !is_stdout(o->csv))
        ab_sink_table(stdout, &stored.session, ab_terminal_style(o));
    status = write_file(o->json, &stored.session, true, err);
    if (status == AB_OK)
        status = write_file(o->csv, &stored.session, false, err);
    ab_stored_fini(&stored);
    return status;
}

enum ab_status ab_cmd_report(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    enum ab_status status = AB_OK;
    if (o->n_args == 0)
        return ab_fail(err, AB_USAGE, "report needs a result; see allocbench report --help");
    if (o->n_args > 1 && (o->json != NULL || o->csv != NULL))
        return ab_fail(err, AB_USAGE, "--json and --csv take one result, %zu are given", o->n_args);
    if (is_stdout(o->json) && is_stdout(o->csv))
        return ab_fail(err, AB_USAGE, "--json - and --csv - would mix on standard output");
    for (size_t i = 0; i < o->n_args && status == AB_OK; i++) {
        if (i > 0)
            fputc('\n', stdout);
        status = report_one(o, o->args[i], err);
    }
    *exit_code = 0;
    return status;
}
