/* SPDX-License-Identifier: MIT
 *
 * Table of the options of all commands. The parser, --help, manual pages, completion and the tests
 * of the table all use it. A new option needs a row here and a member of struct ab_options.
 */
#ifndef AB_CLI_OPTION_TABLE_H
#define AB_CLI_OPTION_TABLE_H

#include "base/units.h"
#include "cli/commands.h"
#include "cli/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ab_option_type {
    AB_OPTION_FLAG,    /* a bool; takes no value */
    AB_OPTION_TEXT,    /* a const char *, as it was given */
    AB_OPTION_LIST,    /* a const char ** that grows each time the option is given */
    AB_OPTION_WORD,    /* a bool or an enum: the index in `words` */
    AB_OPTION_NUMBER,  /* a uint32_t or uint64_t from min to max */
    AB_OPTION_SPECIAL, /* set by `read` */
};

struct ab_option_info {
    const char *name, *arg, *help, *group; /* arg NULL = the option takes no value */
    char letter;                           /* 0 = none */
    /* commands that have the option; bit 1 << enum ab_command_id */
    unsigned commands;
    enum ab_option_type type;
    size_t at, size; /* offset and size of the member of struct ab_options */
    /* offset of the list's length, or of the bool that says that the option was given; 0 = none */
    size_t also;
    enum ab_unit_kind unit;
    uint64_t min, max;
    const char *range; /* text about the allowed values, for errors */
    /* word that means 0, even if 0 is outside of the range; NULL = none */
    const char *zero;
    const char *const *words; /* allowed values; ends with NULL */
    /* commands that list the option only in --help-all and the manual page */
    unsigned rare;
    const char *more; /* further text for --help-all and the manual page; NULL = none */
    /* This option requires needs[0] or needs[1], in commands that have needs[0]. `lack` is the
     * error text if neither is given; NULL = "--NAME requires --NEEDS". */
    const char *needs[2], *lack;
    const char *alias; /* old name, accepted but not shown; NULL = none */
    /* True if the next word is the option's value, for options with an optional value. Without a
     * value, `read` gets NULL. NULL = the option must have a value. */
    bool (*is_value)(const char *word);
    /* Reads the value of an option of type AB_OPTION_SPECIAL. Returns an error text; NULL = no
     * error. For a list, sets *value to the wrong part. */
    const char *(*read)(const char **value, struct ab_options *o);
};

/* Option groups in the order of the help; ends with NULL. */
extern const char *const ab_option_groups[];

/* Returns row i of the table; NULL past the end. */
const struct ab_option_info *ab_options_info(size_t i);
bool ab_options_has(const struct ab_option_info *info, enum ab_command_id command);
bool ab_options_is_rare(const struct ab_option_info *info, enum ab_command_id command);
/* Returns the option with this name that the command has; NULL = none. */
const struct ab_option_info *ab_options_find(enum ab_command_id command, const char *name);

/* Sets *out to the index of `value` in `words`, which ends with NULL. Returns NULL, or an error
 * text with the list and the nearest word. The text is valid until the next call. */
const char *ab_option_word(const char *value, const char *const *words, size_t *out);

enum { AB_SITES_SHOWN_DEFAULT = 20 };

/* Words of --sort, in the order of enum ab_site_order; ends with NULL. */
extern const char *const ab_option_site_orders[];

#endif
