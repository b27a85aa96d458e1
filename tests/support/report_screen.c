/* SPDX-License-Identifier: MIT */
#include "report_screen.h"
#include "result/numbers.h"
#include "result/result_fields.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LIVE = 14336000 }; /* in the third phase; in the others nine tenths of it */
static const char *const phases[SCREEN_PHASES] = {"fill", "churn", "grow", "drain"};
static const uint64_t n_ops[SCREEN_PHASES] = {20000, 400000, 30000, 20000};
static const char *const names[SCREEN_BACKENDS] = {"glibc", "jemalloc", "tcmalloc", "mimalloc"};
static const double ns_per_op[SCREEN_BACKENDS][SCREEN_PHASES] = {
    {170, 28.7, 427, 152}, {187, 12.1, 394, 31.8}, {179, 10.8, 296, 75.2}, {160, 11.3, 296, 29}};
static const double kib[SCREEN_BACKENDS][4] = {/* live, internal, external, retained */
                                               {14001, 205, 2031, 3},
                                               {14001, 1331, 720, 340},
                                               {14002, 1335, 1327, 411},
                                               {14009, 1740, 1500, 310}};
static const double drift[SCREEN_ROUNDS] = {1, 1.01, 0.99, 1.02, 0.98, 1.005, 0.995, 1.003};

static struct ab_hdr *make_hdr(uint64_t p50)
{
    struct ab_hdr *h = calloc(1, sizeof *h);
    assert_non_null(h);
    ab_hdr_init(h);
    for (uint64_t i = 0; i < 4000; i++)
        ab_hdr_record(h, i < 20 ? p50 * 60 + i : i < 200 ? p50 * 9 + i % 7 : p50 - 2 + i % 5);
    return h;
}

static struct ab_result *add_result(struct screen *x, uint32_t b, uint32_t p, unsigned op,
                                    uint32_t round)
{
    struct ab_result *r = &x->results[x->s.n_results++];
    *r = (struct ab_result){
        .backend = b, .phase = x->s.phases[p], .op = op, .round = round, .n = 4000};
    r->hdr = make_hdr((uint64_t)(20 + 4 * b + 10 * p + 3 * op));
    for (size_t i = 0; i < ab_field_count; i++)
        if (ab_fields[i].type == AB_FIELD_F64)
            *(double *)((char *)r + ab_fields[i].offset) = NAN;
    for (unsigned q = 0; q < AB_QUANTILE_COUNT; q++)
        r->quantiles[q] = ab_result_quantile(r->hdr, ab_quantile_values[q]);
    r->min = (double)r->hdr->min;
    r->tail_n = n_ops[p] / 2;
    r->n_worst = 2; /* one that repeats, and one of this round */
    r->worst[0] = (struct ab_worst_op){24000 + 100 * round, 1000 * p + op, 6300, 0};
    r->worst[1] = (struct ab_worst_op){9000, 1000 * p + 20 + round, 64, 0};
    r->max = r->worst[0].ns;
    return r;
}

static void add_phase(struct screen *x, uint32_t b, uint32_t p, uint32_t round)
{
    static const unsigned ops[SCREEN_PHASES][2] = {{AB_OP_ALLOC, AB_OP_ALLOC},
                                                   {AB_OP_ALLOC, AB_OP_FREE},
                                                   {AB_OP_RESIZE, AB_OP_RESIZE},
                                                   {AB_OP_FREE, AB_OP_FREE}};
    for (unsigned i = 0; i < 2; i++)
        if (i == 0 || ops[p][1] != ops[p][0])
            add_result(x, b, p, ops[p][i], round);
    struct ab_result *all = add_result(x, b, p, AB_OP_ALL, round);
    all->n_worst = 0;
    all->n_ops = n_ops[p];
    all->ns_per_op = ns_per_op[b][p] * drift[(round + b) % SCREEN_ROUNDS];
    all->cpu_ns_per_op = all->wall_ns_per_op = all->ns_per_op;
    all->ops_per_s = 1e9 / all->ns_per_op;
    all->quiet_percent = 99;
    all->faults_minor = 3;
}

static void add_memory(struct screen *x, uint32_t b, uint32_t p, uint32_t round)
{
    for (int end = 0; end < 2; end++) {
        struct ab_memory *m = &x->memory[x->s.n_memory++];
        double part[4], sum = 0, share = p == 2 ? 1 : 0.9;
        for (unsigned i = 0; i < 4; i++)
            sum += part[i] = kib[b][i] * 1024 * share + (i == 3 ? 4096.0 * round : 0);
        *m = (struct ab_memory){.backend = b, .phase = x->s.phases[p], .round = round};
        m->at = end ? AB_AT_END : AB_AT_FOOTPRINT_PEAK;
        m->live_bytes = part[0];
        m->internal_bytes = part[1];
        m->external_bytes = part[2];
        m->retained_bytes = part[3];
        m->footprint_bytes = m->rss_peak_bytes = m->peak_bytes = sum;
        m->live_peak_bytes = LIVE * share;
        for (unsigned i = 0; i < AB_DRAIN_COUNT; i++)
            m->drained_bytes[i] = end && p == x->s.n_phases - 1 && i < 2 ? sum / (2 + b)
                                                                         : (double)NAN;
    }
}

