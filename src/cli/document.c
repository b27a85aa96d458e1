/* SPDX-License-Identifier: MIT
 *
 * Opens, writes and commits the file of a document.
 */
#include "cli/document.h"

#include "app/one_file.h"
#include "app/trace/trace_facts.h"
#include "cli/requests.h"

#include <string.h>

bool ab_document_leaves_stdout(const struct ab_options *o)
{
    return o->json == NULL || strcmp(o->json, "-") != 0;
}

enum ab_status ab_document_write(const struct ab_options *o, json_t *document, unsigned digits,
                                 struct ab_err *err)
{
    const struct ab_inputs inputs = ab_inputs_of(o);
    struct ab_output out = {0};
    enum ab_status status = o->json == NULL ? AB_OK : ab_output_open(o->json, &out, err);
    if (status == AB_OK && o->json != NULL)
        status = ab_spare_inputs(&inputs, &out, o->json, err);
    if (status == AB_OK && o->json != NULL) {
        ab_json_write(document, out.to, digits);
        return ab_output_commit(&out, err);
    }
    ab_output_abandon(&out);
    json_decref(document);
    return status;
}

json_t *ab_document_list(const char *schema, const char *key, json_t *items)
{
    json_t *o = json_object();
    ab_json_put(o, "schema", ab_json_string(schema));
    ab_json_put(o, key, items);
    return o;
}

struct life {
    uint64_t to; /* the last class has no end, and its `to` is null */
    uint32_t blocks;
};
static const struct ab_member life_members[] = {AB_COUNT(struct life, to),
                                                AB_COUNT(struct life, blocks)};
AB_TABLE(life, struct life);

json_t *ab_document_lives(const struct ab_writing *x)
{
    const uint32_t *lives = x->p;
    json_t *list = json_array();
    for (unsigned i = 0; i < AB_SITE_LIVES; i++) {
        uint64_t to = i + 1 == AB_SITE_LIVES ? UINT64_MAX : (UINT64_C(1) << i) - 1;
        if (lives[i] > 0)
            ab_json_append(list, ab_record_json(&life_record, &(struct life){to, lives[i]}, NULL));
    }
    return list;
}
