/* SPDX-License-Identifier: MIT
 *
 * Reads -v: a list of topics, of which "phase=NAME" is one that takes all others with it.
 */
#include "cli/options/option_topic.h"

#include "cli/options/option_value.h"
#include "report/table/style.h"

#include <string.h>

static const char phase_prefix[] = "phase=";
/* In the order of `bits`; ends with NULL. */
const char *const ab_option_topics[] = {"time",        "size", "worst",      "memory",
                                        "percentiles", "all",  "phase=NAME", NULL};
static const unsigned bits[] = {AB_TOPIC_TIME,   AB_TOPIC_SIZE,        AB_TOPIC_WORST,
                                AB_TOPIC_MEMORY, AB_TOPIC_PERCENTILES, AB_TOPICS_ALL};

static bool is_phase(const char *word)
{
    return strncmp(word, phase_prefix, strlen(phase_prefix)) == 0 &&
           word[strlen(phase_prefix)] != 0;
}

/* 0 = none of them. */
static unsigned bits_of(const char *word, size_t n)
{
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        if (strlen(ab_option_topics[i]) == n && strncmp(ab_option_topics[i], word, n) == 0)
            return bits[i];
    return 0;
}

bool ab_option_is_topic(const char *word)
{
    for (const char *s = word;; s++) {
        size_t n = strcspn(s, ",");
        if (is_phase(s))
            return true;
        if (bits_of(s, n) == 0)
            return false;
        s += n;
        if (*s == 0)
            return true;
    }
}

/* A phase is named last: its name may have commas. */
enum ab_status ab_option_topic(const char *name, const char *value, struct ab_options *o,
                               struct ab_err *err)
{
    size_t ignored;
    o->is_verbose = true;
    if (value == NULL) {
        o->topics |= AB_TOPICS_USUAL;
        return AB_OK;
    }
    for (const char *s = value;; s++) {
        size_t n = strcspn(s, ",");
        unsigned bit = bits_of(s, n);
        if (is_phase(s)) {
            o->topic_phase = s + strlen(phase_prefix);
            o->topics |= s == value ? AB_TOPICS_ALL : 0;
            return AB_OK;
        }
        if (bit == 0)
            return ab_option_word(name, s, ab_option_topics, &ignored, err) == AB_OK
                       ? ab_option_bad_value(name, s, "give the name of a phase", err)
                       : AB_USAGE;
        o->topics |= bit;
        s += n;
        if (*s == 0)
            return AB_OK;
    }
}
