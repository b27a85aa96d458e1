/* SPDX-License-Identifier: MIT
 *
 * Spells one back end, one check and what they depend on as they have to be typed.
 */
#include "cli/verify/repeat.h"

#include "core/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* One word of a shell. */
static void add_word(struct ab_text *t, const char *word)
{
    bool is_plain = word[0] != 0 && strpbrk(word, " \t\n'\"\\$`*?<>|&;()#~{}[]!") == NULL;
    ab_text_add(t, is_plain ? " " : " '");
    for (const char *c = word; *c != 0; c++)
        ab_text_addf(t, *c == '\'' ? "'\\%c'" : "%c", *c);
    if (!is_plain)
        ab_text_add(t, "'");
}

static void add_path(struct ab_text *t, const char *path)
{
    for (const char *c = path; *c != 0; c++)
        ab_text_addf(t, strchr(",:={}\\", *c) != NULL ? "\\%c" : "%c", *c);
}

/* A file is shown by its stem, or by the name that it was given. */
static void add_backend(struct ab_text *t, const struct ab_selection *s)
{
    struct ab_text spelled = {0};
    char stem[sizeof s->name];
    size_t n = strcspn(s->name, ":{");
    if (s->is_file) {
        ab_selection_stem(s->path, stem, sizeof stem);
        if (strlen(stem) != n || strncmp(stem, s->name, n) != 0)
            ab_text_addf(&spelled, "%.*s=", (int)n, s->name);
        add_path(&spelled, s->path);
        ab_text_add(&spelled, s->name + n);
    } else {
        ab_text_add(&spelled, s->name);
    }
    if (spelled.s != NULL)
        add_word(t, spelled.s);
    ab_text_fini(&spelled);
}

static void add_option(struct ab_text *t, const char *option, const char *value)
{
    if (value == NULL)
        return;
    ab_text_addf(t, " %s", option);
    add_word(t, value);
}

char *ab_repeat_command(const struct ab_options *o, const struct ab_selection *backend,
                        const char *work, const char *check)
{
    struct ab_text t = {0};
    bool is_called_by_path = strchr(program_invocation_name, '/') != NULL;
    bool is_work = strncmp(check, "work", 4) == 0;
    ab_text_add(&t, "gdb -q -ex run --args");
    add_word(&t, is_called_by_path ? program_invocation_name : "allocbench");
    ab_text_add(&t, " verify");
    add_backend(&t, backend);
    if (is_work && work != NULL)
        add_word(&t, work);
    for (size_t i = 0; is_work && i < o->n_sets; i++)
        add_option(&t, "--set", o->sets[i]);
    add_option(&t, "--backend-path", o->backend_path);
    add_option(&t, "--check", check);
    ab_text_addf(&t, " --seed %" PRIu64 " --no-fork", o->has_seed ? o->seed : 1);
    return t.s;
}
