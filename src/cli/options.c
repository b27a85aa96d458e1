/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include "base/bits.h"
#include "base/nearest.h"
#include "core/text.h"
#include "base/units.h"
#include "tape/tape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum option_id {
    OPT_BACKEND,
    OPT_BACKEND_REPLAY,
    OPT_BACKEND_PATH,
    OPT_SET,
    OPT_ONLY,
    OPT_TOUCH,
    OPT_THREADS,
    OPT_BURST,
    OPT_TAPE_MEM,
    OPT_ROUNDS,
    OPT_RESUME,
    OPT_SEED,
    OPT_CPUS,
    OPT_ORDER,
    OPT_WINDOW,
    OPT_THP,
    OPT_MEM_LIMIT,
    OPT_TIMEOUT,
    OPT_TIMEOUT_VERIFY,
    OPT_ALLOW_BROKEN,
    OPT_ALLOW_PLUGINS,
    OPT_DRAIN,
    OPT_GATE,
    OPT_GATE_REPLAY,
    OPT_EVENTS,
    OPT_LIVE,
    OPT_PARTIAL,
    OPT_DIGEST,
    OPT_OUTPUT,
    OPT_OUTPUT_TRACE,
    OPT_FOLLOW,
    OPT_WAIT,
    OPT_MAX_EVENTS,
    OPT_DURATION,
    OPT_NO_CONVERT,
    OPT_RESULTS,
    OPT_NO_STORE,
    OPT_JSON,
    OPT_CSV,
    OPT_CSV_HIST,
    OPT_CSV_TIMELINE,
    OPT_HLOG,
    OPT_HGRM,
    OPT_LIVE_CSV,
    OPT_COLOR,
    OPT_ASCII,
    OPT_QUIET,
    OPT_QUIET_RECORD,
    OPT_QUIET_TRACE,
    OPT_VERBOSE,
    OPT_VERBOSE_LIST,
    OPT_VERBOSE_VERIFY,
    OPT_HELP,
};

enum {
    WINDOW_MOST = 1 << 20, /* of ops: more than a window that bounds anything */
    TIMEOUT_LEAST_NS = 10000000,
};

#define RUN (1u << AB_COMMAND_RUN)
#define REPLAY (1u << AB_COMMAND_REPLAY)
#define REPORT (1u << AB_COMMAND_REPORT)
#define RECORD (1u << AB_COMMAND_RECORD)
#define TRACE (1u << AB_COMMAND_TRACE)
#define CHECK (1u << AB_COMMAND_CHECK)
#define LIST (1u << AB_COMMAND_LIST)
#define VERIFY (1u << AB_COMMAND_VERIFY)

/* What -b takes, without its default, which differs. */
#define BACKENDS \
    "back ends, by name or path, comma-separated or repeated, with\n" \
    "settings, each spelling a row of its own: slab:keep=8:spare=0,\n" \
    "'jemalloc{MALLOC_CONF=dirty_decay_ms:0}', ./libmi.so:prefix=mi_;\n" \
    "several variables as {A=1;B=2}; inline+slab: compiled into the loop;\n" \
    "checked+NAME: each call is proven; fault+NAME:n=100: in each run the\n" \
    "100th call that asks for memory (alloc, zeroed, aligned and resize\n" \
    "counted together, over all lanes and phases) returns NULL;\n" \
    "OWN=./lib.so: a path under a name of its own; in a path a backslash\n" \
    "takes the next character as it is: './a\\,b.so'; see\n" \
    "allocators/README.md\n"

