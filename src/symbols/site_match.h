/* SPDX-License-Identifier: MIT
 *
 * Matches the stacks of a trace with patterns. A pattern is one of
 *   FUNCTION          a shell pattern (* ? [abc]) for names of functions; parameters of C++,
 *                     versions (@@GLIBC_2.34) and suffixes of compilers (.constprop.0) may be
 *                     omitted
 *   FILE:LINE         a line of a source file; LINE can be *
 *   FILE:LINE:COLUMN  one of several calls on a line; columns as in the debug information
 *   MODULE+0xADDRESS  an address in a program or library, as `trace info --sites` prints
 *                     addresses without a name
 * FILE and MODULE are shell patterns for the last parts of a path; the number of parts is that of
 * the pattern. A stack matches if one of its frames does, or a function inlined into one.
 */
#ifndef AB_SYMBOLS_SITE_MATCH_H
#define AB_SYMBOLS_SITE_MATCH_H

#include "core/status.h"
#include "symbols/symbols.h"
#include "trace/site_table.h"

/* ---- names of frames, from the files that the recorded program had loaded ---- */

struct ab_site_names {
    const struct ab_site_table *table;
    struct { /* by module number - 1 */
        struct ab_symbols *symbols;
        enum ab_symbols_state state;
        bool is_tried;
    } * modules;
    struct ab_site_named {
        struct ab_symbol *items;
        size_t n; /* 0 = not looked up yet */
    } * frames;   /* indexed by frame number, because a frame is in many stacks */
    /* capacities of `modules` and `frames`, which follow the table of sites, because it can grow */
    size_t cap_modules, cap_frames;
};

void ab_site_names_init(struct ab_site_names *n, const struct ab_site_table *table);
void ab_site_names_fini(struct ab_site_names *n);

/* Returns the functions at a frame: first the functions inlined there, the innermost first, then
 * the compiled function. There is at least one; unknown values are "" and 0. The result is valid
 * until ab_site_names_fini. */
struct ab_site_named ab_site_names_find(struct ab_site_names *n, const struct ab_site_frame *frame);
/* Returns the result for a frame whose functions are not known: one entry without names. */
struct ab_site_named ab_site_names_none(void);

enum { AB_SITE_PATTERNS_MAX = 64 };

/* Returns AB_USAGE if `pattern` is invalid. For command-line options, which are read before there
 * is a trace. */
enum ab_status ab_site_pattern_check(const char *pattern, struct ab_err *err);

struct ab_site_matcher;

/* Returns the names of a frame, for callers that have them already. */
typedef struct ab_site_named ab_site_name(void *user, const struct ab_site_table *table,
                                          const struct ab_site_frame *frame);

/* Opens a matcher for the stacks of a table. The table is used until the matcher is closed, and may
 * grow. `name` NULL = the names are read from the files of the modules. */
struct ab_site_matcher *ab_site_matcher_open(const struct ab_site_table *table, ab_site_name *name,
                                             void *user);
void ab_site_matcher_close(struct ab_site_matcher *m);

/* Adds a copy of a pattern. Its index is the number of patterns added before it. Add all patterns
 * before the first match. */
enum ab_status ab_site_matcher_add(struct ab_site_matcher *m, const char *pattern,
                                   struct ab_err *err);

/* Returns the set of patterns that match this stack, one bit per index; 0 for stack 0. Caches
 * the result of each stack. */
uint64_t ab_site_matcher_mask(struct ab_site_matcher *m, uint32_t stack);

static inline bool ab_site_matches(struct ab_site_matcher *m, size_t pattern, uint32_t stack)
{
    return (ab_site_matcher_mask(m, stack) >> pattern & 1) != 0;
}

/* ---- wrappers ----
 *
 * Wrappers are functions in a stack that only pass memory on: xmalloc, operator new, containers,
 * the C library. The innermost function that is not a wrapper is the one that wants the memory. */

/* True if a function with this demangled name only passes memory on. */
bool ab_wrappers_has_name(const char *function);
/* True if this function of a module (NULL = none) only passes memory on. */
bool ab_wrappers_has(const struct ab_site_module *module, const struct ab_symbol *symbol);
/* True if the function is part of the C++ library, or of a header that the system has installed. */
bool ab_wrappers_is_library(const struct ab_site_module *module, const struct ab_symbol *symbol);
/* Strips types and parameters: "void ns::box<int, std::allocator<int> >::add(int)" ->
 * "ns::box::add". */
void ab_wrappers_bare_name(const char *function, char *out, size_t cap);

#endif
