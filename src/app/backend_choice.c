/* SPDX-License-Identifier: MIT
 *
 * Describes a tape's work to the rule of the default list, chooses back ends, and describes the
 * choice.
 */
#include "app/backend_choice.h"

#include "backend/settings.h"
#include "core/alloc.h"
#include "tape/tape_file.h"

#include <stdio.h>
#include <stdlib.h>
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
    return wish->asked->n == 0 && wish->n_listed == 0;
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
    const struct ab_backends_wanted *asked = wish->asked;
    bool is_asked = asked->n > 0;
    AB_TRY(ab_selection_parse(is_asked ? asked->names : wish->listed,
                              is_asked ? asked->n : wish->n_listed, asked->path, out, err));
    for (size_t i = 0; !is_asked && i < out->n; i++)
        out->items[i].was_named = false;
    if (is_asked && !asked->are_stored)
        AB_TRY(ab_case_check_files(out, err));
    return is_chosen_by_work(wish) ? add_suited(wish, out, err) : AB_OK;
}

/* ---- the choice in words ---- */

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

static void copy(char *dst, size_t cap, const char *src)
{
    snprintf(dst, cap, "%s", src);
}

static enum ab_backend_status status_of(const struct ab_selection *s)
{
    return s->state == AB_SELECTION_OK       ? AB_BACKEND_OK
           : s->state == AB_SELECTION_ABSENT ? AB_BACKEND_ABSENT
                                             : AB_BACKEND_WRONG_LIBRARY;
}

void ab_case_describe(const struct ab_selection *s, struct ab_backend_info *b)
{
    copy(b->name, sizeof b->name, s->name);
    b->boundary = ab_boundary_names[ab_selection_boundary(s)];
    copy(b->version, sizeof b->version, s->version);
    copy(b->path, sizeof b->path, s->path);
    copy(b->build_id, sizeof b->build_id, s->build_id);
    copy(b->package, sizeof b->package, s->package);
    copy(b->full_name, sizeof b->full_name, s->full_name);
    copy(b->settings, sizeof b->settings,
         ab_backend_settings(s->full_name[0] != 0 ? s->full_name : s->name));
    copy(b->reason, sizeof b->reason, s->reason);
    b->was_named = s->was_named;
    b->is_control = s->is_control;
    b->never_frees = s->never_frees;
    b->aging = s->aging;
    b->status = status_of(s);
}

enum ab_status ab_case_check_stranger(const struct ab_selection *s, bool is_of_result,
                                      const char *option, struct ab_err *err)
{
    const char *who = is_of_result ? "result" : "workload";
    const char *otherwise = is_of_result ? "name all again" : "use --allow-plugins, or name it";
    if (s->is_file)
        return ab_fail(err, AB_USAGE,
                       "the %s names the library %s as a back end; to run its code %s with %s", who,
                       AB_SHOWN(300, s->name), otherwise, option);
    for (uint32_t i = 0; i < s->n_env; i++)
        if (!ab_settings_is_harmless(s->env[i]))
            return ab_fail(err, AB_USAGE,
                           "the %s sets %s for the back end %.*s; it may only set variables that "
                           "cannot name a file (allocbench explain environment); to set it %s "
                           "with %s",
                           who, AB_SHOWN(300, s->env[i]), (int)strcspn(s->name, "{"), s->name,
                           otherwise, option);
    return AB_OK;
}

enum ab_status ab_case_check_strangers(const struct ab_backends_wanted *asked,
                                       const struct ab_selection_list *list, struct ab_err *err)
{
    bool is_chosen = asked->are_stored || (asked->n == 0 && !asked->allows_plugins);
    for (size_t i = 0; is_chosen && i < list->n; i++)
        AB_TRY(ab_case_check_stranger(&list->items[i], asked->are_stored, "-b", err));
    return AB_OK;
}

