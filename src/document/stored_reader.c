/* SPDX-License-Identifier: MIT
 *
 * Finds the back ends that the records of a stored result refer to.
 */
#include "document/stored_reader.h"

#include "core/text.h"

#include <string.h>

uint32_t ab_stored_named(struct ab_stored_reader *x, const struct ab_json_node *at,
                         const char *name)
{
    char shown[160];
    for (uint32_t i = 0; i < x->session->n_backends; i++)
        if (strcmp(x->session->backends[i].name, name) == 0)
            return i;
    ab_json_fail(&x->json, at, "\"%s\" is not among the back ends",
                 ab_text_printable(shown, sizeof shown, name));
    return 0;
}