/* An option whose help differs from command to command has a row for each. */
static const struct ab_option_info table[] = {
    [OPT_BACKEND] = {"backend", "LIST",
                     BACKENDS "(default: the workload's, else glibc,jemalloc,tcmalloc,mimalloc)",
                     "What runs", 'b', RUN | CHECK},
    [OPT_BACKEND_REPLAY] = {"backend", "LIST", BACKENDS "(default: glibc,jemalloc,tcmalloc,mimalloc)", "What runs", 'b',
                            REPLAY},
    [OPT_BACKEND_PATH] = {"backend-path", "DIR:DIR",
                          "where names that are neither built in nor known are looked for,\n"
                          "as libNAME.so or NAME.so", "What runs", 0, RUN | REPLAY | CHECK | VERIFY},
    [OPT_SET] = {"set", "NAME=VALUE", "give a param of the workload another value", "What runs",
                 0, RUN | CHECK | VERIFY},
    [OPT_ONLY] = {"check", "LIST",
                  "these checks alone, or all gates, or the matrix; the workload or trace is\n"
                  "run in any case: work alone runs nothing else",
                  "What runs", 0, VERIFY},
    [OPT_TOUCH] = {"touch", "HOW",
                   "what is written to new memory: none, first(N), ends, page,\n"
                   "line, all (default: page)",
                   "What runs", 0, REPLAY},
    [OPT_ROUNDS] = {"rounds", "N", "how often every back end runs, in a new order each round (default: 8)",
                  "Measurement", 0, RUN | REPLAY},
    [OPT_RESUME] = {"resume", "RESULT.json",
                    "go on with a result that was interrupted: only the rounds that are\n"
                    "missing run; what is not said here is taken from it",
                    "Measurement", 0, RUN | REPLAY},
    [OPT_SEED] = {"seed", "N", "seed of sizes, positions, samples and orders", "Measurement", 0,
                  RUN | REPLAY | CHECK | VERIFY},
    [OPT_CPUS] = {"cpus", "LIST",
                  "pin the lanes, one CPU after the other, to a list such as 1 or 0,2-3",
                  "Measurement", 0, RUN | REPLAY},
    [OPT_ORDER] = {"order", "HOW",
                   "lanes run free, as far as the window lets them, or strict: in turns,\n"
                   "in the exact order (for memory and debugging; no latencies)",
                   "Measurement", 0, RUN | REPLAY},
    [OPT_WINDOW] = {"window", "N",
                    "how many ops lanes may run ahead of the common order, at most 1048576;\n"
                    "0: any number (default: as many as leave the live bytes within a tenth of\n"
                    "their peak)",
                    "Measurement", 0, RUN | REPLAY | CHECK},
    [OPT_THREADS] = {"threads", "N",
                     "lanes that the recorded threads share: recorded (default: as many as were\n"
                     "alive at once) or a number up to 256; 1 is the recorded order in one lane",
                     "What runs", 0, REPLAY},
    [OPT_BURST] = {"burst", "N",
                   "replay in bursts of N calls, 256 to 2^30, brought into memory one after the\n"
                   "other, while nothing is measured; 0: never (default: see --tape-mem)",
                   "What runs", 0, REPLAY},
    [OPT_TAPE_MEM] = {"tape-mem", "SIZE|N%",
                      "hold the trace in memory whole where it takes no more than this, 8 bytes\n"
                      "a call or a little more; else in bursts as long as this allows, from a\n"
                      "file in $TMPDIR or /var/tmp (default: 25% of the memory available)",
                      "What runs", 0, REPLAY},
    [OPT_THP] = {"thp", "HOW", "transparent huge pages of the workers: default (the system's) or never",
                 "Measurement", 0, RUN | REPLAY},
    [OPT_EVENTS] = {"events", "A..B",
                    "dump, cut, export: events A to B - 1, from 0; A.. and ..B are open",
                    "What is read", 0, TRACE},
    [OPT_LIVE] = {"live", "HOW",
                  "cut: blocks live at A come first, as allocations (keep, the default),\n"
                  "or are left out with every call on them (drop)",
                  "What is read", 0, TRACE},
    [OPT_PARTIAL] = {"partial", NULL,
                     "accept a trace without its end, as far as its blocks are whole",
                     "What is read", 0, TRACE | REPLAY},
    [OPT_DIGEST] = {"digest", NULL, "info: tell the digest of the events", "What is read", 0,
                    TRACE},
    [OPT_MEM_LIMIT] = {"mem-limit", "SIZE",
                       "refuse or stop what needs more (default: 70 % of what is available)",
                       "Measurement", 0, RUN | REPLAY | VERIFY},
    [OPT_TIMEOUT] = {"timeout", "TIME",
                     "end each run after this, at least 10ms; reading the trace or workload and\n"
                     "making a tape of it may take as long, once, else nothing is run (default:\n"
                     "of a run from the estimated cost, of reading none)",
                     "Measurement", 0, RUN | REPLAY},
    [OPT_TIMEOUT_VERIFY] = {"timeout", "TIME",
                            "end a check after this, at least 10ms (default: 5 or 10 s)",
                            "Measurement", 0, VERIFY},
    [OPT_ALLOW_BROKEN] = {"allow-broken", NULL,
                          "measure also what fails its checks; it stays out of every comparison",
                          "Measurement", 0, RUN | REPLAY},
    [OPT_ALLOW_PLUGINS] = {"allow-plugins", NULL,
                           "load libraries that the workload itself names by path: their\n"
                           "code is run. Paths given with -b need no leave",
                           "What runs", 0, RUN | CHECK},
    [OPT_DRAIN] = {"drain", "TIME",
                   "memory pass: once all is freed, wait so long for memory to be given\n"
                   "back, at most 10s (default: 0.1s)",
                   "Measurement", 0, RUN | REPLAY},
    [OPT_GATE] = {"gate", "TEXT",
                  "a bound that makes the run fail (exit 1), on a phase of the workload:\n"
                  "'PHASE/alloc/p99 < 2us', 'PHASE/memory/rss_peak < 1.5x live' or\n"
                  "'arena:PHASE/all/ns_per_op < 0.5x glibc'; may be repeated. One that\n"
                  "cannot be judged fails too (see configs/README.md)",
                  "Gates", 0, RUN | CHECK},
    [OPT_GATE_REPLAY] = {"gate", "TEXT",
                         "a bound that makes the replay fail (exit 1), such as\n"
                         "'replay/alloc/p99 < 2us', 'replay/memory/rss_peak < 1.5x live' or\n"
                         "'arena:replay/all/ns_per_op < 0.5x glibc'; may be repeated. One that\n"
                         "cannot be judged fails too (see configs/README.md)",
                         "Gates", 0, REPLAY},
    [OPT_OUTPUT] = {"output", "FILE",
                    "the trace to write (default: COMMAND.abt), or a folder for it", "Output",
                    'o', RECORD},
    [OPT_OUTPUT_TRACE] = {"output", "FILE",
                          "cut, recover: the trace to write, or (recover) a folder for it", "Output",
                          'o', TRACE},
    [OPT_FOLLOW] = {"follow", NULL,
                    "record its child processes too, one trace each: app.PID.abt",
                    "What is recorded", 0, RECORD},
    [OPT_WAIT] = {"wait", NULL,
                  "as --follow, and wait for those that outlive the command, such as daemons;\n"
                  "SIGINT or SIGTERM ends the waiting, not them",
                  "What is recorded", 0, RECORD},
    [OPT_MAX_EVENTS] = {"max-events", "N",
                        "stop recording after this many events of all threads together, or up\n"
                        "to 1024 more of each; the command goes on",
                        "What is recorded", 0, RECORD},
    [OPT_DURATION] = {"duration", "TIME",
                      "stop recording after this and write the traces; the command goes on, and\n"
                      "record waits for its end",
                      "What is recorded", 0, RECORD},
    [OPT_NO_CONVERT] = {"no-convert", NULL,
                        "keep what was recorded as it is, in the new folder that -o names (default:\n"
                        "COMMAND.spool); allocbench trace recover makes the trace, later",
                        "Output", 0, RECORD},
    [OPT_RESULTS] = {"results", "DIR",
                     "keep the result in this folder (default: $ALLOCBENCH_RESULTS, else\n"
                     "results/)",
                     "Output", 0, RUN | REPLAY},
    [OPT_NO_STORE] = {"no-store", NULL, "keep no result beside what --json and --csv write", "Output",
                      0, RUN | REPLAY},
    [OPT_JSON] = {"json", "FILE", "write the result as JSON; - is standard output", "Output", 0,
                  RUN | REPLAY | REPORT | TRACE | LIST | VERIFY},
    [OPT_CSV] = {"csv", "FILE", "write the result as CSV; - is standard output", "Output", 0,
                 RUN | REPLAY | REPORT | TRACE},
    [OPT_CSV_HIST] = {"csv-hist", "FILE", "write every histogram as CSV, by op and by size",
                      "Output", 0, RUN | REPLAY | REPORT},
    [OPT_CSV_TIMELINE] = {"csv-timeline", "FILE",
                          "write memory and latency over the op clock as CSV", "Output", 0,
                          RUN | REPLAY | REPORT},
    [OPT_HLOG] = {"hlog", "FILE", "write the histograms as an HdrHistogram interval log", "Output",
                  0, RUN | REPLAY | REPORT},
    [OPT_HGRM] = {"hgrm", "PREFIX",
                  "write percentile distributions for plotters: PREFIX.BACKEND.PHASE.OP.hgrm,\n"
                  "or into PREFIX where it is a folder",
                  "Output", 0, RUN | REPLAY | REPORT},
    [OPT_LIVE_CSV] = {"live-csv", "FILE", "export: write the curve of live memory as CSV", "Output",
                      0, TRACE},
    [OPT_COLOR] = {"color", "WHEN", "auto, always or never (default: auto; NO_COLOR is heeded)",
                   "Output", 0, RUN | REPLAY | REPORT | VERIFY},
    [OPT_ASCII] = {"ascii", NULL, "no characters beyond ASCII", "Output", 0,
                   RUN | REPLAY | REPORT | TRACE | VERIFY},
    [OPT_QUIET] = {"quiet", NULL,
                   "print nothing but errors and what failed; files are written all the\n"
                   "same",
                   "Output", 'q', RUN | REPLAY | VERIFY},
    [OPT_QUIET_RECORD] = {"quiet", NULL, "print nothing but errors", "Output", 'q', RECORD},
    [OPT_QUIET_TRACE] = {"quiet", NULL, "no progress and no summary on standard error", "Output",
                         'q', TRACE},
    [OPT_VERBOSE] = {"verbose", NULL, "latency by size and over time, the worst ops as well",
                     "Output", 'v', RUN | REPLAY | REPORT},
    [OPT_VERBOSE_LIST] = {"verbose", NULL, "more about each", "Output", 'v', LIST},
    [OPT_VERBOSE_VERIFY] = {"verbose", NULL, "what each check proves", "Output", 'v', VERIFY},
    [OPT_HELP] = {"help", NULL, "this text", "Output", 'h', ~0u},
};