enum ab_status ab_case_check_files(const struct ab_selection_list *list, struct ab_err *err)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].is_file && list->items[i].state != AB_SELECTION_OK)
            return ab_fail(err, AB_BACKEND, "%s: %s; nothing was measured",
                           AB_SHOWN(256, list->items[i].name), list->items[i].reason);
    return AB_OK;
}

bool ab_case_is_error(const struct ab_backend_info *b)
{
    return !ab_backend_status_has_numbers(b->status) &&
           (b->was_named || b->status != AB_BACKEND_ABSENT);
}

bool ab_case_has_failed(const struct ab_session *s)
{
    bool has_failed = false;
    for (uint32_t i = 0; i < s->n_backends; i++)
        has_failed = has_failed || ab_case_is_error(&s->backends[i]);
    return has_failed;
}

void ab_case_make(const struct ab_selection *s, struct ab_case *c)
{
    c->source = s->source;
    c->boundary = s->is_inline ? ab_selection_boundary(s) : ab_source_boundary(s->source);
    c->path = s->path[0] != 0 ? s->path : NULL;
    c->dev = s->dev;
    c->ino = s->ino;
    c->builtin = s->builtin != NULL ? s->builtin->name : NULL;
    memcpy(c->values, s->values, sizeof c->values);
    c->prefix = s->prefix;
    c->params = s->params;
    c->decorator = s->is_checked    ? AB_DECORATOR_CHECKED
                   : s->fault_n > 0 ? AB_DECORATOR_FAULT
                                    : AB_DECORATOR_NONE;
    c->fault_n = s->fault_n;
    c->purge_ns = s->purge_ns;
    c->aging = s->aging;
    for (uint32_t i = 0; i < s->n_env; i++)
        c->env[i] = s->env[i];
}

/* Functions that turn the names of --sweep into entries of -b. The entries are string constants, so
 * nobody has to free them. */

/* True if -b contains the entry. */
static bool is_there(const struct ab_backends_wanted *wanted, const char *entry)
{
    bool found = false;
    for (size_t i = 0; i < wanted->n && !found; i++) {
        char *copy = ab_strdup(wanted->names[i]);
        for (char *at = copy, *next; at != NULL && !found; at = next) {
            next = ab_settings_comma(at);
            if (next != NULL)
                *next++ = 0;
            found = strcmp(at, entry) == 0;
        }
        free(copy);
    }
    return found;
}

static void add_row(struct ab_backends_wanted *wanted, const char *entry)
{
    if (!is_there(wanted, entry))
        ab_grow_words(&wanted->names, &wanted->n, entry);
}

static enum ab_status add_rows_of(struct ab_backends_wanted *wanted, const char *name,
                                  struct ab_err *err)
{
    const struct ab_sweep_row *rows;
    size_t n;
    AB_TRY(ab_sweep_find(name, &rows, &n, err));
    for (size_t i = 0; i < n; i++)
        add_row(wanted, rows[i].spelling);
    return AB_OK;
}

/* Adds the back ends that advise measures by default, if -b names one back end or none. */
static void add_defaults(struct ab_backends_wanted *wanted)
{
    char *copy = wanted->n == 1 ? ab_strdup(wanted->names[0]) : NULL;
    bool is_list = wanted->n > 1 || (copy != NULL && ab_settings_comma(copy) != NULL);
    free(copy);
    if (is_list)
        return;
    if (wanted->n == 0)
        add_row(wanted, "glibc");
    add_row(wanted, "libraries");
}

enum ab_status ab_sweeps_expand(struct ab_backends_wanted *wanted, const char *const *sweeps,
                                size_t n_sweeps, bool is_beside_defaults, struct ab_err *err)
{
    char name[128];
    if (is_beside_defaults && n_sweeps > 0)
        add_defaults(wanted);
    for (size_t i = 0; i < n_sweeps; i++)
        for (const char *p = sweeps[i]; p != NULL; p = strchr(p, ',')) {
            p += p > sweeps[i];
            AB_FIT(name, "%.*s", (int)strcspn(p, ","), p);
            AB_TRY(add_rows_of(wanted, name, err));
        }
    return AB_OK;
}
