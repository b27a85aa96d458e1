/* SPDX-License-Identifier: MIT */
/* usage: alloc_test LANES TOGGLES SLOTS — see configs/classics/alloc-test.yaml. */
#include "faithful.h"

struct slot {
    unsigned char *block;
    uint64_t bytes;
};

static unsigned long n_toggles;
static unsigned n_slots; /* of a lane */
static atomic_ullong sum;
static pthread_barrier_t are_full;

/* Seven bins: so much of the hits, of so much of the slots. */
static const struct {
    double hits, slots;
} bins[] = {{.262144, .000064}, {.393216, .001536}, {.245760, .015360}, {.081920, .081920},
            {.015360, .245760}, {.001536, .393216}, {.000064, .262144}};
static uint64_t bin_hits[7]; /* sums of the hits, of 2^32 */
static unsigned bin_first[8];

static void prepare_bins(void)
{
    double hits = 0, slots = 0;
    for (unsigned b = 0; b < 7; b++) {
        hits += bins[b].hits;
        slots += bins[b].slots;
        bin_hits[b] = (uint64_t)(hits * 4294967296.0);
        bin_first[b + 1] = (unsigned)(slots * n_slots + 0.5);
    }
    bin_hits[6] = UINT64_C(1) << 32;
    bin_first[7] = n_slots;
}

static unsigned pick_slot(struct random *r)
{
    uint32_t hit = draw(r);
    unsigned b = 0;
    while (hit >= bin_hits[b])
        b++;
    unsigned n = bin_first[b + 1] - bin_first[b];
    return n == 0 ? below(r, n_slots) : bin_first[b] + below(r, n);
}

/* Half of all in 5 … 8, a quarter in 9 … 16, and so on to 1024. */
static unsigned pick_size(struct random *r)
{
    uint32_t bits = draw(r) | 1u << 25; /* at most 7 halvings */
    unsigned k = (unsigned)__builtin_clz(bits) + 2;
    return between(r, (1u << k) + 1, 2u << k);
}

static void fill(struct slot *s, struct random *r)
{
    s->bytes = pick_size(r);
    s->block = need(malloc(s->bytes));
    memset(s->block, (int)s->bytes, s->bytes);
    keep(s->block);
}

static uint64_t empty(struct slot *s)
{
    uint64_t read = 0;
    for (uint64_t i = 0; i < s->bytes; i++)
        read += s->block[i];
    free(s->block);
    s->block = NULL;
    return read;
}

static void *work(void *argument)
{
    (void)argument;
    struct random r = seeded(41); /* of every thread, as in the original */
    uint64_t read = 0;
    struct slot *slots = need(malloc(n_slots * sizeof *slots));
    for (unsigned i = 0; i < n_slots; i++) {
        slots[i] = (struct slot){0};
        if (draw(&r) & 1)
            fill(&slots[i], &r);
    }
    if (pthread_barrier_wait(&are_full) == PTHREAD_BARRIER_SERIAL_THREAD)
        start_clock();
    for (unsigned long i = 0; i < n_toggles; i++) {
        struct slot *s = slots + pick_slot(&r);
        if (s->block != NULL)
            read += empty(s);
        else
            fill(s, &r);
    }
    if (pthread_barrier_wait(&are_full) == PTHREAD_BARRIER_SERIAL_THREAD)
        stop_clock();
    for (unsigned i = 0; i < n_slots; i++)
        if (slots[i].block != NULL)
            empty(&slots[i]);
    free(slots);
    atomic_fetch_add(&sum, read);
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned lanes = (unsigned)argument(argc, argv, 1);
    n_toggles = argument(argc, argv, 2);
    if (lanes < 1 || lanes > MAX_LANES)
        return 2;
    n_slots = (unsigned)argument(argc, argv, 3) / lanes;
    prepare_bins();
    pthread_barrier_init(&are_full, NULL, lanes);
    begin();
    run_lanes(0, lanes, work);
    return report(n_toggles * lanes);
}
