/* SPDX-License-Identifier: MIT
 *
 * Loads a JSON document with bounds on its size and memory, and reads typed members of it. Errors
 * name the path to the value.
 */
#include "document/json_in.h"

#include "base/nearest.h"
#include "core/alloc.h"
#include "core/text.h"
#include "document/json.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the file ---- */

/* Memory that jansson may still take while it reads a document. It is limited because three bytes
 * of input may need a hundred. Blocks come from malloc, so that they may be freed after the limit
 * has ended. */
static size_t memory_left;
/* true if jansson was refused memory, because its error does not always say that */
static bool is_memory_short;

static void *take(size_t n)
{
    void *p = n <= memory_left ? ab_alloc(n) : NULL;
    size_t got = p == NULL ? 0 : malloc_usable_size(p);
    is_memory_short = is_memory_short || p == NULL;
    memory_left -= got < memory_left ? got : memory_left;
    return p;
}

static void give(void *p)
{
    memory_left += p == NULL ? 0 : malloc_usable_size(p);
    free(p);
}

struct source {
    int fd, reason; /* errno of a failed read; 0 = none */
    size_t left;    /* bytes that may still be read */
    bool is_too_long;
};

static size_t pull(void *to, size_t n, void *user)
{
    struct source *s = user;
    ssize_t got;
    do
        got = read(s->fd, to, n);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        s->reason = errno;
        return (size_t)-1;
    }
    if ((size_t)got > s->left) { /* the file grows while it is read */
        s->is_too_long = true;
        return (size_t)-1;
    }
    s->left -= (size_t)got;
    return (size_t)got;
}

static enum ab_status fail_size(const char *path, size_t cap_bytes, struct ab_err *err)
{
    return ab_fail(err, AB_INPUT, "%s: is larger than %zu MiB, the most that can be read", path,
                   cap_bytes >> 20);
}

static enum ab_status open_source(const char *path, const char *shown, size_t cap_bytes,
                                  struct source *out, struct ab_err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return ab_fail_errno(err, AB_INPUT, "cannot read '%s'", shown);
    enum ab_status status = AB_OK;
    if (fstat(fd, &st) != 0)
        status = ab_fail_errno(err, AB_INPUT, "cannot read '%s'", shown);
    else if (!S_ISREG(st.st_mode))
        status = ab_fail(err, AB_INPUT, "cannot read '%s': not a regular file", shown);
    else if ((uint64_t)st.st_size > cap_bytes)
        status = fail_size(shown, cap_bytes, err);
    if (status != AB_OK)
        close(fd);
    else
        *out = (struct source){.fd = fd, .left = cap_bytes};
    return status;
}

/* Loads a document whose text comes from a callback. The caller checks whether the callback
 * failed. */
static json_t *load(json_load_callback_t from, void *user, size_t cap_memory, json_error_t *error)
{
    memory_left = cap_memory;
    is_memory_short = false;
    json_set_alloc_funcs(take, give);
    json_t *document = json_load_callback(from, user, JSON_REJECT_DUPLICATES, error);
    ab_json_take_memory();
    return document;
}

static enum ab_status check_loaded(const json_t *document, const json_error_t *error,
                                   size_t cap_memory, const char *shown, struct ab_err *err)
{
    char what[512];
    if (is_memory_short)
        return ab_fail(err, AB_INPUT, "%s: needs more than %zu MiB of memory", shown,
                       cap_memory >> 20);
    if (document == NULL)
        return ab_fail(err, AB_INPUT, "%s:%d:%d: not valid JSON: %s", shown, error->line,
                       error->column, ab_text_printable(what, sizeof what, error->text));
    return AB_OK;
}

enum ab_status ab_json_load(const char *path, size_t cap_bytes, size_t cap_memory, json_t **out,
                            struct ab_err *err)
{
    struct source source;
    json_error_t error;
    char shown[512];
    ab_text_printable(shown, sizeof shown, path);
    enum ab_status status = open_source(path, shown, cap_bytes, &source, err);
    if (status != AB_OK)
        return status;
    json_t *document = load(pull, &source, cap_memory, &error);
    close(source.fd);
    errno = source.reason;
    if (source.reason != 0) /* even if the text so far could be parsed, it must not be used */
        status = ab_fail_errno(err, AB_INPUT, "cannot read '%s'", shown);
    else if (source.is_too_long)
        status = fail_size(shown, cap_bytes, err);
    else
        status = check_loaded(document, &error, cap_memory, shown, err);
    if (status == AB_OK)
        *out = document;
    else
        json_decref(document);
    return status;
}

struct span {
    const char *p;
    size_t n;
};

