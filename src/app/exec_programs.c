/* SPDX-License-Identifier: MIT
 *
 * Reads --program and --prepare, and makes the rows of `exec`.
 */
#include "app/exec_programs.h"

#include "backend/presets.h"
#include "core/alloc.h"
#include "core/elf.h"
#include "core/file_digest.h"
#include "core/text.h"
#include "program/program_file.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 300 };

/* ---- words of a command ---- */

struct splitting {
    const char *at; /* next character to read */
    char **words;   /* words so far; ends with NULL */
    size_t n;
    struct ab_err *err;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static enum ab_status refuse_for_shell(const struct splitting *s, char c)
{
    return ab_fail(s->err, AB_USAGE,
                   "'%c' is for a shell, and no shell runs the command; quote it to pass it on, or "
                   "run sh -c '...'",
                   c);
}

/* Appends the text in double quotes to the word. s->at points just past the opening quote. */
static enum ab_status take_double_quoted(struct splitting *s, struct ab_text *word)
{
    for (; *s->at != 0 && *s->at != '"'; s->at++) {
        if (*s->at == '$' || *s->at == '`')
            return refuse_for_shell(s, *s->at);
        if (*s->at == '\\' && s->at[1] != 0 && strchr("\\\"$`", s->at[1]) != NULL)
            s->at++;
        ab_text_addf(word, "%c", *s->at);
    }
    return *s->at == '"' ? AB_OK : ab_fail(s->err, AB_USAGE, "a quote (\") has no end");
}

static enum ab_status take_single_quoted(struct splitting *s, struct ab_text *word)
{
    size_t n = strcspn(s->at, "'");
    ab_text_addf(word, "%.*s", (int)n, s->at);
    s->at += n;
    return *s->at == '\'' ? AB_OK : ab_fail(s->err, AB_USAGE, "a quote (') has no end");
}

/* Appends the next word, whose first character is at s->at, to `word`. */
static enum ab_status take_word(struct splitting *s, struct ab_text *word)
{
    for (; *s->at != 0 && !is_blank(*s->at); s->at++) {
        char c = *s->at;
        if (c == '\'' || c == '"') {
            s->at++;
            AB_TRY(c == '"' ? take_double_quoted(s, word) : take_single_quoted(s, word));
        } else if (c == '\\' && s->at[1] != 0) {
            ab_text_addf(word, "%c", *++s->at);
        } else if (strchr("|&;<>()$`*?[", c) != NULL) {
            return refuse_for_shell(s, c);
        } else {
            ab_text_addf(word, "%c", c);
        }
    }
    return AB_OK;
}

static void free_words(char **words)
{
    for (size_t i = 0; words != NULL && words[i] != NULL; i++)
        free(words[i]);
    free(words);
}

/* Splits `text` into words as a shell does, with quotes and backslashes, without running a shell.
 * Returns AB_USAGE, and *words NULL, for a quote without its end or for text without a word. Also
 * refuses unquoted characters that have a meaning to a shell, such as a pipe. */
static enum ab_status split(const char *text, char ***words, struct ab_err *err)
{
    struct splitting s = {.at = text, .err = err};
    enum ab_status status = AB_OK;
    while (status == AB_OK) {
        struct ab_text word = {0};
        while (is_blank(*s.at))
            s.at++;
        if (*s.at == 0)
            break;
        ab_text_add(&word, ""); /* the word may be empty: '' */
        status = take_word(&s, &word);
        s.words = ab_realloc(s.words, s.n + 2, sizeof s.words[0]);
        s.words[s.n++] = word.s;
        s.words[s.n] = NULL;
    }
    if (status == AB_OK && s.n == 0)
        status = ab_fail(err, AB_USAGE, "there is no command");
    if (status != AB_OK) {
        free_words(s.words);
        s.words = NULL;
    }
    *words = s.words;
    return status;
}

/* ---- reading ---- */

static enum ab_status find_file(struct ab_exec_program *p, struct ab_err *err)
{
    static const struct ab_program_use measuring = {
        .done = "measured",
        .loaded = "an allocator",
        .needs = "allocators need glibc",
    };
    const char *command = p->command.argv[0];
    if (!ab_program_file_find(command, p->path, sizeof p->path))
        return ab_fail(err, AB_USAGE, "%s: no such program, or it is not executable%s",
                       AB_SHOWN(512, command), ab_program_file_hint(command));
    p->command.path = p->path;
    if (!ab_file_digest(p->path, p->sha256))
        p->sha256[0] = 0;
    return ab_program_file_check(p->path, &measuring, err);
}

/* Copies the name before the '='. */
static enum ab_status read_name(const char *text, struct ab_exec_program *p, struct ab_err *err)
{
    const char *sign = strchr(text, '=');
    size_t n = sign != NULL ? (size_t)(sign - text) : 0, i = 0;
    while (i < n && (isalnum((unsigned char)text[i]) || (i > 0 && strchr("._-", text[i]) != NULL)))
        i++;
    if (n == 0 || i < n || n >= sizeof p->name)
        return ab_fail(err, AB_USAGE,
                       "--program '%s': expected NAME=COMMAND, with a name of up to %zu letters, "
                       "digits, '.', '_' and '-', and a letter or digit first",
                       AB_SHOWN(SHOWN, text), sizeof p->name - 1);
    AB_FIT(p->name, "%.*s", (int)n, text);
    if (ab_preset_find(p->name) != NULL)
        return ab_fail(err, AB_USAGE,
                       "--program '%s': %s is the name of an allocator; choose another",
                       AB_SHOWN(SHOWN, text), p->name);
    p->text = sign + 1;
    return AB_OK;
}

static enum ab_status read_program(const char *text, struct ab_exec_programs *out,
                                   struct ab_err *err)
{
    char context[SHOWN + 40];
    struct ab_exec_program *p = &out->items[out->n++];
    AB_FIT(context, "--program '%s': ", AB_SHOWN(SHOWN, text));
    AB_TRY(read_name(text, p, err));
    for (struct ab_exec_program *other = out->items; other < p; other++)
        if (strcmp(other->name, p->name) == 0)
            return ab_fail(err, AB_USAGE, "--program: two are named %s", p->name);
    enum ab_status status = split(p->text, &p->words, err);
    if (status == AB_OK) {
        p->command.argv = (const char *const *)p->words;
        status = find_file(p, err);
    }
    if (status != AB_OK)
        ab_err_context(err, "%s", context);
    return status;
}

/* Returns the text after "NAME=" in an argument of --prepare, if NAME is a program; else NULL. */
static const char *prepares_only(const struct ab_exec_program *p, const char *text)
{
    size_t n = strlen(p->name);
    return n > 0 && strncmp(text, p->name, n) == 0 && text[n] == '=' ? text + n + 1 : NULL;
}

/* Assigns the commands of --prepare to the programs. A command for one program wins over one for
 * all. Of two for the same program, the last wins. */
static void read_prepares(const struct ab_program_wanted *wanted, struct ab_exec_programs *out)
{
    for (uint32_t i = 0; i < out->n; i++) {
        const char *for_all = NULL, *own = NULL;
        for (size_t k = 0; k < wanted->n_prepares; k++) {
            const char *text = wanted->prepares[k];
            bool is_for_one = false;
            for (uint32_t other = 0; other < out->n; other++)
                is_for_one = is_for_one || prepares_only(&out->items[other], text) != NULL;
            if (!is_for_one)
                for_all = text;
            else if (prepares_only(&out->items[i], text) != NULL)
                own = prepares_only(&out->items[i], text);
        }
        out->items[i].command.prepare = own != NULL ? own : for_all;
    }
}

/* Refuses options that make sense for a single program only. */
static enum ab_status check_options(const struct ab_exec_request *asked, struct ab_err *err)
{
    const struct ab_program_wanted *wanted = &asked->program;
    if (asked->measure.n_args > 0)
        return ab_fail(err, AB_USAGE,
                       "--program and a command after -- are mutually exclusive: give the command "
                       "a name as well, --program NAME=COMMAND");
    if (asked->server.is_server || wanted->trace != NULL)
        return ab_fail(err, AB_USAGE, "--program and --%s are mutually exclusive",
                       asked->server.is_server ? "server" : "trace");
    if (wanted->n_programs < 2)
        return ab_fail(err, AB_USAGE,
                       "--program: two or more are compared; a single one is measured by "
                       "allocbench exec -- COMMAND");
    if (wanted->n_programs > AB_PROGRAMS_MAX)
        return ab_fail(err, AB_USAGE, "--program: at most %d", AB_PROGRAMS_MAX);
    return AB_OK;
}

enum ab_status ab_exec_programs_read(const struct ab_exec_request *asked,
                                     struct ab_exec_programs *out, struct ab_err *err)
{
    const struct ab_program_wanted *wanted = &asked->program;
    *out = (struct ab_exec_programs){0};
    if (wanted->n_programs > 0)
        AB_TRY(check_options(asked, err));
    else if (asked->measure.n_args == 0)
        return ab_fail(err, AB_USAGE,
                       "exec needs a command: allocbench exec -b glibc,jemalloc -- ./app …");
    out->items = ab_alloc_zeroed(wanted->n_programs + 1, sizeof out->items[0]);
    for (size_t i = 0; i < wanted->n_programs; i++)
        AB_TRY(read_program(wanted->programs[i], out, err));
    if (wanted->n_programs == 0) {
        out->items[out->n++].command.argv = asked->measure.args;
        AB_TRY(find_file(&out->items[0], err));
    }
    read_prepares(wanted, out);
    return AB_OK;
}

void ab_exec_programs_fini(struct ab_exec_programs *programs)
{
    for (uint32_t i = 0; i < programs->n; i++)
        free_words(programs->items[i].words);
    free(programs->items);
    free(programs->rows);
    *programs = (struct ab_exec_programs){0};
}

/* ---- rows ---- */

/* Names a row after its program. Keeps the name of the allocator as the row's full name. */
static enum ab_status name_row(const struct ab_exec_program *p, bool has_one_allocator,
                               struct ab_selection *s, struct ab_err *err)
{
    char allocator[sizeof s->name];
    if (p->name[0] == 0)
        return AB_OK;
    AB_COPY(allocator, s->name);
    if (s->full_name[0] == 0)
        AB_COPY(s->full_name, allocator);
    if (has_one_allocator)
        AB_COPY(s->name, p->name);
    else if ((size_t)snprintf(s->name, sizeof s->name, "%s@%s", p->name, allocator) >=
             sizeof s->name)
        return ab_fail(err, AB_USAGE,
                       "the name of the row %s@%s is too long: give the allocator a short one, -b "
                       "'NAME=%s'",
                       p->name, AB_SHOWN(200, allocator), AB_SHOWN(200, allocator));
    return AB_OK;
}

/* Creates the row of the malloc that the program brings along, named after its file. */
static enum ab_status make_own(const struct ab_exec_program *p, struct ab_selection *out,
                               struct ab_err *err)
{
    struct ab_elf elf;
    const char *slash = strrchr(p->own.path, '/');
    if (p->own.served.path == NULL)
        return ab_fail(
            err, AB_USAGE,
            "--own-malloc: %s brings no malloc of its own along: the C library serves it",
            AB_SHOWN(512, p->path));
    AB_TRY(ab_elf_read(p->own.path, NULL, 0, &elf, err));
    *out = (struct ab_selection){
        .source = AB_SOURCE_PRELOAD, .was_named = true, .dev = elf.dev, .ino = elf.ino};
    AB_FIT(out->name, "own-%s", slash != NULL ? slash + 1 : p->own.path);
    AB_COPY(out->path, p->own.path);
    AB_COPY(out->build_id, elf.build_id);
    return AB_OK;
}

enum ab_status ab_exec_programs_make_rows(struct ab_exec_programs *programs, bool wants_own,
                                          struct ab_selection_list *list, struct ab_err *err)
{
    const size_t n_allocators = list->n + wants_own, n = n_allocators * programs->n;
    for (uint32_t i = 0; i < programs->n; i++) {
        struct ab_exec_program *p = &programs->items[i];
        AB_TRY(ab_own_malloc_find(p->path, p->command.argv, &p->own, err));
    }
    if (n > AB_SELECTION_MAX)
        return ab_fail(err, AB_USAGE, "%u programs under %zu allocators are %zu rows; at most %d",
                       programs->n, n_allocators, n, AB_SELECTION_MAX);
    struct ab_selection *items = ab_alloc_zeroed(n + 1, sizeof items[0]);
    enum ab_status status = AB_OK;
    programs->rows = ab_alloc_zeroed(n + 1, sizeof programs->rows[0]);
    for (size_t i = 0; i < n && status == AB_OK; i++) {
        const size_t allocator = i % n_allocators;
        const struct ab_exec_program *p = &programs->items[i / n_allocators];
        programs->rows[i] = (struct ab_exec_row){(uint32_t)(i / n_allocators),
                                                 allocator == list->n};
        if (allocator == list->n)
            status = make_own(p, &items[i], err);
        else
            items[i] = list->items[allocator];
        if (status == AB_OK)
            status = name_row(p, n_allocators == 1, &items[i], err);
    }
    free(list->items);
    *list = (struct ab_selection_list){items, n};
    return status;
}
