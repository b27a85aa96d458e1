/* SPDX-License-Identifier: MIT
 *
 * Call sites of a trace: modules (loaded files), frames (an address in a module) and stacks
 * (frames, innermost call first). Entries are unique. Modules and stacks are numbered from 1 in
 * the order in which they were added; 0 = none.
 */
#ifndef AB_TRACE_SITE_TABLE_H
#define AB_TRACE_SITE_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum {
    AB_SITE_BUILD_ID_MAX = 64,
    AB_SITE_PATH_MAX = 4095,
    AB_SITE_DEPTH_MAX = 64,
    AB_SITE_MODULES_MAX = 65535,
    AB_SITE_FRAMES_MAX = 1 << 24,
    AB_SITE_STACKS_MAX = 1 << 24,
};

enum ab_site_end { /* why the frames of a stack end; from NO_TABLE on, the stack is incomplete */
                   AB_SITE_WHOLE,
                   AB_SITE_DEPTH,
                   AB_SITE_NO_TABLE,
                   AB_SITE_NO_RULE,
                   AB_SITE_NO_MEMORY,
                   AB_SITE_END_COUNT
};

struct ab_site_module {
    char *path; /* path in the dynamic linker; any bytes except NUL */
    uint8_t build_id[AB_SITE_BUILD_ID_MAX];
    uint8_t n_build_id;
};

struct ab_site_frame {
    uint64_t address; /* return address minus the load bias of the module */
    /* number of the module; 0 = none (code made at run time), and the address is then 0 */
    uint32_t module;
};

struct ab_site_stack {
    uint32_t first; /* index in `lists` of the stack's innermost frame */
    uint8_t depth, end;
};

struct ab_site_index { /* hash table from content to number */
    uint64_t *hashes;
    uint32_t *numbers;
    size_t mask, n;
};

struct ab_site_table { /* zero-initialize it */
    struct ab_site_module *modules;
    struct ab_site_frame *frames;
    uint32_t *lists; /* indexes of frames, stack after stack */
    struct ab_site_stack *stacks;
    size_t n_modules, n_frames, n_lists, n_stacks;
    size_t cap_modules, cap_frames, cap_lists, cap_stacks;
    struct ab_site_index known_modules, known_frames, known_stacks;
};

void ab_site_table_fini(struct ab_site_table *t);

/* Append an entry, even if the table already has it; for readers. */
void ab_site_append_module(struct ab_site_table *t, const char *path, size_t n_path,
                           const uint8_t *build_id, size_t n_build_id);
void ab_site_append_frame(struct ab_site_table *t, struct ab_site_frame frame);
void ab_site_append_stack(struct ab_site_table *t, const uint32_t *frames, size_t depth,
                          enum ab_site_end end);

/* Return the number of an entry, appending it if it is new; 0 = the table is full. For writers. */
uint32_t ab_site_know_module(struct ab_site_table *t, const char *path, size_t n_path,
                             const uint8_t *build_id, size_t n_build_id);
uint32_t ab_site_know_stack(struct ab_site_table *t, const struct ab_site_frame *frames,
                            size_t depth, enum ab_site_end end);
/* Finds stack `stack` of table `other` in `t`, appending it if it is new. Returns its number; 0 =
 * the table is full. */
uint32_t ab_site_know_stack_of(struct ab_site_table *t, const struct ab_site_table *other,
                               uint32_t stack);

/* Returns frame `place` of a stack; 0 = innermost call. */
static inline const struct ab_site_frame *ab_site_frame(const struct ab_site_table *t,
                                                        uint32_t stack, size_t place)
{
    return &t->frames[t->lists[t->stacks[stack - 1].first + place]];
}

/* Returns the module of a frame; NULL = none. */
static inline const struct ab_site_module *ab_site_module_of(const struct ab_site_table *t,
                                                             const struct ab_site_frame *frame)
{
    return frame->module != 0 ? &t->modules[frame->module - 1] : NULL;
}

/* ---- the optional chunks of call sites (traces/FORMAT.md) ----
 *
 * Definitions, and a column with the stack of each call of the next chunk of events. */

struct ab_sites_done { /* numbers of entries of a table that have been written */
    size_t n_modules, n_frames, n_stacks;
};

/* Encodes the next definitions after *done, as many as fit into a chunk, and advances *done.
 * `raw` has AB_TRACE_RAW_MAX bytes. Returns the size; 0 = nothing is left. */
size_t ab_site_encode_definitions(const struct ab_site_table *t, struct ab_sites_done *done,
                                  uint8_t *raw);
/* Appends the definitions of a chunk. Returns NULL, or what is wrong as the end of a sentence. */
const char *ab_site_decode_definitions(struct ab_site_table *t, const uint8_t *raw, size_t bytes);

/* Encodes the sites of at most AB_TRACE_CHUNK_EVENTS_MAX calls to `raw` of AB_TRACE_RAW_MAX
 * bytes. */
size_t ab_site_encode_column(const uint32_t *sites, size_t n, uint8_t *raw);
/* Decodes a column to sites[0..cap) and sets *n to the number of sites. */
const char *ab_site_decode_column(const struct ab_site_table *t, const uint8_t *raw, size_t bytes,
                                  uint32_t *sites, size_t cap, size_t *n);

#endif
