/* SPDX-License-Identifier: MIT
 *
 * The rows of the table of options: what an option is called, what it says of itself, which
 * commands know it, where its value goes and what it may be. Those that write a result come from
 * report/sinks/sinks.def.
 */
#include "cli/options/option_table.h"

#include "base/bits.h"
#include "cli/commands.h"
#include "cli/options/option_value.h"
#include "tape/tape.h"

#include <string.h>

#define WINDOW_MOST (1 << 20) /* of ops: more than a window that bounds anything */
#define TIMEOUT_LEAST_NS 10000000
#define DRAIN_MOST_NS 10000000000

/* RUN, REPLAY, …: the bits of the commands. */
enum {
#define AB_COMMAND(id, ...) id = 1 << AB_COMMAND_##id,
#include "cli/commands.def"
#undef AB_COMMAND
};

/* Where the value of a row goes, and what it is. */
#define MEMBER(member) \
    .at = offsetof(struct ab_options, member), .size = sizeof((struct ab_options *)0)->member
#define FLAG(member) .type = AB_OPTION_FLAG, MEMBER(member)
#define TEXT(member) .type = AB_OPTION_TEXT, MEMBER(member)
#define LIST_OF(member) \
    .type = AB_OPTION_LIST, MEMBER(member), .also = offsetof(struct ab_options, n_##member)
#define WORD(member, list) .type = AB_OPTION_WORD, MEMBER(member), .words = list
#define NUMBER(unit_kind, member, least, most) \
    .type = AB_OPTION_NUMBER, MEMBER(member), .unit = unit_kind, .min = least, .max = most
#define COUNT(member, least, most) NUMBER(AB_UNIT_COUNT, member, least, most)
#define BYTES(member, least, most) NUMBER(AB_UNIT_BYTES, member, least, most)
#define TIME(member, least, most) NUMBER(AB_UNIT_TIME, member, least, most)
#define SPECIAL(reader) .type = AB_OPTION_SPECIAL, .read = reader
#define GIVEN(member) .also = offsetof(struct ab_options, member)
#define TIMEOUT \
    TIME(timeout_ns, TIMEOUT_LEAST_NS, UINT64_MAX), \
    .range = "at least 10ms: a process must start and end"

static const char *const orders[] = {"free", "strict", NULL};
static const char *const thps[] = {"default", "never", NULL};
static const char *const lives[] = {"keep", "drop", NULL};
static const char *const whens[] = {"auto", "always", "never", NULL};

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
    {"backend", "LIST",
     BACKENDS "(default: the workload's, else glibc,jemalloc,tcmalloc,mimalloc)",
     "What runs", 'b', RUN | CHECK, LIST_OF(backends)},
    {"backend", "LIST", BACKENDS "(default: glibc,jemalloc,tcmalloc,mimalloc)",
     "What runs", 'b', REPLAY, LIST_OF(backends)},
    {"backend-path", "DIR:DIR",
     "where names that are neither built in nor known are looked for,\n"
     "as libNAME.so or NAME.so",
     "What runs", 0, RUN | REPLAY | CHECK | VERIFY, TEXT(backend_path)},
    {"set", "NAME=VALUE", "give a param of the workload another value",
     "What runs", 0, RUN | CHECK | VERIFY, LIST_OF(sets)},
    {"allow-plugins", NULL,
     "load libraries that the workload itself names by path: their\n"
     "code is run. Paths given with -b need no leave",
     "What runs", 0, RUN | CHECK, FLAG(allows_plugins)},
    {"check", "LIST",
     "these checks alone, or all gates, or the matrix; the workload or trace is\n"
     "run in any case: work alone runs nothing else",
     "What runs", 0, VERIFY, TEXT(only_check)},
    {"touch", "HOW",
     "what is written to new memory: none, first(N), ends, page,\n"
     "line, all (default: page)",
     "What runs", 0, REPLAY, SPECIAL(ab_option_touch), GIVEN(has_touch), .words = ab_option_touches},
    {"threads", "N",
     "lanes that the recorded threads share: recorded (default: as many as were\n"
     "alive at once) or a number up to 256; 1 is the recorded order in one lane",
     "What runs", 0, REPLAY, COUNT(n_lanes, 1, AB_LANES_MAX), .zero = "recorded",
     .range = "at most 256, or 'recorded'"},
    {"burst", "N",
     "replay in bursts of N calls, 256 to 2^30, brought into memory one after the\n"
     "other, while nothing is measured; 0: never (default: see --tape-mem)",
     "What runs", 0, REPLAY, COUNT(burst_events, AB_BURST_LEAST, AB_BURST_MAX), .zero = "0",
     GIVEN(has_burst), .range = "0, or 256 to 2^30"},
    {"tape-mem", "SIZE|N%",
     "hold the trace in memory whole where it takes no more than this, 8 bytes\n"
     "a call or a little more; else in bursts as long as this allows, from a\n"
     "file in $TMPDIR or /var/tmp (default: 25% of the memory available)",
     "What runs", 0, REPLAY, SPECIAL(ab_option_tape_mem)},
    {"rounds", "N", "how often every back end runs, in a new order each round (default: 8)",
     "Measurement", 0, RUN | REPLAY, COUNT(rounds, 1, AB_ROUNDS_MAX), .range = "at most 1000",
     GIVEN(has_rounds), .alias = "reps"},
    {"resume", "RESULT.json",
     "go on with a result that was interrupted: only the rounds that are\n"
     "missing run; what is not said here is taken from it",
     "Measurement", 0, RUN | REPLAY, TEXT(resume)},
    {"seed", "N", "seed of sizes, positions, samples and orders",
     "Measurement", 0, RUN | REPLAY | CHECK | VERIFY,
     COUNT(seed, 0, UINT64_MAX), GIVEN(has_seed)},
    {"cpus", "LIST", "pin the lanes, one CPU after the other, to a list such as 1 or 0,2-3",
     "Measurement", 0, RUN | REPLAY, SPECIAL(ab_option_cpus)},
    {"order", "HOW",
     "lanes run free, as far as the window lets them, or strict: in turns,\n"
     "in the exact order (for memory and debugging; no latencies)",
     "Measurement", 0, RUN | REPLAY, WORD(is_strict, orders)},
    {"window", "N",
     "how many ops lanes may run ahead of the common order, at most 1048576;\n"
     "0: any number (default: as many as leave the live bytes within a tenth of\n"
     "their peak)",
     "Measurement", 0, RUN | REPLAY | CHECK, COUNT(window, 0, WINDOW_MOST), GIVEN(has_window),
     .range = "at most 1048576 (2^20); 0 for any number"},
    {"thp", "HOW", "transparent huge pages of the workers: default (the system's) or never",
     "Measurement", 0, RUN | REPLAY, WORD(is_thp_off, thps)},
    {"mem-limit", "SIZE", "refuse or stop what needs more (default: 70 % of what is available)",
     "Measurement", 0, RUN | REPLAY | VERIFY, BYTES(mem_limit_bytes, 1, UINT64_MAX)},
    {"timeout", "TIME",
     "end each run after this, at least 10ms; reading the trace or workload and\n"
     "making a tape of it may take as long, once, else nothing is run (default:\n"
     "of a run from the estimated cost, of reading none)",
     "Measurement", 0, RUN | REPLAY, TIMEOUT},
    {"timeout", "TIME", "end a check after this, at least 10ms (default: 5 or 10 s)",
     "Measurement", 0, VERIFY, TIMEOUT},
    {"allow-broken", NULL,
     "measure also what fails its checks; it stays out of every comparison",
     "Measurement", 0, RUN | REPLAY, FLAG(allows_broken)},
    {"drain", "TIME",
     "memory pass: once all is freed, wait so long for memory to be given\n"
     "back, at most 10s (default: 0.1s)",
     "Measurement", 0, RUN | REPLAY, TIME(drain_ns, 0, DRAIN_MOST_NS), .range = "at most 10s"},
    {"gate", "TEXT",
     "a bound that makes the run fail (exit 1), on a phase of the workload:\n"
     "'PHASE/alloc/p99 < 2us', 'PHASE/memory/rss_peak < 1.5x live' or\n"
     "'arena:PHASE/all/ns_per_op < 0.5x glibc'; may be repeated. One that\n"
     "cannot be judged fails too (see configs/README.md)",
     "Gates", 0, RUN | CHECK, LIST_OF(gates)},
    {"gate", "TEXT",
     "a bound that makes the replay fail (exit 1), such as\n"
     "'replay/alloc/p99 < 2us', 'replay/memory/rss_peak < 1.5x live' or\n"
     "'arena:replay/all/ns_per_op < 0.5x glibc'; may be repeated. One that\n"
     "cannot be judged fails too (see configs/README.md)",
     "Gates", 0, REPLAY, LIST_OF(gates)},
    {"events", "A..B", "dump, cut, export: events A to B - 1, from 0; A.. and ..B are open",
     "What is read", 0, TRACE, SPECIAL(ab_option_events)},
    {"live", "HOW",
     "cut: blocks live at A come first, as allocations (keep, the default),\n"
     "or are left out with every call on them (drop)",
     "What is read", 0, TRACE, WORD(is_dropping_live, lives), GIVEN(has_live)},
    {"partial", NULL, "accept a trace without its end, as far as its blocks are whole",
     "What is read", 0, TRACE | REPLAY, FLAG(is_partial)},
    {"digest", NULL, "info: tell the digest of the events",
     "What is read", 0, TRACE, FLAG(wants_digest)},
    {"follow", NULL, "record its child processes too, one trace each: app.PID.abt",
     "What is recorded", 0, RECORD, FLAG(is_following)},
    {"wait", NULL,
     "as --follow, and wait for those that outlive the command, such as daemons;\n"
     "SIGINT or SIGTERM ends the waiting, not them",
     "What is recorded", 0, RECORD, FLAG(is_waiting)},
    {"max-events", "N",
     "stop recording after this many events of all threads together, or up\n"
     "to 1024 more of each; the command goes on",
     "What is recorded", 0, RECORD, COUNT(most_events, 1, UINT64_MAX)},
    {"duration", "TIME",
     "stop recording after this and write the traces; the command goes on, and\n"
     "record waits for its end",
     "What is recorded", 0, RECORD, TIME(duration_ns, 1, UINT64_MAX)},
    {"output", "FILE", "the trace to write (default: COMMAND.abt), or a folder for it",
     "Output", 'o', RECORD, TEXT(output)},
    {"output", "FILE", "cut, recover: the trace to write, or (recover) a folder for it",
     "Output", 'o', TRACE, TEXT(output)},
    {"no-convert", NULL,
     "keep what was recorded as it is, in the new folder that -o names (default:\n"
     "COMMAND.spool); allocbench trace recover makes the trace, later",
     "Output", 0, RECORD, FLAG(is_unconverted)},
    {"results", "DIR",
     "keep the result in this folder (default: $ALLOCBENCH_RESULTS, else\n"
     "results/)",
     "Output", 0, RUN | REPLAY, TEXT(results)},
    {"no-store", NULL, "keep no result beside what --json and --csv write",
     "Output", 0, RUN | REPLAY, FLAG(is_store_off)},
#define AB_SINK(id, name, arg, help, write) \
    {name, arg, help, "Output", 0, RUN | REPLAY | REPORT, TEXT(sinks[AB_SINK_##id])},
#define AB_SINK_OF_HISTOGRAMS AB_SINK
#include "report/sinks/sinks.def"
#undef AB_SINK
#undef AB_SINK_OF_HISTOGRAMS
    {"json", "FILE", "write the result as JSON; - is standard output",
     "Output", 0, TRACE | LIST | VERIFY, TEXT(json)},
    {"csv", "FILE", "write the result as CSV; - is standard output",
     "Output", 0, TRACE, TEXT(csv)},
    {"live-csv", "FILE", "export: write the curve of live memory as CSV",
     "Output", 0, TRACE, TEXT(live_csv)},
    {"color", "WHEN", "auto, always or never (default: auto; NO_COLOR is heeded)",
     "Output", 0, RUN | REPLAY | REPORT | VERIFY, WORD(color, whens)},
    {"ascii", NULL, "no characters beyond ASCII",
     "Output", 0, RUN | REPLAY | REPORT | TRACE | VERIFY, FLAG(is_ascii)},
    {"quiet", NULL,
     "print nothing but errors and what failed; files are written all the\n"
     "same",
     "Output", 'q', RUN | REPLAY | VERIFY, FLAG(is_quiet)},
    {"quiet", NULL, "print nothing but errors",
     "Output", 'q', RECORD, FLAG(is_quiet)},
    {"quiet", NULL, "no progress and no summary on standard error",
     "Output", 'q', TRACE, FLAG(is_quiet)},
    {"verbose", NULL, "latency by size and over time, the worst ops as well",
     "Output", 'v', RUN | REPLAY | REPORT, FLAG(is_verbose)},
    {"verbose", NULL, "more about each",
     "Output", 'v', LIST, FLAG(is_verbose)},
    {"verbose", NULL, "what each check proves",
     "Output", 'v', VERIFY, FLAG(is_verbose)},
    {"help", NULL, "this text",
     "Output", 'h', ~0u, FLAG(wants_help)},
};

const struct ab_option_info *ab_options_info(size_t i)
{
    return i < AB_ARRAY_LEN(table) ? &table[i] : NULL;
}

const struct ab_option_info *ab_options_find(enum ab_command_id command, const char *name)
{
    for (size_t i = 0; i < AB_ARRAY_LEN(table); i++)
        if (ab_options_has(&table[i], command) && strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

bool ab_options_has(const struct ab_option_info *info, enum ab_command_id command)
{
    return (info->commands >> command & 1) != 0;
}
