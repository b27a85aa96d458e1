/* SPDX-License-Identifier: MIT
 *
 * --json of the commands whose document is small: it is made whole, then written.
 */
#ifndef AB_CLI_DOCUMENT_H
#define AB_CLI_DOCUMENT_H

#include "app/options.h"
#include "report/record.h"

/* Writes it where --json says, and takes it; reals with so many digits, 0 = all. AB_OK also where there
 * is no --json. AB_USAGE where a file that was read would be replaced. */
enum ab_status ab_document_write(const struct ab_options *o, json_t *document, unsigned digits,
                                 struct ab_err *err);
/* Standard output is for people: there is no --json -. */
bool ab_document_leaves_stdout(const struct ab_options *o);

/* A document that is one list; takes `items`. */
json_t *ab_document_list(const char *schema, const char *key, json_t *items);
/* Of a member that is a uint32_t[AB_SITE_LIVES]: how many blocks lived up to so many calls. */
json_t *ab_document_lives(const struct ab_writing *x);

#endif
