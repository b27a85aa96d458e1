/* SPDX-License-Identifier: MIT
 *
 * Entries of a list of named records.
 */
#include "workload/parse/read_entries.h"

#include "core/memory.h"

#include <stdlib.h>
#include <string.h>

void *ab_read_new_records(const struct ab_reader *r, const struct ab_node *list, unsigned n,
                          size_t bytes)
{
    if (n > AB_MAX_ENTRIES) {
        ab_diag_add(r->diag, list->key_at, "more than %d entries in '%s'", AB_MAX_ENTRIES,
                    list->key);
        return NULL;
    }
    return ab_alloc_zeroed(n + 1u, bytes);
}

bool ab_read_entry_name(const struct ab_reader *r, const struct ab_node *node, const char *text,
                        const struct ab_entries *before, char out[AB_NAME_MAX + 1])
{
    struct ab_yaml_field f = ab_field_of(r, node, "name", text);
    const char *what = before->what;
    if (f.text == NULL)
        return ab_field_missing(r, node, "name", what);
    if (!ab_field_name(r, &f, out))
        return false;
    for (size_t i = 0; i < before->n; i++)
        if (strcmp((const char *)before->records + i * before->stride, out) == 0)
            return AB_REFUSE_FIELD(r, &f, "the name '%s' occurs twice in '%s'", out,
                                   what[0] == 'a' && what[1] == ' ' ? what + 2 : what);
    return true;
}
