/* SPDX-License-Identifier: MIT */
#include "report_session.h"
#include "result/numbers.h"
#include "result/result_fields.h"

#include "base/bits.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const phases[] = {"steady", "drain"};
static const char *const settings[] = {"rounds=3", "touch=page", NULL};
static const uint32_t orders[3][5] = {{0, 1, 2, 3, 4}, {2, 0, 3, 1, 4}, {4, 3, 2, 1, 0}};

/* p50 in ns of alloc, how many times that p99.9 is, ns/op of the phases */
static const struct {
    const char *name, *boundary, *reason, *package;
    enum ab_backend_status status;
    uint64_t p50;
    uint64_t tail_factor;
    double ns[2];
} fakes[FAKE_COUNT] = {
    {"glibc", "malloc", "", "", AB_BACKEND_OK, 42, 30, {21.5, 40.25}},
    {"jemalloc", "malloc", "", "libjemalloc2", AB_BACKEND_OK, 32, 90, {15.25, 29.5}},
    {"arena", "heap", "", "", AB_BACKEND_OK, 12, 40, {3.5, 6.5}},
    {"pool", "heap", "cannot resize", "", AB_BACKEND_PARTIAL, 25, 10, {2.25, 4}},
    {"broken",
     "malloc",
     "SIGSEGV in free, op 812 of phase steady",
     "",
     AB_BACKEND_CRASHED,
     11,
     5,
     {1, 1}},
    {"scudo", "malloc", "not installed", "libscudo-14-dev", AB_BACKEND_ABSENT, 0, 0, {0, 0}},
};

/* n samples round p50: 98.8 % near it, 1 % three times that, 0.2 % far out. */
static struct ab_hdr *make_hdr(uint64_t p50, uint64_t tail_factor, uint64_t n)
{
    struct ab_hdr *h = calloc(1, sizeof *h);
    assert_non_null(h);
    ab_hdr_init(h);
    for (uint64_t i = 0; i < n; i++) {
        if (i * 500 < n)
            ab_hdr_record(h, p50 * tail_factor + i);
        else if (i * 250 < 3 * n)
            ab_hdr_record(h, p50 * 3);
        else
            ab_hdr_record(h, p50 - 1 + i % 3);
    }
    return h;
}

static struct ab_result *add_result(struct fake_session *f, unsigned b, unsigned phase, unsigned op,
                                    uint32_t round)
{
    assert_true(f->s.n_results < AB_ARRAY_LEN(f->results));
    struct ab_result *r = &f->results[f->s.n_results++];
    uint64_t n = phase == 0 ? 20000 : 900;
    *r = (struct ab_result){
        .backend = b,
        .phase = phases[phase],
        .op = op,
        .round = round,
        .n = n,
        .hdr = make_hdr(fakes[b].p50 * (op == AB_OP_FREE ? 2 : 1), fakes[b].tail_factor, n),
    };
    for (size_t i = 0; i < ab_field_count; i++)
        if (ab_fields[i].group == AB_FIELD_ALL && ab_fields[i].type == AB_FIELD_F64)
            *(double *)((char *)r + ab_fields[i].offset) = NAN;
    for (unsigned q = 0; q < AB_QUANTILE_COUNT; q++)
        r->quantiles[q] = ab_result_quantile(r->hdr, ab_quantile_values[q]);
    r->min = (double)r->hdr->min;
    r->max = (double)r->hdr->max * 1.5;
    r->mean = (double)r->hdr->min + 0.125;
    return r;
}

static void add_tail(struct ab_result *r)
{
    r->tail_n = 160000;
    r->tail_over_100ns = 1600;
    r->tail_over_1us = 160;
    r->tail_over_10us = 16;
    r->tail_over_100us = 1;
    r->n_worst = 2;
    r->worst[0] = (struct ab_worst_op){r->max, 77123, 4096, 0};
    r->worst[1] = (struct ab_worst_op){r->max / 2, 12, 64, 0};
}

