/* SPDX-License-Identifier: MIT
 *
 * A malloc must come whole. With only some of the functions preloaded, blocks of one allocator
 * reach the free of another as soon as anything calls a function that is missing.
 */
#include "backend/library.h"

#include "base/bits.h"
#include "core/elf.h"
#include "core/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const symbols[] = {
    "malloc",          "free",          "calloc",         "realloc",
    "memalign",        "aligned_alloc", "posix_memalign", "malloc_usable_size",
    AB_BACKEND_SYMBOL,
};

enum { N_MALLOC = 8, ALL_OF_MALLOC = (1 << N_MALLOC) - 1, PLUGIN = 1 << N_MALLOC };
_Static_assert(AB_ARRAY_LEN(symbols) == N_MALLOC + 1, "the plug-in's symbol is the last");

static void refuse(struct ab_selection *s, enum ab_selection_state state, const char *reason)
{
    struct ab_err text;
    ab_fail(&text, AB_BACKEND, "%s", reason);
    s->state = state;
    memcpy(s->reason, text.text, sizeof s->reason);
}

static void refuse_part(struct ab_selection *s, uint64_t defined)
{
    struct ab_text t = {0};
    ab_text_add(&t, "defines malloc, but not");
    const char *separator = " ";
    for (size_t i = 0; i < N_MALLOC; i++)
        if ((defined >> i & 1) == 0) {
            ab_text_addf(&t, "%s%s", separator, symbols[i]);
            separator = ", ";
        }
    ab_text_add(&t, ": its blocks would mix with those of the C library");
    refuse(s, AB_SELECTION_WRONG_LIBRARY,
           t.s != NULL ? t.s : "defines only part of the malloc family");
    ab_text_fini(&t);
}

/* Functions with a prefix: malloc and free there, the others as far as they are. */
static void classify_prefix(const char *path, struct ab_selection *s)
{
    char names[2][64];
    const char *const wanted[] = {names[0], names[1]};
    struct ab_elf elf;
    struct ab_err err;
    snprintf(names[0], sizeof names[0], "%smalloc", s->prefix);
    snprintf(names[1], sizeof names[1], "%sfree", s->prefix);
    s->source = AB_SOURCE_PREFIX;
    if (ab_elf_read(path, wanted, 2, &elf, &err) == AB_OK && elf.defined == 3)
        return;
    ab_fail(&err, AB_BACKEND, "does not define %s and %s", names[0], names[1]);
    refuse(s, AB_SELECTION_WRONG_LIBRARY, err.text);
}

static void classify_symbols(const struct ab_elf *elf, struct ab_selection *s)
{
    if (elf->is_executable)
        refuse(s, AB_SELECTION_WRONG_LIBRARY, "is a program, not a shared library");
    else if (!elf->is_dynamic)
        refuse(s, AB_SELECTION_WRONG_LIBRARY, "has no dynamic symbols");
    else if (s->prefix[0] != 0)
        classify_prefix(s->path, s);
    else if ((elf->defined & PLUGIN) != 0)
        s->source = AB_SOURCE_PLUGIN;
    else if ((elf->defined & ALL_OF_MALLOC) == ALL_OF_MALLOC)
        s->source = AB_SOURCE_PRELOAD;
    else if ((elf->defined & 1) != 0)
        refuse_part(s, elf->defined);
    else
        refuse(s, AB_SELECTION_WRONG_LIBRARY,
               "defines neither malloc nor " AB_BACKEND_SYMBOL ": nothing to measure");
}

void ab_library_classify(const char *path, struct ab_selection *s)
{
    struct ab_elf elf;
    struct ab_err err;
    s->source = AB_SOURCE_PRELOAD;
    char *real = realpath(path, NULL);
    if (real == NULL || strlen(real) >= sizeof s->path) {
        bool is_absent = real == NULL && (errno == ENOENT || errno == ENOTDIR);
        ab_fail(&err, AB_BACKEND, "%s", real != NULL ? "has too long a path" : strerror(errno));
        refuse(s, is_absent ? AB_SELECTION_ABSENT : AB_SELECTION_WRONG_LIBRARY,
               is_absent ? "does not exist" : err.text);
        goto out;
    }
    strcpy(s->path, real);
    if (ab_elf_read(real, symbols, AB_ARRAY_LEN(symbols), &elf, &err) != AB_OK) {
        refuse(s, AB_SELECTION_WRONG_LIBRARY, err.text);
        goto out;
    }
    s->dev = elf.dev;
    s->ino = elf.ino;
    memcpy(s->build_id, elf.build_id, sizeof s->build_id);
    classify_symbols(&elf, s);
out:
    free(real);
}
