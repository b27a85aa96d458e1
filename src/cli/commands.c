/* SPDX-License-Identifier: MIT */
#include "cli/commands.h"

char *ab_command_line;

const struct ab_command ab_commands[AB_COMMAND_COUNT] = {
    [AB_COMMAND_RUN] = {"run", "[OPTIONS] WORKLOAD.yaml",
                        "measure back ends on a workload",
                        "  allocbench run configs/quickstart.yaml\n"
                        "  allocbench run my.yaml -b glibc,jemalloc,./libmine.so --set n=1000\n"
                        "  allocbench run my.yaml --json result.json --csv result.csv\n"
                        "  allocbench run --resume results/my-20260102T030405-1a2b3c4d.json\n",
                        ab_cmd_run},
    [AB_COMMAND_REPLAY] = {"replay", "[OPTIONS] TRACE.abt",
                           "measure back ends on a recorded trace",
                           "  allocbench replay app.abt\n"
                           "  allocbench replay app.abt -b glibc,arena --touch all\n",
                           ab_cmd_replay},
    [AB_COMMAND_REPORT] = {"report", "[OPTIONS] RESULT.json …",
                           "print stored results again",
                           "  allocbench report results/churn-20260102T030405-1a2b3c4d.json\n"
                           "  allocbench report result.json --csv result.csv\n",
                           ab_cmd_report},
    [AB_COMMAND_RECORD] = {"record", "[OPTIONS] -- COMMAND …",
                           "record what a real program asks of malloc",
                           "  allocbench record -o app.abt -- ./app --its-options\n"
                           "  allocbench record --follow -o build.abt -- make\n"
                           "  allocbench record --follow -o traces/ -- ./script\n"
                           "  allocbench record --wait -o daemon.abt -- ./daemon\n"
                           "  allocbench record --duration 10s -o server.abt -- ./server\n"
                           "  allocbench record --no-convert -o app.spool -- ./app\n"
                           "\nAt the end it tells what the trace holds, what had to be repaired\n"
                           "or was lost, and an estimate of what recording cost the command.\n"
                           "When record itself is killed, its spool stays as allocbench-XXXXXX\n"
                           "in TMPDIR or /tmp: allocbench trace recover makes a trace of it.\n",
                           ab_cmd_record},
    [AB_COMMAND_TRACE] = {"trace", "WORD TRACE.abt [OPTIONS]",
                          "tell, prove, print and cut traces",
                          "  allocbench trace info app.abt\n"
                          "  allocbench trace info app.abt --json -\n"
                          "  allocbench trace check *.abt\n"
                          "  allocbench trace dump app.abt --events 1000..1020\n"
                          "  allocbench trace cut app.abt --events 1M..2M -o part.abt\n"
                          "  allocbench trace export app.abt --csv events.csv\n"
                          "  allocbench trace recover app.spool -o app.abt\n"
                          "\nWords (a FILE of - is standard input):\n"
                          "  info FILE…     what is in it: calls, threads, sizes, lifetimes, live\n"
                          "                 memory (--json, --digest, --partial)\n"
                          "  check FILE…    read all of it and prove it: every call possible, all\n"
                          "                 totals right (--partial)\n"
                          "  dump FILE      one line an event: number thread kind size align block\n"
                          "                 outcome (--events, --partial)\n"
                          "  cut FILE -o OUT --events A..B\n"
                          "                 a part of it as a trace that can be replayed (--live,\n"
                          "                 --partial)\n"
                          "  export FILE --csv OUT\n"
                          "                 its events as CSV, its live memory as CSV (--live-csv,\n"
                          "                 --events, --partial)\n"
                          "  recover SPOOL -o OUT\n"
                          "                 a trace of what record --no-convert or a record that\n"
                          "                 was killed has left; the spool stays (--partial: one\n"
                          "                 whose recording had to stop is no failure)\n",
                          ab_cmd_trace},
    [AB_COMMAND_CHECK] = {"check", "[OPTIONS] WORKLOAD.yaml",
                          "validate a workload; print its plan and cost",
                          "  allocbench check my.yaml\n"
                          "  allocbench check my.yaml --set n=1000000\n",
                          ab_cmd_check},
    [AB_COMMAND_LIST] = {"list", "backends [-v]",
                         "list what can be measured here",
                         "  allocbench list backends\n"
                         "  allocbench list backends -v\n",
                         ab_cmd_list},
    [AB_COMMAND_VERIFY] = {"verify", "[OPTIONS] BACKEND … [WORKLOAD|TRACE]",
                           "prove that back ends are correct",
                           "  allocbench verify glibc jemalloc ./libmine.so\n"
                           "  allocbench verify slab app.abt\n"
                           "  allocbench verify mimalloc --check alignment --seed 7\n"
                           "  allocbench verify slab:threads=local configs/threads.yaml --check required\n"
                           "\nEach check runs in a process of its own (-v tells what each proves,\n"
                           "--check runs some of them). How a back end acts where the standards\n"
                           "leave it open is told and fails nothing. A workload (.yaml) or a\n"
                           "trace (.abt) is run through the checker as well, every op of it: in\n"
                           "one lane, and with all its lanes at once.\n"
                           "\nVerdict of a back end, and exit code:\n"
                           "  conforming     what must hold does (0)\n"
                           "  NONCONFORMING  a check failed, crashed or hung; the call that shows\n"
                           "                 it is named (4)\n"
                           "  UNPROVEN       nothing is wrong, but a check could not do enough to\n"
                           "                 prove anything: its own settings bound the heap (4)\n",
                           ab_cmd_verify},
};