static size_t pull_span(void *to, size_t n, void *user)
{
    struct span *s = user;
    size_t got = n < s->n ? n : s->n;
    memcpy(to, s->p, got);
    s->p += got;
    s->n -= got;
    return got;
}

enum ab_status ab_json_parse(const char *text, size_t n, size_t cap_memory, const char *shown,
                             json_t **out, struct ab_err *err)
{
    json_error_t error;
    struct span span = {text, n};
    json_t *document = load(pull_span, &span, cap_memory, &error);
    enum ab_status status = check_loaded(document, &error, cap_memory, shown, err);
    if (status == AB_OK)
        *out = document;
    else
        json_decref(document);
    return status;
}

enum ab_status ab_json_read_file(const char *path, size_t cap_bytes, char **text, size_t *n,
                                 struct ab_err *err)
{
    struct source source;
    struct stat st;
    char shown[512];
    ab_text_printable(shown, sizeof shown, path);
    AB_TRY(open_source(path, shown, cap_bytes, &source, err));
    size_t used = 0, got = 1, size = fstat(source.fd, &st) == 0 ? (size_t)st.st_size : 0;
    char *s = ab_alloc(size + 1);
    while (got > 0 && got != (size_t)-1 && used < size)
        if ((got = pull(s + used, size - used, &source)) != (size_t)-1)
            used += got;
    close(source.fd);
    errno = source.reason;
    if (source.reason != 0) {
        free(s);
        return ab_fail_errno(err, AB_INPUT, "cannot read '%s'", shown);
    }
    *text = s;
    *n = used;
    return AB_OK;
}

void ab_json_free(json_t *document)
{
    json_decref(document);
}

/* ---- errors ---- */

/* Writes the path from the document to `node`. Returns the number of bytes written. */
static size_t put_path(char *buf, size_t cap, const struct ab_json_node *node)
{
    if (node->parent == NULL)
        return 0;
    size_t n = put_path(buf, cap, node->parent);
    int more = node->key != NULL ? snprintf(buf + n, cap - n, "%s%s", n == 0 ? "" : ".", node->key)
                                 : snprintf(buf + n, cap - n, "[%zu]", node->index);
    return more < 0 || n + (size_t)more >= cap ? cap - 1 : n + (size_t)more;
}

void ab_json_fail(struct ab_json_reader *r, const struct ab_json_node *node, const char *fmt, ...)
{
    char path[256] = "", what[sizeof r->err->text], shown[512];
    if (r->status != AB_OK)
        return;
    va_list args;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    put_path(path, sizeof path, node);
    r->status = ab_fail(r->err, AB_INPUT, "%s: %s%s%s",
                        ab_text_printable(shown, sizeof shown, r->file), path,
                        path[0] != 0 ? ": " : "", what);
}

static const char *type_name(const json_t *json)
{
    static const char *const names[] = {"an object", "an array", "a string", "a whole number",
                                        "a number",  "true",     "false",    "null"};
    return names[json_typeof(json)];
}

static void fail_type(struct ab_json_reader *r, const struct ab_json_node *node, const char *wanted)
{
    ab_json_fail(r, node, "is %s, must be %s", type_name(node->json), wanted);
}

/* ---- nodes ---- */

struct ab_json_node ab_json_member(struct ab_json_reader *r, const struct ab_json_node *parent,
                                   const char *key)
{
    struct ab_json_node node = {.parent = parent, .key = key};
    if (r->status != AB_OK)
        return node;
    node.json = json_object_get(parent->json, key);
    if (node.json == NULL)
        ab_json_fail(r, &node, "is missing");
    return node;
}

static struct ab_json_node of_type(struct ab_json_reader *r, struct ab_json_node node,
                                   json_type type, const char *wanted)
{
    if (node.json != NULL && json_typeof(node.json) != type) {
        fail_type(r, &node, wanted);
        node.json = NULL;
    }
    return node;
}

struct ab_json_node ab_json_object(struct ab_json_reader *r, const struct ab_json_node *parent,
                                   const char *key)
{
    return of_type(r, ab_json_member(r, parent, key), JSON_OBJECT, "an object");
}

struct ab_json_node ab_json_array(struct ab_json_reader *r, const struct ab_json_node *parent,
                                  const char *key)
{
    return of_type(r, ab_json_member(r, parent, key), JSON_ARRAY, "an array");
}

bool ab_json_has(const struct ab_json_reader *r, const struct ab_json_node *o, const char *key)
{
    return r->status == AB_OK && json_object_get(o->json, key) != NULL;
}

bool ab_json_has_value(const struct ab_json_reader *r, const struct ab_json_node *o,
                       const char *key)
{
    return ab_json_has(r, o, key) && !json_is_null(json_object_get(o->json, key));
}

