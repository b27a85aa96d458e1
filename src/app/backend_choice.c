/* SPDX-License-Identifier: MIT
 *
 * Takes from a tape the sums that the rule of the default list needs, and says what came of it.
 */
#include "app/backend_choice.h"

#include "runner/tape_file.h"

#include <string.h>

static struct ab_work work_of(const struct ab_tape_map *tape)
{
    const struct ab_facts *facts = &tape->image->facts;
    return (struct ab_work){.n_requests = facts->total_blocks,
                            .requested_bytes = facts->total_bytes,
                            .largest_bytes = facts->largest_bytes,
                            .live_peak_bytes = facts->live_peak_bytes,
                            .stretch_bytes = tape->image->stretch_bytes};
}

static bool is_chosen_by_work(const struct ab_backend_wish *wish)
{
    return wish->options->n_backends == 0 && wish->n_listed == 0;
}

static enum ab_status add_suited(const struct ab_backend_wish *wish, struct ab_selection_list *list,
                                 struct ab_err *err)
{
    struct ab_work work = work_of(wish->tape);
    for (size_t i = 0; i < ab_default_count() && list->n < AB_DEFAULT_MOST; i++)
        if (ab_default_suits(i, &work))
            AB_TRY(ab_selection_add(list, ab_default_at(i)->name, err));
    return AB_OK;
}

enum ab_status ab_backend_choice_make(const struct ab_backend_wish *wish,
                                      struct ab_selection_list *out, struct ab_err *err)
{
    const struct ab_options *o = wish->options;
    bool is_asked = o->n_backends > 0;
    AB_TRY(ab_selection_parse(is_asked ? o->backends : wish->listed,
                              is_asked ? o->n_backends : wish->n_listed, o->backend_path, out,
                              err));
    for (size_t i = 0; !is_asked && i < out->n; i++)
        out->items[i].was_named = false;
    return is_chosen_by_work(wish) ? add_suited(wish, out, err) : AB_OK;
}

/* ---- in words ---- */

static bool has(const struct ab_selection_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return true;
    return false;
}

static void say_libraries(const struct ab_selection_list *list, struct ab_text *out)
{
    char absent[256] = "";
    size_t n = 0;
    for (size_t i = 0; i < ab_preset_count(); i++) {
        const struct ab_preset *p = ab_preset_at(i);
        n += has(list, p->name);
        if (ab_default_has_library(p) && !has(list, p->name))
            ab_text_join(absent, sizeof absent, ", ", p->name);
    }
    ab_text_addf(out, "%zu malloc librar%s", n, n == 1 ? "y" : "ies");
    if (absent[0] != 0)
        ab_text_addf(out, " (not installed: %s)", absent);
}

void ab_backend_choice_say(const struct ab_backend_wish *wish, const struct ab_selection_list *list,
                           struct ab_text *out)
{
    if (!is_chosen_by_work(wish))
        return;
    say_libraries(list, out);
    for (size_t i = 0; i < ab_default_count(); i++)
        if (has(list, ab_default_at(i)->name))
            ab_text_addf(out, ", %s (%s)", ab_default_at(i)->name, ab_default_at(i)->why);
    ab_text_add(out, "; choose: -b LIST");
}
