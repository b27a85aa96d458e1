/* SPDX-License-Identifier: MIT
 *
 * Where the time of a replay goes, step by step through the same functions that `replay` calls; and
 * whether a trace in bursts measures what it measures whole.
 *   usage: command_costs WORKER TRACE BACKEND          a table
 *          command_costs WORKER TRACE BACKEND ROUNDS   whole and in bursts by turns: the ratios
 */
#include "app/backend_choice.h"
#include "backend/selection.h"
#include "base/clock.h"
#include "core/file_digest.h"
#include "runner/estimate.h"
#include "runner/fold.h"
#include "runner/run.h"
#include "runner/supervise.h"
#include "tape/tape_file.h"
#include "trace_tools/to_tape.h"

#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BURST = 1 << 24, ROUNDS_MAX = 1000 };

struct bench {
    const char *trace;
    struct ab_trace_info info;
    struct ab_tape_map map;
    struct ab_run_context context;
    struct ab_selection_list selection;
    struct ab_case backend;
    double once_ns, worst_worker_s; /* an event; besides the loop */
    struct ab_err err;
};

static double seconds(void)
{
    return (double)ab_clock_now_ns() * 1e-9;
}

static void check(struct bench *b, enum ab_status status)
{
    if (status == AB_OK)
        return;
    fprintf(stderr, "command_costs: %s\n", b->err.text);
    exit(ab_status_exit_code(status));
}

/* ---- what is done once ---- */

static void tell_once(struct bench *b, const char *what, double s)
{
    double ns = s * 1e9 / (double)b->info.events;
    printf("  %-42s %7.3f s %7.1f ns an event\n", what, s, ns);
    b->once_ns += ns;
}

static double read_only(struct bench *b)
{
    enum { BATCH = 512 };
    static struct ab_event events[BATCH];
    struct ab_trace_reader *r;
    double begun = seconds();
    check(b, ab_trace_open(b->trace, &r, &b->err));
    for (size_t n = 1; n > 0;)
        check(b, ab_trace_next(r, events, BATCH, &n, &b->err));
    b->info = *ab_trace_reader_info(r);
    ab_trace_close(r);
    return seconds() - begun;
}

/* Returns how long the writing took of it all. */
static double lay_down(struct bench *b, uint32_t burst_events, struct ab_tape_map *map)
{
    struct ab_trace_feed_options options = {
        .tape.touch = AB_TOUCH_PAGE, .burst_events = burst_events, .most_bytes = UINT64_MAX};
    struct ab_trace_feed *feed;
    struct ab_tape_file file;
    const struct ab_tape *burst;
    double writing = 0;
    check(b, ab_trace_feed_open(b->trace, &options, &feed, &b->err));
    check(b, ab_trace_feed_next(feed, &burst, &b->err));
    check(b, ab_tape_file_begin(feed->is_over, &file, &b->err));
    while (burst != NULL) {
        double begun = seconds();
        check(b, ab_tape_file_add(&file, burst, &b->err));
        writing += seconds() - begun;
        check(b, ab_trace_feed_next(feed, &burst, &b->err));
    }
    check(b, ab_tape_file_end(&file, &feed->total, map, &b->err));
    ab_trace_feed_close(feed);
    return writing;
}

static void do_once(struct bench *b)
{
    char digest[SHA256_DIGEST_STRING_LENGTH];
    double reading = read_only(b), begun = seconds();
    double writing = lay_down(b, 0, &b->map), all = seconds() - begun;
    printf("%llu events, once:\n", (unsigned long long)b->info.events);
    tell_once(b, "decode and prove", reading);
    tell_once(b, "build the tape", all - reading - writing);
    tell_once(b, "write it to where runs map it", writing);
    begun = seconds();
    ab_file_digest(b->trace, digest);
    tell_once(b, "digest of the file", seconds() - begun);
    printf("  %-42s %7s   %7.1f ns an event\n", "sum", "", b->once_ns);
}

