/* SPDX-License-Identifier: MIT
 *
 * A program for each kind of placement, whose right answer is known: it prints `expected: KIND
 * FUNCTION` for each function whose calls have one, and for a block that outlives its scope
 * `survivor: FUNCTION FILE:LINE`, its nested scope `straggler: …`; without call sites, `expected-size: KIND
 * BYTES`.
 *     usage: prog_placed KIND SEED     KIND as in the table at the end */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

enum { SCOPES = 200 };

static _Thread_local uint64_t draws;

static size_t draw(size_t below)
{
    draws = draws * 6364136223846793005u + 1442695040888963407u;
    return (size_t)((draws >> 33) % below);
}

static void *use(void *block, size_t size)
{
    if (block == NULL)
        exit(4);
    return memset(block, (int)size, size);
}

/* ---- stack: a parser's values, the youngest freed first; deep and shallow in turn ---- */

static APART void parse(size_t depth)
{
    size_t size = 16 + draw(300);
    void *value = use(malloc(size), size);
    for (size_t n = depth == 0 ? 0 : 1 + draw(3); n > 0; n--)
        parse(depth - 1);
    free(value);
}

/* ---- arena: what a request needs, freed at its end, the oldest first ---- */

static _Thread_local void *blocks[4096];
static _Thread_local size_t n_blocks;

static APART void read_request(void)
{
    for (size_t n = 40 + draw(80); n > 0; n--) {
        size_t size = 16 + draw(500);
        blocks[n_blocks++] = use(malloc(size), size);
    }
}

static APART void write_answer(void)
{
    for (size_t n = 20 + draw(40); n > 0; n--) {
        size_t size = 16 + draw(2000);
        blocks[n_blocks++] = use(malloc(size), size);
    }
}

static void end_scope(void)
{
    for (size_t i = 0; i < n_blocks; i++)
        free(blocks[i]);
    n_blocks = 0;
}

static void stack(void)
{
    for (int i = 0; i < SCOPES; i++) {
        read_request();
        for (size_t n = 2 + draw(2); n > 0; n--)
            parse(2 + draw(2));
        end_scope();
    }
}

static void arena(void)
{
    for (int i = 0; i < SCOPES; i++) {
        read_request();
        write_answer();
        end_scope();
    }
}

/* ---- nested: a request holds documents, whose nodes and names die with theirs, the oldest first. A
 * word lives on to the end of the request once in a while ---- */

enum { DOCUMENTS = 12, STRAGGLER_LINE = __LINE__ + 21 };
static void *nodes[64];
static size_t n_nodes;

static APART void make_node(void)
{
    size_t size = 32 + draw(900);
    nodes[n_nodes++] = use(malloc(size), size);
}

static APART void make_name(void)
{
    size_t size = 8 + draw(60);
    nodes[n_nodes++] = use(malloc(size), size);
}

static APART void keep_word(bool is_kept)
{
    size_t size = 16 + draw(30);
    void **to = is_kept ? &blocks[n_blocks++] : &nodes[n_nodes++];
    void *block;
    block = malloc(size); /* this line */
    *to = use(block, size);
}

static void read_document(bool is_odd)
{
    for (size_t n = 10 + draw(10); n > 0; n--) {
        make_node();
        if (draw(2) == 0)
            make_name();
    }
    for (int i = 0; i < 3; i++)
        keep_word(is_odd && i == 1);
    for (size_t i = 0; i < n_nodes; i++)
        free(nodes[i]);
    n_nodes = 0;
}

static void nested(void)
{
    for (int i = 0; i < SCOPES; i++) {
        read_request();
        for (int k = 0; k < DOCUMENTS; k++)
            read_document(i % 50 == 17 && k == 5);
        end_scope();
    }
}

/* ---- sized: the same by sizes alone; one of a node is resized ---- */

