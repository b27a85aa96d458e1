/* SPDX-License-Identifier: MIT
 *
 * The options of all commands, described once: parser, --help, manual page, completion and the
 * tests that police the table all come from it. A new option is a row here and a member of
 * struct ab_options.
 */
#ifndef AB_CLI_OPTION_TABLE_H
#define AB_CLI_OPTION_TABLE_H

#include "app/options.h"
#include "base/units.h"
#include "cli/commands.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ab_option_type {
    AB_OPTION_FLAG,    /* a bool; takes no value */
    AB_OPTION_TEXT,    /* a const char *, as it was given */
    AB_OPTION_LIST,    /* a const char ** that grows each time the option is given */
    AB_OPTION_WORD,    /* a bool or an enum: the index in `words` */
    AB_OPTION_NUMBER,  /* a uint32_t or uint64_t from min to max */
    AB_OPTION_SPECIAL, /* what `read` makes of it */
};

struct ab_option_info {
    const char *name, *arg, *help, *group; /* arg NULL = takes no value */
    char letter;                           /* 0 = none */
    unsigned commands;                     /* bit 1 << enum ab_command_id */
    enum ab_option_type type;
    size_t at, size; /* of the member of struct ab_options that gets the value */
    size_t also;     /* of its length for a list, else of the bool that says that the option was
                        given; 0 = none */
    enum ab_unit_kind unit;
    uint64_t min, max;
    const char *range; /* what is allowed, for the error about a number or word that is not */
    const char *zero;  /* means 0, which need not be in the range; NULL = nothing does */
    const char *const *words; /* all it may be; ends with NULL */
    unsigned rare;            /* commands of which only --help-all and the manual page have it */
    const char *more;         /* what these two say of it besides; NULL = nothing */
    const char *alias;        /* another name: accepted, not shown */
    /* The value may be left out: the next word is one only where this says so, and read gets NULL
     * without. NULL = not so. */
    bool (*is_value)(const char *word);
    /* Returns what is wrong, NULL = nothing; of a list *value becomes the part that is wrong. */
    const char *(*read)(const char **value, struct ab_options *o);
};

/* The groups in the order of the help; ends with NULL. */
extern const char *const ab_option_groups[];

/* Walks the table: NULL past the end. */
const struct ab_option_info *ab_options_info(size_t i);
bool ab_options_has(const struct ab_option_info *info, enum ab_command_id command);
bool ab_options_is_rare(const struct ab_option_info *info, enum ab_command_id command);
/* The command's option of this name; NULL = there is none. */
const struct ab_option_info *ab_options_find(enum ab_command_id command, const char *name);

/* Its index in `words`, which ends with NULL. NULL; or what is wrong, with the list and the nearest, good
 * until the next call. */
const char *ab_option_word(const char *value, const char *const *words, size_t *out);

enum { AB_SITES_SHOWN_DEFAULT = 20 };

/* In the order of enum ab_site_order; ends with NULL. */
extern const char *const ab_option_site_orders[];

#endif
