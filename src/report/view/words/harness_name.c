/* SPDX-License-Identifier: MIT
 *
 * Names harnesses, and says which are used.
 */
#include "report/view/words/harness_name.h"

#include <stdio.h>
#include <string.h>

static bool has(const struct ab_session *s, uint32_t backend, uint32_t harness)
{
    return ab_session_has_numbers(s, backend) && s->backends[backend].boundary != NULL &&
           ab_session_harness(s, backend) == harness;
}

bool ab_harness_is_used(const struct ab_session *s, uint32_t backend)
{
    for (uint32_t i = backend; i < s->n_backends; i++)
        if (has(s, i, backend))
            return true;
    return false;
}

/* Has every back end at its boundary the same harness? */
static bool is_alone(const struct ab_session *s, uint32_t backend)
{
    for (uint32_t i = 0; i < s->n_backends; i++)
        if (i != backend && ab_harness_is_used(s, i) &&
            strcmp(s->backends[i].boundary, s->backends[backend].boundary) == 0)
            return false;
    return true;
}

void ab_harness_name(const struct ab_session *s, uint32_t backend, char buf[AB_HARNESS_NAME_BYTES])
{
    static const char more[] = ", ..."; /* in every locale, and in HTML */
    _Static_assert(sizeof s->backends->name + sizeof more <= AB_HARNESS_NAME_BYTES, "the first");
    size_t n = 0, cap = AB_HARNESS_NAME_BYTES - sizeof more;
    bool is_boundary = is_alone(s, backend);
    snprintf(buf, AB_HARNESS_NAME_BYTES, "%s", is_boundary ? s->backends[backend].boundary : "");
    for (uint32_t i = backend; i < s->n_backends && !is_boundary; i++) {
        const char *name = s->backends[i].name;
        if (!has(s, i, backend))
            continue;
        if (n > 0 && n + strlen(name) + 2 > cap) {
            memcpy(buf + n, more, sizeof more);
            return;
        }
        n += (size_t)snprintf(buf + n, AB_HARNESS_NAME_BYTES - n, "%s%s", n > 0 ? ", " : "", name);
    }
}
