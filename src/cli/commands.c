/* SPDX-License-Identifier: MIT */
#include "cli/commands.h"

char *ab_command_line;

const struct ab_command ab_commands[AB_COMMAND_COUNT] = {
    [AB_COMMAND_RUN] = {"run", "[OPTIONS] WORKLOAD.yaml",
                        "measure allocators on a workload",
                        "  allocbench run configs/quickstart.yaml\n"
                        "  allocbench run my.yaml -b glibc,jemalloc,./libmine.so --set n=1000\n"
                        "  allocbench run my.yaml --json result.json --csv result.csv\n"
                        "  allocbench run --resume results/my-20260102T030405-1a2b3c4d.json\n",
                        ab_cmd_run},
    [AB_COMMAND_REPLAY] = {"replay", "[OPTIONS] TRACE.abt",
                           "measure allocators on a recorded trace",
                           "  allocbench replay app.abt\n"
                           "  allocbench replay app.abt -b glibc,arena --touch all\n",
                           ab_cmd_replay},
    [AB_COMMAND_REPORT] = {"report", "[OPTIONS] RESULT.json …",
                           "print stored results",
                           "  allocbench report results/churn-20260102T030405-1a2b3c4d.json\n"
                           "  allocbench report result.json --csv result.csv\n",
                           ab_cmd_report},
    [AB_COMMAND_RECORD] = {"record", "[OPTIONS] -- COMMAND …",
                           "record the allocations of a program",
                           "  allocbench record -o app.abt -- ./app --its-options\n"
                           "  allocbench record --follow -o build.abt -- make\n"
                           "  allocbench record --follow -o traces/ -- ./script\n"
                           "  allocbench record --wait -o daemon.abt -- ./daemon\n"
                           "  allocbench record --duration 10s -o server.abt -- ./server\n"
                           "  allocbench record --no-convert -o app.spool -- ./app\n"
                           "\n"
                           "At the end it reports what the trace contains, what was repaired or\n"
                           "lost, and the estimated overhead of recording.\n"
                           "If record itself is killed, its spool is left as allocbench-XXXXXX\n"
                           "in TMPDIR or /tmp: allocbench trace recover converts it to a trace.\n",
                           ab_cmd_record},
    [AB_COMMAND_TRACE] = {"trace", "COMMAND TRACE.abt [OPTIONS]",
                          "inspect, validate, print and slice traces",
                          "  allocbench trace info app.abt\n"
                          "  allocbench trace info app.abt --json -\n"
                          "  allocbench trace check *.abt\n"
                          "  allocbench trace dump app.abt --events 1000..1020\n"
                          "  allocbench trace cut app.abt --events 1M..2M -o part.abt\n"
                          "  allocbench trace export app.abt --csv events.csv\n"
                          "  allocbench trace recover app.spool -o app.abt\n"
                          "\n"
                          "Commands (- as FILE is standard input):\n"
                          "  info FILE…     summary: calls, threads, sizes, lifetimes, live\n"
                          "                 memory (--json, --digest, --partial)\n"
                          "  check FILE…    validate it: every call is possible, all totals are\n"
                          "                 correct (--partial)\n"
                          "  dump FILE      one line per event: number thread kind size align\n"
                          "                 block outcome (--events, --partial)\n"
                          "  cut FILE -o OUT --events A..B\n"
                          "                 a part of it as a complete trace (--live, --partial)\n"
                          "  export FILE --csv OUT\n"
                          "                 its events, its live memory as CSV (--live-csv,\n"
                          "                 --events, --partial)\n"
                          "  recover SPOOL -o OUT\n"
                          "                 a trace from the spool of record --no-convert or of a\n"
                          "                 record that was killed; the spool is kept (--partial:\n"
                          "                 accept a recording that stopped early)\n",
                          ab_cmd_trace},
    [AB_COMMAND_CHECK] = {"check", "[OPTIONS] WORKLOAD.yaml",
                          "validate a workload; print its plan and cost",
                          "  allocbench check my.yaml\n"
                          "  allocbench check my.yaml --set n=1000000\n",
                          ab_cmd_check},
    [AB_COMMAND_LIST] = {"list", "backends [-v]",
                         "list the allocators that can be measured",
                         "  allocbench list backends\n"
                         "  allocbench list backends -v\n",
                         ab_cmd_list},
    [AB_COMMAND_VERIFY] = {"verify", "[OPTIONS] BACKEND … [WORKLOAD|TRACE]",
                           "test allocators for correctness",
                           "  allocbench verify glibc jemalloc ./libmine.so\n"
                           "  allocbench verify slab app.abt\n"
                           "  allocbench verify mimalloc --check alignment --seed 7\n"
                           "  allocbench verify slab:threads=local my.yaml --check required\n"
                           "\n"
                           "Each check runs in a separate process (-v describes each, --check\n"
                           "selects some). Implementation-defined behavior is reported as\n"
                           "information and never fails. A workload (.yaml) or a trace (.abt) is\n"
                           "run through the checker as well, every op of it: in one thread, and\n"
                           "with all its threads in parallel.\n"
                           "\n"
                           "Verdict of a back end, and exit code:\n"
                           "  conforming     every required check is ok or skipped (0)\n"
                           "  NONCONFORMING  a check failed, crashed or timed out; the report\n"
                           "                 names the call (4)\n"
                           "  UNPROVEN       no check failed, but at least one was not proven:\n"
                           "                 the back end's own settings limit the heap (4)\n",
                           ab_cmd_verify},
};
