#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the values off the pictures and tables of a report and compares them with the results it is
of. Shares no code with the report: what is drawn is computed here from the JSON document, by the
definitions of results/README.md.

usage: report_values.py REPORT.html RESULT.json [BASE.json COMPARISON.json]

Prints how many values of each page were compared; what differs goes to standard error, and the exit
code is 1 then. A page whose data is in the result has to be in the report."""

import base64
import collections
import html
import json
import math
import re
import statistics
import struct
import sys
import xml.etree.ElementTree
import zlib

SVG = "{http://www.w3.org/2000/svg}"
NEAR_PX = 0.12
COLUMNS_MOST, COLUMNS_FEW, MANY = 72, 48, 6
TIMELINE_COLUMNS, BINS, SHADES = 120, 72, 6
FEW, BEHIND = 20, 10
PARTS = ["live", "internal", "external", "retained"]

problems = []
compared = collections.Counter()


def expect(page, what, shown, wanted, near):
    compared[page] += 1
    if not abs(shown - wanted) <= near:
        problems.append("%s: %s: shows %r, the result has %r" % (page, what, shown, wanted))


def require(page, condition, what):
    compared[page] += 1
    if not condition:
        problems.append("%s: %s" % (page, what))


# ---- the report ----


class Axis:
    def __init__(self, text):
        scale, _, *numbers = text.split()
        self.low, self.high, self.start, self.end = map(float, numbers)
        self.forward = {"linear": lambda v: v, "log": lambda v: math.log10(max(v, 1e-300)),
                        "percentile": lambda v: -math.log10(1 - min(max(v, 0), 1 - 1e-7))}[scale]
        self.back = {"linear": lambda v: v, "log": lambda v: 10 ** v,
                     "percentile": lambda v: 1 - 10 ** -v}[scale]

    def px(self, value):
        a, b = self.forward(self.low), self.forward(self.high)
        part = (self.forward(value) - a) / (b - a)
        return self.start + min(max(part, 0), 1) * (self.end - self.start)

    def value(self, px):
        a, b = self.forward(self.low), self.forward(self.high)
        return self.back(a + (px - self.start) / (self.end - self.start) * (b - a))


class Figure:
    def __init__(self, title, svg):
        self.title, self.svg = html.unescape(title), xml.etree.ElementTree.fromstring(svg)
        self.x = Axis(self.svg.get("data-x")) if self.svg.get("data-x") else None
        self.y = Axis(self.svg.get("data-y")) if self.svg.get("data-y") else None

    def groups(self):
        for g in self.svg.iter(SVG + "g"):
            title = g.find(SVG + "title")
            yield title.text if title is not None else None, g


def points_of(path):
    out, x, y = [], 0.0, 0.0
    for op, rest in re.findall(r"([Mlhv])([^Mlhvz]*)", path):
        n = [float(t) for t in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", rest)]
        x, y = {"M": lambda: tuple(n), "l": lambda: (x + n[0], y + n[1]),
                "h": lambda: (x + n[0], y), "v": lambda: (x, y + n[0])}[op]()
        out.append((x, y))
    return out


def read_report(path):
    text = open(path, encoding="utf-8").read()
    pages = {}
    for name, body in re.findall(r'<section id="([a-z-]+)">(.*?)</section>', text, re.S):
        figures = [Figure(*f) for f in re.findall(
            r"<figcaption>(.*?)(?:<details.*?)?</figcaption>\s*(<svg.*?</svg>)", body, re.S)]
        pages[name] = (body, figures)
    return pages


def tables(body):
    """(heading of the part it is in, caption, columns, rows of cell texts)"""
    out, part = [], ""
    for fold, caption, table in re.findall(
            r"<summary>([^<]*)</summary>\s*(?=<div)|<caption>(.*?)</caption>(.*?)</table>", body, re.S):
        if fold:
            part = html.unescape(fold)
            continue
        text = [[html.unescape(re.sub(r"<[^>]*>", "", cell)) for cell in
                 re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.S)]
                for row in re.findall(r"<tr[^>]*>(.*?)</tr>", table, re.S)]
        out.append((part, html.unescape(caption), text[0], text[1:]))
    return out


# ---- the result ----


def counters(text):
    raw = base64.b64decode(text)
    plain = zlib.decompress(raw[8:])
    payload, = struct.unpack(">i", plain[4:8])
    counts, i, at, data = {}, 0, 0, plain[40:40 + payload]
    while at < len(data):
        v = shift = 0
        for k in range(9):
            byte = data[at]
            at += 1
            v |= (byte if k == 8 else byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                break
        v = (v >> 1) ^ -(v & 1)
        if v < 0:
            i -= v
            continue
        if v > 0:
            counts[i] = v
        i += 1
    return counts


def low_of(i):
    return i if i < 2048 else ((i & 1023) | 1024) << ((i >> 10) - 1)


class Merged:
    """The histograms of several records as one."""

    def __init__(self, records):
        self.counts, self.overflow = collections.Counter(), 0
        for r in records:
            self.counts.update(counters(r["hdr_v2"]) if r["hdr_v2"] else {})
            self.overflow += r["overflow"] or 0
        self.sorted = sorted(self.counts.items())
        self.n = sum(self.counts.values()) + self.overflow

    def at(self, q):
        rank, seen = max(1, math.ceil(q * self.n - 1e-9 * self.n)), 0
        for i, count in self.sorted:
            seen += count
            if seen >= rank:
                return low_of(i + 1) - 1
        return math.nan

    def quantile(self, q):
        return self.at(q) if self.n * (1 - q) >= BEHIND - 1e-6 else math.nan


def values_of(x):
    return "".join(" %s=%s" % item for item in x.get("params", {}).items())


def load(path):
    r = json.load(open(path, encoding="utf-8"))
    r["own_names"] = list(dict.fromkeys(b["name"] for b in r["backends"]))
    for x in r["backends"]:  # a row is named by its values as well
        x["name"] += values_of(x)
    for list_ in r.values():
        for x in list_ if isinstance(list_, list) else []:
            if isinstance(x, dict) and "params" in x and "backend" in x:
                x["backend"] += values_of(x)
    r["names"] = [b["name"] for b in r["backends"] if b["status"] in ("ok", "partial", "nonconforming", "decorated") and
                  not re.match("null[:{]", b["name"])]
    return r


def run_time(r, name):
    times = collections.defaultdict(list)
    for x in r["results"]:
        if x["backend"] == name and x["op"] == "all" and x["ns_per_op"]:
            times[x["round"]].append(x["ns_per_op"] * x["n_ops"])
    whole = [sum(t) for t in times.values() if len(t) == len(r["config"]["phases"])]
    return statistics.median(whole) if whole else math.nan


def peak_record(r, name):
    best = {}
    for m in r["memory"]:
        if m["backend"] == name and m["at"] == "footprint_peak":
            was = best.get(m["round"])
            if was is None or (m["footprint_bytes"] or -1) > (was["footprint_bytes"] or -1):
                best[m["round"]] = m
    known = lambda m: 2 * (m["retained_bytes"] is not None) + (m["footprint_bytes"] is not None)
    most = max((known(m) for m in best.values()), default=0)
    list_ = sorted((m for m in best.values() if known(m) == most),
                   key=lambda m: (m["footprint_bytes"] or 0, m["round"]))
    return list_[(len(list_) - 1) // 2] if list_ else None


def peak(r, name):
    m = peak_record(r, name)
    return m["footprint_bytes"] if m and m["footprint_bytes"] is not None else math.nan


def number(text):
    """A time in ns or bytes, as it is written: three digits."""
    units = {"ns": 1, "µs": 1e3, "us": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "KiB": 1024,
             "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "": 1, "k": 1e3, "M": 1e6}
    m = re.fullmatch(r"<?([\d.]+)\s*([a-zµA-Z]*)", text.strip())
    return float(m[1]) * units[m[2]] if m else math.nan


def same_number(page, what, text, wanted):
    if math.isnan(wanted):
        require(page, text == "n/a", "%s: shows %s, which is not known" % (what, text))
    else:
        expect(page, what, number(text), wanted, 0.006 * abs(wanted) + 1e-9)


# ---- pages ----


def check_summary(pages, r):
    figure = next((f for f in pages["summary"][1] if f.title == "Speed against memory"), None)
    wanted = {b["name"]: (run_time(r, b["name"]), peak(r, b["name"])) for b in r["backends"]
              if b["name"] in r["names"] and b["status"] == "ok"}
    wanted = {k: v for k, v in wanted.items() if not any(map(math.isnan, v))}
    if figure is None:
        require("summary", not wanted or "combinations" in r["config"], "no picture of speed against memory")
        return
    shown = {}
    for title, g in figure.groups():
        for c in g.findall(SVG + "circle"):
            shown[title] = (float(c.get("cx")), float(c.get("cy")))
    require("summary", set(shown) == set(wanted), "draws %s, not %s" % (sorted(shown), sorted(wanted)))
    for name, (time, bytes_) in wanted.items():
        expect("summary", name + " time", shown[name][0], figure.x.px(time), NEAR_PX)
        expect("summary", name + " peak", shown[name][1], figure.y.px(bytes_), NEAR_PX)
    check_front(figure, wanted)
    check_intervals(figure, wanted, r)
    for row in tables(pages["summary"][0])[0][3]:
        if row[0] in wanted:
            same_number("summary", row[0] + " whole run", row[1], wanted[row[0]][0])
            same_number("summary", row[0] + " peak", row[5], wanted[row[0]][1])


def check_front(figure, wanted):
    front = sorted((t, p) for t, p in wanted.values()
                   if not any((a < t and b <= p) or (a <= t and b < p) for a, b in wanted.values()))
    drawn = [points_of(p.get("d")) for p in figure.svg.iter(SVG + "path")
             if p.get("stroke-dasharray") == "4 4"]
    require("summary", len(drawn) == (len(front) > 1), "the front is drawn %d times" % len(drawn))
    for at, (t, p) in zip(drawn[0] if drawn else [], front):
        expect("summary", "front time", at[0], figure.x.px(t), NEAR_PX)
        expect("summary", "front peak", at[1], figure.y.px(p), NEAR_PX)
    require("summary", not drawn or len(drawn[0]) == len(front), "the front has other points")


def check_intervals(figure, wanted, r):
    for ratio in r["ratios"]:
        name, metric = ratio["backend"], ratio["metric"]
        axis = {"time": 0, "peak_bytes": 1}.get(metric)
        if axis is None or ratio["low"] is None or name not in wanted or ratio["base"] not in wanted:
            continue
        base = wanted[ratio["base"]][axis]
        scale = (figure.x, figure.y)[axis]
        ends = sorted((scale.px(base * ratio["low"]), scale.px(base * ratio["high"])))
        pattern = (r"M([\d.]+) [\d.]+v8m0-4H([\d.]+)m0-4v8", r"M[\d.]+ ([\d.]+)h8m-4 0V([\d.]+)m-4 0h8")[axis]
        drawn = [sorted(map(float, m.groups())) for title, g in figure.groups() if title == name
                 for p in g.findall(SVG + "path") for m in [re.fullmatch(pattern, p.get("d"))] if m]
        require("summary", len(drawn) == 1, "%s: %d intervals of %s" % (name, len(drawn), metric))
        for shown, end in zip(drawn[0] if drawn else [], ends):
            expect("summary", "%s interval of %s" % (name, metric), shown, end, 0.5)


def check_by_value(pages, r):
    """Where one param has values that are numbers: a dot for each row at its value."""
    combinations = [c["params"] for c in r["config"].get("combinations", [])]
    if not combinations or len(combinations[0]) > 1:
        return
    for figure in pages["by-value"][1]:
        dots = collections.defaultdict(list)
        for title, g in figure.groups():
            dots[title] += [(float(c.get("cx")), float(c.get("cy"))) for c in g.findall(SVG + "circle")]
        for name in r["own_names"]:
            wanted = []
            for params in combinations:
                row = name + values_of({"params": params})
                of = (run_time(r, row) if figure.title == "Whole run" else peak(r, row) if figure.title == "Memory"
                      else statistics.median(x["ns_per_op"] for x in r["results"] if x["backend"] == row
                                             and x["op"] == "all" and x["phase"] == figure.title))
                wanted.append((figure.x.px(list(params.values())[0]), figure.y.px(of)))
            require("by-value", len(dots[name]) == len(wanted), "%s: %d dots of %s" % (figure.title, len(dots[name]), name))
            for shown, dot in zip(sorted(dots[name]), wanted):
                expect("by-value", "%s of %s, x" % (figure.title, name), shown[0], dot[0], NEAR_PX)
                expect("by-value", "%s of %s, y" % (figure.title, name), shown[1], dot[1], NEAR_PX)


def check_time(pages, r):
    for figure in pages["time"][1]:
        for title, g in figure.groups():
            m = re.fullmatch(r"(.*): (\S+ \S+) per operation", title or "")
            if not m or m[1] == "harness alone":
                continue
            name = m[1].split(" (")[0]
            of = [x["ns_per_op"] for x in r["results"] if x["backend"] == name and x["op"] == "all"
                  and x["phase"] == figure.title and x["ns_per_op"]]
            rect = g.find(SVG + "rect")
            if rect is None:  # its interval
                continue
            expect("time", "%s in %s" % (name, figure.title), float(rect.get("width")),
                   figure.x.px(statistics.median(of)) - figure.x.start, NEAR_PX)


def check_curves(page, figure, name, group, records):
    merged = Merged(records)
    for path in group.findall(SVG + "path"):
        for px, py in points_of(path.get("d")):
            ends = [merged.at(min(max(figure.x.value(px + d), 0), 1)) for d in (-0.012, 0.012)]
            ends = [figure.y.px(max(v, 1)) for v in ends if not math.isnan(v)]
            near = min(ends) - NEAR_PX <= py <= max(ends) + NEAR_PX
            require(page, near, "%s: %s at %.6f: %.2f, not %s" %
                    (figure.title, name, figure.x.value(px), py, ends))
            if path.get("stroke-dasharray") != "1.5 3":
                behind = merged.n * (1 - figure.x.value(px))
                require(page, behind >= BEHIND * 0.99 or merged.n < BEHIND,
                        "%s: %s is solid with %.1f calls behind" % (figure.title, name, behind))


def check_latency(pages, r):
    by = collections.defaultdict(list)
    for x in r["results"]:
        if x["backend"] in r["names"] and x["op"] != "all" and x["n"]:
            by["%s: %s" % (x["phase"], x["op"]), x["backend"]].append(x)
    shown = set()
    for figure in pages["latency"][1]:
        for title, g in figure.groups():
            name = (title or "").split(" (")[0]
            if g.get("data-s") and (figure.title, name) in by:
                shown.add((figure.title, name))
                check_curves("latency", figure, name, g, by[figure.title, name])
    require("latency", shown == set(by), "curves of %s are missing" % sorted(set(by) - shown))


def bin_low(i):
    return i if i < 2 else (2 + (i & 1)) << (i // 2 - 1)


def shade_of(share, least, most):
    at = math.log(share / least) / math.log(most / least) if most > least else 1
    return 1 + math.floor(min(max(at, 0), 1) * (SHADES - 1) + 0.5 + 1e-12)  # half goes up


def cells_of(figure):
    for p in figure.svg.iter(SVG + "path"):
        if p.get("fill-opacity"):
            for x, y, w, h in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-", p.get("d")):
                yield (float(x), float(y), float(w), float(h)), round(float(p.get("fill-opacity")) * SHADES)


def same_cells(page, figure, wanted):
    """wanted: {(x0, x1, y0, y1): shade}, in values of the axes"""
    boxes = {}
    for (x0, x1, y0, y1), shade in wanted.items():
        left, right, bottom, top = figure.x.px(x0), figure.x.px(x1), figure.y.px(y0), figure.y.px(y1)
        if right > left and bottom > top:
            boxes[left, top, right, bottom] = shade
    shown = {(x, y, x + w, y + h): s for (x, y, w, h), s in cells_of(figure)}
    near = lambda box, among: [b for b in among if all(abs(i - j) <= 0.16 for i, j in zip(box, b))]
    require(page, len(shown) == len(boxes), "%s: %d cells, not %d" % (figure.title, len(shown), len(boxes)))
    for box, shade in boxes.items():
        of = [shown[b] for b in near(box, shown)]
        require(page, shade in of, "%s: cell %s has shade %s, not %s" % (figure.title, box, of, shade))


def window_counts(w):
    start, numbers = w["counts"].split(":") if w["counts"] else ("0", "")
    return {int(start) + i: int(n) for i, n in enumerate(numbers.split(",")) if numbers and int(n)}


def check_over_time(pages, r):
    shown = {f.title.split(" (")[0]: f for f in pages.get("over-time", ("", []))[1]}
    most = COLUMNS_FEW if len(r["backends"]) > MANY else COLUMNS_MOST
    for name in r["names"]:
        windows = [w for w in r["windows"] if w["backend"] == name and w["end"] > w["begin"]]
        begins = sorted({w["begin"] for w in windows})
        n = min(len(begins), most)
        columns = [(set(), set(), collections.Counter()) for _ in range(n)]
        for w in windows:
            c = columns[begins.index(w["begin"]) * n // len(begins)]
            c[0].add(w["begin"])
            c[1].add(w["end"])
            c[2].update(window_counts(w))
        if not any(c[2] for c in columns):
            continue
        require("over-time", name in shown, "no map of " + name)
        wanted = {(min(b), max(e), max(bin_low(i), 0.5), bin_low(i + 1)):
                  shade_of(k / sum(counts.values()), 1e-4, 1)
                  for b, e, counts in columns for i, k in counts.items()}
        same_cells("over-time", shown[name], wanted)


def stack(p):
    position, live, usable, footprint, external = p
    external = min(external, footprint)
    held = footprint - external
    live = min(live, held)
    inner = min(max(usable if usable is not None else live, live), held)
    return position, (live, inner, inner + external, footprint)


def check_memory(pages, r):
    body, figures = pages.get("memory", ("", []))
    for name in r["names"]:
        t = next((t for t in r["timelines"] if t["backend"] == name and len(t["points"]) > 1), None)
        figure = next((f for f in figures if f.title.split(" (")[0] == name), None)
        if t is None:
            continue
        require("memory", figure is not None, "no picture of " + name)
        points = [p + [e] for p, e in zip(t["points"], t["external"])]
        n = len(points)
        is_split = lambda p: p[1] is not None and p[4] is not None
        thin = [max(cut, key=lambda p: (p[3], is_split(p))) for c in range(TIMELINE_COLUMNS)
                for cut in [[p for p in points[n * c // TIMELINE_COLUMNS:n * (c + 1) // TIMELINE_COLUMNS]
                             if p[3] is not None]] if cut]
        split = [stack(p) for k, p in enumerate(thin)
                 if is_split(p) and any(map(is_split, thin[k + 1:k + 2] + thin[max(k - 1, 0):k]))]
        for k, part in enumerate(PARTS):
            areas = [points_of(p.get("d")) for title, g in figure.groups() if title == part
                     for p in g.findall(SVG + "path")]
            tops = [at for a in areas for at in a[:len(a) // 2]]
            require("memory", len(tops) == len(split), "%s: %d points of %s, not %d" %
                    (name, len(tops), part, len(split)))
            for (x, y), (position, ends) in zip(tops, split):
                expect("memory", "%s %s position" % (name, part), x, figure.x.px(position), NEAR_PX)
                expect("memory", "%s %s" % (name, part), y, figure.y.px(ends[k]), NEAR_PX)
    check_peaks(body, r)
    check_walks(body, r)


def check_walks(body, r):
    shown = {caption: rows for _, caption, _, rows in tables(body) if caption.startswith("Walk, ")}
    median = lambda list_, of: statistics.median(x[of] for x in list_)
    for phase in r["config"]["phases"]:
        ends = {name: [m for m in r["memory"] if m["backend"] == name and m["phase"] == phase and
                       m["at"] == "end" and m.get("walk_blocks")] for name in r["names"]}
        rows = shown.pop("Walk, %s: cache lines and pages of its blocks" % phase, [])
        require("memory", sorted(row[0].split(" (")[0] for row in rows) ==
                sorted(name for name in ends if ends[name]), "walk %s: other rows" % phase)
        for row in rows:
            name = row[0].split(" (")[0]
            of = [x for x in r["results"] if x["backend"] == name and x["phase"] == phase]
            times = [x for x in of if x["op"] == "all"]
            is_only = {x["op"] for x in of} == {"access", "all"}
            same_number("memory", row[0] + " time per block", row[1],
                        median(times, "ns_per_op") if is_only else math.nan)
            blocks, lines = median(ends[name], "walk_blocks"), median(ends[name], "walk_lines")
            for text, wanted in zip(row[2:], [blocks, lines, lines / blocks,
                                              median(ends[name], "walk_pages"),
                                              median(ends[name], "walk_spans")]):
                same_number("memory", "%s of a walk" % row[0], text, wanted)
    require("memory", not shown, "a walk too many")


def same_part(page, what, text, wanted):
    """Of a sum whose parts have one unit, and are rounded so that they add up: a step of the last digit."""
    if wanted is None:
        require(page, text == "n/a", "%s: shows %s, which is not known" % (what, text))
        return
    digits, unit = text.split()
    step = number("1 " + unit) / 10 ** len(digits.partition(".")[2])
    expect(page, what, number(text), wanted, 1.01 * step)


def check_peaks(body, r):
    for _, caption, _, rows in tables(body):
        for row in rows if caption == "Memory at the peak of the run" else []:
            m = peak_record(r, row[0].split(" (")[0])
            fields = ["live_bytes", "internal_bytes", "external_bytes", "retained_bytes", "footprint_bytes"]
            for text, field in zip(row[1:], fields):
                same_part("memory", row[0] + " " + field, text, m[field])


def check_sizes(pages, r):
    for part, caption, columns, rows in tables(pages.get("sizes", ("", []))[0]):
        op = caption.split(":")[0]
        for row in rows:
            le = number(row[0].split(" - ")[1])
            for column, text in list(zip(columns, row))[2:]:
                name = column.split(" (")[0]
                merged = Merged([c for c in r["size_classes"] if c["backend"] == name and c["op"] == op and
                                 c["le_bytes"] == le and part in (c["phase"], "all phases")])
                what = "%s %s %s %s" % (part, op, row[0], name)
                if merged.n < FEW:
                    require("sizes", text == ("too few" if merged.n else ""), what + " shows " + text)
                    continue
                for shown, q in zip(text.split(" / "), (0.5, 0.99)):
                    ns, floor = merged.quantile(q), r["timer"]["floor_ns"]
                    require("sizes", shown.startswith("<") == (ns < floor), what + ": " + shown)
                    same_number("sizes", what, shown, max(ns, floor) if ns == ns else ns)


def check_slowest(pages, r):
    calls = collections.defaultdict(dict)
    for x in r["results"]:
        if x["op"] == "all" or not x["tail"] or x["backend"] not in r["names"]:
            continue
        for w in x["tail"]["worst"]:
            of = calls[x["backend"], x["op"], x["phase"], w["position"]]
            of[x["round"]] = max(w["ns"], of.get(x["round"], 0))
    listed = [t for t in tables(pages.get("slowest", ("", []))[0])]
    require("slowest", bool(listed) == bool(calls), "there is no table")
    for row in (row for t in listed for row in t[3]):
        of = calls.get((row[0].split(" (")[0], row[1], row[3], int(row[4])))
        require("slowest", of is not None, "no such call: %s" % row)
        if of:
            require("slowest", int(row[5].split(" of ")[0]) == len(of), "seen in %s: %s" % (len(of), row))
            same_number("slowest", str(row[:5]), row[6], statistics.median(of.values()))
            same_number("slowest", str(row[:5]), row[7], max(of.values()))
    for figure in pages.get("slowest", ("", []))[1]:
        for title, g in figure.groups():
            m = re.fullmatch(r"(.*): (\S+) at (\d+), .*", title or "")
            circle = g.find(SVG + "circle")
            if m and circle is not None:
                of = [c for k, c in calls.items() if k[0] == m[1] and k[1] == m[2] and k[3] == int(m[3])]
                expect("slowest", title, float(circle.get("cy")),
                       figure.y.px(statistics.median(of[0].values())), NEAR_PX)
                expect("slowest", title, float(circle.get("cx")), figure.x.px(int(m[3])), NEAR_PX)


def check_trace(pages, r):
    o = r["trace_overview"]
    require("trace", ("trace" in pages) == (o is not None), "the page is missing, or too much")
    if not o:
        return
    figures = {f.title: f for f in pages["trace"][1]}
    live = figures["Live memory of the trace"]
    for k, high in enumerate(o["live"]["high"]):
        x = min((k + 0.5) * o["live"]["step_calls"], o["n_calls"])
        line = points_of(next(p.get("d") for p in live.svg.iter(SVG + "path") if p.get("stroke-width") == "1.6"))
        expect("trace", "step %d" % k, line[k][0], live.x.px(x), NEAR_PX)
        expect("trace", "live at step %d" % k, line[k][1], live.y.px(high), NEAR_PX)
    total, most = sum(b["n"] for b in o["blocks"]), max(b["n"] for b in o["blocks"])
    shades = collections.Counter(shade_of(b["n"] / total, 1 / total, most / total) for b in o["blocks"])
    require("trace", shades == collections.Counter(s for _, s in cells_of(figures["Sizes and lifetimes"])),
            "sizes and lifetimes: other shades than %s" % shades)
    if len(o["threads"]) > 1:
        freed = [n for t in o["threads"] for n in t["freed_by"] if n]
        shades = collections.Counter(shade_of(n / sum(freed), 1 / sum(freed), max(freed) / sum(freed))
                                     for n in freed)
        require("trace", shades == collections.Counter(s for _, s in cells_of(figures["Who frees what"])),
                "threads: other shades than %s" % shades)


def check_compare(pages, new, base, comparison):
    by = collections.defaultdict(list)
    for side, r in (("new", new), ("base", base)):
        for x in r["results"]:
            if x["backend"] in r["names"] and x["op"] != "all" and x["n"]:
                by["%s: %s" % (x["phase"], x["op"]), "%s %s" % (side, x["backend"])].append(x)
    cells = {"%s: %s %s%s" % (c["backend"], c["phase"] or "whole run", c["op"] + " " if c["op"] else "",
                              c["metric"]): c for c in comparison["comparisons"][0]["cells"]}
    shown, n_dots = set(), 0
    for figure in pages["compare"][1]:
        is_change = figure.title.startswith("Changes")
        is_linear = is_change and figure.x.low <= 0
        for title, g in figure.groups():
            circle = g.find(SVG + "circle")
            if is_change and circle is not None:
                name, _, of = title.rsplit(",", 1)[0].partition(", relative to ")
                ratio = cells[name]["relative"]["ratio"] if of else cells[name]["ratio"]
                expect("compare", title, float(circle.get("cx")), figure.x.px(ratio - is_linear), NEAR_PX)
                n_dots += 1
            elif not is_change and (figure.title, title) in by:
                shown.add((figure.title, title))
                check_curves("compare", figure, title, g, by[figure.title, title])
    require("compare", n_dots > 0, "no change is drawn")
    require("compare", shown == set(by), "curves of %s are missing" % sorted(set(by) - shown))


def main(args):
    pages, result = read_report(args[0]), load(args[1])
    for check in (check_summary, check_by_value, check_time, check_latency, check_over_time, check_memory, check_sizes,
                  check_slowest, check_trace):
        check(pages, result)
    if len(args) > 2:
        check_compare(pages, result, load(args[2]), json.load(open(args[3], encoding="utf-8")))
    print(" ".join("%s:%d" % item for item in sorted(compared.items())))
    for p in problems[:20]:
        print(p, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
