#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Works the ratios, means and ranks of an allocbench-suite/1 out of its single results again.

usage: reckon_suite.py SUITE.json [SUITE.csv]"""

import csv
import json
import math
import statistics
import sys


def times(result, params):
    """Whole-run time by back end and round."""
    out = {}
    for r in result["results"]:
        if r["op"] == "all" and r.get("params") == params:
            of = out.setdefault(r["backend"], {})
            of[r["round"]] = of.get(r["round"], 0) + r["ns_per_op"] * r["n_ops"]
    return out


def peaks(result, params):
    out = {}
    for m in result["memory"]:
        if m.get("params") != params:
            continue
        of = out.setdefault(m["backend"], {})
        of[m["round"]] = max(of.get(m["round"], 0), m["peak_bytes"])
    return out


def student(f):
    """95th percentile, by bisection over a numerical integral: another way than the program's."""
    def density(x):
        return math.exp(math.lgamma((f + 1) / 2) - math.lgamma(f / 2)) / math.sqrt(f * math.pi) \
            * (1 + x * x / f) ** (-(f + 1) / 2)

    def below(x, n=2000):
        h = x / n
        return 0.5 + h / 3 * sum(density(i * h) * (1 if i in (0, n) else 4 if i % 2 else 2)
                                 for i in range(n + 1))
    low, high = 1.0, 3.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < 0.95 else (low, middle)
    return low


def near(a, b, what, most=1e-6):
    if (a is None) != (b is None) or (a is not None and abs(a - b) > most * max(1, abs(b))):
        sys.exit("%s: the document has %s, its results give %s" % (what, a, b))


def works(suite):
    """Each item, of params with lists each combination: name, result, params."""
    for item in suite["results"]:
        config = item["result"]["config"]
        for c in config.get("combinations", [{}]):
            values = c.get("params")
            name = item["name"] if values is None else \
                "%s[%s]" % (item["name"], " ".join("%s=%s" % v for v in values.items()))
            yield name, item["result"], values


def main():
    suite = json.load(open(sys.argv[1]))
    base, means = suite["base"], {}
    for metric, numbers in (("time", times), ("memory", peaks)):
        logs = {}
        for work, result, params in works(suite):
            of = numbers(result, params)
            for name, rounds in of.items():
                both = sorted(set(rounds) & set(of[base]))
                ratio = statistics.median(rounds[r] for r in both) \
                    / statistics.median(of[base][r] for r in both)
                sd = statistics.stdev([math.log(rounds[r] / of[base][r]) for r in both]) \
                    if len(both) > 1 else None
                logs.setdefault(name, []).append((math.log(ratio), sd, len(both)))
                cell = [c for c in suite["cells"]
                        if c["workload"] == work and c["backend"] == name][0]
                near(cell[metric]["ratio"], ratio, "%s of %s in %s" % (metric, name, work))
        for name, list_ in logs.items():
            k = len(list_)
            mean = math.exp(sum(x for x, _, _ in list_) / k)
            said = [m for m in suite["means"] if m["backend"] == name and m["metric"] == metric][0]
            near(said["ratio"], mean, "mean %s of %s" % (metric, name))
            means[name, metric] = said
            if any(sd is None for _, sd, _ in list_):
                near(said["low"], None, "interval of %s of %s" % (metric, name))
                continue
            v = [math.pi / 2 * sd * sd / n for _, sd, n in list_]
            if sum(v) > 0:
                f = sum(v) ** 2 / sum(x * x / (n - 1) for x, (_, _, n) in zip(v, list_))
                if f < 5:
                    near(said["low"], None, "interval of %s of %s" % (metric, name))
                    continue
                half = student(f) * math.sqrt(sum(v)) / k
                near(said["low"], mean * math.exp(-half), "low %s of %s" % (metric, name), 1e-3)
                near(said["high"], mean * math.exp(half), "high %s of %s" % (metric, name), 1e-3)
            if said["n_workloads"] != k:
                sys.exit("%s of %s is of %s workloads, not %d" % (metric, name, said["n_workloads"], k))
        ordered = sorted((m["ratio"], m["rank"]) for (_, of), m in means.items() if of == metric)
        if [rank for _, rank in ordered] != sorted(rank for _, rank in ordered):
            sys.exit("ranks by %s are not in the order of the means" % metric)
    if len(sys.argv) > 2:
        for row in csv.DictReader(open(sys.argv[2], newline="")):
            if row["workload"] == "mean":
                near(float(row["ratio"]), means[row["backend"], row["metric"]]["ratio"], "CSV")


main()
