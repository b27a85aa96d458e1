/* SPDX-License-Identifier: MIT
 *
 * Sentences in a process that may call neither stdio nor malloc: parts joined in a fixed buffer,
 * which is always terminated; what does not fit is left off.
 */
#ifndef AB_WORKER_CHECKS_MESSAGE_H
#define AB_WORKER_CHECKS_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

struct ab_words {
    char text[400];
    size_t n;
};

void ab_words_add(struct ab_words *w, const char *text);
void ab_words_number(struct ab_words *w, uint64_t n);
void ab_words_hex(struct ab_words *w, uint64_t n); /* 0x… */
/* `text`, then the number. */
void ab_words_pair(struct ab_words *w, const char *text, uint64_t n);

#endif
