/* SPDX-License-Identifier: MIT
 *
 * A small game without a window: 300 frames of labels, draw commands, particles and assets. It is
 * there to be recorded, and to be built twice: with malloc, and with the heaps that allocbench
 * advises (frame_memory.h). It reads the clock around the parts that allocate and free, and prints
 * how long these parts took in a frame.
 *
 * The heaps that an author who knows the program would choose:
 *     labels, draw commands, the list of what is visible     die with their frame: a frame arena
 *     particles                                              one size, live for seconds: a pool
 *     assets (4 KiB to 490 KiB), the level, the names        large or few, live long: malloc
 *
 *     cc -O2 -g -o frame_game allocators/examples/frame-game/frame_game.c
 *     usage: frame_game [FRAMES] [--seed N] [--leaky-trail]
 *
 * --leaky-trail adds trails. Like labels, they are freed with their frame, except for one trail in
 * each of the frames 41, 112 and 204. It is used in the two frames after that, and freed then. In
 * an arena that is reset with the frame, these three trails would be used after they are gone.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* clock_gettime */
#endif
#include "frame_memory.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { FRAMES_MOST = 100000, PARTICLES_MOST = 8192, SCRATCH_MOST = 1024, ASSETS_MOST = 12 };
enum { NAMES = 64, TRAILS = 6, TRAIL_BYTES = 96, LEVEL_BYTES = 200000 };

struct particle { /* 96 bytes */
    float x, y, dx, dy, colour[4];
    int frames_left;
    char state[60];
};

struct asset {
    unsigned char *data;
    size_t bytes;
};

struct scratch { /* list of the blocks that die at the end of the frame */
    void *blocks[SCRATCH_MOST];
    size_t bytes[SCRATCH_MOST];
    size_t n;
};