const struct ab_option_info *ab_options_info(size_t i)
{
    return i < AB_ARRAY_LEN(table) ? &table[i] : NULL;
}

static enum ab_status bad_value(const struct ab_option_info *info, const char *value,
                                const char *why, struct ab_err *err)
{
    char shown[256];
    return ab_fail(err, AB_USAGE, "--%s %s: %s", info->name,
                   ab_text_printable(shown, sizeof shown, value), why);
}

static enum ab_status read_number(const struct ab_option_info *info, const char *value,
                                  enum ab_unit_kind kind, uint64_t least, uint64_t *out,
                                  struct ab_err *err)
{
    struct ab_number n;
    const char *bad = ab_units_parse(value, strlen(value), kind, &n);
    if (bad == NULL && n.whole < least)
        bad = "must be at least 1";
    if (bad != NULL)
        return bad_value(info, value, bad, err);
    *out = n.whole;
    return AB_OK;
}

static enum ab_status read_word(const struct ab_option_info *info, const char *value,
                                const char *const *words, size_t n_words, size_t *out,
                                struct ab_err *err)
{
    struct ab_text list = {0};
    enum ab_status status = AB_OK;
    for (size_t i = 0; i < n_words; i++) {
        if (strcmp(value, words[i]) == 0) {
            *out = i;
            goto out;
        }
        ab_text_addf(&list, "%s%s", i == 0 ? "one of " : ", ", words[i]);
    }
    const char *near = ab_text_nearest(value, words, n_words);
    if (near != NULL)
        ab_text_addf(&list, "; did you mean %s?", near);
    status = bad_value(info, value, list.s, err);
out:
    ab_text_fini(&list);
    return status;
}

