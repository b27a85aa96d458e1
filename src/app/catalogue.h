/* SPDX-License-Identifier: MIT
 *
 * Lists all that a user can name: back ends and their settings, checks, formats, metrics, and the
 * words of gates.
 */
#ifndef AB_APP_CATALOGUE_H
#define AB_APP_CATALOGUE_H

#include "backend/presets.h"
#include "backend/selection.h"
#include "exchange/formats.def"
#include "result/result.h"
#include "result/result_fields.h"

enum ab_names {
    AB_NAMES_BACKENDS, /* presets (known libraries), then built-ins */
    AB_NAMES_SWEEPS,   /* back ends with rows of --sweep */
    AB_NAMES_CHECKS,   /* names of the checks of `verify` */
    AB_NAMES_FORMATS,  /* names of the formats of other tools' traces */
};
/* Returns the i-th name; NULL past the end. */
const char *ab_catalogue_name(enum ab_names what, size_t i);
bool ab_catalogue_has(enum ab_names what, const char *name);

struct ab_listed_backend { /* a library or a built-in */
    const char *name, *kind, *boundary, *status;
    const struct ab_selection *found;
    const struct ab_preset *preset;
    const struct ab_backend *builtin;
    /* text that says whether the back end is measured if no back end is named */
    const char *by_default;
    const struct ab_sweep_row *sweep;
    size_t n_sweep;
};

struct ab_backend_list {
    struct ab_listed_backend *items; /* the libraries first */
    size_t n;
    /* n_defaults rules that say which built-ins are measured without -b */
    const struct ab_default *defaults;
    size_t n_defaults;
};
typedef enum ab_status ab_take_backends(void *user, const struct ab_backend_list *list,
                                        struct ab_err *err);
/* Passes to `take` a list of the back ends that -b knows on this machine. Loads no library. */
enum ab_status ab_backends_list(ab_take_backends *take, void *user, struct ab_err *err);

struct ab_listed_metric { /* one row of the list of metrics */
    const char *group, *name, *unit, *doc;
    enum ab_field_better better;
    char gate[96];
};

struct ab_metric_list {
    struct ab_listed_metric *items;
    size_t n, cap;
};

/* Lists all metrics. `list` begins as {0}; the caller frees its items. */
void ab_metrics_list(struct ab_metric_list *list);

/* Receives a possible word of a gate, and the text that follows the word in the gate. */
typedef void ab_take_word(void *user, const char *word, const char *end);
/* Lists the words that may follow PHASE/ in a gate, or PHASE/OP/ if `op` of `n` characters is not
 * NULL. */
void ab_gate_words(const char *op, size_t n, ab_take_word *take, void *user);

#endif
