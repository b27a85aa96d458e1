#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reckons what a result over values of params says: each ratio is that of two medians of one
combination, and each figure on the screen is the median of its row. Shares no code with allocbench.

usage: values_ratios.py RESULT.json [SCREEN]"""

import json
import re
import statistics
import sys

result = json.load(open(sys.argv[1]))
problems, n = [], 0


def key(params):
    return tuple(sorted(params.items()))


def median_ns(backend, params, phase):
    return statistics.median(r["ns_per_op"] for r in result["results"]
                             if (r["backend"], key(r["params"]), r["phase"], r["op"])
                             == (backend, key(params), phase, "all"))


for ratio in result["ratios"]:
    if ratio["metric"] != "ns_per_op":
        continue
    n += 1
    wanted = (median_ns(ratio["backend"], ratio["params"], ratio["phase"])
              / median_ns(ratio["base"], ratio["params"], ratio["phase"]))
    if abs(ratio["ratio"] / wanted - 1) > 1e-9:
        problems.append("%s: the medians make %r" % (ratio, wanted))
combinations = [c["params"] for c in result["config"]["combinations"]]
others = len({b["name"] for b in result["backends"]}) - 1
if n != others * len(combinations) * len(result["config"]["phases"]):
    problems.append("%d ratios" % n)

phase = None
for line in open(sys.argv[2]) if len(sys.argv) > 2 else []:
    heading = re.match(r"(\S+): ns per op by \S+$", line)
    words = line.split()
    if heading:
        phase, param, values = heading.group(1), None, []
    elif not words:
        phase = None
    elif phase and param is None:
        param, values = words[0], [int(v) for v in words[1:]]
    elif phase and not line.strip().startswith("harness"):
        for value, shown in zip(values, words[1:]):
            n += 1
            wanted = median_ns(words[0], {param: value}, phase)
            if abs(float(shown) - wanted) > 0.0051 * wanted:
                problems.append("%s %s=%d in %s: %s on the screen, the median is %.4g"
                                % (words[0], param, value, phase, shown, wanted))
print("\n".join(problems) or "%d figures follow" % n)
sys.exit(bool(problems) or n == 0)
