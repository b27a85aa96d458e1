/* SPDX-License-Identifier: MIT
 *
 * Strings and temporary memory. A function takes temporary memory from a scratch arena of its
 * thread, and its result from the arena that the caller passed. It names that arena as a conflict,
 * so that the two are different arenas, even if the caller passed a scratch arena.
 *     cc -pthread -I. -o string_building allocators/examples/string_building.c \
 *        allocators/arena/arena.c allocators/arena/arena_scratch.c allocators/common/checked.c \
 *        allocators/common/pages.c
 */
#include "allocators/arena/arena_array.h"
#include "allocators/arena/arena_scratch.h"
#include "allocators/arena/arena_text.h"

#include <ctype.h>

/* Returns the words of the text in upper case, joined by '_'. The result is in the arena `out`. */
static char *constant_name(struct ab_arena *out, const char *text)
{
    AB_SCRATCH(scratch, &out, 1);
    AB_ARRAY(const char *) words = {NULL, 0, 0};
    if (scratch.arena == NULL)
        return NULL;
    while (*text != 0) {
        size_t n = strcspn(text, " ");
        char *word = ab_arena_strndup(scratch.arena, text, n);
        for (size_t i = 0; word != NULL && i < n; i++)
            word[i] = (char)toupper((unsigned char)word[i]);
        if (word == NULL || (n > 0 && !AB_ARRAY_PUSH(scratch.arena, &words, word)))
            return NULL;
        text += n + (text[n] == ' ');
    }
    return ab_arena_join(out, words.at, words.n, "_");
}

/* Returns the text of an enum of the names. Passes a scratch arena to constant_name, which then
 * uses the other scratch arena. */
static char *enumeration(struct ab_arena *out, const char *const *names, size_t n)
{
    AB_SCRATCH(scratch, &out, 1);
    if (scratch.arena == NULL)
        return NULL;
    struct ab_string text = ab_string_begin(out);
    ab_string_add(&text, "enum { ");
    for (size_t i = 0; i < n; i++) {
        const char *name = constant_name(scratch.arena, names[i]);
        if (name == NULL)
            return NULL;
        ab_string_printf(&text, "%s%s = %zu", i > 0 ? ", " : "", name, i);
    }
    ab_string_add(&text, " };");
    return ab_string_end(&text);
}

int main(void)
{
    static const char *const names[] = {"small page", "huge page", "page of the caller"};
    static char memory[4096]; /* enough for the result, without a call to the system */
    struct ab_arena results;
    ab_arena_init_buffer(&results, memory, sizeof memory);
    char *text = enumeration(&results, names, 3);
    if (text == NULL)
        return 1;
    printf("%s\n", text);
    char *line = ab_arena_printf(&results, "%zu bytes for it, %s", strlen(text) + 1, "no free");
    printf("%s\n", line == NULL ? "no memory" : line);
    ab_scratch_close();
    ab_arena_fini(&results);
    return 0;
}
