/* SPDX-License-Identifier: MIT
 *
 * Lists what -b can name here. Nothing is loaded: versions are those of packages and paths, and a
 * missing one is shown as such.
 */
#include "cli/list/list_backends.h"

#include "allocators/builtin.h"
#include "backend/defaults.h"
#include "backend/presets.h"
#include "backend/sweep.h"
#include "cli/list/list_backends_json.h"
#include "core/text.h"
#include "report/output.h"
#include "report/table/table.h"

#include <stdio.h>
#include <string.h>

enum { NAME_WIDTH = 16 };

/* A further line about the back end above. */
static void print_label(const char *label)
{
    printf("  %-*s %-8s ", NAME_WIDTH, "", label);
}

/* Prints the rows that --sweep makes of it. */
static void print_sweep(const char *name)
{
    size_t n;
    const struct ab_sweep_row *rows = ab_sweep_rows(name, &n);
    for (size_t i = 1; i < n; i++) {
        print_label(i == 1 ? "sweep" : "");
        printf("%s: %s\n", rows[i].settings, rows[i].says);
    }
}

static void print_library(const struct ab_preset *p, const struct ab_selection *s, bool is_verbose)
{
    char path[4096 + 64];
    ab_text_printable(path, sizeof path, s->path);
    printf("  %-*s ", NAME_WIDTH, p->name);
    if (s->state == AB_SELECTION_ABSENT)
        printf("%-19s package %s\n", "absent", p->package);
    else if (s->state != AB_SELECTION_OK)
        printf("%-19s %s %s\n", "wrong library", path, s->reason);
    else
        printf("%-19s %s\n", s->version[0] != 0 ? s->version : "version unknown",
               path[0] != 0 ? path : "built into libc");
    if (!is_verbose)
        return;
    print_label("is");
    printf("%s\n", p->summary);
    print_label("package");
    printf("%s\n", p->package);
    if (s->build_id[0] != 0) {
        print_label("build id");
        printf("%s\n", s->build_id);
    }
    print_label("settings");
    printf("'%s{VARIABLE=VALUE;…}'\n", p->name);
    print_sweep(p->name);
}

static void print_traits(const struct ab_backend *b)
{
    const char *between = "";
    print_label("traits");
    if ((b->traits & AB_TRAIT_THREAD_SAFE) == 0) {
        printf("%s", b->thread_enter != NULL ? "one heap per thread" : "single-threaded");
        between = ", ";
    }
    for (const struct ab_trait_words *t = ab_list_traits; t->name != NULL; t++)
        if ((b->traits & t->trait) != 0) {
            printf("%s%s", between, t->text);
            between = ", ";
        }
    putchar('\n');
}

static void print_missing(const struct ab_backend *b)
{
    const struct ab_hook *hook;
    bool is_whole = true;
    for (size_t i = 0; (hook = ab_list_hook(i)) != NULL; i++) {
        if (ab_list_has_hook(b, hook))
            continue;
        if (is_whole)
            print_label("without");
        printf("%s%s", is_whole ? "" : ", ", hook->name);
        is_whole = false;
    }
    if (!is_whole)
        putchar('\n');
}

static void print_params(const struct ab_backend *b)
{
    char def[32], allowed[128];
    for (size_t i = 0; i < b->n_params; i++) {
        const struct ab_param *p = &b->params[i];
        print_label(i == 0 ? "settings" : "");
        printf(":%s=%s (%s) %s\n", p->name, ab_list_value(def, sizeof def, p, p->def),
               ab_list_allowed(allowed, sizeof allowed, p), p->help);
    }
}

/* The rule for those that are measured where none is named. */
static void print_default(void)
{
    char text[1024];
    puts("\nwithout -b (and without a list in the workload)");
    puts("  each installed library; tcmalloc_minimal only where there is no other tcmalloc");
    for (size_t i = 0; i < ab_default_count(); i++) {
        const struct ab_default *d = ab_default_at(i);
        snprintf(text, sizeof text, "  %s: %s%s", d->name, d->is_suited != NULL ? "where " : "",
                 d->rule);
        ab_table_prose(stdout, (struct ab_table_style){.width = 80}, AB_PLAIN, text);
    }
}

static void print_all(const struct ab_listing *l, bool is_verbose)
{
    puts("libraries (malloc boundary)");
    for (size_t i = 0; i < ab_preset_count(); i++)
        print_library(ab_preset_at(i), &l->presets[i].items[0], is_verbose);
    puts("\nbuilt in (heap boundary)");
    for (size_t i = 0; i < ab_builtin_count(); i++) {
        const struct ab_backend *b = ab_builtin_at(i);
        printf("  %-*s %s\n", NAME_WIDTH, b->name, b->summary);
        if (is_verbose) {
            print_traits(b);
            print_missing(b);
            print_params(b);
            print_sweep(b->name);
        }
    }
    print_default();
    puts("\nand any library by its path: one that defines the malloc family, or " AB_BACKEND_SYMBOL
         ",\nor the same functions with a prefix: ./libmi.so:prefix=mi_");
}

static enum ab_status write_json(const char *path, const struct ab_listing *l, struct ab_err *err)
{
    struct ab_output out;
    AB_TRY(ab_output_open(path, &out, err));
    if (ab_list_json(out.to, l))
        return ab_output_commit(&out, err);
    ab_output_abandon(&out);
    return ab_fail(err, AB_SYSTEM, "out of memory");
}

enum ab_status ab_list_backends(const struct ab_options *o, struct ab_err *err)
{
    struct ab_listing listing = {.presets = {{0}}};
    enum ab_status status = AB_OK;
    for (size_t i = 0; i < ab_preset_count() && status == AB_OK; i++)
        status = ab_selection_parse(&ab_preset_at(i)->name, 1, NULL, &listing.presets[i], err);
    if (status == AB_OK && o->json != NULL)
        status = write_json(o->json, &listing, err);
    if (status == AB_OK && (o->json == NULL || strcmp(o->json, "-") != 0))
        print_all(&listing, o->is_verbose);
    for (size_t i = 0; i < ab_preset_count(); i++)
        ab_selection_list_fini(&listing.presets[i]);
    return status;
}
