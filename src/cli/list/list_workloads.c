/* SPDX-License-Identifier: MIT
 *
 * The workloads that come with allocbench, each with the first sentence of the comment that its file
 * begins with.
 */
#include "cli/list/list_workloads.h"

#include "cli/arguments/named_workload.h"
#include "cli/list/list_output.h"
#include "core/text.h"
#include "report/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_COLUMNS = 24, SENTENCE_MOST = 400 };

/* Appends a line without "# " and its end; false at the first line that is no such comment. */
static bool add_line(char *out, size_t cap, char *line)
{
    if (line[0] != '#')
        return false;
    char *text = line + 1 + strspn(line + 1, " ");
    text[strcspn(text, "\r\n")] = 0;
    if (*text == 0)
        return false;
    ab_text_join(out, cap, " ", text);
    return true;
}

/* To the first ". " or its end: of a name such as "part 2: …" or "p99.9" it is none. */
static void cut_sentence(char *text)
{
    char *end = strstr(text, ". ");
    if (end != NULL)
        *end = 0;
    size_t n = strlen(text);
    while (n > 0 && strchr(".: ", text[n - 1]) != NULL)
        text[--n] = 0;
}

/* "" where the file cannot be read or begins with no comment. */
static void read_summary(const char *path, char *out, size_t cap)
{
    char line[512], text[SENTENCE_MOST] = "";
    FILE *f = fopen(path, "re");
    for (int i = 0; f != NULL && i < 8 && fgets(line, sizeof line, f) != NULL; i++)
        if (!add_line(text, sizeof text, line))
            break;
    if (f != NULL)
        fclose(f);
    cut_sentence(text);
    ab_text_printable(out, cap, text);
}

static json_t *entry(struct ab_json *w, const char *name, const char *path, const char *summary)
{
    json_t *o = json_object();
    ab_json_put(w, o, "name", ab_json_string(name));
    ab_json_put(w, o, "path", ab_json_string(path));
    ab_json_put(w, o, "summary", ab_json_string(summary));
    return o;
}

static void print_entry(const char *name, const char *summary)
{
    char head[128];
    snprintf(head, sizeof head, "  @%s", AB_SHOWN(64, name));
    ab_list_print_entry(head, NAME_COLUMNS, summary);
}

static enum ab_status list_names(const struct ab_options *o, const struct ab_workload_names *list,
                                 struct ab_err *err)
{
    struct ab_json w = {false};
    json_t *document = json_object(), *items = json_array();
    bool is_shown = o->json == NULL || strcmp(o->json, "-") != 0;
    ab_json_put(&w, document, "schema", ab_json_string("allocbench-workloads/1"));
    for (size_t i = 0; i < list->n; i++) {
        char summary[4 * SENTENCE_MOST];
        char *path = ab_workload_names_path(list, list->names[i]);
        if (path == NULL) {
            w.is_short_of_memory = true;
            break;
        }
        read_summary(path, summary, sizeof summary);
        ab_json_append(&w, items, entry(&w, list->names[i], path, summary));
        if (is_shown)
            print_entry(list->names[i], summary);
        free(path);
    }
    ab_json_put(&w, document, "workloads", items);
    if (is_shown)
        printf("\nallocbench run @NAME; the files are in %s\n", AB_SHOWN(512, list->folder));
    if (o->json != NULL)
        return ab_list_write(o->json, document, w.is_short_of_memory, err);
    json_decref(document);
    return AB_OK;
}

enum ab_status ab_list_workloads(const struct ab_options *o, struct ab_err *err)
{
    struct ab_workload_names list;
    AB_TRY(ab_workload_names(&list, err));
    enum ab_status status = list_names(o, &list, err);
    ab_workload_names_fini(&list);
    return status;
}
