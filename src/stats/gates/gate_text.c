/* SPDX-License-Identifier: MIT
 *
 * Words of a gate's text, errors that name them, and names of back ends.
 */
#include "stats/gates/gate_text.h"

#include "base/nearest.h"
#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool ab_gate_fail(struct ab_gate_parser *p, struct ab_gate_span at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(p->error->text, sizeof p->error->text, fmt, args);
    va_end(args);
    p->error->offset = (size_t)(at.s - p->text);
    p->error->n = at.n;
    return false;
}

bool ab_gate_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

struct ab_gate_span ab_gate_trim(struct ab_gate_span x)
{
    for (; x.n > 0 && ab_gate_is_blank(x.s[0]); x.n--)
        x.s++;
    while (x.n > 0 && ab_gate_is_blank(x.s[x.n - 1]))
        x.n--;
    return x;
}

bool ab_gate_is_word(struct ab_gate_span x, const char *word)
{
    return strlen(word) == x.n && memcmp(x.s, word, x.n) == 0;
}

const char *ab_gate_word(char buf[AB_GATE_WORD_BYTES], struct ab_gate_span x)
{
    snprintf(buf, AB_GATE_WORD_BYTES, "%.*s",
             (int)(x.n < AB_GATE_WORD_BYTES ? x.n : AB_GATE_WORD_BYTES - 1), x.s);
    return buf;
}

const char *ab_gate_shown(char buf[AB_GATE_WORD_BYTES], struct ab_gate_span x)
{
    char word[AB_GATE_WORD_BYTES];
    ab_gate_word(word, (struct ab_gate_span){x.s, x.n < 60 ? x.n : 60});
    return ab_text_printable(buf, AB_GATE_WORD_BYTES, word);
}

void ab_gate_add_name(struct ab_gate_names *names, const char *name)
{
    if (names->n < AB_GATE_NAMES_MAX)
        names->items[names->n++] = name;
}

const char *ab_gate_list_names(char buf[AB_GATE_LIST_BYTES], const struct ab_gate_names *names)
{
    size_t used = 0;
    buf[0] = 0;
    for (size_t i = 0; i < names->n; i++) {
        char name[80];
        ab_text_printable(name, sizeof name, names->items[i]);
        if (used + strlen(name) + 8 > AB_GATE_LIST_BYTES)
            return strcat(buf, ", ...");
        used += (size_t)snprintf(buf + used, AB_GATE_LIST_BYTES - used, "%s%s", i == 0 ? "" : ", ",
                                 name);
    }
    return buf;
}

bool ab_gate_fail_unknown(struct ab_gate_parser *p, struct ab_gate_span at, const char *what,
                          const struct ab_gate_names *names)
{
    char word[AB_GATE_WORD_BYTES], quoted[AB_GATE_WORD_BYTES], list[AB_GATE_LIST_BYTES], name[80];
    char hint[120] = "; allowed are";
    const char *near = ab_text_nearest(ab_gate_word(word, at), names->items, names->n);
    if (near != NULL)
        snprintf(hint, sizeof hint, "; did you mean '%s'? Allowed are",
                 ab_text_printable(name, sizeof name, near));
    return ab_gate_fail(p, at, "unknown %s '%s'%s %s", what, ab_gate_shown(quoted, at), hint,
                        ab_gate_list_names(list, names));
}

/* ---- back ends ---- */

/* Without its settings: "slab" of "slab:threads=sharded". */
static struct ab_gate_span base_of(struct ab_gate_span name)
{
    size_t n = 0;
    while (n < name.n && name.s[n] != ':' && name.s[n] != '{')
        n++;
    return (struct ab_gate_span){name.s, n};
}

static bool fail_backend(struct ab_gate_parser *p, struct ab_gate_span name)
{
    struct ab_gate_names names = {.n = 0};
    for (size_t i = 0; i < p->scope->n_backends; i++)
        ab_gate_add_name(&names, p->scope->backends[i]);
    for (size_t i = 0; i < names.n; i++) {
        const char *here = names.items[i];
        struct ab_gate_span base = base_of((struct ab_gate_span){here, strlen(here)}),
                            own = base_of(name);
        char quoted[AB_GATE_WORD_BYTES], is[160];
        if (base.n == own.n && memcmp(base.s, own.s, own.n) == 0)
            return ab_gate_fail(p, name, "no back end '%s' in this run; did you mean '%s'?",
                                ab_gate_shown(quoted, name),
                                ab_text_printable(is, sizeof is, here));
    }
    return ab_gate_fail_unknown(p, name, "back end", &names);
}

bool ab_gate_read_backend(struct ab_gate_parser *p, struct ab_gate_span name, uint32_t *out,
                          char copy[128])
{
    const struct ab_gate_scope *scope = p->scope;
    struct ab_gate_span base = base_of(name);
    if (name.n == 0)
        return ab_gate_fail(p, (struct ab_gate_span){name.s, 1},
                            "the name of a back end is missing");
    if (ab_gate_is_word(base, "null"))
        return ab_gate_fail(p, name, "the null back end measures the harness; it has no gates");
    snprintf(copy, 128, "%.*s", (int)(name.n < 128 ? name.n : 127), name.s);
    for (size_t i = 0; i < scope->n_backends; i++)
        if (ab_gate_is_word(name, scope->backends[i])) {
            *out = (uint32_t)i;
            return true;
        }
    for (size_t i = 0; i < scope->n_backends; i++) {
        const char *here = scope->backends[i];
        struct ab_gate_span other = base_of((struct ab_gate_span){here, strlen(here)});
        /* A claim is about the one that it names, and settings of a run are no mistake in it. */
        if (other.n == base.n && memcmp(other.s, base.s, base.n) == 0 && !p->is_claim)
            return fail_backend(p, name);
    }
    for (size_t i = 0; i < scope->n_known; i++)
        if (ab_gate_is_word(base, scope->known[i])) {
            *out = AB_GATE_ELSEWHERE;
            return true;
        }
    return fail_backend(p, name);
}

bool ab_gate_is_in_bytes(const char *text)
{
    const char *end = text + strlen(text), *word;
    while (end > text && ab_gate_is_blank(end[-1]))
        end--;
    for (word = end; word > text && strchr(" \t<>=", word[-1]) == NULL; word--) {
    }
    return word < end && *word >= '0' && *word <= '9' && end[-1] == 'B';
}
