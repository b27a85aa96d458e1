/* SPDX-License-Identifier: MIT
 *
 * Writes --json for commands with small documents: the document is complete in memory before it is
 * written.
 */
#ifndef AB_CLI_DOCUMENT_H
#define AB_CLI_DOCUMENT_H

#include "cli/options.h"
#include "document/record_table.h"

/* Writes the document to the file of --json and takes ownership of it. Reals have `digits` digits,
 * 0 = all. Returns AB_OK without --json. Fails with AB_USAGE if the file would replace an input
 * file. */
enum ab_status ab_document_write(const struct ab_options *o, json_t *document, unsigned digits,
                                 struct ab_err *err);
/* True if standard output is free for text, because there is no "--json -". */
bool ab_document_leaves_stdout(const struct ab_options *o);

/* Creates a document that consists of one list. Takes ownership of `items`. */
json_t *ab_document_list(const char *schema, const char *key, json_t *items);
/* Creates the JSON of a member uint32_t[AB_SITE_LIVES]: the number of blocks in each class of
 * lifetimes, which are counted in calls. */
json_t *ab_document_lives(const struct ab_writing *x);

#endif
