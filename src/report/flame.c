/* SPDX-License-Identifier: MIT
 *
 * Builds the tree of functions, and writes it as lines or as SVG. Functions stay in the order of
 * arrival.
 */
#include "report/flame.h"

#include "core/alloc.h"
#include "core/text.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 1200,
    MARGIN = 10,
    ROW = 18,
    HEAD = 36,
    NAME_SHOWN = 600, /* bytes of a name that are shown */
};
/* pixels: the narrowest box that is drawn, and the width of a letter */
static const double NARROWEST = 0.33, LETTER = 6.7;

struct ab_flame {
    struct ab_flame_node root;
};

struct ab_flame *ab_flame_open(void)
{
    return ab_alloc_zeroed(1, sizeof(struct ab_flame));
}

const struct ab_flame_node *ab_flame_root(const struct ab_flame *f)
{
    return &f->root;
}

/* Callback of tdestroy that frees nothing, because the list of children owns the nodes. */
static void keep(void *n)
{
    (void)n;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct ab_flame_node *)a)->name, ((const struct ab_flame_node *)b)->name);
}

static void free_children(struct ab_flame_node *n)
{
    for (struct ab_flame_node *c = n->first, *next; c != NULL; c = next) {
        next = c->next;
        free_children(c);
        free(c->name);
        free(c);
    }
    tdestroy(n->by_name, keep);
}

void ab_flame_close(struct ab_flame *f)
{
    if (f == NULL)
        return;
    free_children(&f->root);
    free(f);
}

void ab_stacks_fini(struct ab_stacks *s)
{
    ab_flame_close(s->by_calls);
    ab_flame_close(s->by_bytes);
    ab_flame_close(s->by_peak);
    ab_flame_close(s->by_pinned);
    *s = (struct ab_stacks){0};
}

static struct ab_flame_node *child(struct ab_flame_node *parent, const char *name)
{
    const struct ab_flame_node wanted = {.name = (char *)name};
    struct ab_flame_node *const *known = tfind(&wanted, &parent->by_name, compare_names);
    if (known != NULL)
        return *known;
    struct ab_flame_node *c = ab_alloc_zeroed(1, sizeof *c);
    c->name = ab_strdup(name);
    if (tsearch(c, &parent->by_name, compare_names) == NULL)
        ab_memory_end(sizeof *c);
    c->parent = parent;
    if (parent->last != NULL)
        parent->last->next = c;
    else
        parent->first = c;
    parent->last = c;
    return c;
}

void ab_flame_add(struct ab_flame *f, const char *const *names, size_t depth, uint64_t value)
{
    struct ab_flame_node *n = &f->root;
    for (size_t i = 0; i < depth; i++)
        n = child(n, names[i]);
    n->own += value;
    for (; n != NULL; n = n->parent)
        n->value += value;
}

/* ---- lines ---- */

static void add_folded(struct ab_text *line, const char *name)
{
    char shown[NAME_SHOWN];
    ab_text_printable(shown, sizeof shown, name);
    for (char *c = strchr(shown, ';'); c != NULL; c = strchr(c, ';'))
        *c = ':';
    if (line->n > 0)
        ab_text_add(line, ";");
    ab_text_add(line, shown);
}

static void fold(const struct ab_flame_node *n, const struct ab_text *above, FILE *to)
{
    struct ab_text line = {0};
    if (above->n > 0)
        ab_text_add(&line, above->s);
    if (n->name != NULL)
        add_folded(&line, n->name);
    if (n->own > 0 && line.n > 0)
        fprintf(to, "%s %llu\n", line.s, (unsigned long long)n->own);
    for (const struct ab_flame_node *c = n->first; c != NULL; c = c->next)
        fold(c, &line, to);
    ab_text_fini(&line);
}

void ab_flame_write_folded(const struct ab_flame *f, FILE *to)
{
    fold(&f->root, &(struct ab_text){0}, to);
}

/* ---- picture ---- */