static void add_phase(struct fake_session *f, unsigned b, unsigned phase, uint32_t round)
{
    static const double drift[3] = {1, 1.01, 0.99};
    if (phase == 0)
        add_result(f, b, phase, AB_OP_ALLOC, round);
    if (phase == 0 && b != FAKE_POOL)
        add_result(f, b, phase, AB_OP_RESIZE, round);
    add_result(f, b, phase, AB_OP_FREE, round);
    struct ab_result *all = add_result(f, b, phase, AB_OP_ALL, round);
    all->n_unsupported = b == FAKE_POOL && phase == 0 ? 1000 : 0;
    all->n_ops = (phase == 0 ? 2000000 : 90000) - all->n_unsupported;
    all->ns_per_op = fakes[b].ns[phase] * drift[round % 3];
    all->wall_ns_per_op = all->ns_per_op;
    all->ops_per_s = 1e9 / all->ns_per_op;
    all->cpu_ns_per_op = all->ns_per_op + 0.5;
    all->background_cpu_ns_per_op = 0.25;
    all->latency_pass_ns_per_op = all->ns_per_op * 1.125;
    all->faults_minor = 512;
    all->switches_involuntary = round;
    add_tail(all);
}

static void add_nulls(struct fake_session *f)
{
    static const char *const boundaries[] = {"malloc", "heap"};
    for (uint32_t round = 0; round < f->s.n_rounds; round++)
        for (unsigned i = 0; i < 4; i++)
            f->nulls[f->s.n_nulls++] = (struct ab_null_cost){
                .phase = phases[i % 2],
                .boundary = boundaries[i / 2],
                .round = round,
                .n_ops = 2000000,
                .ns_per_op = 0.9 + 0.1 * (i / 2),
                .wall_ns_per_op = 0.9 + 0.1 * (i / 2),
                .latency_pass_ns_per_op = 2.5,
                .floor_ns = i == 3 ? NAN : 20,
                .floor_mean_ns = i == 3 ? NAN : 21.5,
                .instr_per_op = i % 2 == 0 && round == 0 ? 24.5 + i : (double)NAN,
            };
}

static void add_backend(struct fake_session *f, unsigned b)
{
    struct ab_backend_info *info = &f->backends[b];
    snprintf(info->name, sizeof info->name, "%s", fakes[b].name);
    snprintf(info->reason, sizeof info->reason, "%s", fakes[b].reason);
    snprintf(info->package, sizeof info->package, "%s", fakes[b].package);
    info->boundary = fakes[b].boundary;
    info->status = fakes[b].status;
    info->never_frees = b == FAKE_ARENA;
    info->was_named = b != FAKE_SCUDO;
    if (b == FAKE_JEMALLOC) {
        strcpy(info->version, "5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c");
        strcpy(info->path, "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2");
        strcpy(info->build_id, "a1b2c3d4e5f60718293a4b5c6d7e8f9001122334");
    }
}

static void describe(struct ab_session *s)
{
    s->kind = AB_SESSION_WORKLOAD;
    s->name = "web-cache";
    s->about = "what a cache \xe2\x80\x9c"
               "does\xe2\x80\x9d";
    s->config_path = "configs/web-cache.yaml";
    s->config_sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    s->config_text = "allocbench: 1\nname: web-cache\n";
    s->tape_sha256 = "3f9c1a2b4d5e60718293a4b5c6d7e8f900112233445566778899aabbccddeeff";
    s->settings = settings;
    s->seed = UINT64_C(9007199254740993); /* 2^53 + 1: exact, or not */
    s->n_rounds_planned = 3;
    s->is_complete = true;
    s->facts = (struct ab_facts){.largest_bytes = 4096,
                                 .live_peak_blocks = 5000,
                                 .live_peak_bytes = 4299161,
                                 .total_bytes = 327155712,
                                 .total_blocks = 1045000,
                                 .lanes = 1,
                                 .kinds = 1u << AB_OP_ALLOC | 1u << AB_OP_RESIZE |
                                          1u << AB_OP_FREE};
    s->n_slots = 5000;
    s->n_tape_ops = 2090000;
    s->host = (struct ab_host){.cpu = "Imaginary CPU @ 3.00GHz",
                               .kernel = "Linux 6.1.0 x86_64",
                               .libc = "glibc 2.36",
                               .thp = "madvise",
                               .aslr = "full",
                               .cpus_online = 8,
                               .cpus_allowed = 2,
                               .memory_bytes = UINT64_C(8) << 30,
                               .page_bytes = 4096,
                               .load_1min = NAN};
    s->command_line = "allocbench run configs/web-cache.yaml";
    s->timer.source = "rdtsc/rdtscp";
    s->timer.ns_per_tick = 0.3333333333333333;
    s->timer.quantum_ns = 0.6666666666666666;
    s->timer.floor_ns = 20;
    s->phases = phases;
    s->n_phases = 2;
    s->cpu = 1;
}