static enum ab_status read_touch(const struct ab_option_info *info, const char *value,
                                 struct ab_options *o, struct ab_err *err)
{
    static const char *const words[] = {"none", "first(N)", "ends", "page", "line", "all"};
    size_t n = strlen(value), word = 0;
    if (n > 7 && strncmp(value, "first(", 6) == 0 && value[n - 1] == ')') {
        struct ab_number bytes;
        const char *bad = ab_units_parse(value + 6, n - 7, AB_UNIT_BYTES, &bytes);
        if (bad == NULL && (bytes.whole == 0 || bytes.whole >= 1u << 29))
            bad = "between 1 and 512MiB bytes can be touched";
        if (bad != NULL)
            return bad_value(info, value, bad, err);
        o->touch = AB_TOUCH_FIRST;
        o->touch_bytes = (uint32_t)bytes.whole;
        return AB_OK;
    }
    if (strncmp(value, "first", 5) == 0)
        return bad_value(info, value, "say how many bytes, as in first(8)", err);
    enum ab_status status = read_word(info, value, words, AB_ARRAY_LEN(words), &word, err);
    if (status == AB_OK)
        o->touch = (enum ab_touch)word;
    return status;
}

static enum ab_status read_share(const struct ab_option_info *info, const char *value,
                                 struct ab_options *o, struct ab_err *err)
{
    size_t n = strlen(value);
    bool is_share = n > 0 && value[n - 1] == '%';
    struct ab_number x;
    const char *bad =
        ab_units_parse(value, n, is_share ? AB_UNIT_FRACTION : AB_UNIT_BYTES, &x);
    if (bad == NULL && is_share && (x.value < 0.01 || x.value > 0.9))
        bad = "1% to 90% of the memory that is available";
    if (bad == NULL && !is_share && x.whole < AB_TAPE_MEM_LEAST)
        bad = "at least 64KiB";
    if (bad != NULL)
        return bad_value(info, value, bad, err);
    o->tape_mem_bytes = is_share ? 0 : x.whole;
    o->tape_mem_share = is_share ? x.value : 0;
    return AB_OK;
}