static void describe(struct screen *x, uint32_t n_phases)
{
    x->s = (struct ab_session){.kind = AB_SESSION_WORKLOAD,
                               .name = "quickstart",
                               .phases = phases,
                               .n_phases = n_phases,
                               .n_rounds_planned = SCREEN_ROUNDS,
                               .is_complete = true,
                               .n_backends = SCREEN_BACKENDS,
                               .n_rounds = SCREEN_ROUNDS,
                               .cpu = -1};
    x->s.facts = (struct ab_facts){.lanes = 1,
                                   .live_peak_bytes = n_phases > 2 ? LIVE : LIVE * 9 / 10};
    x->s.timer.floor_ns = 20;
    x->s.timer.quantum_ns = 1;
    x->s.backends = x->backends;
    x->s.rounds = x->rounds;
    x->s.results = x->results;
    x->s.nulls = x->nulls;
    x->s.memory = x->memory;
    for (uint32_t b = 0; b < SCREEN_BACKENDS; b++) {
        snprintf(x->backends[b].name, sizeof x->backends[b].name, "%s", names[b]);
        snprintf(x->backends[b].package, sizeof x->backends[b].package, "lib%s", names[b]);
        x->backends[b].boundary = "malloc";
        x->backends[b].status = AB_BACKEND_OK;
        x->backends[b].was_named = true;
    }
    for (uint32_t round = 0; round < SCREEN_ROUNDS; round++)
        x->rounds[round] = (struct ab_round){.index = round};
}

struct screen *screen_new(uint32_t n_phases)
{
    struct screen *x = calloc(1, sizeof *x);
    assert_non_null(x);
    describe(x, n_phases);
    for (uint32_t round = 0; round < SCREEN_ROUNDS; round++)
        for (uint32_t p = 0; p < n_phases; p++) {
            for (uint32_t b = 0; b < SCREEN_BACKENDS; b++) {
                add_phase(x, b, p, round);
                add_memory(x, b, p, round);
            }
            x->nulls[x->s.n_nulls++] = (struct ab_null_cost){.phase = phases[p],
                                                             .boundary = "malloc",
                                                             .round = round,
                                                             .n_ops = n_ops[p],
                                                             .ns_per_op = 2.5 + 0.1 * p,
                                                             .floor_ns = 20,
                                                             .floor_mean_ns = 20};
        }
    return x;
}

struct screen *screen_new_exec(void)
{
    static const char *const program[] = {AB_PROGRAM_PHASE};
    struct screen *x = calloc(1, sizeof *x);
    assert_non_null(x);
    describe(x, 1);
    x->s.kind = AB_SESSION_EXEC;
    x->s.name = "python3";
    x->s.phases = program;
    for (uint32_t round = 0; round < SCREEN_ROUNDS; round++)
        for (uint32_t b = 0; b < SCREEN_BACKENDS; b++) {
            struct ab_result *r = add_result(x, b, 0, AB_OP_ALL, round);
            ab_hdr_init(r->hdr);
            r->n = r->tail_n = r->n_worst = 0;
            r->n_ops = 1;
            r->wall_ns = ns_per_op[b][1] * 1e7 * drift[(round + b) % SCREEN_ROUNDS];
            r->ns_per_op = r->wall_ns_per_op = r->wall_ns;
            r->user_ns = r->wall_ns * 0.8;
            r->system_ns = r->wall_ns * 0.1;
            r->cpu_ns = r->cpu_ns_per_op = r->user_ns + r->system_ns;
            r->resident_peak_bytes = kib[b][0] * 1024 + kib[b][1] * 1024;
            r->resident_mean_bytes = r->resident_peak_bytes * 0.75;
        }
    return x;
}

void screen_add_sizes(struct screen *x)
{
    static const uint64_t n[] = {3, 120, 900, 2400, 577};
    x->s.size_classes = calloc(2 * SCREEN_BACKENDS * 5, sizeof *x->s.size_classes);
    assert_non_null(x->s.size_classes);
    for (uint32_t b = 0; b < SCREEN_BACKENDS; b++)
        for (unsigned i = 0; i < 10; i++) {
            struct ab_size_class *c = &x->s.size_classes[x->s.n_size_classes++];
            *c = (struct ab_size_class){.backend = b,
                                        .phase = x->s.phases[1],
                                        .op = i < 5 ? AB_OP_ALLOC : AB_OP_FREE,
                                        .log2 = 4 + i % 5 * 2,
                                        .hdr = calloc(1, sizeof *c->hdr)};
            assert_non_null(c->hdr);
            ab_hdr_init(c->hdr);
            for (uint64_t k = 0; k < n[i % 5]; k++)
                ab_hdr_record(c->hdr, (k % 100 == 99 ? 400 : 24) + 6 * b + 9 * i + k % 5);
        }
}

void screen_free(struct screen *x)
{
    for (uint32_t i = 0; i < x->s.n_size_classes; i++)
        free(x->s.size_classes[i].hdr);
    free(x->s.size_classes);
    for (uint32_t i = 0; i < sizeof x->results / sizeof *x->results; i++)
        free(x->results[i].hdr);
    free(x);
}
