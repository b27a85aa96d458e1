/* SPDX-License-Identifier: MIT
 *
 * Reads a command line word by word.
 */
#include "core/command_line.h"

#include <stdbool.h>
#include <string.h>

static const char *skip_word(const char *s)
{
    s += ab_text_shell_word(s);
    return *s == ' ' ? s + 1 : s;
}

const char *ab_command_line_arguments(const char *line)
{
    return skip_word(skip_word(line));
}

/* Returns the number of words that the option at `word` takes if the option is one of `names`, else
 * 0. */
static size_t words_of(const char *word, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(word, names[i], length) == 0 && (word[length] == ' ' || word[length] == '='))
            return word[length] == ' ' ? 2 : 1;
    }
    return 0;
}

void ab_command_line_add_without(struct ab_text *t, const char *line, const char *const *names,
                                 size_t n)
{
    bool is_ours = true;
    for (const char *word = line, *end; *word != 0; word = end) {
        size_t n_words = is_ours ? words_of(word, names, n) : 0;
        is_ours = is_ours && strncmp(word, "-- ", 3) != 0;
        end = skip_word(word);
        if (n_words == 0)
            ab_text_addf(t, "%.*s", (int)(end - word), word);
        else if (n_words == 2)
            end = skip_word(end);
    }
    while (t->n > 0 && t->s[t->n - 1] == ' ')
        t->s[--t->n] = 0;
}