/* One CPU number or range at *s, moving behind it; false when it is none. */
static bool read_cpus(const char **s, struct ab_options *o)
{
    char *end;
    if (**s < '0' || **s > '9')
        return false;
    long first = strtol(*s, &end, 10), last = first;
    if (*end == '-' && end[1] >= '0' && end[1] <= '9')
        last = strtol(end + 1, &end, 10);
    *s = end;
    for (long cpu = first; cpu <= last && last < 65536; cpu++) {
        if (o->n_cpus == AB_CPUS_MAX)
            return false;
        o->cpus[o->n_cpus++] = (int)cpu;
    }
    return first <= last && last < 65536;
}

static enum ab_status read_cpu_list(const struct ab_option_info *info, const char *value,
                                    struct ab_options *o, struct ab_err *err)
{
    const char *s = value;
    o->n_cpus = 0;
    while (read_cpus(&s, o)) {
        if (*s == 0)
            return AB_OK;
        if (*s++ != ',')
            break;
    }
    return bad_value(info, value, "a list of CPUs is like 1 or 0,2-3", err);
}

static bool add_text(const char ***list, size_t *n, const char *value)
{
    const char **grown = realloc(*list, (*n + 2) * sizeof grown[0]);
    if (grown == NULL)
        return false;
    *list = grown;
    grown[(*n)++] = value;
    grown[*n] = NULL;
    return true;
}

static enum ab_status add_or_fail(const char ***list, size_t *n, const char *value,
                                  struct ab_err *err)
{
    return add_text(list, n, value) ? AB_OK : ab_fail(err, AB_SYSTEM, "out of memory");
}

enum ab_status ab_options_set_touch(struct ab_options *o, const char *value, struct ab_err *err)
{
    o->has_touch = true;
    return read_touch(&table[OPT_TOUCH], value, o, err);
}

