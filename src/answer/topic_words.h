/* SPDX-License-Identifier: MIT
 *
 * The words of -v, as bits: AB_TOPIC_TIME and so on, from topics.def.
 */
#ifndef AB_ANSWER_TOPIC_WORDS_H
#define AB_ANSWER_TOPIC_WORDS_H

enum {
#define AB_TOPIC_WORD(id, word, level) AB_TOPIC_WORD_##id,
#include "answer/topics.def"
#undef AB_TOPIC_WORD
    AB_TOPIC_WORD_COUNT
};
enum {
#define AB_TOPIC_WORD(id, word, level) AB_TOPIC_##id = 1 << AB_TOPIC_WORD_##id,
#include "answer/topics.def"
#undef AB_TOPIC_WORD
};
enum ab_topic_level { AB_LEVEL_USUAL, AB_LEVEL_COMMON, AB_LEVEL_RARE, AB_LEVEL_ALONE };

extern const enum ab_topic_level ab_topic_levels[AB_TOPIC_WORD_COUNT];
/* The words in the order of the bits, then "all", "phase=NAME" and NULL. */
extern const char *const ab_topic_words[AB_TOPIC_WORD_COUNT + 3];

/* Returns the bits of the words up to a level: AB_LEVEL_USUAL for -v without words,
 * AB_LEVEL_RARE for -v all. */
unsigned ab_topic_words_up_to(enum ab_topic_level level);

#endif
