/* SPDX-License-Identifier: MIT
 *
 * Scans a workload before libcyaml does. libyaml 0.2.5 has no depth limit and scans deep nesting in
 * quadratic time. libcyaml replays aliases without limit, ignores second documents, and reports an
 * unknown key at the place of the value before it. Characters are checked here too, because libyaml
 * reports wrong ones by byte offset only and counts line separators that no editor shows.
 */
#include "workload/yaml_index.h"

#include "core/alloc.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct scan {
    struct ab_tree *tree;
    struct ab_diag *diag;
    /* indices of the open lists and maps, the innermost last */
    uint32_t stack[AB_CONFIG_MAX_DEPTH + 1];
    unsigned depth;
    char *key; /* last key of the innermost map, if its value has not come yet; else NULL */
    struct ab_place key_at;
    uint32_t key_offset;
    bool is_twin;
    bool is_over;       /* True if an error has ended the scan */
    const char *cursor; /* position in the source; line and col are its place, both from 0 */
    size_t line, col;
};

/* ---- characters ---- */

/* Decodes one UTF-8 character. Returns 0 if it is malformed. */
static size_t decode(const unsigned char *s, size_t n, uint32_t *c)
{
    size_t want = s[0] < 0x80                   ? 1
                  : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                  : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                  : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                : 0;
    if (want == 0 || want > n)
        return 0;
    *c = want == 1 ? s[0] : s[0] & (0x7fu >> want);
    for (size_t i = 1; i < want; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *c = *c << 6 | (s[i] & 0x3fu);
    }
    bool is_long = (want == 3 && *c < 0x800) || (want == 4 && *c < 0x10000);
    return is_long || (*c >= 0xd800 && *c < 0xe000) || *c > 0x10ffff ? 0 : want;
}

static bool is_allowed(uint32_t c)
{
    if (c < 0x20)
        return c == '\t' || c == '\n' || c == '\r';
    return c != 0x7f && !(c >= 0x80 && c < 0xa0) && c != 0x2028 && c != 0x2029 && c != 0xfeff &&
           (c & 0xfffe) != 0xfffe;
}

static bool check_characters(const struct ab_source_text *source, struct ab_diag *diag)
{
    struct ab_place at = {1, 1, 1};
    const unsigned char *s = (const unsigned char *)source->text;
    for (size_t i = 0; i < source->n;) {
        uint32_t c = 0;
        size_t n = decode(s + i, source->n - i, &c);
        if (n == 0) {
            ab_diag_add(diag, at, "byte 0x%02x is not UTF-8; workloads are UTF-8 text", s[i]);
            return false;
        }
        if (!is_allowed(c)) {
            ab_diag_add(diag, at, "control character U+%04X; workloads are plain text",
                        (unsigned)c);
            return false;
        }
        bool ends_line = c == '\n' || (c == '\r' && s[i + 1] != '\n');
        at.col = ends_line ? 1 : at.col + 1;
        at.line += ends_line;
        i += n;
    }
    return true;
}

/* ---- tree ---- */

struct ab_node *ab_tree_root(const struct ab_tree *tree)
{
    return tree->n_nodes == 0 ? NULL : &tree->nodes[0];
}

struct ab_node *ab_tree_first(const struct ab_tree *tree, const struct ab_node *parent)
{
    return parent == NULL || parent->first == 0 ? NULL : &tree->nodes[parent->first];
}

struct ab_node *ab_tree_next(const struct ab_tree *tree, const struct ab_node *node)
{
    return node == NULL || node->next == 0 ? NULL : &tree->nodes[node->next];
}

struct ab_node *ab_tree_get(const struct ab_tree *tree, const struct ab_node *map, const char *key)
{
    struct ab_node *child = ab_tree_first(tree, map);
    while (child != NULL && (child->key == NULL || strcmp(child->key, key) != 0))
        child = ab_tree_next(tree, child);
    return child;
}

void ab_node_hide(struct ab_node *node)
{
    if (node->key != NULL && node->key[0] != 0)
        node->key[0] = AB_HIDDEN;
}

struct ab_place ab_node_place(const struct ab_node *node, size_t offset, size_t n)
{
    if (!node->is_verbatim || offset > strlen(node->text))
        return node->at;
    uint32_t before = 0, under = 0;
    for (size_t i = 0; node->text[i] != 0 && i < offset + n; i++)
        if (((unsigned char)node->text[i] & 0xc0) != 0x80)
            *(i < offset ? &before : &under) += 1;
    return (struct ab_place){node->at.line, node->at.col + node->quote + before,
                             under > 0 ? under : 1};
}

void ab_tree_fini(struct ab_tree *tree)
{
    for (uint32_t i = 0; i < tree->n_nodes; i++) {
        free(tree->nodes[i].key);
        free(tree->nodes[i].text);
    }
    free(tree->nodes);
    *tree = (struct ab_tree){0};
}