/* A..B, A.. or ..B: at least one event. */
static enum ab_status read_events(const struct ab_option_info *info, const char *value,
                                  struct ab_options *o, struct ab_err *err)
{
    struct ab_number first = {0}, end = {.whole = UINT64_MAX};
    const char *dots = strstr(value, ".."), *bad = NULL;
    if (dots == NULL || dots[dots == value ? 2 : 0] == 0)
        return bad_value(info, value, "a range of events is like 0..1000, 5k.. or ..2M", err);
    if (dots > value)
        bad = ab_units_parse(value, (size_t)(dots - value), AB_UNIT_COUNT, &first);
    if (bad == NULL && dots[2] != 0)
        bad = ab_units_parse(dots + 2, strlen(dots + 2), AB_UNIT_COUNT, &end);
    if (bad == NULL && first.whole >= end.whole)
        bad = "the second number must be greater than the first: B itself is not in A..B";
    if (bad != NULL)
        return bad_value(info, value, bad, err);
    o->has_events = true;
    o->first_event = first.whole;
    o->end_event = end.whole;
    return AB_OK;
}

static enum ab_status apply(enum option_id id, const char *value, struct ab_options *o,
                            struct ab_err *err)
{
    static const char *const when[] = {"auto", "always", "never"};
    static const char *const thp[] = {"default", "never"};
    static const char *const orders[] = {"free", "strict"};
    static const char *const lives[] = {"keep", "drop"};
    const struct ab_option_info *info = &table[id];
    enum ab_status status = AB_OK;
    uint64_t n = 0;
    size_t word = 0;
    switch (id) {
    case OPT_BACKEND:
    case OPT_BACKEND_REPLAY:
        return add_or_fail(&o->backends, &o->n_backends, value, err);
    case OPT_BACKEND_PATH:
        o->backend_path = value;
        return AB_OK;
    case OPT_SET:
        return add_or_fail(&o->sets, &o->n_sets, value, err);
    case OPT_ONLY:
        o->only_check = value;
        return AB_OK;
    case OPT_ALLOW_BROKEN:
        o->allows_broken = true;
        return AB_OK;
    case OPT_ALLOW_PLUGINS:
        o->allows_plugins = true;
        return AB_OK;
    case OPT_TOUCH:
        return ab_options_set_touch(o, value, err);
    case OPT_ROUNDS:
        o->has_rounds = true;
        status = read_number(info, value, AB_UNIT_COUNT, 1, &n, err);
        if (status == AB_OK && n > AB_REPS_MAX)
            return bad_value(info, value, "at most 1000", err);
        if (status == AB_OK)
            o->rounds = (uint32_t)n;
        return status;
    case OPT_RESUME:
        o->resume = value;
        return AB_OK;
    case OPT_SEED:
        o->has_seed = true;
        return read_number(info, value, AB_UNIT_COUNT, 0, &o->seed, err);
    case OPT_CPUS:
        return read_cpu_list(info, value, o, err);
    case OPT_ORDER:
        if ((status = read_word(info, value, orders, 2, &word, err)) == AB_OK)
            o->is_strict = word == 1;
        return status;
    case OPT_WINDOW:
        status = read_number(info, value, AB_UNIT_COUNT, 0, &n, err);
        if (status == AB_OK && n > WINDOW_MOST)
            return bad_value(info, value, "at most 1048576 (2^20); 0 for any number", err);
        o->has_window = true;
        o->window = (uint32_t)n;
        return status;
    case OPT_THREADS:
        if (strcmp(value, "recorded") == 0) {
            o->n_lanes = 0;
            return AB_OK;
        }
        status = read_number(info, value, AB_UNIT_COUNT, 1, &n, err);
        if (status == AB_OK && n > AB_LANES_MAX)
            return bad_value(info, value, "at most 256, or 'recorded'", err);
        o->n_lanes = (uint32_t)n;
        return status;
    case OPT_BURST:
        status = read_number(info, value, AB_UNIT_COUNT, 0, &n, err);
        if (status == AB_OK && (n > AB_BURST_MAX || (n != 0 && n < AB_BURST_LEAST)))
            return bad_value(info, value, "0, or 256 to 2^30", err);
        o->has_burst = true;
        o->burst_events = (uint32_t)n;
        return status;
    case OPT_TAPE_MEM:
        return read_share(info, value, o, err);
    case OPT_THP:
        if ((status = read_word(info, value, thp, 2, &word, err)) == AB_OK)
            o->is_thp_off = word == 1;
        return status;
    case OPT_MEM_LIMIT:
        return read_number(info, value, AB_UNIT_BYTES, 1, &o->mem_limit_bytes, err);
    case OPT_TIMEOUT:
    case OPT_TIMEOUT_VERIFY:
        status = read_number(info, value, AB_UNIT_TIME, 1, &n, err);
        if (status == AB_OK && n < TIMEOUT_LEAST_NS)
            return bad_value(info, value, "at least 10ms: a process must start and end", err);
        if (status == AB_OK)
            o->timeout_ns = n;
        return status;
    case OPT_DRAIN:
        status = read_number(info, value, AB_UNIT_TIME, 0, &n, err);
        if (status == AB_OK && n > 10000000000)
            return bad_value(info, value, "at most 10s", err);
        if (status == AB_OK)
            o->drain_ns = n;
        return status;
    case OPT_GATE:
    case OPT_GATE_REPLAY:
        return add_or_fail(&o->gates, &o->n_gates, value, err);
    case OPT_EVENTS:
        return read_events(info, value, o, err);
    case OPT_LIVE:
        if ((status = read_word(info, value, lives, 2, &word, err)) == AB_OK)
            o->is_dropping_live = word == 1;
        o->has_live = true;
        return status;
    case OPT_PARTIAL:
        o->is_partial = true;
        return AB_OK;
    case OPT_DIGEST:
        o->wants_digest = true;
        return AB_OK;
    case OPT_LIVE_CSV:
        o->live_csv = value;
        return AB_OK;
    case OPT_OUTPUT:
    case OPT_OUTPUT_TRACE:
        o->output = value;
        return AB_OK;
    case OPT_FOLLOW:
        o->is_following = true;
        return AB_OK;
    case OPT_WAIT:
        o->is_waiting = true;
        return AB_OK;
    case OPT_MAX_EVENTS:
        return read_number(info, value, AB_UNIT_COUNT, 1, &o->most_events, err);
    case OPT_DURATION:
        return read_number(info, value, AB_UNIT_TIME, 1, &o->duration_ns, err);
    case OPT_NO_CONVERT:
        o->is_unconverted = true;
        return AB_OK;
    case OPT_JSON:
        o->json = value;
        return AB_OK;
    case OPT_CSV:
        o->csv = value;
        return AB_OK;
    case OPT_CSV_HIST:
        o->csv_hist = value;
        return AB_OK;
    case OPT_CSV_TIMELINE:
        o->csv_timeline = value;
        return AB_OK;
    case OPT_HLOG:
        o->hlog = value;
        return AB_OK;
    case OPT_HGRM:
        o->hgrm = value;
        return AB_OK;
    case OPT_COLOR:
        if ((status = read_word(info, value, when, 3, &word, err)) == AB_OK)
            o->color = (enum ab_color)word;
        return status;
    case OPT_ASCII:
        o->is_ascii = true;
        return AB_OK;
    case OPT_RESULTS:
        o->results = value;
        return AB_OK;
    case OPT_NO_STORE:
        o->is_store_off = true;
        return AB_OK;
    case OPT_QUIET:
    case OPT_QUIET_RECORD:
    case OPT_QUIET_TRACE:
        o->is_quiet = true;
        return AB_OK;
    case OPT_VERBOSE:
    case OPT_VERBOSE_LIST:
    case OPT_VERBOSE_VERIFY:
        o->is_verbose = true;
        return AB_OK;
    case OPT_HELP:
        o->wants_help = true;
        return AB_OK;
    }
    return AB_OK;
}

