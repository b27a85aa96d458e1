/* SPDX-License-Identifier: MIT
 *
 * Opens, writes and commits the file of a document.
 */
#include "cli/document.h"

#include "app/one_file.h"

#include <string.h>

bool ab_document_leaves_stdout(const struct ab_options *o)
{
    return o->json == NULL || strcmp(o->json, "-") != 0;
}

enum ab_status ab_document_write(const struct ab_options *o, json_t *document, unsigned digits,
                                 struct ab_err *err)
{
    struct ab_output out = {0};
    enum ab_status status = o->json == NULL ? AB_OK : ab_output_open(o->json, &out, err);
    if (status == AB_OK && o->json != NULL)
        status = ab_spare_inputs(o, 0, &out, o->json, err);
    if (status == AB_OK && o->json != NULL) {
        ab_json_write(document, out.to, digits);
        return ab_output_commit(&out, err);
    }
    ab_output_abandon(&out);
    json_decref(document);
    return status;
}
