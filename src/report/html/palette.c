/* SPDX-License-Identifier: MIT
 *
 * Chooses the colour and dash pattern of each back end.
 */
#include "report/html/palette.h"

#include "base/bits.h"

#include <string.h>

const struct ab_colour_info ab_colours[AB_COLOUR_COUNT] = {
#define AB_COLOUR(id, class_name, light, dark) {class_name, light, dark},
#include "report/html/palette.def"
#undef AB_COLOUR
};

const char *const ab_dashes[AB_SERIES_DASHES] = {"", "9 3", "9 3 2 3", "5 3", "12 3 2 3 2 3"};

/* Names with fixed colours: the index of a name is its colour. */
static const char *const known[AB_SERIES_COLOURS] = {
    "glibc", "jemalloc", "tcmalloc", "mimalloc", "slab", "pool", "arena", "scudo", "tbb",
};

/* Returns the length of the name without its settings. */
static size_t stem_length(const char *name)
{
    return strcspn(name, ":{=");
}

/* Returns the index in `known`; AB_SERIES_COLOURS = not in it. */
static unsigned place_of(const char *name, size_t n)
{
    unsigned i = 0;
    while (i < AB_SERIES_COLOURS &&
           (known[i] == NULL || strlen(known[i]) != n || memcmp(known[i], name, n) != 0))
        i++;
    return i;
}

static unsigned colour_of(const char *name)
{
    size_t n = stem_length(name);
    unsigned place = place_of(name, n);
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return place < AB_SERIES_COLOURS ? place : hash % AB_SERIES_COLOURS;
}

static bool is_taken(const struct ab_series_style *out, size_t n, struct ab_series_style style)
{
    for (size_t i = 0; i < n; i++)
        if (out[i].colour == style.colour && out[i].dash == style.dash)
            return true;
    return false;
}

static bool is_colour_taken(const struct ab_series_style *out, size_t n, enum ab_colour colour)
{
    for (unsigned dash = 0; dash < AB_SERIES_DASHES; dash++)
        if (is_taken(out, n, (struct ab_series_style){colour, dash}))
            return true;
    return false;
}

static struct ab_series_style style_at(unsigned colour, unsigned turn)
{
    colour %= AB_SERIES_COLOURS;
    return (struct ab_series_style){AB_COLOUR_S0 + colour, (colour + turn) % AB_SERIES_DASHES};
}

/* Chooses the wanted colour, else the next free one, else the wanted one with another dash, and so
 * on. */
static struct ab_series_style choose(const struct ab_series_style *out, size_t n, unsigned wanted)
{
    struct ab_series_style style = style_at(wanted, 0);
    for (unsigned i = 0; i < AB_SERIES_COLOURS; i++) {
        style = style_at(wanted + i, 0);
        if (!is_colour_taken(out, n, style.colour))
            return style;
    }
    for (unsigned i = 0; i < AB_SERIES_COLOURS * AB_SERIES_DASHES; i++) {
        style = style_at(wanted + i, i / AB_SERIES_COLOURS);
        if (!is_taken(out, n, style))
            return style;
    }
    return style_at(wanted, 0);
}

static size_t first_of(const char *const *names, size_t i)
{
    size_t first = 0;
    while (strcmp(names[first], names[i]) != 0)
        first++;
    return first;
}

/* Assigns a style to each name: to known names first, so that no other name takes their colour. */
void ab_palette_assign(const char *const *names, size_t n, struct ab_series_style *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (struct ab_series_style){AB_COLOUR_COUNT, 0};
    for (unsigned is_other = 0; is_other < 2; is_other++)
        for (size_t i = 0; i < n; i++) {
            bool is_known = place_of(names[i], strlen(names[i])) < AB_SERIES_COLOURS;
            if (is_known == (is_other == 0))
                out[i] = first_of(names, i) < i ? out[first_of(names, i)]
                                                : choose(out, n, colour_of(names[i]));
        }
}