static enum ab_status unknown_option(enum ab_command_id command, const char *given,
                                     struct ab_err *err)
{
    const char *names[AB_ARRAY_LEN(table)];
    char word[128], shown[160];
    size_t n = 0;
    for (size_t i = 0; i < AB_ARRAY_LEN(table); i++)
        if ((table[i].commands >> command & 1) != 0)
            names[n++] = table[i].name;
    snprintf(word, sizeof word, "%.*s", (int)strcspn(given, "="), given);
    const char *near = ab_text_nearest(word + strspn(word, "-"), names, n);
    ab_text_printable(shown, sizeof shown, word);
    return near != NULL
               ? ab_fail(err, AB_USAGE, "%s: unknown option %s; did you mean --%s?",
                         ab_commands[command].name, shown, near)
               : ab_fail(err, AB_USAGE, "%s: unknown option %s; see allocbench %s --help",
                         ab_commands[command].name, shown, ab_commands[command].name);
}

/* Names that options had before: accepted, not shown. */
static const struct {
    const char *name;
    enum option_id id;
} aliases[] = {{"reps", OPT_ROUNDS}};

static bool is_named(size_t id, const char *name, size_t n)
{
    if (strlen(table[id].name) == n && strncmp(table[id].name, name, n) == 0)
        return true;
    for (size_t i = 0; i < AB_ARRAY_LEN(aliases); i++)
        if (aliases[i].id == id && strlen(aliases[i].name) == n &&
            strncmp(aliases[i].name, name, n) == 0)
            return true;
    return false;
}

