/* SPDX-License-Identifier: MIT
 *
 * A program whose placement is known: 200 frames of 30 labels that die with their frame, four parts
 * that die with the next one, and things that stay. usage: prog_places */
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))
enum { FRAMES = 200, LABELS = 30, PARTS = 4, THINGS = 100 };

static APART void *get(size_t size)
{
    void *p = malloc(size);
    memset(p, 7, size);
    return p;
}

static APART void *make_label(int i)
{
    void *p = get(16 + (size_t)i % 5 * 16);
    if (i % 10 == 0)
        p = realloc(p, 300);
    __asm__ volatile("" ::: "memory");
    return p;
}

static APART void *make_part(void)
{
    void *p = get(72);
    __asm__ volatile("" ::: "memory");
    return p;
}

static APART void *make_thing(void)
{
    void *p = get(2000);
    __asm__ volatile("" ::: "memory");
    return p;
}

int main(void)
{
    static void *labels[LABELS], *parts[PARTS], *things[THINGS];
    for (int i = 0; i < THINGS; i++)
        things[i] = make_thing();
    for (int f = 0; f < FRAMES; f++) {
        for (int i = 0; i < LABELS; i++)
            labels[i] = make_label(i);
        for (int i = 0; i < PARTS; i++) {
            free(parts[i]);
            parts[i] = make_part();
        }
        for (int i = 0; i < LABELS; i++)
            free(labels[i]);
    }
    for (int i = 0; i < THINGS; i++)
        free(things[i]);
    return 0;
}