static struct ab_place event_place(const yaml_event_t *e)
{
    struct ab_place at = {(uint32_t)e->start_mark.line + 1, (uint32_t)e->start_mark.column + 1, 1};
    if (e->type == YAML_SCALAR_EVENT && e->end_mark.line == e->start_mark.line &&
        e->end_mark.column > e->start_mark.column)
        at.len = (uint32_t)(e->end_mark.column - e->start_mark.column);
    return at;
}

static void stop(struct scan *s, struct ab_place at, const char *message)
{
    ab_diag_add(s->diag, at, "%s", message);
    s->is_over = true;
}

/* Appends a node to the innermost open list or map. Returns NULL after an error. */
static struct ab_node *add_node(struct scan *s, enum ab_node_kind kind, struct ab_place at)
{
    struct ab_tree *t = s->tree;
    if (t->n_nodes >= AB_CONFIG_MAX_NODES) {
        ab_diag_add(s->diag, at, "more than %d values in one file", AB_CONFIG_MAX_NODES);
        s->is_over = true;
        return NULL;
    }
    AB_GROW(t->nodes, t->cap_nodes, t->n_nodes);
    uint32_t index = t->n_nodes++;
    struct ab_node *node = &t->nodes[index];
    *node = (struct ab_node){.kind = kind,
                             .at = at,
                             .key = s->key,
                             .key_at = s->key_at,
                             .key_offset = s->key_offset,
                             .is_twin = s->is_twin};
    s->key = NULL;
    s->is_twin = false;
    if (s->depth > 0) {
        struct ab_node *parent = &t->nodes[s->stack[s->depth - 1]];
        if (parent->first == 0)
            parent->first = index;
        else
            t->nodes[parent->last].next = index;
        parent->last = index;
    }
    return node;
}

/* ---- events ---- */

/* Moves the cursor forward to a place and returns the address there. Callers ask for places in
 * ascending order, so the source is read only once. */
static const char *seek_to(struct scan *s, size_t line, size_t col)
{
    const char *end = s->diag->source.text + s->diag->source.n;
    while (s->cursor < end && s->line < line) {
        s->line += s->cursor[0] == '\n' || (s->cursor[0] == '\r' && s->cursor[1] != '\n');
        s->cursor++;
        s->col = 0;
    }
    while (s->cursor < end && s->col < col) {
        do
            s->cursor++;
        while (s->cursor < end && ((unsigned char)*s->cursor & 0xc0) == 0x80);
        s->col++;
    }
    return s->cursor;
}

static void take_key(struct scan *s, const yaml_event_t *e)
{
    const char *key = (const char *)e->data.scalar.value;
    struct ab_place at = event_place(e);
    struct ab_node *map = &s->tree->nodes[s->stack[s->depth - 1]];
    size_t n_keys = 0;
    for (struct ab_node *c = ab_tree_first(s->tree, map); c != NULL;
         c = ab_tree_next(s->tree, c), n_keys++) {
        if (strcmp(c->key, key) == 0) {
            ab_diag_add(s->diag, at, "duplicate key '%s'; first in line %u",
                        AB_QUOTED(key, strlen(key)), c->key_at.line);
            s->is_twin = true;
            break;
        }
    }
    if (n_keys >= AB_CONFIG_MAX_KEYS) {
        stop(s, at, "more than 256 keys in one map");
        return;
    }
    s->key = ab_strdup(key);
    s->key_at = at;
    s->key_offset = (uint32_t)(seek_to(s, e->start_mark.line, e->start_mark.column) -
                               s->diag->source.text);
}

/* True if the scalar is in the source exactly as libyaml read it, so that an offset in the text is
 * an offset in the source line. */
static bool is_verbatim(struct scan *s, const yaml_event_t *e, uint32_t quote)
{
    const char *end = s->diag->source.text + s->diag->source.n;
    const char *p = seek_to(s, e->start_mark.line, e->start_mark.column + quote);
    size_t n = e->data.scalar.length;
    return e->start_mark.line == e->end_mark.line && (size_t)(end - p) >= n &&
           memcmp(p, e->data.scalar.value, n) == 0;
}

/* Reports an anchor or a tag, which are not part of the language. Returns true if there was one. */
static bool has_marks(struct scan *s, struct ab_place at, const void *anchor, const void *tag)
{
    if (anchor != NULL)
        stop(s, at, "anchors ('&') are not supported");
    else if (tag != NULL)
        stop(s, at, "tags ('!') are not supported");
    return anchor != NULL || tag != NULL;
}