size_t ab_json_count(struct ab_json_reader *r, const struct ab_json_node *array, size_t max)
{
    size_t n = r->status == AB_OK && array->json != NULL ? json_array_size(array->json) : 0;
    if (n <= max)
        return n;
    ab_json_fail(r, array, "has %zu entries, at most %zu are allowed", n, max);
    return 0;
}

struct ab_json_node ab_json_item(const struct ab_json_node *array, size_t i)
{
    return (struct ab_json_node){json_array_get(array->json, i), array, NULL, i};
}

struct ab_json_node ab_json_item_object(struct ab_json_reader *r, const struct ab_json_node *array,
                                        size_t i)
{
    return of_type(r, ab_json_item(array, i), JSON_OBJECT, "an object");
}

/* ---- values ---- */

const char *ab_json_text_at(struct ab_json_reader *r, const struct ab_json_node *at)
{
    if (at->json == NULL || json_is_null(at->json))
        return "";
    struct ab_json_node node = of_type(r, *at, JSON_STRING, "a string or null");
    return node.json != NULL ? json_string_value(node.json) : "";
}

const char *ab_json_text(struct ab_json_reader *r, const struct ab_json_node *o, const char *key)
{
    struct ab_json_node node = ab_json_member(r, o, key);
    return ab_json_text_at(r, &node);
}

double ab_json_number_at(struct ab_json_reader *r, const struct ab_json_node *at)
{
    if (at->json == NULL || json_is_null(at->json))
        return NAN;
    if (json_is_number(at->json))
        return json_number_value(at->json);
    fail_type(r, at, "a number or null");
    return NAN;
}

double ab_json_number(struct ab_json_reader *r, const struct ab_json_node *o, const char *key)
{
    struct ab_json_node node = ab_json_member(r, o, key);
    return ab_json_number_at(r, &node);
}

uint64_t ab_json_whole_at(struct ab_json_reader *r, const struct ab_json_node *at, uint64_t max,
                          uint64_t unknown)
{
    if (at->json == NULL || json_is_null(at->json))
        return unknown;
    struct ab_json_node node = of_type(r, *at, JSON_INTEGER, "a whole number or null");
    json_int_t n = node.json != NULL ? json_integer_value(node.json) : 0;
    if (n >= 0 && (uint64_t)n <= max)
        return (uint64_t)n;
    ab_json_fail(r, &node, "is %lld, must be between 0 and %llu", (long long)n,
                 (unsigned long long)max);
    return unknown;
}

uint64_t ab_json_whole(struct ab_json_reader *r, const struct ab_json_node *o, const char *key,
                       uint64_t max, uint64_t unknown)
{
    struct ab_json_node node = ab_json_member(r, o, key);
    return ab_json_whole_at(r, &node, max, unknown);
}

bool ab_json_flag_at(struct ab_json_reader *r, const struct ab_json_node *at)
{
    if (at->json != NULL && !json_is_boolean(at->json))
        fail_type(r, at, "true or false");
    return at->json != NULL && json_is_true(at->json);
}

static void fail_choice(struct ab_json_reader *r, const struct ab_json_node *node,
                        const char *const *names, size_t n)
{
    char shown[128];
    struct ab_text list = {0};
    const char *given = json_string_value(node->json);
    const char *near = ab_text_nearest(given, names, n);
    for (size_t i = 0; i < n && n <= 16; i++)
        ab_text_addf(&list, "%s%s", i == 0 ? "; one of " : ", ", names[i]);
    if (near != NULL && strcmp(near, given) != 0)
        ab_text_addf(&list, "; did you mean %s?", near);
    ab_json_fail(r, node, "is unknown: \"%s\"%s", ab_text_printable(shown, sizeof shown, given),
                 list.s != NULL ? list.s : "");
    ab_text_fini(&list);
}

size_t ab_json_one_of_at(struct ab_json_reader *r, const struct ab_json_node *at,
                         const char *const *names, size_t n)
{
    struct ab_json_node node = of_type(r, *at, JSON_STRING, "a string");
    for (size_t i = 0; i < n && node.json != NULL; i++)
        if (strcmp(json_string_value(node.json), names[i]) == 0)
            return i;
    if (node.json != NULL)
        fail_choice(r, &node, names, n);
    return 0;
}

size_t ab_json_one_of(struct ab_json_reader *r, const struct ab_json_node *o, const char *key,
                      const char *const *names, size_t n)
{
    struct ab_json_node node = ab_json_member(r, o, key);
    return ab_json_one_of_at(r, &node, names, n);
}
