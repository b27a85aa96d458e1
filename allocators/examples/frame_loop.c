/* SPDX-License-Identifier: MIT
 *
 * A game's frame loop: everything that a frame needs comes from one arena, which is reset when the
 * next frame begins. Particles, commands for the screen and pairs that collide live 16 ms and are
 * never freed one by one; after the first frames the loop asks the system for nothing.
 *     cc -I. -o frame_loop allocators/examples/frame_loop.c allocators/arena/arena.c \
 *        allocators/common/checked.c allocators/common/pages.c
 */
#include "allocators/arena/arena.h"

#include <stdio.h>

enum { FRAMES = 1000, PARTICLES = 1000, COMMANDS = 50, PAIRS = 200 };

struct particle {
    float x, y, dx, dy;
};

struct command {
    int kind;
    float x, y;
};

struct pair {
    const struct particle *a, *b;
    float distance;
};

/* Runs a frame, whose blocks all come from the arena. Returns false if memory is exhausted. */
static bool run_frame(struct ab_arena *frame, int number)
{
    struct particle *particles = AB_ARENA_ARRAY(frame, struct particle, PARTICLES);
    struct command *commands = AB_ARENA_ARRAY(frame, struct command, COMMANDS);
    struct pair *pairs = AB_ARENA_ARRAY_ZEROED(frame, struct pair, PAIRS);
    if (particles == NULL || commands == NULL || pairs == NULL)
        return false;
    for (int i = 0; i < PARTICLES; i++) {
        struct particle p = {(float)i, (float)number, 1, 0.5f};
        particles[i] = p;
    }
    for (int i = 0; i < COMMANDS; i++) {
        struct command c = {i % 3, particles[i].x, particles[i].y};
        commands[i] = c;
    }
    for (int i = 0; i < PAIRS; i++) {
        AB_ARENA_SCOPED(frame); /* the path of one pair is needed in this round only */
        float *path = AB_ARENA_ARRAY(frame, float, 64);
        if (path == NULL)
            return false;
        path[63] = particles[i].x;
        if (i % 4 == 0)
            continue; /* this ends the scope too */
        pairs[i].a = &particles[i];
        pairs[i].b = &particles[i + 1];
        pairs[i].distance = particles[i + 1].x - path[63];
    }
    return commands[COMMANDS - 1].x >= 0;
}

int main(void)
{
    struct ab_arena frame;
    struct ab_arena_options options = {0};
    options.reserve_bytes = (size_t)64 << 20;
    if (ab_arena_init(&frame, &options) != 0)
        return 1;
    size_t most = 0;
    uint64_t calls = 0;
    for (int number = 0; number < FRAMES; number++) {
        ab_arena_reset(&frame);
        if (!run_frame(&frame, number))
            return 1;
        if (ab_arena_used(&frame) > most)
            most = ab_arena_used(&frame);
        if (number == 0)
            calls = frame.n_os_calls;
    }
    printf("%d frames of %zu bytes\n", FRAMES, most);
    printf("calls to the system after the first frame: %d\n", (int)(frame.n_os_calls - calls));
    ab_arena_fini(&frame);
    return 0;
}
