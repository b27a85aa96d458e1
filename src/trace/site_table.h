/* SPDX-License-Identifier: MIT
 *
 * The call sites of a trace: modules (loaded files), frames (an address in one of them) and stacks
 * (frames, the last call first). Each is there once; modules and stacks are numbered from 1, in the
 * order in which they were added, and 0 stands for none.
 */
#ifndef AB_TRACE_SITE_TABLE_H
#define AB_TRACE_SITE_TABLE_H

#include <stdbool.h>
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

enum ab_site_end { /* where the frames of a stack end, and why; those from NO_TABLE on are cut */
                   AB_SITE_WHOLE,
                   AB_SITE_DEPTH,
                   AB_SITE_NO_TABLE,
                   AB_SITE_NO_RULE,
                   AB_SITE_NO_MEMORY,
                   AB_SITE_END_COUNT
};

struct ab_site_module {
    char *path; /* as the dynamic linker had it; any bytes but NUL */
    uint8_t build_id[AB_SITE_BUILD_ID_MAX];
    uint8_t n_build_id;
};

struct ab_site_frame {
    uint64_t address; /* that the call returns to, in the addresses of the module's file */
    uint32_t module;  /* 0 = in none: code made at run time; the address is 0 then */
};

struct ab_site_stack {
    uint32_t first; /* of its frames, in `lists` */
    uint8_t depth, end;
};

struct ab_site_index { /* by hash: number of what has it */
    uint64_t *hashes;
    uint32_t *numbers;
    size_t mask, n;
};

struct ab_site_table { /* begins as {0} */
    struct ab_site_module *modules;
    struct ab_site_frame *frames;
    uint32_t *lists; /* indexes of frames */
    struct ab_site_stack *stacks;
    size_t n_modules, n_frames, n_lists, n_stacks;
    size_t cap_modules, cap_frames, cap_lists, cap_stacks;
    struct ab_site_index known_modules, known_frames, known_stacks;
};

void ab_site_table_fini(struct ab_site_table *t);

/* Append what is new to the file, whatever is there: for a reader. */
void ab_site_append_module(struct ab_site_table *t, const char *path, size_t n_path,
                           const uint8_t *build_id, size_t n_build_id);
void ab_site_append_frame(struct ab_site_table *t, struct ab_site_frame frame);
void ab_site_append_stack(struct ab_site_table *t, const uint32_t *frames, size_t depth,
                          enum ab_site_end end);

/* The number of what is found or else appended, for a writer; 0 when there are too many. */
uint32_t ab_site_know_module(struct ab_site_table *t, const char *path, size_t n_path,
                             const uint8_t *build_id, size_t n_build_id);
uint32_t ab_site_know_stack(struct ab_site_table *t, const struct ab_site_frame *frames,
                            size_t depth, enum ab_site_end end);
/* Does the same for a stack of another table. */
uint32_t ab_site_know_stack_of(struct ab_site_table *t, const struct ab_site_table *other,
                               uint32_t stack);

/* Frame `place` of a stack, 0 = the last call. */
static inline const struct ab_site_frame *ab_site_frame(const struct ab_site_table *t,
                                                        uint32_t stack, size_t place)
{
    return &t->frames[t->lists[t->stacks[stack - 1].first + place]];
}

/* NULL = none. */
static inline const struct ab_site_module *ab_site_module_of(const struct ab_site_table *t,
                                                             const struct ab_site_frame *frame)
{
    return frame->module != 0 ? &t->modules[frame->module - 1] : NULL;
}

/* The optional chunks of call sites (traces/FORMAT.md): definitions, and the column that says of
 * each call of the next chunk of events which stack it came from. */

struct ab_sites_done { /* how much of a table has been written */
    size_t n_modules, n_frames, n_stacks;
};

/* Encodes what comes after *done, as much as a chunk holds, and moves it on. `raw` has room for
 * AB_TRACE_RAW_MAX bytes. Returns how many it takes; 0 = there is nothing more. */
size_t ab_site_encode_definitions(const struct ab_site_table *t, struct ab_sites_done *done,
                                  uint8_t *raw);
/* Appends what a chunk defines. NULL, or what is wrong as the end of a sentence. */
const char *ab_site_decode_definitions(struct ab_site_table *t, const uint8_t *raw, size_t bytes);

/* Encodes the sites of at most AB_TRACE_CHUNK_EVENTS_MAX calls; `raw` as above. */
size_t ab_site_encode_column(const uint32_t *sites, size_t n, uint8_t *raw);
/* sites[0..cap); *n: how many there are. */
const char *ab_site_decode_column(const struct ab_site_table *t, const uint8_t *raw, size_t bytes,
                                  uint32_t *sites, size_t cap, size_t *n);

#endif
