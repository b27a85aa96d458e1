/* SPDX-License-Identifier: MIT
 *
 * Names are those that the tables show, settings and all. One that turns out to be absent or fails
 * is no mistake: nothing is compared then, and the report says why.
 */
#include "app/base_name.h"

#include "base/nearest.h"
#include "core/text.h"
#include "stats/aggregate.h"

#include <stdlib.h>
#include <string.h>

static enum ab_status refuse(const char *name, const char *const *known, size_t n,
                             struct ab_err *err)
{
    struct ab_text why = {0};
    char shown[200];
    const char *nearest = ab_text_nearest(name, known, n);
    ab_text_addf(&why, "--base: no back end '%s' to compare with; ",
                 ab_text_printable(shown, sizeof shown, name));
    if (nearest != NULL)
        ab_text_addf(&why, "did you mean '%s'? ", ab_text_printable(shown, sizeof shown, nearest));
    ab_text_add(&why, n > 0 ? "there are: " : "there is none");
    for (size_t i = 0; i < n; i++)
        ab_text_addf(&why, "%s%s", i > 0 ? ", " : "",
                     ab_text_printable(shown, sizeof shown, known[i]));
    enum ab_status status = why.s == NULL ? ab_fail(err, AB_SYSTEM, "out of memory")
                                          : ab_fail(err, AB_USAGE, "%s", why.s);
    ab_text_fini(&why);
    return status;
}

enum ab_status ab_base_name_set(const char *name, struct ab_session *session, struct ab_err *err)
{
    if (name == NULL)
        return AB_OK;
    const char **known = calloc(session->n_backends + 1, sizeof *known);
    size_t n = 0;
    bool is_found = false;
    if (known == NULL)
        return ab_fail(err, AB_SYSTEM, "out of memory");
    for (uint32_t i = 0; i < session->n_backends; i++)
        if (!ab_backend_is_null(&session->backends[i])) {
            known[n++] = session->backends[i].name;
            is_found = is_found || strcmp(name, session->backends[i].name) == 0;
        }
    enum ab_status status = is_found ? AB_OK : refuse(name, known, n, err);
    if (is_found)
        session->base = name;
    free(known);
    return status;
}