static void put_escaped(FILE *to, const char *text, size_t most)
{
    for (size_t i = 0; text[i] != 0 && i < most; i++)
        switch (text[i]) {
        case '&':
            fputs("&amp;", to);
            break;
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        default:
            fputc(text[i], to);
        }
}

static unsigned depth_of(const struct ab_flame_node *n)
{
    unsigned most = 0;
    for (const struct ab_flame_node *c = n->first; c != NULL; c = c->next) {
        unsigned depth = depth_of(c) + 1;
        most = depth > most ? depth : most;
    }
    return most;
}

const char *ab_flame_colour(char buf[AB_FLAME_COLOUR_BYTES], const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name != 0; name++)
        hash = (hash ^ (uint8_t)*name) * 16777619u;
    snprintf(buf, AB_FLAME_COLOUR_BYTES, "rgb(%u,%u,%u)", 225 + hash % 30, 110 + hash / 64 % 110,
             60 + hash / 65536 % 40);
    return buf;
}

/* Returns how many bytes of a name fit into `width`, without splitting a character. */
static size_t letters(const char *name, double width)
{
    size_t most = width > 2 * LETTER ? (size_t)(width / LETTER) - 1 : 0, n = strlen(name);
    if (most >= n)
        return n;
    while (most > 0 && ((uint8_t)name[most] & 0xc0) == 0x80)
        most--;
    return most;
}

struct picture {
    FILE *to;
    const char *unit;
    uint64_t all;
    unsigned rows;
};

static void put_box(const struct picture *p, const struct ab_flame_node *n, double x, unsigned row)
{
    char name[NAME_SHOWN], colour[AB_FLAME_COLOUR_BYTES];
    double width = (double)n->value / (double)p->all * (WIDTH - 2 * MARGIN);
    unsigned y = HEAD + (p->rows - row) * ROW;
    ab_text_printable(name, sizeof name, n->name != NULL ? n->name : "all");
    fputs("<g><title>", p->to);
    put_escaped(p->to, name, SIZE_MAX);
    fprintf(p->to,
            ": %llu %s, %.2f %%</title><rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" "
            "height=\"%d\" fill=\"%s\"/>",
            (unsigned long long)n->value, p->unit, 100 * (double)n->value / (double)p->all, x, y,
            width, ROW - 1, ab_flame_colour(colour, name));
    size_t shown = letters(name, width);
    if (shown > 0) {
        fprintf(p->to, "<text x=\"%.2f\" y=\"%u\">", x + 3, y + ROW - 5);
        put_escaped(p->to, name, shown);
        fputs("</text>", p->to);
    }
    fputs("</g>\n", p->to);
}

static void draw(const struct picture *p, const struct ab_flame_node *n, double x, unsigned row)
{
    double width = (double)n->value / (double)p->all * (WIDTH - 2 * MARGIN);
    if (width < NARROWEST)
        return;
    put_box(p, n, x, row);
    for (const struct ab_flame_node *c = n->first; c != NULL; c = c->next) {
        draw(p, c, x, row + 1);
        x += (double)c->value / (double)p->all * (WIDTH - 2 * MARGIN);
    }
}

void ab_flame_write_svg(const struct ab_flame *f, FILE *to, const char *title, const char *unit)
{
    char shown[NAME_SHOWN];
    struct picture p = {.to = to, .unit = unit, .all = f->root.value, .rows = depth_of(&f->root)};
    unsigned height = HEAD + (p.rows + 1) * ROW + MARGIN;
    fprintf(to,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" width=\"%d\" "
            "height=\"%u\" font-family=\"monospace\" font-size=\"11\">\n"
            "<rect width=\"%d\" height=\"%u\" fill=\"#ffffff\"/>\n<text x=\"%d\" y=\"22\" "
            "font-size=\"14\">",
            WIDTH, height, WIDTH, height, WIDTH, height, MARGIN);
    put_escaped(to, ab_text_printable(shown, sizeof shown, title), SIZE_MAX);
    fputs("</text>\n", to);
    if (p.all > 0)
        draw(&p, &f->root, MARGIN, 0);
    fputs("</svg>\n", to);
}