struct game {
    uint64_t draws, checksum, n_allocations;
    struct particle *live[PARTICLES_MOST];
    size_t n_live;
    struct asset assets[ASSETS_MOST];
    size_t n_loads;
    unsigned char *level;
    char *names[NAMES];
    struct scratch scratch, trails;
    void *kept; /* the trail that outlives its frame; NULL = none */
    int kept_until;
    uint64_t spent_ns, empty_part_ns; /* spent_ns: of this frame; empty_part_ns: of an empty part */
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void part_end(struct game *g, uint64_t begin_ns)
{
    uint64_t took = now_ns() - begin_ns;
    g->spent_ns += took > g->empty_part_ns ? took - g->empty_part_ns : 0;
}

static uint32_t draw(struct game *g, uint32_t below)
{
    g->draws = g->draws * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((g->draws >> 33) % below);
}

static void out_of_memory(void)
{
    fputs("frame_game: out of memory\n", stderr);
    exit(4);
}

static void use(struct game *g, const void *block, size_t bytes)
{
    const unsigned char *p = (const unsigned char *)block;
    g->checksum = g->checksum * 31 + p[0] + p[bytes / 2] + p[bytes - 1];
}

/* ---- scratch ---- */

/* Adds n blocks of random sizes, still without memory. Returns the index of the first. */
static size_t plan(struct game *g, struct scratch *s, size_t n, uint32_t least, uint32_t range)
{
    for (size_t i = 0; i < n; i++)
        s->bytes[s->n + i] = least + draw(g, range);
    s->n += n;
    g->n_allocations += n;
    return s->n - n;
}

static void fill(struct game *g, struct scratch *s, size_t from, int frame)
{
    for (size_t i = from; i < s->n; i++) {
        if (s->blocks[i] == NULL)
            out_of_memory();
        memset(s->blocks[i], frame + (int)i, s->bytes[i]);
        use(g, s->blocks[i], s->bytes[i]);
    }
}

static void build_labels(struct game *g, int frame)
{
    struct scratch *s = &g->scratch;
    size_t from = plan(g, s, 120 + draw(g, 80), 16, 120);
    uint64_t begin = now_ns();
    for (size_t i = from; i < s->n; i++)
        s->blocks[i] = SCRATCH_ALLOC(s->bytes[i]);
    part_end(g, begin);
    fill(g, s, from, frame);
}

static void build_draw_list(struct game *g, int frame)
{
    struct scratch *s = &g->scratch;
    size_t from = plan(g, s, 150 + draw(g, 100), 32, 224);
    uint64_t begin = now_ns();
    for (size_t i = from; i < s->n; i++)
        s->blocks[i] = SCRATCH_ALLOC(s->bytes[i]);
    part_end(g, begin);
    fill(g, s, from, frame);
}

static void find_visible(struct game *g, int frame)
{
    struct scratch *s = &g->scratch;
    size_t from = plan(g, s, 1, (uint32_t)(g->n_live * sizeof(void *) + 64), 1);
    uint64_t begin = now_ns();
    s->blocks[from] = SCRATCH_ALLOC(s->bytes[from]);
    part_end(g, begin);
    fill(g, s, from, frame);
}

static void end_frame(struct game *g)
{
    uint64_t begin = now_ns();
    SCRATCH_FREE_ALL(g->scratch.blocks, g->scratch.n);
    part_end(g, begin);
    g->scratch.n = 0;
}

/* ---- trails: blocks of a frame, a few of which outlive it ---- */

static void spawn_trail(struct game *g)
{
    struct scratch *s = &g->trails;
    size_t from = plan(g, s, TRAILS, TRAIL_BYTES, 1);
    uint64_t begin = now_ns();
    for (size_t i = from; i < s->n; i++)
        s->blocks[i] = malloc(s->bytes[i]); /* survivor: three of them */
    part_end(g, begin);
}

static void end_trails(struct game *g, int frame)
{
    struct scratch *s = &g->trails;
    if (g->kept != NULL)
        use(g, g->kept, TRAIL_BYTES);
    uint64_t begin = now_ns();
    if (g->kept != NULL && frame == g->kept_until) {
        free(g->kept);
        g->kept = NULL;
    }
    if (frame == 41 || frame == 112 || frame == 204) {
        g->kept = s->blocks[--s->n];
        g->kept_until = frame + 2;
    }
    for (size_t i = 0; i < s->n; i++)
        free(s->blocks[i]);
    part_end(g, begin);
    s->n = 0;
}

/* ---- particles ---- */

static void spawn_particles(struct game *g)
{
    size_t n = 12 + draw(g, 16), from = g->n_live;
    if (n > PARTICLES_MOST - from)
        n = PARTICLES_MOST - from;
    uint64_t begin = now_ns();
    for (size_t i = from; i < from + n; i++)
        g->live[i] = (struct particle *)PARTICLE_ALLOC(sizeof(struct particle));
    part_end(g, begin);
    for (size_t i = from; i < from + n; i++) {
        if (g->live[i] == NULL)
            out_of_memory();
        memset(g->live[i], 0, sizeof *g->live[i]);
        g->live[i]->dx = (float)draw(g, 100);
        g->live[i]->frames_left = 60 + (int)draw(g, 120);
    }
    g->n_live += n;
    g->n_allocations += n;
}

static void move_particles(struct game *g)
{
    static struct particle *dead[PARTICLES_MOST];
    size_t n_dead = 0;
    for (size_t i = 0; i < g->n_live;) {
        struct particle *p = g->live[i];
        p->x += p->dx;
        if (--p->frames_left > 0) {
            i++;
            continue;
        }
        dead[n_dead++] = p;
        g->live[i] = g->live[--g->n_live];
    }
    for (size_t i = 0; i < n_dead; i++)
        g->checksum = g->checksum * 31 + (uint64_t)dead[i]->x;
    uint64_t begin = now_ns();
    for (size_t i = 0; i < n_dead; i++)
        PARTICLE_FREE(dead[i]);
    part_end(g, begin);
}

/* ---- assets and what stays ---- */

static void load_asset(struct game *g)
{
    struct asset *a = &g->assets[g->n_loads++ % ASSETS_MOST];
    size_t bytes = (size_t)4096 + draw(g, 486 * 1024);
    uint64_t begin = now_ns();
    free(a->data);
    a->data = (unsigned char *)malloc(bytes);
    part_end(g, begin);
    if (a->data == NULL)
        out_of_memory();
    a->bytes = bytes;
    memset(a->data, (int)bytes, bytes);
    use(g, a->data, bytes);
    g->n_allocations++;
}

static void load_level(struct game *g)
{
    uint64_t begin = now_ns();
    g->level = (unsigned char *)calloc(1, LEVEL_BYTES);
    for (size_t i = 0; i < NAMES; i++)
        g->names[i] = (char *)malloc(24 + i);
    part_end(g, begin);
    if (g->level == NULL)
        out_of_memory();
    for (size_t i = 0; i < NAMES; i++) {
        if (g->names[i] == NULL)
            out_of_memory();
        memset(g->names[i], 'a', 24 + i);
    }
    g->n_allocations += NAMES + 1;
}

static void unload(struct game *g)
{
    for (size_t i = 0; i < g->n_live; i++)
        PARTICLE_FREE(g->live[i]);
    for (size_t i = 0; i < ASSETS_MOST; i++)
        free(g->assets[i].data);
    for (size_t i = 0; i < NAMES; i++)
        free(g->names[i]);
    free(g->level);
    free(g->kept);
}

static uint64_t run_frame(struct game *g, int frame, bool has_trails)
{
    g->spent_ns = 0;
    if (frame == 0)
        load_level(g);
    spawn_particles(g);
    if (draw(g, 8) == 0)
        load_asset(g);
    find_visible(g, frame);
    build_labels(g, frame);
    if (has_trails) {
        spawn_trail(g);
        fill(g, &g->trails, 0, frame);
    }
    build_draw_list(g, frame);
    move_particles(g);
    if (has_trails)
        end_trails(g, frame);
    end_frame(g);
    return g->spent_ns;
}

/* ---- the results ---- */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t measure_empty_part(void)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 1000; i++) {
        uint64_t begin = now_ns(), took = now_ns() - begin;
        least = took < least ? took : least;
    }
    return least;
}

