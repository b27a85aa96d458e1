/* SPDX-License-Identifier: MIT
 *
 * Puts the name of a trace into the names of its outputs.
 */
#include "app/trace_outputs.h"

#include "core/text.h"

#include <stdlib.h>
#include <string.h>

static const char place[] = "{trace}";

/* Finds what replaces {trace}: its first character, and how many. */
static const char *stem_of(const char *path, size_t *n)
{
    static const char extension[] = ".abt";
    const char *slash = strrchr(path, '/'), *stem = slash != NULL ? slash + 1 : path;
    *n = strlen(stem);
    if (strcmp(path, "-") == 0) {
        stem = "stdin";
        *n = strlen(stem);
    } else if (*n > sizeof extension - 1 &&
               strcmp(stem + *n - (sizeof extension - 1), extension) == 0) {
        *n -= sizeof extension - 1;
    }
    return stem;
}

/* malloc'ed; NULL when out of memory. */
static char *fill_in(const char *name, const char *path)
{
    struct ab_text t = {0};
    size_t n;
    const char *stem = stem_of(path, &n);
    for (const char *at; (at = strstr(name, place)) != NULL; name = at + sizeof place - 1)
        ab_text_addf(&t, "%.*s%.*s", (int)(at - name), name, (int)n, stem);
    ab_text_add(&t, name);
    return t.s;
}

enum ab_status ab_trace_outputs_name(const struct ab_options *o, struct ab_trace_outputs *out,
                                     struct ab_err *err)
{
    out->options = *o;
    for (unsigned i = 0; i < AB_SINK_COUNT; i++) {
        if (o->sinks[i] == NULL || o->n_args != 1 || strstr(o->sinks[i], place) == NULL)
            continue;
        out->owned[i] = fill_in(o->sinks[i], o->args[0]);
        if (out->owned[i] == NULL)
            return ab_fail(err, AB_SYSTEM, "out of memory");
        out->options.sinks[i] = out->owned[i];
    }
    return AB_OK;
}

void ab_trace_outputs_fini(struct ab_trace_outputs *named)
{
    for (unsigned i = 0; i < AB_SINK_COUNT; i++) {
        free(named->owned[i]);
        named->owned[i] = NULL;
    }
}

/* ---- several ---- */

static enum ab_status check_names(const struct ab_options *o, const char *option,
                                  struct ab_err *err)
{
    for (size_t i = 0; i < o->n_args; i++)
        for (size_t k = 0; k < i; k++) {
            size_t n, other;
            const char *a = stem_of(o->args[i], &n), *b = stem_of(o->args[k], &other);
            if (n == other && memcmp(a, b, n) == 0)
                return ab_fail(
                    err, AB_USAGE,
                    "--%s: {trace} is the same for %s and %s; replay one of them by itself", option,
                    AB_SHOWN(256, o->args[k]), AB_SHOWN(256, o->args[i]));
        }
    return AB_OK;
}

enum ab_status ab_trace_outputs_check(const struct ab_options *o, struct ab_err *err)
{
    for (unsigned i = 0; i < AB_SINK_COUNT; i++) {
        const char *option = ab_sinks[i].option, *name = o->sinks[i];
        if (name == NULL)
            continue;
        if (strstr(name, place) == NULL)
            return ab_fail(
                err, AB_USAGE,
                "--%s %s: %zu traces, and one name; put {trace} into it, which is the name "
                "of the trace, as in --%s 'out/{trace}.%s'",
                option, AB_SHOWN(256, name), o->n_args, option, option);
        AB_TRY(check_names(o, option, err));
    }
    return AB_OK;
}
