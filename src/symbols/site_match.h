/* SPDX-License-Identifier: MIT
 *
 * Which stacks of a trace a pattern means. A pattern is one of
 *   FUNCTION          a shell pattern (* ? [abc]) over the names of functions; parameters of C++,
 *                     versions (@@GLIBC_2.34) and what compilers append (.constprop.0) may be left
 *                     out
 *   FILE:LINE         a line of a source file; LINE can be *
 *   FILE:LINE:COLUMN  one of several calls on a line, as the debug information numbers columns
 *   MODULE+0xADDRESS  a place in a program or library, as `trace info --sites` prints those
 *                     without a name
 * FILE and MODULE are shell patterns over as many last parts of the path as they have themselves. A
 * stack is meant when one of its frames is, or a function that was inlined into one.
 */
#ifndef AB_SYMBOLS_SITE_MATCH_H
#define AB_SYMBOLS_SITE_MATCH_H

#include "core/status.h"
#include "symbols/symbols.h"
#include "trace/site_table.h"

/* Names for the frames of a trace's call sites, from the files that the recorded program had
 * loaded. */

struct ab_site_names {
    const struct ab_site_table *table;
    struct { /* by number - 1 */
        struct ab_symbols *symbols;
        enum ab_symbols_state state;
        bool is_tried;
    } * modules;
    struct ab_site_named {
        struct ab_symbol *items;
        size_t n;                   /* 0 = not asked for yet */
    } * frames;                     /* by index: a frame is in many stacks */
    size_t cap_modules, cap_frames; /* the table can grow */
};

void ab_site_names_init(struct ab_site_names *n, const struct ab_site_table *table);
void ab_site_names_fini(struct ab_site_names *n);

/* What is at a frame of the table: the function that was compiled comes last, ahead of it those
 * inlined there, the innermost first. One at least, of which what is not known is "" and 0. They
 * live as long as the names. */
struct ab_site_named ab_site_names_find(struct ab_site_names *n, const struct ab_site_frame *frame);
/* Of a frame whose names are not known. */
struct ab_site_named ab_site_names_none(void);

enum { AB_SITE_PATTERNS_MAX = 64 };

/* Fails with AB_USAGE when `pattern` is none: for options that are read before there is a trace. */
enum ab_status ab_site_pattern_check(const char *pattern, struct ab_err *err);

struct ab_site_matcher;

/* Names of frames, for those who have them already. */
typedef struct ab_site_named ab_site_name(void *user, const struct ab_site_table *table,
                                          const struct ab_site_frame *frame);

/* The table is used until the matcher is closed, and can grow. `name` NULL: names are read from the
 * files. */
struct ab_site_matcher *ab_site_matcher_open(const struct ab_site_table *table, ab_site_name *name,
                                             void *user);
void ab_site_matcher_close(struct ab_site_matcher *m);

/* Its index is the number of those that were added before: add all before the first question.
 * Copies the pattern. */
enum ab_status ab_site_matcher_add(struct ab_site_matcher *m, const char *pattern,
                                   struct ab_err *err);

/* The patterns that mean this stack, bit `index` each; 0 for stack 0. Remembers each stack. */
uint64_t ab_site_matcher_mask(struct ab_site_matcher *m, uint32_t stack);

static inline bool ab_site_matches(struct ab_site_matcher *m, size_t pattern, uint32_t stack)
{
    return (ab_site_matcher_mask(m, stack) >> pattern & 1) != 0;
}

/* Which functions of a stack only hand memory on: xmalloc, operator new, containers, the C library.
 * The place in a program that wants the memory is the first one that does not. */

/* Does a function of this name, as people write it, only hand memory on? */
bool ab_wrappers_has_name(const char *function);
/* Does this one, of a module (NULL = none)? */
bool ab_wrappers_has(const struct ab_site_module *module, const struct ab_symbol *symbol);
/* Is it part of the C++ library, or of a header that the system has installed? */
bool ab_wrappers_is_library(const struct ab_site_module *module, const struct ab_symbol *symbol);
/* "void ns::box<int, std::allocator<int> >::add(int)" -> "ns::box::add" */
void ab_wrappers_bare_name(const char *function, char *out, size_t cap);

#endif
