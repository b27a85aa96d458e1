/* SPDX-License-Identifier: MIT
 *
 * Describes the calls that a recording did not see. Their number is unknown; what came to light is
 * a lower bound, and the text says so.
 */
#include "cli/record/bypass_text.h"

#include "core/text.h"
#include "core/units_show.h"

#include <string.h>

enum { MODULES_SHOWN = 3 };

void ab_bypass_print_modules(FILE *to, const struct ab_trace_bypass *b)
{
    const char *name = b->names;
    uint32_t n = 0;
    for (; n < MODULES_SHOWN && n < b->n_modules && name < b->names + b->n_names; n++) {
        fprintf(to, "%s%s", n > 0 ? ", " : "", AB_SHOWN(256, name));
        name += strlen(name) + 1;
    }
    if (n < b->n_modules)
        fprintf(to, "%s%u%s", n > 0 ? " and " : "", b->n_modules - n, n > 0 ? " more" : " modules");
}

void ab_bypass_print_amount(FILE *to, const struct ab_trace_bypass *b)
{
    if (b->least_calls > 0)
        fprintf(to, "at least %llu call%s, probably more", (unsigned long long)b->least_calls,
                b->least_calls == 1 ? "" : "s");
    else
        fprintf(to, "an unknown number of calls");
    if (b->most_bytes == AB_BYPASS_UNKNOWN)
        fprintf(to, "; how much memory is not known");
    else
        fprintf(to, "; at the end at most %s of memory", AB_BYTES(b->most_bytes));
}

static const char *const reasons[] = {
    [AB_BYPASS_LIBRARY] = " (loaded with RTLD_DEEPBIND: bound to the C library's malloc)",
    [AB_BYPASS_NAMESPACE] = " (loaded with dlmopen: bound to a C library of its own)",
    [AB_BYPASS_OWN] = " (bound to a malloc that the program contains)",
};

static void print_advice(FILE *to, const struct ab_bypass_report *report)
{
    if (report->path[0] == 0)
        fputs("; the program ended before it could be looked into, or it closed the library", to);
    else if (report->kind == AB_BYPASS_OWN)
        fputs("; to record them, link that malloc as a shared library, or build without it", to);
    else if (report->kind == AB_BYPASS_NAMESPACE)
        fputs("; to record them, have the program use dlopen", to);
    else
        fprintf(to, "; to record them, load it first: LD_PRELOAD=%s allocbench record",
                AB_SHOWN(512, report->path));
}

void ab_bypass_print_warning(FILE *to, const char *trace, const struct ab_bypass_report *report,
                             const struct ab_trace_bypass *b)
{
    if (!b->is_there)
        return;
    fprintf(to, "allocbench: warning: %s lacks calls", AB_SHOWN(512, trace));
    if (b->n_modules > 0) {
        fputs(" of ", to);
        ab_bypass_print_modules(to, b);
        fputs(reasons[report->kind], to);
    }
    fputs(": ", to);
    ab_bypass_print_amount(to, b);
    print_advice(to, report);
    fputc('\n', to);
}
