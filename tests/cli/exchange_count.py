#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the file of another tool holds, counted without allocbench: one JSON object of the events that
a trace of it has to have, by kind, and of what was left out or added.

usage: exchange_count.py FORMAT FILE      (plain text; malloc-trace-replay: its records)"""

import json
import re
import struct
import sys


def pointer(word):
    return 0 if word == "(nil)" else int(word.lstrip("#"), 16 if "x" in word else 10)


def mtrace(text):
    old = None
    for line in text.splitlines():
        m = re.search(r"(?:^| )([-+<>!]) (\S+)(?: (\S+))?$", line)
        if line[:1] in ("=", "") or m is None:
            continue
        sign, at, size = m.group(1), pointer(m.group(2)), int(m.group(3) or "0", 16)
        if sign == "+":
            yield ("alloc", at, 0, size)
        elif sign == "-":
            yield ("free", 0, at, 0)
        elif sign == "<":
            old = at
        elif sign == ">":
            yield ("resize", at, old, size)
        else:
            yield ("resize", 0, at, size)


def heaptrack(text):
    sites, live, fresh = [], {}, 0
    for line in text.splitlines():
        words = line.split(" ")
        if words[0] == "a":
            sites.append(int(words[1], 16))
        elif words[0] == "+" and len(words) == 4:
            yield ("alloc", int(words[3], 16), 0, int(words[1], 16))
        elif words[0] == "+":
            fresh += 1
            live.setdefault(words[1], []).append(fresh)
            yield ("alloc", fresh, 0, sites[int(words[1], 16)])
        elif words[0] == "-" and sites:
            yield ("free", 0, live[words[1]].pop() if live.get(words[1]) else -1, 0)
        elif words[0] == "-":
            yield ("free", 0, int(words[1], 16), 0)


def gperftools(text):
    lines = [line.split("\t") for line in text.splitlines()[2:]]
    for i, (call, size, at, thread) in enumerate(w[:4] for w in lines):
        is_resize = call == "free" and i + 1 < len(lines) and \
            lines[i + 1][0] == "realloc" and lines[i + 1][3] == thread
        was_resize = call == "realloc" and i > 0 and \
            lines[i - 1][0] == "free" and lines[i - 1][3] == thread
        if was_resize:
            yield ("resize", pointer(at), pointer(lines[i - 1][2]), int(size))
        elif call == "free" and not is_resize:
            yield ("free", 0, pointer(at), 0)
        elif call != "free":
            yield ("alloc", pointer(at), 0, int(size))


def memory_replay(text):
    for line in text.splitlines():
        w = line.split()
        if w[1] == "free":
            yield ("free", 0, pointer(w[2]), 0)
        elif w[1] == "realloc":
            yield ("resize", pointer(w[2]), pointer(w[3]), int(w[4]))
        elif w[1] != "thread_done":
            kind = {"malloc": "alloc", "calloc": "alloc_zeroed", "memalign": "alloc_aligned"}[w[1]]
            if kind == "alloc_aligned" and w[3] == "0":
                kind = "alloc"
            yield (kind, pointer(w[2]), 0, int(w[-1]))


def logalloc(text):
    first = None
    for line in text.splitlines():
        m = re.match(r"(\d+) (?:\d+ )?(\w+)\((.*?)\)(?:=(.*))?$", line)
        first = first or m.group(1)
        name, args = m.group(2), m.group(3).split(",")
        if m.group(1) != first or name == "jemalloc_stats":
            continue
        if name == "free":
            yield ("free", 0, pointer(args[0]), 0)
        elif name == "realloc":
            yield ("resize", pointer(m.group(4)), pointer(args[0]), int(args[1]))
        else:
            kind = {"malloc": "alloc", "calloc": "alloc_zeroed"}.get(name, "alloc_aligned")
            yield (kind, pointer(m.group(4)), 0, int(args[-1]))


def rep(text):
    lines = text.splitlines()
    n_head = 4 if lines[2].strip().isdigit() else 2
    n_calls = int(lines[2 if n_head == 4 else 1])
    for line in lines[n_head:n_head + n_calls]:
        w = line.split()
        at = int(w[1]) + 1
        if w[0] == "w":
            continue
        yield {"a": ("alloc", at, 0, 1), "r": ("resize", at, at, 1), "f": ("free", 0, at, 0)}[w[0]]


def malloc_trace_replay(data):
    for kind, a, b in struct.iter_unpack("<QQQ", data):
        reg, kind = (kind >> 8) + 1, kind & 255
        if kind in (0, 3):
            yield ("alloc_aligned" if kind else "alloc", reg, 0, a)
        elif kind in (1, 2):
            yield ("free", 0, reg, 0)
        elif kind == 4:
            yield ("resize", a + 1, reg, b)


def main():
    name, path = sys.argv[1:]
    with open(path, "rb") as f:
        data = f.read()
    if name != "malloc-trace-replay":
        data = data.decode("utf-8-sig")
    count = dict.fromkeys(("alloc", "alloc_zeroed", "alloc_aligned", "resize", "free"), 0)
    other = dict.fromkeys(("left_out", "added"), 0)
    live = set()
    for kind, given, old, size in globals()[name.replace("-", "_")](data):
        if kind == "free" or (kind == "resize" and old != 0):
            if old not in live:
                if kind == "free" or given == 0:
                    other["left_out"] += 1
                    continue
                kind = "alloc"
            elif kind == "free" or given != 0 or size == 0:
                live.remove(old)
        elif kind == "resize":
            kind = "alloc"
        if given in live:
            other["added"] += 1
            count["free"] += 1
        if given != 0:
            live.add(given)
        count[kind] += 1
    print(json.dumps({"ops": count, "events": sum(count.values()), "live": len(live), **other}))


if __name__ == "__main__":
    main()
