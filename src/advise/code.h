/* SPDX-License-Identifier: MIT
 *
 * Writes the advice as a C file that a program includes. The file has one heap for each proposal,
 * made with allocbench's own allocators and the measured capacities. Comments in the file say which
 * calls use which heap.
 * The file is valid C11 and C++17, without warnings under -Wall -Wextra -Wpedantic. It needs the
 * single headers or the installed library. It defines:
 *     advised_init, advised_fini       open and close all heaps; return 0 or an errno
 *     advised_scope_end                called where a frame or request ends; only with arenas
 *     NAME_alloc, NAME_alloc_zeroed    like malloc and calloc; NAME is from ab_code_name()
 *     NAME_resize                      for heaps whose blocks can grow: arenas, stacks, slabs
 *     NAME_free                        for heaps that reuse single blocks: pools, slabs
 *     NAME_begin, NAME_end             for stacks, nested scopes: set a save point; go back to it
 *     advised::NAME                    a std::pmr resource for heaps that new or C++ containers
 *                                      use; C++17, based on allocators/cpp/heaps.hpp
 */
#ifndef AB_ADVISE_CODE_H
#define AB_ADVISE_CODE_H

#include "advise/advise.h"
#include "core/text.h"

/* Writes to buf the prefix of the functions of heap `i`: "frame", "pool_96", and "frame_2" for a
 * second heap of that name. Returns buf. */
const char *ab_code_name(const struct ab_advice *a, size_t i, char *buf, size_t cap);

/* Appends the whole file to `out`. Heap i is written if bit i of `heaps` is set; the groups of
 * other heaps stay with malloc. `trace` is the name of the trace in the file's comment. Names of
 * functions and files from the recorded program cannot end a comment. */
void ab_code_write(const struct ab_advice *a, uint32_t heaps, const char *trace,
                   struct ab_text *out);

#endif
