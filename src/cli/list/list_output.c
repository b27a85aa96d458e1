/* SPDX-License-Identifier: MIT
 *
 * Output shared by the topics of `list`: a JSON file, and lines that are not too wide.
 */
#include "cli/list/list_output.h"

#include "report/json.h"
#include "report/output.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH = 80 };

enum ab_status ab_list_write(const char *path, json_t *document, bool is_short_of_memory,
                             struct ab_err *err)
{
    struct ab_json w = {is_short_of_memory};
    struct ab_output out;
    enum ab_status status = ab_output_open(path, &out, err);
    if (status != AB_OK) {
        json_decref(document);
        return status;
    }
    if (ab_json_write(&w, document, out.to, 0))
        return ab_output_commit(&out, err);
    ab_output_abandon(&out);
    return ab_fail(err, AB_SYSTEM, "out of memory");
}

void ab_list_print_entry(const char *head, int indent, const char *text)
{
    int column = printf("%s", head);
    while (*text != 0) {
        int n = (int)strcspn(text, " ");
        if (column > indent && column + 1 + n > WIDTH) {
            putchar('\n');
            column = 0;
        }
        int gap = column >= indent ? 1 : indent - column;
        column += printf("%*s%.*s", gap, "", n, text);
        text += n;
        text += strspn(text, " ");
    }
    putchar('\n');
}