struct fake_session *fake_session_of(uint32_t n_rounds)
{
    assert_true(n_rounds <= FAKE_ROUNDS_MAX);
    struct fake_session *f = calloc(1, sizeof *f);
    assert_non_null(f);
    describe(&f->s);
    f->s.backends = f->backends;
    f->s.n_backends = FAKE_COUNT;
    f->s.rounds = f->rounds;
    f->s.n_rounds = n_rounds;
    f->s.results = f->results;
    f->s.nulls = f->nulls;
    for (unsigned b = 0; b < FAKE_COUNT; b++)
        add_backend(f, b);
    for (uint32_t round = 0; round < f->s.n_rounds; round++) {
        f->rounds[round] = (struct ab_round){
            .index = round, .order = orders[round % 3], .n_order = 5};
        for (unsigned b = 0; b < FAKE_SCUDO; b++)
            for (unsigned phase = 0; phase < 2; phase++)
                add_phase(f, b, phase, round);
    }
    add_nulls(f);
    return f;
}

struct fake_session *fake_session_new(void)
{
    return fake_session_of(3);
}

void fake_session_free(struct fake_session *f)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(f->results); i++) /* a test may have lowered n_results */
        free(f->results[i].hdr);
    free(f);
}

void fake_session_keep(struct fake_session *f, unsigned first)
{
    for (unsigned b = first; b < FAKE_COUNT; b++) {
        f->backends[b].status = AB_BACKEND_ABSENT;
        f->backends[b].was_named = false;
    }
}

void fake_session_set_ns(struct fake_session *f, unsigned backend, const double ns[3])
{
    for (uint32_t i = 0; i < f->s.n_results; i++) {
        struct ab_result *r = &f->results[i];
        if (r->backend == backend && r->op == AB_OP_ALL)
            r->ns_per_op = ns[r->round % 3];
    }
}

void fake_session_set_peak(struct fake_session *f, unsigned backend, double peak_bytes)
{
    f->s.memory = f->memory;
    for (uint32_t round = 0; round < f->s.n_rounds; round++) {
        assert_true(f->s.n_memory < AB_ARRAY_LEN(f->memory));
        struct ab_memory *m = &f->memory[f->s.n_memory++];
        *m = (struct ab_memory){.backend = backend,
                                .phase = phases[0],
                                .round = round,
                                .at = AB_AT_FOOTPRINT_PEAK,
                                .rss_peak_bytes = peak_bytes,
                                .during_calls_bytes = 0,
                                .peak_bytes = peak_bytes,
                                .footprint_bytes = peak_bytes,
                                .live_bytes = peak_bytes / 2,
                                .live_peak_bytes = peak_bytes / 2,
                                .internal_bytes = peak_bytes / 8,
                                .external_bytes = peak_bytes / 4,
                                .retained_bytes = peak_bytes / 8};
        for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
            m->drained_bytes[i] = i == 1 ? peak_bytes / 16 : (double)NAN;
    }
}

char *fake_capture(void (*write)(FILE *to, const struct ab_session *s, void *user),
                   const struct ab_session *s, void *user)
{
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    assert_non_null(to);
    write(to, s, user);
    assert_int_equal(fclose(to), 0);
    assert_int_equal(strlen(text), n);
    return text;
}

void fake_assert_golden(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "tests/golden/report/%s", name);
    bool update = getenv("AB_UPDATE_GOLDEN") != NULL;
    FILE *file = fopen(path, update ? "w" : "r");
    if (file == NULL)
        fail_msg("cannot open %s (run from the root of the tree)", path);
    if (update) {
        fputs(text, file);
        fclose(file);
        return;
    }
    char *wanted = NULL;
    size_t cap = 0;
    ssize_t n = getdelim(&wanted, &cap, 0, file);
    fclose(file);
    if (n < 0 || strcmp(wanted, text) != 0)
        print_message("%s differs; what came:\n%s\n", path, text);
    assert_true(n >= 0 && strcmp(wanted, text) == 0);
    free(wanted);
}
