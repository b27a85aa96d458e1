#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A reader who reckons: reads screens as text and works out every derived figure (ratios, sums,
percentages, products, counts, verdicts) from the others that are shown, within their rounding.

usage: reckon.py [--each-fails] [--steady] SCREEN …
--steady: the rounds differ alike in all phases, so that the time of the whole run, a median of sums,
is the sum of the medians that are shown. Prints each figure that does not follow and exits 1 where there is one. Else prints how often each
rule was used. --each-fails: changes every derived figure in turn and demands that it is found."""

import collections
import re
import sys

UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "KiB": 2**10, "MiB": 2**20,
         "GiB": 2**30, "k": 1e3, "M": 1e6, "G": 1e9, "": 1}
NUMBER = re.compile(r"(\d+(?:\.\d+)?) ?(ns|us|ms|s|KiB|MiB|GiB|B|k|M|G)?(?=x\b|[^\w.]|\.?$|\.\s)")
STEADY = False
WORDS = re.compile(r"\S+(?: \S+)*")


class Figure:
    """What a number as it is printed may be: between low and high. `at` is (line, start, end)."""

    def __init__(self, text, at, unit=None):
        m = NUMBER.match(text)
        number = m.group(1)
        scale = UNITS[m.group(2) or unit or ""]
        half = 0.5 * 10 ** -(len(number.split(".")[1]) if "." in number else 0)
        digits = len(number.replace(".", "").lstrip("0"))
        if "." not in number and digits > 3:  # "1150" has three digits as well
            half = 0.5 * 10 ** (digits - 3)
        self.value, self.half = float(number) * scale, half * scale
        self.low, self.high = (float(number) - half) * scale, (float(number) + half) * scale
        self.at = at

    def __repr__(self):
        return "%g" % self.value


def span(line, start, text):
    m = re.search(r"\d[\d.]*", text)
    return (line, start + m.start(), start + m.end())


class Cell:
    def __init__(self, text, line, start):
        self.text, self.line, self.start = text, line, start

    def figure(self, unit=None, nth=0):
        """The nth number of the cell; None = there is none."""
        found = list(NUMBER.finditer(self.text))
        if nth >= len(found):
            return None
        m = found[nth]
        return Figure(m.group(0), span(self.line, self.start + m.start(), m.group(0)), unit)

    def percent(self):
        """Of "+7.4 %" as a share, with the figure it came from."""
        m = re.match(r"([+-])(\d[\d.]*) %$", self.text)
        if m is None:
            return None
        f = Figure(m.group(2), span(self.line, self.start, self.text))
        sign = 1 if m.group(1) == "+" else -1
        f.low, f.high = sorted((sign * f.low / 100, sign * f.high / 100))
        f.value = sign * f.value / 100
        f.half /= 100
        return f


class Table:
    """Rows under a heading; cells belong to the column whose end is theirs."""

    def __init__(self, lines, first):
        tokens = [(m.group(0), m.start(), m.end()) for m in WORDS.finditer(lines[first])]
        self.title = tokens.pop(0)[0] if tokens and tokens[0][1] == 0 else ""
        self.ends = [(t, end) for t, _, end in tokens]
        self.columns = [t for t, _ in self.ends]
        self.rows, self.block = [], self.title
        for i in range(first + 1, len(lines)):
            line = lines[i]
            if not line.strip() or line.startswith("  ("):
                break
            if line.startswith("    ") and not self.columns_of(line):
                continue  # words below a row
            if not line.startswith("  "):
                if WORDS.match(line).end() == len(line.rstrip()) and len(line) < 60 and \
                        "(" not in line and not line.rstrip().endswith("."):
                    self.block = line.strip()
                    continue
                break
            tokens = [(m.group(0), m.start(), m.end()) for m in WORDS.finditer(line)]
            cells = {self.column(end): Cell(t, i, start) for t, start, end in tokens[1:]}
            self.rows.append((self.block, tokens[0][0], cells))

    def column(self, end):
        return next((t for t, e in self.ends if e == end), None)

    def columns_of(self, line):
        return [1 for m in list(WORDS.finditer(line))[1:] if self.column(m.end())]

    def get(self, name):
        return next((cells for _, row, cells in self.rows if row == name), None)


class Reader:
    def __init__(self, text):
        self.lines = text.split("\n")
        self.text = text
        self.used = collections.Counter()
        self.wrong, self.derived = [], []
        flat, self.where = "", []
        for i, line in enumerate(self.lines):  # sentences, with the places of their characters
            start = len(line) - len(line.lstrip())
            for k, c in enumerate(line[start:] + " "):
                flat += c
                self.where.append((i, start + k))
        self.flat = flat

    def demand(self, rule, is_right, derived, what):
        self.used[rule] += 1
        self.derived += [(rule, f.at) for f in derived if f is not None]
        if not is_right:
            self.wrong.append("%s: %s" % (rule, what))

    def close(self, rule, shown, low, high, what):
        """The figure may be anything between low and high, or rounds to it."""
        slack = 1e-9 * max(abs(low), abs(high))
        self.demand(rule, shown.high >= low - slack and shown.low <= high + slack, [shown],
                    "%s: %s is not within %.6g and %.6g" % (what, shown, low, high))

    def quotient(self, rule, shown, a, b, what):
        if b.low > 0:
            self.close(rule, shown, a.low / b.high, a.high / b.low, what)

    def tables(self, heading):
        return [Table(self.lines, i) for i, line in enumerate(self.lines)
                if re.search(heading, line)]

    def sentences(self, pattern):
        """Matches over wrapped lines, each group as (text, figure)."""
        for m in re.finditer(pattern, self.flat):
            yield m

    def figure(self, m, group, unit=None):
        line, column = self.where[m.start(group)]
        text = m.group(group)
        return Figure(text, span(line, column, text), unit)

    # ---- the answer ----

    def interval(self, rule, cell, shown, is_tilde, pattern=r"\[([\d.]+), ([\d.]+)\]"):
        m = re.search(pattern, cell.text)
        if m is None:
            return
        low, high = float(m.group(1)), float(m.group(2))
        self.demand(rule, low <= shown.value <= high, [shown],
                    "%s: not within its interval" % cell.text)
        if is_tilde is not None and abs(shown.value - 1) >= 0.02:
            is_open = low < 1 < high
            self.demand(rule + " ~", is_open == is_tilde or 1 in (low, high), [], cell.text)

    def ranking(self):
        found = self.tables(r"^ +(whole run|wall time|CPU time)( |$)")
        for t in found[:1]:
            time = t.columns[0]
            versus = next((c for c in t.columns if c.startswith("vs ")), None)
            times = {name: cells[time].figure() for _, name, cells in t.rows
                     if cells.get(time) is not None}
            base = next((n for _, n, c in t.rows
                         if versus in c and c[versus].text == "base"), None)
            for _, name, cells in t.rows:
                cell = cells.get(versus)
                if cell is None or base is None or "er" not in cell.text or \
                        times.get(name) is None:
                    continue
                shown, a, b = cell.figure(), times[base], times[name]
                if "slower" in cell.text:
                    a, b = b, a
                self.quotient("ratio of whole runs", shown, a, b, "%s, %s" % (name, cell.text))
                self.interval("interval holds", cell, shown, cell.text.startswith("~"))
            self.headline(t, times)
        return found[0] if found else None

    def headline(self, ranking, times):
        peaks = {name: cells["peak"].figure() for _, name, cells in ranking.rows
                 if "peak" in cells}
        for m in self.sentences(r"(\S+) is ([\d.]+)x (?:\[([\d.]+), ([\d.]+)\] )?(faster|slower)"
                                r" than (\S+?) (?:over the whole run|in (?:CPU|wall) time)(?:\.|,| and| at)? "):
            a, b = m.group(1), m.group(6)
            if a in times and b in times and times[a] and times[b]:
                x, y = (times[b], times[a]) if m.group(5) == "faster" else (times[a], times[b])
                self.quotient("headline: speed", self.figure(m, 2), x, y, m.group(0))
                rest = self.flat[m.start(6):m.start(6) + 120]
                self.memory_words(a, b, peaks, rest, m.start(6))
        for m in self.sentences(r"(?:So far|No clear difference in [\w ]+? between) (\S+) (?:is ahead of|and) "
                                r"(\S+?),?(?: the fastest two| in [\w ]+)? \((\d[\d.]* \w+) vs\. "
                                r"(\d[\d.]* \w+)\)"):
            for name, group in ((m.group(1), 3), (m.group(2), 4)):
                f = self.figure(m, group)
                if times.get(name):
                    self.close("headline: time", f, times[name].low, times[name].high, m.group(0))
        for m in self.sentences(r"Least memory at the peak: (\S+) \((\d[\d.]* \w+); (\S+) (\d[\d.]* \w+)\)"):
            for name, group in ((m.group(1), 2), (m.group(3), 4)):
                if name in peaks:
                    self.close("headline: peak", self.figure(m, group), peaks[name].low,
                               peaks[name].high, m.group(0))

    def memory_words(self, a, b, peaks, rest, at):
        m = re.match(r"\S+? (?:over the whole run|in (?:CPU|wall) time),? (?:but|and) takes (\d+) % (more|less) memory", rest)
        if m is None or a not in peaks or b not in peaks:
            return
        line, column = self.where[at + m.start(1)]
        f = Figure(m.group(1), (line, column, column + len(m.group(1))))
        low, high = peaks[a].low / peaks[b].high - 1, peaks[a].high / peaks[b].low - 1
        if m.group(2) == "less":
            low, high = -high, -low
        self.close("headline: memory", f, 100 * low, 100 * high, m.group(0))

    def phases(self, ranking):
        title = re.search(r"^.*?: (\d[\d.]* ?[kMG]?) operations, (\d+) phases?,", self.flat)
        for t in self.tables(r"^time per op, ns"):
            ops = t.get("ops per round")
            is_whole = not any(l.startswith("  (not shown") for l in
                               self.lines[t.rows[-1][2][t.columns[0]].line + 1:][:1])
            ops = {c: ops[c].figure() for c in t.columns if ops is not None and c in ops}
            if title is None or not is_whole or not ops:
                continue
            total = self.figure(title, 1)
            self.close("operations: sum", total, sum(f.low for f in ops.values()),
                       sum(f.high for f in ops.values()), title.group(0))
            self.demand("phases: count", int(title.group(2)) == len(t.columns),
                        [self.figure(title, 2)], title.group(0))
            for _, name, cells in t.rows:
                whole = ranking.get(name) if ranking is not None else None
                if not STEADY or whole is None or set(cells) != set(t.columns) or "whole run" not in whole:
                    continue
                ns = {c: cells[c].figure() for c in cells}
                if None in ns.values() or whole["whole run"].figure() is None:
                    continue
                self.close("whole run: sum of ops x time",  whole["whole run"].figure(),
                           0.98 * sum(ns[c].low * ops[c].low for c in ns),
                           1.02 * sum(ns[c].high * ops[c].high for c in ns), name)

    def memory(self, ranking):
        title = re.search(r"up to (\d[\d.]* \w+) live", self.flat)
        live = self.figure(title, 1) if title else None
        for t in self.tables(r"^memory, \w+ "):
            unit = t.title.split()[1]
            for _, name, cells in t.rows:
                peak = cells["= peak"].figure(unit) if "= peak" in cells else None
                if peak is None:
                    continue
                self.parts("memory: sum", name, cells, peak, unit)
                times = cells["x live"].figure() if "x live" in cells else None
                if times is not None and live is not None:
                    self.quotient("memory: x live", times, peak, live, name)
                above = ranking.get(name) if ranking is not None else None
                if above is not None and "peak" in above:
                    self.close("memory: peak as ranked", above["peak"].figure(), peak.low,
                               peak.high, name)

    def parts(self, rule, name, cells, peak, unit):
        names = ("live", "internal", "external", "retained")
        if not all(p in cells for p in names) or cells["live"].figure(unit) is None:
            return
        figures = [cells[p].figure(unit) for p in names if not cells[p].text.startswith("-")]
        total = sum(f.value for f in figures)
        self.demand(rule, abs(total - peak.value) < 0.1 * peak.half, figures + [peak],
                    "%s: %g is not %g" % (name, total, peak.value))

    def calls(self):
        for t in self.tables(r"(^p50/p99, ns|, p50/p99, ns|, p99.9/max, ns)"):
            for _, name, cells in t.rows:
                for cell in cells.values():
                    m = re.match(r"<?([\d.]+)(us|ms|s)?/<?([\d.]+)(us|ms|s)?$", cell.text)
                    if m is None:
                        continue
                    low = float(m.group(1)) * UNITS[m.group(2) or ""]
                    high = float(m.group(3)) * UNITS[m.group(4) or ""]
                    self.demand("percentiles: order", low <= high, [], "%s %s" % (name, cell.text))

    def rounds(self):
        title = re.search(r"(\d+) rounds?\b", self.flat)
        for m in self.sentences(r"[Ii]nterrupted after (\d+) of (\d+) rounds"):
            self.demand("rounds", title.group(1) == m.group(1), [self.figure(m, 1)], m.group(0))
        for m in self.sentences(r"varied by (\d+) % over the rounds \(([\d.]+) to ([\d.]+) ns/op"):
            a, b = self.figure(m, 3), self.figure(m, 2)
            self.close("harness: range", self.figure(m, 1), 100 * (a.low / b.high - 1),
                       100 * (a.high / b.low - 1), m.group(0))

    # ---- compare and gates ----

    def compare(self):
        for t in self.tables(r" change  +90 % interval( |$)"):
            counts = collections.Counter()
            rows = {}
            for block, name, cells in t.rows:
                word = cells["verdict"].text
                change = cells["change"].percent() if "change" in cells else None
                counts[word] += 1
                rows[block.split(" against ")[0], name] = cells
                if change is None:
                    continue
                self.change(block, name, cells, change)
                if self.relative_note(block.split(" against ")[0], name) is None:
                    self.verdict(name, cells, change, word)
            self.counts(counts)
            self.verdict_sentences(rows)

    def change(self, block, name, cells, change):
        if "base" in cells and "new" in cells and cells["base"].figure():
            a, b = cells["new"].figure(), cells["base"].figure()
            for f in (a, b):  # "42 ns" is a mean of readings as well
                f.low, f.high = f.value - f.half, f.value + f.half
            self.close("compare: change", change, a.low / b.high - 1, a.high / b.low - 1,
                       "%s %s" % (block, name))

    def verdict(self, name, cells, change, word):
        m = re.match(r"\[([+-][\d.]+), ([+-][\d.]+)\]", cells["90 % interval"].text) \
            if "90 % interval" in cells else None
        limit = cells["limit"].percent() if "limit" in cells else None
        if m is None:
            return
        low, high = float(m.group(1)) / 100, float(m.group(2)) / 100
        self.demand("compare: interval holds", low <= change.value <= high, [change], name)
        right = {"worse": low >= 0, "better": high <= 0, "regressed": low >= 0,
                 "improved": high <= 0}.get(word, True)
        if limit is not None and word == "regressed":
            right = right and change.high >= limit.value
        if limit is not None and word == "ok":
            right = right and high <= limit.high
        self.demand("compare: verdict", right, [], "%s is %s" % (name, word))

    def counts(self, counts):
        for m in re.finditer(r"^((?:\d+ (?:failed|regressed|inconclusive|improved|ok)(?:, )?)+)",
                             self.text, re.M):
            line = self.text.count("\n", 0, m.start())
            for n in re.finditer(r"(\d+) (\w+)", m.group(1)):
                f = Figure(n.group(1), (line, n.start(1), n.end(1)))
                self.demand("compare: counts", counts[n.group(2)] == int(n.group(1)), [f],
                            n.group(0))

    def relative_note(self, block, name):
        """What stands below the row of a library that changed, beside one that did not."""
        return re.compile(r"^%s(?: +base +new .*)?\n(?:  .*\n)*?  %s .*\n"
                          r"    ([+-][\d.]+) %% relative to (?:.*\n?      )?.*?: +(\[[^]]*\])"
                          % (re.escape(block), re.escape(name)), re.M).search(self.text)

    def relative_sentence(self, m):
        """Of the change by that of an unchanged library, which stands below the row."""
        note = self.relative_note(m.group(1), "whole run time")
        sign = "+" if m.group(3) == "more" else "-"
        self.demand("compare: relative sentence",
                    note is not None and note.group(1) == sign + m.group(2)
                    and note.group(2) == (m.group(4) or note.group(2)), [self.figure(m, 2)],
                    m.group(0))

    def verdict_sentences(self, rows):
        for m in self.sentences(r"(\S+) takes (\d[\d.]*) % (more|less) time (\[[^]]*\])?"
                                r"( relative to )?"):
            if m.group(5):
                self.relative_sentence(m)
                continue
            cells = rows.get((m.group(1), "whole run time"))
            change = cells["change"].percent() if cells else None
            if change is None:
                continue
            f = self.figure(m, 2)
            sign = 1 if m.group(3) == "more" else -1
            self.demand("compare: sentence", abs(sign * f.value / 100 - change.value) < 1e-9, [f],
                        m.group(0))
            if m.group(4):
                self.demand("compare: sentence's interval",
                            m.group(4) == cells["90 % interval"].text, [], m.group(0))

    def gates(self):
        title = next((m for m in self.sentences(r"gates: ((?:\d+ [A-Za-z() ]+?(?:, |(?= \w+ *$)|"
                                                r"(?=  )))*\d+ \w+)")), None)
        counts = collections.Counter()
        for t in self.tables(r" value .* verdict$| value  +verdict$"):
            for _, name, cells in t.rows:
                word = cells["verdict"].text
                counts[word.lower()] += 1
                value = cells.get("value")
                if "limit" in cells and value is not None and word in ("passed", "FAILED"):
                    self.bound(name, value, cells["limit"], word)
        if title is not None and counts:
            for n in re.finditer(r"(\d+) (NOT EVALUATED|\w+)", title.group(1)):
                word = n.group(2).lower()
                word = "warning" if word == "warnings" else word
                line, column = self.where[title.start(1) + n.start(1)]
                f = Figure(n.group(1), (line, column, column + len(n.group(1))))
                self.demand("gates: counts", counts[word] == int(n.group(1)), [f], n.group(0))

    def bound(self, name, value, limit, word):
        m = re.match(r"(<=?|>=?) ?([+-]?)(\d[\d.]*) ?(ns|us|ms|s|KiB|MiB|GiB|B|k|M|G|%|x)?",
                     limit.text)
        below = [c for c in self.lines[value.line + 1:value.line + 2] if c.startswith("    ")]
        if m is None or any("floor" in c for c in below):
            return
        unit = m.group(4) or ""
        bound = float(m.group(2) + m.group(3)) * UNITS.get(unit, 1)
        shown = value.percent() if unit == "%" and m.group(2) else value.figure()
        if shown is None:
            return
        if unit == "%" and m.group(2):
            bound /= 100
        is_less = m.group(1)[0] == "<"
        passes = shown.low < bound if is_less else shown.high > bound
        fails = shown.high >= bound if is_less else shown.low <= bound
        self.demand("gates: verdict", passes if word == "passed" else fails, [],
                    "%s %s %s is %s" % (name, value.text, limit.text, word))

    # ---- exec, -v ----

    def program(self):
        for t in self.tables(r"^\S.* median  +vs \S+"):
            versus = next(c for c in t.columns if c.startswith("vs "))
            base = {block: cells["median"].figure() for block, _, cells in t.rows
                    if versus in cells and cells[versus].text == "base"}
            for block, name, cells in t.rows:
                value = cells["median"].figure() if "median" in cells else None
                cell = cells.get(versus)
                if cell is None or value is None:
                    continue
                m = re.match(r"~?([\d.]+) % (more|less)", cell.text)
                if m is None or block not in base or base[block].low <= 0:
                    continue
                shown, of = cell.figure(), base[block]
                sign = 1 if m.group(2) == "more" else -1
                ends = (100 * sign * (value.low / of.high - 1), 100 * sign * (value.high / of.low - 1))
                what = "%s %s" % (block, name)
                self.close("exec: change", shown, min(ends), max(ends), what)
                m = re.search(r"\[([+-][\d.]+), ([+-][\d.]+)\]", cell.text)
                if m is not None:
                    holds = float(m.group(1)) <= sign * shown.value <= float(m.group(2))
                    self.demand("exec: interval holds", holds, [shown], what)

    def throughput(self):
        for t in self.tables(r"^all ops "):
            versus = next((c for c in t.columns if c.startswith("vs ")), None)
            base = next((c for _, _, c in t.rows if versus in c and c[versus].text == "base"), None)
            for _, name, cells in t.rows:
                ns = cells["ns/op"].figure() if "ns/op" in cells else None
                if ns is None:
                    continue
                if "Mops/s" in cells and ns.low > 0:
                    f = cells["Mops/s"].figure()
                    self.close("-v time: Mops/s", f, 1e3 / ns.high, 1e3 / ns.low, name)
                cell = cells.get(versus)
                if base is None or cell is None or not re.match(r"~?[\d.]+x", cell.text):
                    continue
                a, b = base["ns/op"].figure(), ns
                if "slower" in cell.text:
                    a, b = b, a
                self.quotient("-v time: ratio", cell.figure(), a, b, "%s %s" % (name, cell.text))

    def sizes(self):
        for t in self.tables(r", p50/p99, ns +calls"):
            shares = [c["calls"].figure() for _, _, c in t.rows if "calls" in c]
            total = sum(f.value for f in shares)
            self.demand("-v size: shares", abs(total - 100) <= 0.05 * len(shares) + 1e-9, shares,
                        "the shares are %g %% together" % total)

    def phase_memory(self):
        for i, line in enumerate(self.lines):
            m = re.match(r"memory / .*, in (\w+): live peak", line)
            if m is None:
                continue
            t = Table(self.lines, i + 1)
            for _, name, cells in t.rows:
                peak = cells["= peak"].figure(m.group(1)) if "= peak" in cells else None
                if peak is not None:
                    self.parts("-v memory: sum", name, cells, peak, m.group(1))

    def slowest(self):
        rounds = re.search(r"(\d+) rounds?\b", self.flat)
        for t in self.tables(r"^slowest calls "):
            for _, name, cells in t.rows:
                m = re.match(r"(\d+) of (\d+)$", cells["seen in"].text) if "seen in" in cells \
                    else None
                if m is not None:
                    self.demand("-v worst: rounds", 2 <= int(m.group(1)) <= int(m.group(2)) <=
                                int(rounds.group(1)), [cells["seen in"].figure(nth=1)]
                                if m.group(2) == rounds.group(1) else [],
                                "%s %s" % (name, m.group(0)))

    def legend(self):
        """What is explained stands above: each sign, each column, each footnote."""
        for i, line in enumerate(self.lines):
            if not re.match(r"(~: |\[low, high\]|p99, p99\.9: |<[\d.]+: |after free: |x live: )",
                            line):
                continue
            k = i
            while k + 1 < len(self.lines) and self.lines[k + 1].startswith("  "):
                k += 1
            legend, above = " ".join(s.strip() for s in self.lines[i:k + 1]), self.lines[:i]
            above = "\n".join(above)
            for explained, sign in ((r"~: ", r"~[\d.]"), (r"\[low, high\]", r"\[[\d+-]"),
                                    (r"p99, p99\.9: of", r" p99(\.9)?( |$)"),
                                    (r"<[\d.]+\w*: below", r"<[\d.]+"),
                                    (r"after free: resident", r" after free$"),
                                    (r"x live: peak", r" x live( |$)")):
                if re.search(explained, legend):
                    self.demand("legend", re.search(sign, above, re.M) is not None, [],
                                "nothing shown has: %s" % explained)
            break
        for i, line in enumerate(self.lines):
            m = re.match(r"([⁰¹²³⁴⁵⁶⁷⁸⁹]+|\(\d+\)) \S", line)
            if m:
                self.demand("legend", "-" + m.group(1) in "\n".join(self.lines[:i]), [],
                            "no dash has: %s" % line)

    def read(self):
        self.legend()
        ranking = self.ranking()
        self.phases(ranking)
        self.memory(ranking)
        for rule in (self.calls, self.rounds, self.compare, self.gates, self.program,
                     self.throughput, self.sizes, self.phase_memory, self.slowest):
            rule()
        return self


def changed(text, at):
    """The same with another first digit."""
    lines = text.split("\n")
    line, start, _ = at
    digit = lines[line][start]
    other = "9" if digit in "01234" else "1"
    lines[line] = lines[line][:start] + other + lines[line][start + 1:]
    return "\n".join(lines)


def demand_each_fails(path, text, reader):
    missed = 0
    for rule, at in reader.derived:
        if not Reader(changed(text, at)).read().wrong:
            missed += 1
            print("%s:%d: column %d: another figure is not found (%s)" %
                  (path, at[0] + 1, at[1] + 1, rule))
    return missed


def main():
    paths = sys.argv[1:]
    global STEADY
    each, STEADY = "--each-fails" in paths, "--steady" in paths
    paths = [p for p in paths if not p.startswith("--")]
    used, bad = collections.Counter(), 0
    for path in paths:
        with open(path, encoding="utf-8") as f:
            text = f.read()
        reader = Reader(text).read()
        for what in reader.wrong:
            print("%s: %s" % (path, what))
        bad += len(reader.wrong)
        used.update(reader.used)
        if each and not reader.wrong:
            bad += demand_each_fails(path, text, reader)
    for rule, n in sorted(used.items()):
        print("%5d %s" % (n, rule))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