/* Which option argv[i] is, and where its value begins within the same word (or NULL). */
static int find_option(enum ab_command_id command, const char *word, const char **value)
{
    bool is_long = word[1] == '-';
    size_t n = strcspn(word + 2, "=");
    for (size_t i = 0; i < AB_ARRAY_LEN(table); i++) {
        const struct ab_option_info *o = &table[i];
        if ((o->commands >> command & 1) == 0)
            continue;
        if (is_long && is_named(i, word + 2, n)) {
            *value = word[2 + n] == '=' ? word + 3 + n : NULL;
            return (int)i;
        }
        if (!is_long && o->letter != 0 && o->letter == word[1]) {
            *value = word[2] == 0 ? NULL : word[2] == '=' ? word + 3 : word + 2;
            return (int)i;
        }
    }
    return -1;
}

static enum ab_status parse_option(enum ab_command_id command, int argc, char **argv, int *i,
                                   struct ab_options *o, struct ab_err *err)
{
    const char *value = NULL;
    int id = find_option(command, argv[*i], &value);
    if (id < 0)
        return unknown_option(command, argv[*i], err);
    if (table[id].arg == NULL && value != NULL)
        return ab_fail(err, AB_USAGE, "--%s takes no value", table[id].name);
    if (table[id].arg != NULL && value == NULL) {
        if (*i + 1 >= argc)
            return ab_fail(err, AB_USAGE, "--%s needs a value: --%s %s", table[id].name,
                           table[id].name, table[id].arg);
        value = argv[++*i];
    }
    return apply((enum option_id)id, value, o, err);
}

enum ab_status ab_options_parse(enum ab_command_id command, int argc, char **argv,
                                struct ab_options *out, struct ab_err *err)
{
    struct ab_options o = {.rounds = 8, .drain_ns = 100000000, .touch = AB_TOUCH_PAGE,
                           .tape_mem_share = 0.25,
                           .end_event = UINT64_MAX};
    enum ab_status status = AB_OK;
    bool is_rest = false;
    for (int i = 1; i < argc && status == AB_OK; i++) {
        if (!is_rest && strcmp(argv[i], "--") == 0)
            is_rest = true;
        else if (!is_rest && argv[i][0] == '-' && argv[i][1] != 0)
            status = parse_option(command, argc, argv, &i, &o, err);
        else {
            status = add_or_fail(&o.args, &o.n_args, argv[i], err);
            is_rest = is_rest || command == AB_COMMAND_RECORD; /* the command's own options */
        }
    }
    if (status == AB_OK)
        *out = o;
    else
        ab_options_fini(&o);
    return status;
}

void ab_options_fini(struct ab_options *o)
{
    free(o->backends);
    free(o->sets);
    free(o->gates);
    free(o->args);
}