/* ---- what a worker costs ---- */

static double wall_of(const struct bench *b, const struct ab_outcome *run)
{
    return (double)run->page->report.phases[0].wall_ticks * b->context.clock.ns_per_tick * 1e-9;
}

static double run_once(struct bench *b, enum ab_pass pass, struct ab_outcome *run)
{
    struct ab_rng rng;
    ab_rng_init(&rng, 1, 1);
    double begun = seconds();
    check(b, ab_run(&b->context, &b->backend, pass, &rng, run, &b->err));
    if (run->status != AB_BACKEND_OK) {
        fprintf(stderr, "command_costs: %s\n", run->reason);
        exit(4);
    }
    return seconds() - begun;
}

static void tell_worker(struct bench *b, const char *name, enum ab_pass pass)
{
    struct ab_outcome run;
    double all = run_once(b, pass, &run), loop = wall_of(b, &run), rest = all - loop;
    printf("  %-12s loop %7.3f s, all the rest %6.3f s\n", name, loop, rest);
    if (rest > b->worst_worker_s)
        b->worst_worker_s = rest;
    ab_outcome_fini(&run);
}

static void tell_costs(struct bench *b)
{
    do_once(b);
    b->context.tape = &b->map;
    printf("each worker, start to end:\n");
    tell_worker(b, "throughput", AB_PASS_THROUGHPUT);
    tell_worker(b, "latency", AB_PASS_LATENCY);
    tell_worker(b, "tail", AB_PASS_TAIL);
    printf("  %-12s %27.3f s at most\n", "a worker", b->worst_worker_s);
    ab_tape_map_close(&b->map);
}

/* ---- bursts ---- */

static double run_on(struct bench *b, const struct ab_tape_map *map)
{
    struct ab_outcome run;
    b->context.tape = map;
    run_once(b, AB_PASS_THROUGHPUT, &run);
    double wall = wall_of(b, &run);
    ab_outcome_fini(&run);
    return wall;
}

static void compare_bursts(struct bench *b, int n)
{
    static double ratios[ROUNDS_MAX];
    struct ab_tape_map bursts;
    lay_down(b, 0, &b->map);
    lay_down(b, BURST, &bursts);
    for (int i = 0; i < n; i++) {
        double first = i % 2 == 0 ? run_on(b, &b->map) : run_on(b, &bursts);
        double second = i % 2 == 0 ? run_on(b, &bursts) : run_on(b, &b->map);
        ratios[i] = i % 2 == 0 ? second / first : first / second;
    }
    for (int i = 0; i < n; i++)
        printf("%.3f\n", ratios[i]);
    ab_tape_map_close(&bursts);
    ab_tape_map_close(&b->map);
}

int main(int argc, char **argv)
{
    struct bench b = {.trace = argc > 2 ? argv[2] : NULL};
    int rounds = argc == 5 ? atoi(argv[4]) : 0;
    if (argc < 4 || argc > 5 || (argc == 5 && (rounds < 1 || rounds > ROUNDS_MAX))) {
        fprintf(stderr, "usage: command_costs WORKER TRACE BACKEND [ROUNDS]\n");
        return 2;
    }
    const char *names[] = {argv[3]};
    check(&b, ab_selection_parse(names, 1, NULL, &b.selection, &b.err));
    if (b.selection.n != 1 || b.selection.items[0].state != AB_SELECTION_OK) {
        fprintf(stderr, "command_costs: %s: not to be had\n", argv[3]);
        return 4;
    }
    ab_case_make(&b.selection.items[0], &b.backend);
    b.context.worker_path = argv[1];
    b.context.memory_limit_bytes = ab_default_memory_limit();
    ab_clock_calibrate(&b.context.clock);
    ab_supervise_begin();
    if (rounds > 0)
        compare_bursts(&b, rounds);
    else
        tell_costs(&b);
    ab_selection_list_fini(&b.selection);
    return 0;
}
