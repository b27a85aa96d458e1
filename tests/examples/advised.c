/* SPDX-License-Identifier: MIT
 *
 * Uses what `allocbench advise --code` writes, one heap of each kind: a block is where it should be
 * until its heap says that it is dead, and memory is used again then. -DADVISED_FILE='"FILE"';
 * -DTHREADS for heaps of several threads, -DTHREAD_SCOPES too where each has scopes of its own; -DOTHER for a second file of the program.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef OTHER
#define ADVISED_IMPLEMENTATION
#endif
#include ADVISED_FILE

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" void *of_other_file(size_t size);
#else
void *of_other_file(size_t size);
#endif

#ifdef OTHER
void *of_other_file(size_t size)
{
    return pool_96_alloc(size);
}
#else

static void expect(bool holds, const char *what)
{
    if (holds)
        return;
    printf("not so: %s\n", what);
    exit(1);
}

static unsigned char *filled(void *block, size_t size, int with, size_t align)
{
    expect(block != NULL, "there is memory");
    expect((uintptr_t)block % align == 0, "the block is aligned");
    memset(block, with, size);
    return (unsigned char *)block;
}

static bool holds(const unsigned char *block, size_t size, int with)
{
    for (size_t i = 0; i < size; i++)
        if (block[i] != (unsigned char)with)
            return false;
    return true;
}

static void arena_is_used_again(void)
{
    unsigned char *first = filled(frame_alloc(100), 100, 1, 16);
    for (size_t i = 0; i < 3000; i++)
        filled(frame_alloc(100), 100, 2, 16); /* more than was measured */
    expect(holds(first, 100, 1), "a block of an arena lives to the end of the scope");
    unsigned char *grown = (unsigned char *)frame_resize(first, 100, 5000);
    expect(grown != NULL && holds(grown, 100, 1), "a block of an arena that grows is copied");
    advised_scope_end();
    unsigned char *again = filled(frame_alloc_zeroed(100), 0, 0, 16);
    expect(holds(again, 100, 0), "a zeroed block is zero");
    expect(again == first, "an arena begins anew with the next scope");
}

static void double_arena_lives_twice(void)
{
    unsigned char *first = filled(frames_alloc(100), 100, 3, 64);
    advised_scope_end();
    unsigned char *second = filled(frames_alloc(100), 100, 4, 64);
    expect(holds(first, 100, 3) && first != second, "a block lives into the next scope");
    unsigned char *grown = (unsigned char *)frames_resize(first, 100, 300);
    expect(grown != NULL && holds(grown, 100, 3), "it can grow there");
    advised_scope_end();
    expect(frames_alloc(100) == first, "two arenas are used in turn");
    expect(holds(second, 100, 4), "that of the scope before is not touched");
}

static void stacks_nest(void)
{
    struct ab_arena_mark outer = stack_begin();
    unsigned char *a = filled(stack_alloc(50), 50, 5, 16);
    struct ab_arena_mark inner = stack_begin();
    unsigned char *b = filled(stack_alloc(50), 50, 6, 16);
    stack_end(inner);
    expect(stack_alloc(50) == b, "what is after a save point is used again");
    expect(holds(a, 50, 5), "what is before a save point stays");
    stack_end(outer);
    expect(stack_alloc(50) == a, "save points nest");
    expect(stack_resize(stack_alloc(10), 10, 20) != NULL, "a block of a stack can grow");
}

static void nested_scopes_use_memory_again(void)
{
    unsigned char *outer = filled(frame_alloc(100), 100, 1, 16), *first = NULL;
    for (int scope = 0; scope < 50; scope++) {
        struct ab_arena_mark mark = nested_begin();
        unsigned char *blocks[200];
        for (size_t i = 0; i < 200; i++) /* more than was measured */
            blocks[i] = filled(nested_alloc(100), 100, (int)i, 16);
        for (size_t i = 0; i < 200; i++)
            expect(holds(blocks[i], 100, (int)i), "a block lives to the end of its nested scope");
        first = scope == 0 ? blocks[0] : first;
        expect(blocks[0] == first, "a nested scope begins where the last one did");
        nested_end(mark);
    }
    expect(holds(outer, 100, 1), "what is in the arena of the scope stays");
    expect(nested_resize(nested_alloc_zeroed(10), 10, 20) != NULL, "a block can grow");
    advised_scope_end();
}

static void pools_give_slots_back(void)
{
    static unsigned char *all[6000];
    for (size_t i = 0; i < 6000; i++)
        all[i] = filled(pool_96_alloc(96), 96, (int)i, 16); /* more than was measured */
    for (size_t i = 0; i < 6000; i++)
        expect(holds(all[i], 96, (int)i), "slots are apart");
    pool_96_free(all[17]);
    expect(pool_96_alloc(96) == all[17], "a slot is used again");
    expect(pool_96_alloc(97) == NULL, "a pool refuses more than a slot");
    for (size_t i = 0; i < 6000; i++)
        pool_96_free(all[i]);
    void *other = of_other_file(96);
    pool_96_free(other);
    unsigned char *first = filled(pool_96_2_alloc_zeroed(96), 96, 7, 64);
    pool_96_2_free(filled(pool_96_2_alloc(96), 96, 7, 64));
    pool_96_2_free(first);
}

