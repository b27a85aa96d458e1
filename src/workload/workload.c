/* SPDX-License-Identifier: MIT
 *
 * Loads a workload: reads the file, scans it (yaml_index.h), checks the keys, loads the texts with
 * libcyaml, and reads the values. Each step sees only what the steps before it accepted. Errors are
 * shown after as many steps as possible.
 */
#include "workload/workload.h"

#include "core/alloc.h"
#include "trace/format.h"
#include "workload/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads a file of at most `cap` bytes to its end. Returns the number of bytes, -1 after an error,
 * or cap + 1 if the file is longer. */
static ssize_t read_all(int fd, char *buf, size_t cap)
{
    size_t used = 0;
    while (used <= cap) {
        ssize_t n = read(fd, buf + used, cap + 1 - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        used += (size_t)n;
    }
    return (ssize_t)used;
}

static enum ab_status read_file(const char *path, struct ab_workload *w, struct ab_err *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    enum ab_status status = AB_OK;
    char shown[512];
    ab_text_printable(shown, sizeof shown, path);
    if (fd < 0)
        return ab_fail_errno(err, AB_INPUT, "cannot open workload '%s'", shown);
    w->file = ab_strdup(is_stdin ? "<stdin>" : path);
    w->text = ab_alloc(AB_CONFIG_MAX_BYTES + 2);
    ssize_t n;
    if ((n = read_all(fd, w->text, AB_CONFIG_MAX_BYTES)) < 0)
        status = ab_fail_errno(err, AB_INPUT, "cannot read workload '%s'", shown);
    else if (n > AB_CONFIG_MAX_BYTES)
        status = ab_fail(err, AB_INPUT, "workload '%s' is larger than 1 MiB", shown);
    if (!is_stdin)
        close(fd);
    if (status != AB_OK)
        return status;
    w->n_text = (size_t)n;
    w->text[n] = 0;
    return AB_OK;
}

/* Checks the encoding; returns false after an error. Removes a UTF-8 byte order mark, so that
 * columns start at 1. */
static bool check_encoding(struct ab_workload *w, struct ab_diag *diag)
{
    const unsigned char *s = (const unsigned char *)w->text;
    if (w->n_text >= 2 && ((s[0] == 0xff && s[1] == 0xfe) || (s[0] == 0xfe && s[1] == 0xff))) {
        diag->source = (struct ab_source_text){w->file, "", 0};
        ab_diag_add(diag, (struct ab_place){0}, "the file is UTF-16; save it as UTF-8");
        return false;
    }
    if (w->n_text >= 8 && memcmp(s, AB_TRACE_MAGIC, AB_TRACE_MAGIC_BYTES) == 0) {
        diag->source = (struct ab_source_text){w->file, "", 0};
        ab_diag_add(diag, (struct ab_place){0}, "a trace, not a workload: use allocbench replay");
        return false;
    }
    if (w->n_text >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0) {
        w->n_text -= 3;
        memmove(w->text, w->text + 3, w->n_text + 1);
    }
    diag->source = (struct ab_source_text){w->file, w->text, w->n_text};
    return true;
}

static void load_values(struct ab_reader *r)
{
    struct ab_schema schema = {0};
    if (ab_schema_load(r->tree, r->diag, &schema))
        ab_read_workload(r, schema.top);
    ab_schema_fini(&schema);
    if (r->diag->n_errors > 0 && r->options->inspect != NULL)
        r->options->inspect(r->options->user, r->w, r->diag);
}

static bool wants_groups(const struct ab_workload *w, const struct ab_workload_options *options)
{
    bool is_wanted = options->wants_groups;
    for (size_t i = 0; i < w->n_sets; i++)
        is_wanted = is_wanted || w->sets[i].via != NULL;
    /* a gate about pins needs groups, because pins are counted by set */
    for (size_t i = 0; i < ab_workload_gates(w)->n; i++)
        is_wanted = is_wanted || strstr(ab_workload_gates(w)->items[i].node.text, "/pins/") != NULL;
    return is_wanted;
}

/* Loads the workload from the text in `w`. Takes over w: sets *out to it, or frees it after an
 * error. */
static enum ab_status load_text(struct ab_workload *w, const struct ab_workload_options *options,
                                const size_t *chosen, struct ab_workload **out, char **messages,
                                struct ab_err *err)
{
    static const struct ab_workload_options no_options;
    struct ab_tree tree = {0};
    struct ab_diag diag = {0};
    enum ab_status status = AB_OK;
    options = options != NULL ? options : &no_options;
    struct ab_reader r = {.w = w,
                          .options = options,
                          .tree = &tree,
                          .diag = &diag,
                          .dist_unit = AB_UNIT_BYTES,
                          .chosen = chosen};
    if (check_encoding(w, &diag) && ab_tree_scan(&tree, &diag))
        load_values(&r);
    if (diag.n_errors > 0) {
        *messages = ab_diag_render(&diag);
        status = ab_fail(err, AB_CONFIG, "%s", "");
    } else {
        w->window = options->has_window ? options->window : AB_WINDOW_AUTO;
        w->wants_groups = wants_groups(w, options);
        *out = w;
        w = NULL;
    }
    ab_tree_fini(&tree);
    ab_diag_fini(&diag);
    ab_workload_free(w);
    return status;
}

/* Returns an array with the index of each parameter's value in the combination, which is a number
 * from 0. */
static size_t *choose_values(const struct ab_workload *of, size_t combination)
{
    size_t *chosen = ab_alloc_zeroed(of->params.n + 1, sizeof chosen[0]);
    for (size_t i = of->params.n; i-- > 0;) {
        chosen[i] = combination % of->params.items[i].n_values;
        combination /= of->params.items[i].n_values;
    }
    return chosen;
}

enum ab_status ab_workload_load(const char *path, const struct ab_workload_options *options,
                                struct ab_workload **out, char **messages, struct ab_err *err)
{
    struct ab_workload *w = ab_alloc_zeroed(1, sizeof *w);
    const struct ab_workload *of = options != NULL ? options->of : NULL;
    size_t *chosen = of != NULL ? choose_values(of, options->combination) : NULL;
    enum ab_status status = AB_OK;
    if (of != NULL) {
        w->file = ab_strdup(of->file);
        w->text = ab_strdup(of->text);
        w->n_text = of->n_text;
    } else {
        status = read_file(path, w, err);
    }
    if (status == AB_OK)
        status = load_text(w, options, chosen, out, messages, err);
    else
        ab_workload_free(w);
    free(chosen);
    return status;
}

static void free_texts(char **texts, size_t n)
{
    for (size_t i = 0; texts != NULL && i < n; i++)
        free(texts[i]);
    free(texts);
}

static void free_remarks(struct ab_remarks *remarks)
{
    for (size_t i = 0; i < remarks->n; i++) {
        free(remarks->items[i].node.text);
        free(remarks->items[i].says);
        free(remarks->items[i].source);
    }
    free(remarks->items);
}

static void dists_fini(struct ab_dists *dists)
{
    for (size_t i = 0; i < dists->n; i++)
        free(dists->items[i].rows);
    free(dists->items);
    *dists = (struct ab_dists){0};
}

static void body_free(struct ab_verb *body, size_t n_body)
{
    for (size_t i = 0; i < n_body; i++) {
        free(body[i].bins);
        body_free(body[i].body, body[i].n_body);
    }
    free(body);
}

void ab_workload_free(struct ab_workload *w)
{
    if (w == NULL)
        return;
    for (size_t i = 0; i < w->n_phases; i++) {
        for (size_t k = 0; k < w->phases[i].n_roles; k++) {
            body_free(w->phases[i].roles[k].body, w->phases[i].roles[k].n_body);
            body_free(w->phases[i].roles[k].finally, w->phases[i].roles[k].n_finally);
        }
        free(w->phases[i].roles);
    }
    free_texts(w->param_texts, w->params.n);
    free_texts(w->settings, w->params.n);
    for (size_t i = 0; i < w->params.n; i++) {
        free(w->params.items[i].text);
        free(w->params.items[i].list);
    }
    free(w->values);
    free_texts(w->backends, w->n_backends);
    free_remarks(&w->gates);
    free_remarks(&w->claims);
    dists_fini(&w->dists);
    free(w->resets);
    free(w->params.items);
    free(w->phases);
    free(w->sizes);
    for (size_t i = 0; i < w->n_sets; i++) {
        free(w->sets[i].via);
        ab_model_fini(&w->sets[i].model);
    }
    free(w->sets);
    free(w->about);
    free(w->file);
    free(w->text);
    free(w);
}

void ab_workload_watch(struct ab_workload *w, void (*progress)(void *user, uint64_t n_ops),
                       void *user)
{
    w->progress = progress;
    w->progress_user = user;
}

const char *ab_workload_name(const struct ab_workload *w)
{
    return w->name;
}

const char *ab_workload_about(const struct ab_workload *w)
{
    return w->about != NULL ? w->about : "";
}

const char *ab_workload_text(const struct ab_workload *w)
{
    return w->text;
}

uint64_t ab_workload_seed(const struct ab_workload *w)
{
    return w->seed;
}

const char *const *ab_workload_backends(const struct ab_workload *w, size_t *n)
{
    *n = w->n_backends;
    return (const char *const *)w->backends;
}

static const char *const *texts_or_none(char *const *texts)
{
    static const char *const none[] = {NULL};
    return texts != NULL ? (const char *const *)texts : none;
}

const char *const *ab_workload_params(const struct ab_workload *w)
{
    return texts_or_none(w->param_texts);
}

const char *const *ab_workload_settings(const struct ab_workload *w)
{
    return texts_or_none(w->settings);
}

size_t ab_workload_combinations(const struct ab_workload *w)
{
    return w->n_combinations;
}

const char *ab_workload_values(const struct ab_workload *w)
{
    return w->values != NULL ? w->values : "";
}

size_t ab_workload_count_sets(const struct ab_workload *w)
{
    return w->n_sets;
}

const char *ab_workload_set_name(const struct ab_workload *w, size_t set)
{
    return w->sets[set].name;
}

const char *ab_workload_set_via(const struct ab_workload *w, size_t set)
{
    return w->sets[set].via;
}

char *ab_workload_set_via_place(const struct ab_workload *w, size_t set)
{
    const struct ab_place *at = &w->sets[set].via_place;
    return ab_strdupf("%s:%u:%u", w->file, at->line, at->col);
}

const struct ab_remarks *ab_workload_gates(const struct ab_workload *w)
{
    return &w->gates;
}

const struct ab_remarks *ab_workload_claims(const struct ab_workload *w)
{
    return &w->claims;
}

struct ab_source_text ab_workload_source(const struct ab_workload *w)
{
    return (struct ab_source_text){w->file, w->text, w->n_text};
}
