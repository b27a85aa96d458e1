/* SPDX-License-Identifier: MIT
 *
 * The text of a gate while it is parsed: its words, and what is wrong with one.
 */
#ifndef AB_STATS_GATE_TEXT_H
#define AB_STATS_GATE_TEXT_H

#include "stats/gates/gate.h"

#include <stddef.h>

struct ab_gate_span {
    const char *s;
    size_t n;
};

struct ab_gate_parser {
    const char *text;
    bool is_claim;
    const struct ab_gate_scope *scope;
    struct ab_gate gate;
    struct ab_gate_error *error;
    size_t each;              /* the phase of the scope that '*' stands for */
    struct ab_gate_span star; /* … where it was written; n 0 = nowhere */
    bool is_absent;           /* '*', and this phase has no such op */
};

enum { AB_GATE_NAMES_MAX = 64, AB_GATE_WORD_BYTES = 256, AB_GATE_LIST_BYTES = 300 };

/* Names for "allowed are" and for the nearest one. */
struct ab_gate_names {
    const char *items[AB_GATE_NAMES_MAX];
    size_t n;
};

/* Says what is wrong with `at`; false. */
bool ab_gate_fail(struct ab_gate_parser *p, struct ab_gate_span at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

bool ab_gate_is_blank(char c);
struct ab_gate_span ab_gate_trim(struct ab_gate_span x);

/* Is the bound a size, or its floor? It separates "external.p99" in bytes from that by live bytes. */
bool ab_gate_is_in_bytes(const char *text);

bool ab_gate_is_word(struct ab_gate_span x, const char *word);
/* A copy that ends; what is too long for a name is cut. */
const char *ab_gate_word(char buf[AB_GATE_WORD_BYTES], struct ab_gate_span x);
/* The same for a message: printable, and short. */
const char *ab_gate_shown(char buf[AB_GATE_WORD_BYTES], struct ab_gate_span x);

void ab_gate_add_name(struct ab_gate_names *names, const char *name);

const char *ab_gate_list_names(char buf[AB_GATE_LIST_BYTES], const struct ab_gate_names *names);
/* "unknown WHAT 'x'; did you mean 'y'? Allowed are …" */
bool ab_gate_fail_unknown(struct ab_gate_parser *p, struct ab_gate_span at, const char *what,
                          const struct ab_gate_names *names);

/* The back end of this name, its index or AB_GATE_ELSEWHERE; `copy` gets the name. */
bool ab_gate_read_backend(struct ab_gate_parser *p, struct ab_gate_span name, uint32_t *out,
                          char copy[128]);

#endif
