/* SPDX-License-Identifier: MIT
 *
 * The advice as a file of C that a program includes: one heap for each proposal, made of our
 * allocators, with the capacities that were measured, and which calls go where as comments. It is
 * C11 and C++17, silent under -Wall -Wextra -Wpedantic, and needs the single headers or the
 * installed library. What it defines:
 *     advised_init, advised_fini       all heaps; 0 or an errno
 *     advised_scope_end                where a frame, a request ends; only with arenas
 *     NAME_alloc, NAME_alloc_zeroed    as malloc; NAME is that of the heap, as ab_code_name gives it
 *     NAME_resize                      where a block can grow: arenas, stacks, slabs
 *     NAME_free                        of what is used again one by one: pools, slabs
 *     NAME_begin, NAME_end             of stacks and nested scopes: a save point, and back to it
 *     advised::NAME                    a std::pmr resource, of heaps that new or the containers of C++
 *                                      ask: for C++17, over allocators/cpp/heaps.hpp
 */
#ifndef AB_ADVISE_CODE_H
#define AB_ADVISE_CODE_H

#include "advise/advise.h"
#include "core/text.h"

/* What the functions of heap number `i` begin with: "frame", "pool_96", and for a second heap of
 * that name "frame_2". Returns buf. */
const char *ab_code_name(const struct ab_advice *a, size_t i, char *buf, size_t cap);

/* Appends the whole file. `heaps`: bit i = heap number i is built, others stay with malloc. `trace`:
 * how it is called there. Names of functions and files come from the recorded program: nothing in
 * them can end a comment. */
void ab_code_write(const struct ab_advice *a, uint32_t heaps, const char *trace,
                   struct ab_text *out);

#endif