static void take_scalar(struct scan *s, const yaml_event_t *e)
{
    struct ab_place at = event_place(e);
    if (has_marks(s, at, e->data.scalar.anchor, e->data.scalar.tag))
        return;
    if (memchr(e->data.scalar.value, 0, e->data.scalar.length) != NULL) {
        stop(s, at, "a NUL character inside a value");
        return;
    }
    bool in_map = s->depth > 0 && s->tree->nodes[s->stack[s->depth - 1]].kind == AB_NODE_MAP;
    if (in_map && s->key == NULL) {
        take_key(s, e);
        return;
    }
    struct ab_node *node = add_node(s, AB_NODE_SCALAR, at);
    if (node == NULL)
        return;
    yaml_scalar_style_t style = e->data.scalar.style;
    node->quote = style == YAML_SINGLE_QUOTED_SCALAR_STYLE ||
                  style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    node->text = ab_strdup((const char *)e->data.scalar.value);
    node->is_verbatim = is_verbatim(s, e, node->quote);
}

static void open_level(struct scan *s, const yaml_event_t *e)
{
    bool is_map = e->type == YAML_MAPPING_START_EVENT;
    struct ab_place at = event_place(e);
    const yaml_char_t *anchor = is_map ? e->data.mapping_start.anchor
                                       : e->data.sequence_start.anchor;
    const yaml_char_t *tag = is_map ? e->data.mapping_start.tag : e->data.sequence_start.tag;
    if (has_marks(s, at, anchor, tag))
        return;
    if (s->depth >= AB_CONFIG_MAX_DEPTH) {
        ab_diag_add(s->diag, at, "nested more than %d levels deep", AB_CONFIG_MAX_DEPTH);
        s->is_over = true;
        return;
    }
    if (s->depth > 0 && s->key == NULL &&
        s->tree->nodes[s->stack[s->depth - 1]].kind == AB_NODE_MAP) {
        stop(s, at, "a key must be a word, found a list or a map");
        return;
    }
    struct ab_node *node = add_node(s, is_map ? AB_NODE_MAP : AB_NODE_LIST, at);
    if (node != NULL)
        s->stack[s->depth++] = (uint32_t)(node - s->tree->nodes);
}

static void take_event(struct scan *s, const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        take_scalar(s, e);
        break;
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        open_level(s, e);
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        s->depth--;
        break;
    case YAML_ALIAS_EVENT:
        stop(s, event_place(e), "aliases ('*') are not supported");
        break;
    case YAML_DOCUMENT_START_EVENT:
        if (s->tree->n_nodes > 0)
            stop(s, event_place(e), "a second document; a workload must be a single document");
        else if (e->data.document_start.version_directive != NULL ||
                 e->data.document_start.tag_directives.start !=
                     e->data.document_start.tag_directives.end)
            stop(s, event_place(e), "directives ('%') are not supported");
        break;
    default:
        break;
    }
}

/* Reports the syntax error that libyaml found, in one sentence. */
static void add_syntax_error(struct ab_diag *diag, const yaml_parser_t *parser)
{
    const yaml_mark_t *m = &parser->problem_mark;
    struct ab_place at = {(uint32_t)m->line + 1, (uint32_t)m->column + 1, 1};
    const char *problem = parser->problem != NULL ? parser->problem : "cannot be read";
    if (strstr(problem, "cannot start any token") != NULL)
        ab_diag_add(diag, at,
                    "not valid YAML: %s; values with special characters need quotes, "
                    "and YAML is indented with spaces, not tabs",
                    problem);
    else if (parser->context != NULL && parser->context_mark.line != m->line)
        ab_diag_add(diag, at, "not valid YAML: %s %s that began in line %zu", problem,
                    parser->context, parser->context_mark.line + 1);
    else
        ab_diag_add(diag, at, "not valid YAML: %s", problem);
}

static void run_scan(struct scan *s, yaml_parser_t *parser)
{
    bool at_end = false;
    while (!at_end && !s->is_over) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) {
            add_syntax_error(s->diag, parser);
            s->is_over = true;
            return;
        }
        at_end = event.type == YAML_STREAM_END_EVENT;
        take_event(s, &event);
        yaml_event_delete(&event);
    }
}

bool ab_tree_scan(struct ab_tree *tree, struct ab_diag *diag)
{
    const struct ab_source_text *source = &diag->source;
    *tree = (struct ab_tree){0};
    if (!check_characters(source, diag))
        return false;
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        ab_memory_end(sizeof parser);
    yaml_parser_set_input_string(&parser, (const unsigned char *)source->text, source->n);
    struct scan s = {.tree = tree, .diag = diag, .cursor = source->text};
    run_scan(&s, &parser);
    yaml_parser_delete(&parser);
    free(s.key);
    if (!s.is_over && tree->n_nodes == 0) {
        ab_diag_add(diag, (struct ab_place){1, 1, 1},
                    "the file is empty; a workload begins with 'allocbench: 1'");
        return false;
    }
    return !s.is_over;
}
