/* SPDX-License-Identifier: MIT
 *
 * Text within a number of columns.
 */
#ifndef AB_CLI_HELP_PARAGRAPH_H
#define AB_CLI_HELP_PARAGRAPH_H

#include <stdio.h>

enum { AB_HELP_WIDTH = 80 }; /* no line of help is wider */

/* Columns on the screen: characters, not bytes. */
int ab_paragraph_columns(const char *text);

/* Breaks `text` at blanks into lines from column `indent` to before AB_HELP_WIDTH; the first begins
 * in column `at`, where the cursor is. A line break of the text is a blank, unless the line after it
 * begins with a blank: such a line stays as it is. Ends with a line break. */
void ab_paragraph_print(FILE *to, const char *text, int indent, int at);

#endif