static void print_times(uint64_t *ns, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ns[i];
    qsort(ns, n, sizeof *ns, by_value);
    printf("allocation time per frame: mean %.2f us, p50 %.2f us, p99 %.2f us, worst %.2f us\n",
           (double)sum / (double)n / 1e3, (double)ns[(n - 1) / 2] / 1e3,
           (double)ns[(n * 99 + 99) / 100 - 1] / 1e3, (double)ns[n - 1] / 1e3);
}

static bool is_number(const char *text, uint64_t *value)
{
    char *end;
    *value = strtoull(text, &end, 10);
    return end != text && *end == '\0' && text[0] != '-';
}

static bool read_arguments(int argc, char **argv, struct game *g, size_t *n_frames,
                           bool *has_trails)
{
    uint64_t frames = 300;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--leaky-trail") == 0)
            *has_trails = true;
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
            if (!is_number(argv[++i], &g->draws))
                return false;
        } else if (!is_number(argv[i], &frames))
            return false;
    }
    *n_frames = (size_t)frames;
    return frames > 0 && frames <= FRAMES_MOST;
}

int main(int argc, char **argv)
{
    static struct game game;
    struct game *g = &game;
    static uint64_t ns[FRAMES_MOST];
    size_t n_frames;
    bool has_trails = false;
    if (!read_arguments(argc, argv, g, &n_frames, &has_trails)) {
        fputs("usage: frame_game [FRAMES] [--seed N] [--leaky-trail]\n", stderr);
        return 2;
    }
    if (!MEMORY_INIT())
        out_of_memory();
    g->empty_part_ns = measure_empty_part();
    for (size_t i = 0; i < n_frames; i++)
        ns[i] = run_frame(g, (int)i, has_trails);
    unload(g);
    MEMORY_FINI();
    printf("%zu frames, %llu allocations, checksum %016llx\n", n_frames,
           (unsigned long long)g->n_allocations, (unsigned long long)g->checksum);
    print_times(ns, n_frames);
    return 0;
}
