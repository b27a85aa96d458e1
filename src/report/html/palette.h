/* SPDX-License-Identifier: MIT
 *
 * Colours and dash patterns. A back end looks the same in every report: known names have fixed
 * colours, others follow from a hash of the name. Within one report, no two back ends look alike.
 */
#ifndef AB_REPORT_HTML_PALETTE_H
#define AB_REPORT_HTML_PALETTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ab_colour {
#define AB_COLOUR(id, class_name, light, dark) AB_COLOUR_##id,
#include "report/html/palette.def"
#undef AB_COLOUR
    AB_COLOUR_COUNT
};
enum { AB_SERIES_COLOURS = AB_COLOUR_COUNT - AB_COLOUR_S0, AB_SERIES_DASHES = 5 };

struct ab_colour_info {
    const char *class_name;   /* "s0": class of the element; the style sheet calls it --s0 */
    const char *light, *dark; /* "#0072b2" */
};
extern const struct ab_colour_info ab_colours[AB_COLOUR_COUNT];

/* Values of stroke-dasharray; "" = solid. Dots mark values with too few samples. */
extern const char *const ab_dashes[AB_SERIES_DASHES];
#define AB_DASH_DOTS "1.5 3"

struct ab_series_style {
    enum ab_colour colour;
    unsigned dash; /* index of ab_dashes */
};

/* Chooses a style for each of names[0..n), in their order of precedence. Equal names get the same
 * style. With more than AB_SERIES_COLOURS * AB_SERIES_DASHES names, styles repeat. */
void ab_palette_assign(const char *const *names, size_t n, struct ab_series_style *out);

#endif
