/* SPDX-License-Identifier: MIT
 *
 * Reads the file bypass.PID.K of a spool. How many calls were missed is not known: what is
 * known is a least number of calls and a most of memory.
 */
#include "record/bypass.h"

#include "base/bits.h"
#include "record/bindings.h"
#include "trace/bypass.h"

#include <stdio.h>
#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void take_line(const char *line, struct ab_bypass_report *report,
                      struct ab_trace_bypass *out)
{
    unsigned long long bytes;
    static const char *const kinds[] = {"library ", "namespace ", "own "};
    const char *path = strchr(line, ' ') + 1;
    size_t kind = 0;
    if (sscanf(line, "anonymous %llu", &bytes) == 1)
        out->most_bytes = bytes;
    while (kind < AB_ARRAY_LEN(kinds) && strncmp(line, kinds[kind], strlen(kinds[kind])) != 0)
        kind++;
    if (kind == AB_ARRAY_LEN(kinds))
        return;
    ab_bypass_add_module(out, base_name(path));
    if (report->path[0] != 0)
        return;
    report->kind = (enum ab_bypass_kind)kind;
    snprintf(report->path, sizeof report->path, "%s", path);
}

void ab_bypass_read(const char *folder, const struct ab_spool_entry *image,
                    struct ab_bypass_report *report, struct ab_trace_bypass *out)
{
    char path[PATH_MAX], line[PATH_MAX + 16];
    *report = (struct ab_bypass_report){.path = ""};
    *out = (struct ab_trace_bypass){.most_bytes = AB_BYPASS_UNKNOWN};
    snprintf(path, sizeof path, "%s/" AB_BYPASS_FILE ".%u.%u", folder, image->image.pid,
             image->generation);
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (strchr(line, ' ') != NULL)
            take_line(line, report, out);
    }
    if (f != NULL)
        fclose(f);
}