static void slabs_resize(void)
{
    slab_free(filled(slab_alloc_zeroed(1), 1, 8, 16));
    unsigned char *small = filled(slab_alloc(1), 1, 8, 16);
    unsigned char *block = filled(slab_alloc(1), 1, 8, 16);
    for (size_t size = 1; size < 10000; size *= 3) {
        block = (unsigned char *)slab_resize(block, size, size * 3);
        expect(block != NULL && holds(block, size, 8), "contents go with a block");
        filled(block, size * 3, 8, 16);
    }
    slab_free(block);
    slab_free(small);
    unsigned char *aligned = filled(slab_2_alloc(600), 600, 9, 64);
    aligned = (unsigned char *)slab_2_resize(aligned, 600, 1000);
    expect(aligned != NULL && holds(aligned, 600, 9), "an aligned one too");
    slab_2_free(filled(aligned, 1000, 9, 64));
    slab_free(filled(slab_resize(NULL, 0, 10), 10, 9, 16));
}

#ifdef THREADS
enum { BLOCKS = 3000 };
struct work {
    unsigned char *pool[BLOCKS], *slab[BLOCKS], *frame[BLOCKS];
    int number;
};

static void *of_thread(void *context)
{
    struct work *w = (struct work *)context;
    for (size_t i = 0; i < BLOCKS; i++) {
        w->pool[i] = filled(pool_96_alloc(96), 96, w->number, 16);
        w->slab[i] = filled(slab_alloc(40), 40, w->number, 16);
        w->frame[i] = filled(frame_alloc(40), 40, w->number, 16);
    }
    for (size_t i = 0; i < BLOCKS; i += 2)
        slab_free(w->slab[i]);
    return NULL;
}

static void threads_free_what_others_made(void)
{
    static struct work works[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        works[i].number = i + 1;
        expect(pthread_create(&threads[i], NULL, of_thread, &works[i]) == 0, "a thread starts");
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < BLOCKS; i++) {
            expect(holds(works[k].pool[i], 96, k + 1), "blocks of a thread outlive it");
            expect(holds(works[k].frame[i], 40, k + 1), "those of its arena too");
            pool_96_free(works[k].pool[i]);
            if (i % 2 == 1)
                slab_free(works[k].slab[i]);
        }
    advised_scope_end();
}

#ifdef THREAD_SCOPES /* advised_scope_end() is about the thread that calls it */
static void *with_scopes_of_its_own(void *context)
{
    int number = *(int *)context;
    unsigned char *first = NULL, *last = NULL;
    for (int scope = 0; scope < 200; scope++) {
        unsigned char *blocks[100];
        for (size_t i = 0; i < 100; i++)
            blocks[i] = filled(frame_alloc(100), 100, number, 16);
        unsigned char *next = filled(frames_alloc(100), 100, number + 10, 64);
        for (size_t i = 0; i < 100; i++)
            expect(holds(blocks[i], 100, number), "no other thread ends this scope");
        expect(last == NULL || holds(last, 100, number + 10), "nor the one before");
        first = scope == 1 ? blocks[0] : first; /* the first goes on where a thread ended */
        expect(scope < 1 || blocks[0] == first, "its scopes begin in the same place");
        last = next;
        advised_scope_end();
    }
    return NULL;
}

static void each_thread_ends_its_scopes(void)
{
    pthread_t threads[4];
    int numbers[4];
    unsigned char *own = filled(frame_alloc(100), 100, 77, 16);
    for (int i = 0; i < 4; i++) {
        numbers[i] = i + 1;
        expect(pthread_create(&threads[i], NULL, with_scopes_of_its_own, &numbers[i]) == 0,
               "a thread starts");
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    expect(holds(own, 100, 77), "the scope of this thread goes on");
    advised_scope_end();
}
#endif
#endif

int main(void)
{
    for (int i = 0; i < 2; i++) { /* what is opened again knows nothing of the first time */
        expect(advised_init() == 0, "heaps are opened");
#ifdef THREADS
        threads_free_what_others_made();
#endif
#ifdef THREAD_SCOPES
        each_thread_ends_its_scopes();
#endif
        arena_is_used_again();
        double_arena_lives_twice();
        stacks_nest();
        nested_scopes_use_memory_again();
        pools_give_slots_back();
        slabs_resize();
        advised_fini();
        advised_fini(); /* nothing is open: nothing happens */
    }
    puts("all right");
    return 0;
}
#endif
