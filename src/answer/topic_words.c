/* SPDX-License-Identifier: MIT
 *
 * The table of the words of -v, expanded from topics.def.
 */
#include "answer/topic_words.h"

#include <stddef.h>

const enum ab_topic_level ab_topic_levels[AB_TOPIC_WORD_COUNT] = {
#define AB_TOPIC_WORD(id, word, level) AB_LEVEL_##level,
#include "answer/topics.def"
#undef AB_TOPIC_WORD
};

const char *const ab_topic_words[AB_TOPIC_WORD_COUNT + 3] = {
#define AB_TOPIC_WORD(id, word, level) word,
#include "answer/topics.def"
#undef AB_TOPIC_WORD
    "all", "phase=NAME"};

unsigned ab_topic_words_up_to(enum ab_topic_level level)
{
    unsigned bits = 0;
    for (unsigned i = 0; i < AB_TOPIC_WORD_COUNT; i++)
        bits |= ab_topic_levels[i] <= level ? 1u << i : 0;
    return bits;
}