static APART void read_sized_document(void)
{
    for (size_t n = 10 + draw(10); n > 0; n--) {
        nodes[n_nodes++] = use(malloc(480), 480);
        if (draw(2) == 0)
            nodes[n_nodes++] = use(malloc(40), 40);
    }
    nodes[0] = use(realloc(nodes[0], 40), 40);
    for (size_t i = 0; i < n_nodes; i++)
        free(nodes[i]);
    n_nodes = 0;
}

static void sized(void)
{
    for (int i = 0; i < SCOPES; i++) {
        for (size_t n = 40 + draw(80); n > 0; n--) {
            size_t size = 200 + 16 * draw(4);
            blocks[n_blocks++] = use(malloc(size), size);
        }
        for (int k = 0; k < DOCUMENTS; k++)
            read_sized_document();
        end_scope();
    }
}

/* ---- double: messages are read in the scope after the one that they were sent in ---- */

static void *sent[2][256];
static size_t n_sent[2];

static APART void send_messages(int scope)
{
    size_t turn = (size_t)scope % 2, n = 10 + draw(30);
    for (n_sent[turn] = 0; n_sent[turn] < n; n_sent[turn]++) {
        size_t size = 24 + draw(200);
        sent[turn][n_sent[turn]] = use(malloc(size), size);
    }
}

static void receive(int scope)
{
    size_t turn = ((size_t)scope + 1) % 2;
    for (size_t i = 0; i < n_sent[turn]; i++)
        free(sent[turn][i]);
    n_sent[turn] = 0;
}

static void double_arena(void)
{
    for (int i = 0; i < SCOPES; i++) {
        read_request();
        send_messages(i);
        write_answer();
        receive(i);
        end_scope();
    }
    receive(SCOPES);
}

/* ---- pool, slab, keep: blocks that live on and die in any order ---- */

enum { LIVE = 600, CHANGES = 30000 };
static void *live[LIVE];

static APART void *spawn(void)
{
    return use(malloc(80), 80);
}

static APART void *make_record(void)
{
    static const size_t sizes[] = {24, 40, 112, 208};
    size_t size = sizes[draw(4)];
    return use(malloc(size), size);
}

/* 200 bytes to 200 KiB, as many of each order of magnitude. */
static APART void *load(void)
{
    size_t size = (size_t)200 << draw(10);
    size += draw(size);
    return use(malloc(size), size);
}

static void replace(void *(*make)(void), size_t n_live, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t at = draw(n_live);
        free(live[at]);
        live[at] = make();
    }
    for (size_t i = 0; i < n_live; i++) {
        free(live[i]);
        live[i] = NULL;
    }
}

static void pool(void)
{
    replace(spawn, LIVE, CHANGES);
}

static void slab(void)
{
    replace(make_record, LIVE, CHANGES);
}

static void keep(void)
{
    replace(load, 100, 5000);
}

/* ---- workers: threads with requests of their own, which have nothing to do with each other ---- */

enum { WORKERS = 4 };

static APART void read_header(void)
{
    for (size_t n = 20 + draw(20); n > 0; n--) {
        size_t size = 16 + draw(300);
        blocks[n_blocks++] = use(malloc(size), size);
        if (n % 8 == 0)
            sched_yield(); /* the requests of the others go on meanwhile, on one CPU too */
    }
}

static void *work(void *seed)
{
    draws = (uintptr_t)seed;
    for (int i = 0; i < SCOPES; i++) {
        read_header();
        write_answer();
        end_scope();
    }
    return NULL;
}

static void in_threads(void *(*run)(void *))
{
    pthread_t threads[WORKERS];
    uintptr_t seed = (uintptr_t)draws;
    for (uintptr_t i = 0; i < WORKERS; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)(seed * WORKERS + i)) != 0)
            exit(4);
    for (size_t i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
}

static void workers(void)
{
    in_threads(work);
}

/* ---- handed: blocks of one size go from any thread to any other, which frees them ---- */

static void *handed[LIVE]; /* atomic: who takes a block out owns it */

static void *hand_on(void *seed)
{
    draws = (uintptr_t)seed;
    for (size_t i = 0; i < CHANGES / WORKERS; i++) {
        free(__atomic_exchange_n(&handed[draw(LIVE)], spawn(), __ATOMIC_ACQ_REL));
        if (i % 64 == 0)
            sched_yield();
    }
    return NULL;
}

