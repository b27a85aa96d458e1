/* SPDX-License-Identifier: MIT */
#include "backend/builtin.h"
#include "backend/presets.h"
#include "backend/selection.h"
#include "cli/commands.h"
#include "core/bits.h"
#include "core/text.h"
#include "core/units.h"

#include <stdio.h>
#include <string.h>

static void print_preset(const struct ab_preset *preset, const struct ab_selection *s,
                         bool is_verbose)
{
    if (s->state == AB_SELECTION_OK)
        printf("  %-13s %-24s %s\n", preset->name, s->version[0] != 0 ? s->version : "installed",
               s->path[0] != 0 ? s->path : preset->summary);
    else
        printf("  %-13s %-24s %s%s\n", preset->name, "absent",
               preset->package != NULL && preset->package[0] != 0 ? "package " : "",
               preset->package != NULL && preset->package[0] != 0 ? preset->package : s->reason);
    if (is_verbose && preset->package[0] != 0)
        printf("  %-13s package %s; every kind of op, several lanes; settings in braces\n", "",
               preset->package);
    if (is_verbose && s->build_id[0] != 0)
        printf("  %-13s build id %s\n", "", s->build_id);
    if (is_verbose)
        printf("  %-13s %s\n", "", preset->summary);
}

static void print_params(const struct ab_backend *b)
{
    for (size_t i = 0; i < b->n_params; i++) {
        const struct ab_param *p = &b->params[i];
        char def[32];
        if (p->type == AB_PARAM_CHOICE)
            snprintf(def, sizeof def, "%s", p->choices[p->def]);
        else if (p->type == AB_PARAM_BYTES)
            ab_units_bytes(def, sizeof def, (double)p->def);
        else
            ab_units_count(def, sizeof def, (double)p->def);
        printf("  %-13s :%s=%s  %s\n", "", p->name, def, p->help);
    }
}

static void print_traits(const struct ab_backend *b)
{
    static const struct {
        uint64_t trait;
        const char *text;
    } traits[] = {
        {AB_TRAIT_THREAD_SAFE, "several lanes"},
        {AB_TRAIT_REMOTE_FREE, "frees by other lanes"},
        {AB_TRAIT_FIXED_SIZE, "one block size"},
        {AB_TRAIT_MOVES, "blocks may move"},
        {AB_TRAIT_NO_FREE, "gives nothing back before a reset"},
    };
    static const char *const names[] = {"alloc_zeroed", "alloc_aligned", "free", "resize",
                                        "usable_size",  "reset",         "purge"};
    const bool hooks[] = {b->alloc_zeroed != NULL, b->alloc_aligned != NULL, b->free != NULL,
                          b->resize != NULL,       b->usable_size != NULL,   b->reset != NULL,
                          b->purge != NULL};
    const char *between = "traits: ";
    printf("  %-13s ", "");
    for (size_t i = 0; i < AB_ARRAY_LEN(traits); i++)
        if ((b->traits & traits[i].trait) != 0) {
            printf("%s%s", between, traits[i].text);
            between = ", ";
        }
    if (b->thread_enter != NULL)
        printf("%sa heap for each lane", between);
    printf("%s", strcmp(between, "traits: ") == 0 ? "one lane; cannot:" : "; cannot:");
    bool is_whole = true;
    for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
        if (!hooks[i]) {
            printf(" %s", names[i]);
            is_whole = false;
        }
    puts(is_whole ? " -" : "");
}

static void print_builtins(bool is_verbose)
{
    puts("\nbuilt in (heap boundary)");
    for (size_t i = 0; i < ab_builtin_count(); i++) {
        const struct ab_backend *b = ab_builtin_at(i);
        printf("  %-13s %s\n", b->name, b->summary);
        if (is_verbose) {
            print_traits(b);
            print_params(b);
        }
    }
}

enum ab_status ab_cmd_list(const struct ab_options *o, int *exit_code, struct ab_err *err)
{
    (void)exit_code;
    if (o->n_args != 1 || strcmp(o->args[0], "backends") != 0)
        return ab_fail(err, AB_USAGE, "list what? allocbench list backends");
    puts("libraries (malloc boundary)");
    for (size_t i = 0; i < ab_preset_count(); i++) {
        struct ab_selection_list list;
        const struct ab_preset *preset = ab_preset_at(i);
        const char *const names[] = {preset->name};
        enum ab_status status = ab_selection_parse(names, 1, NULL, &list, err);
        if (status != AB_OK)
            return status;
        print_preset(preset, &list.items[0], o->is_verbose);
        ab_selection_list_fini(&list);
    }
    print_builtins(o->is_verbose);
    puts("\nand any library by path: one that defines malloc and its kin, or " AB_BACKEND_SYMBOL ",\nor with a prefix: ./libmi.so:prefix=mi_");
    return AB_OK;
}
