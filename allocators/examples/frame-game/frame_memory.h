/* SPDX-License-Identifier: MIT
 *
 * Defines which memory the frame game uses: malloc, or, with -DWITH_ADVICE='"FILE"', the heaps of
 * the file that `allocbench advise --code FILE` has written. Blocks without advice stay in malloc.
 * These are macros, so that the source line of a recorded call is the line that uses the macro.
 */
#ifndef FRAME_GAME_FRAME_MEMORY_H
#define FRAME_GAME_FRAME_MEMORY_H

#include <stdbool.h>
#include <stdlib.h>

#ifdef WITH_ADVICE
#define ADVISED_IMPLEMENTATION
#include WITH_ADVICE
#endif

#ifdef ADVISED_HEAPS
#define MEMORY_INIT() (advised_init() == 0)
#define MEMORY_FINI() advised_fini()
#else
#define MEMORY_INIT() true
#define MEMORY_FINI() ((void)0)
#endif

#ifdef ADVISED_FRAME_BYTES /* if the file has an arena for the frame */
#define SCRATCH_ALLOC(size) frame_alloc(size)
#define SCRATCH_FREE_ALL(blocks, n) ((void)(blocks), (void)(n), advised_scope_end())
#else
#define SCRATCH_ALLOC(size) malloc(size)
/* Frees the blocks one by one, in the order of their allocation. */
#define SCRATCH_FREE_ALL(blocks, n) free_all((blocks), (n))

static inline void free_all(void **blocks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(blocks[i]);
}
#endif

#ifdef ADVISED_POOL_96_SLOT /* if the file has a pool for particles */
#define PARTICLE_ALLOC(size) pool_96_alloc(size)
#define PARTICLE_FREE(block) pool_96_free(block)
#else
#define PARTICLE_ALLOC(size) malloc(size)
#define PARTICLE_FREE(block) free(block)
#endif

#endif