static void hand(void)
{
    in_threads(hand_on);
    for (size_t i = 0; i < LIVE; i++)
        free(handed[i]);
}

/* ---- threads: nested scopes of the first one, beside another one whose blocks live on ---- */

static atomic_bool is_filled, is_done;

static void *keep_in_thread(void *seed)
{
    void *kept[100] = {NULL};
    draws = *(const uint64_t *)seed;
    for (size_t i = 0; !is_done; i++) {
        size_t at = i < 100 ? i : draw(100);
        free(kept[at]);
        kept[at] = load();
        is_filled = i >= 99;
        if (is_filled)
            usleep(50);
    }
    for (size_t i = 0; i < 100; i++)
        free(kept[i]);
    return NULL;
}

static void threads(void)
{
    pthread_t other;
    uint64_t seed = draws;
    if (pthread_create(&other, NULL, keep_in_thread, &seed) != 0)
        exit(4);
    while (!is_filled)
        usleep(50);
    nested();
    is_done = true;
    pthread_join(other, NULL);
}

/* ---- survivor: one block in some scopes is used two scopes later ---- */

enum { SURVIVOR_LINE = __LINE__ + 6 };
static APART void spawn_trail(void)
{
    for (size_t n = 8 + draw(8); n > 0; n--) {
        size_t size = 96;
        void *block;
        block = malloc(size); /* this line */
        blocks[n_blocks++] = use(block, size);
    }
}

static void survivor(void)
{
    void *kept = NULL;
    int until = 0;
    for (int i = 0; i < SCOPES; i++) {
        read_request();
        spawn_trail();
        if (i % 60 == 41) {
            kept = blocks[--n_blocks];
            until = i + 2;
        }
        if (kept != NULL && i == until) {
            free(use(kept, 96));
            kept = NULL;
        }
        end_scope();
    }
    free(kept);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *kind;
        void (*run)(void);
        const char *expected;
    } all[] = {
        {"stack", stack, "expected: stack parse\nexpected: frame read_request\n"},
        {"arena", arena, "expected: frame read_request\nexpected: frame write_answer\n"},
        {"nested", nested,
         "expected: nested make_node\nexpected: nested make_name\nexpected: frame keep_word\n"
         "expected: frame read_request\n"},
        {"threads", threads,
         "expected: nested make_node\nexpected: nested make_name\nexpected: frame keep_word\n"
         "expected: frame read_request\nexpected: keep load\n"},
        {"sized", sized,
         "expected-size: nested 480\nexpected-size: nested 40\nexpected-size: frame 200\n"
         "expected-size: frame 248\n"},
        {"double", double_arena, "expected: double send_messages\nexpected: frame read_request\n"},
        {"pool", pool, "expected: pool spawn\n"},
        {"slab", slab, "expected: slab make_record\n"},
        {"keep", keep, "expected: keep load\n"},
        {"workers", workers, "expected: frame read_header\nexpected: frame write_answer\n"},
        {"handed", hand, "expected: pool spawn\n"},
        {"survivor", survivor, "expected: frame read_request\n"},
    };
    for (size_t i = 0; argc == 3 && i < sizeof all / sizeof all[0]; i++)
        if (strcmp(argv[1], all[i].kind) == 0) {
            draws = strtoull(argv[2], NULL, 10);
            all[i].run();
            fputs(all[i].expected, stdout);
            if (all[i].run == nested || all[i].run == threads)
                printf("straggler: keep_word prog_placed.c:%d\n", STRAGGLER_LINE);
            if (all[i].run == survivor)
                printf("survivor: spawn_trail prog_placed.c:%d\n", SURVIVOR_LINE);
            return 0;
        }
    fputs(
        "usage: prog_placed KIND SEED; KIND: stack arena nested threads sized double pool slab keep "
        "workers handed survivor\n",
        stderr);
    return 2;
}
