#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Puts a hostile name behind every text of a result that allocbench still reads then: names of back
ends, phases and machines, paths, commands, reasons, whatever there is.

usage: hostile_result.py RESULT.json OUT.json NAME

A text is changed wherever the same one stands, so that what refers to a name still finds it. Prints
the places, as "config.phases[]", one a line."""

import json
import re
import subprocess
import sys

NUMBERS = re.compile(r"sha256|checksum|schema|hdr_v2|\.counts$|fingerprint")


def texts(value, place=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from texts(inner, place + "." + key)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner, place + "[]")
    elif isinstance(value, str):
        yield place[1:], value


def changed(value, names):
    if isinstance(value, dict):
        return {k: changed(v, names) for k, v in value.items()}
    if isinstance(value, list):
        return [changed(v, names) for v in value]
    return names.get(value, value) if isinstance(value, str) else value


def is_read(document, path):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(document, f)
    done = subprocess.run(["allocbench", "report", path, "-q", "--csv", "-"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return done.returncode == 0


def main(source, target, name):
    document = json.load(open(source, encoding="utf-8"))
    document.pop("checksum", None)
    places = {}
    for place, text in texts(document):
        if text and not NUMBERS.search(place):
            places.setdefault(place, set()).add(text)
    names, taken = {}, []
    for place, values in places.items():
        more = {v: v + name for v in values if v not in names}
        if not more or is_read(changed(document, {**names, **more}), target):
            names.update(more)
            taken.append(place)
    assert is_read(changed(document, names), target)
    print("\n".join(taken))


if __name__ == "__main__":
    main(*sys.argv[1:])
