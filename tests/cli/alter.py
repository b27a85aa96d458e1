#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Alters files in some hundred ways and has allocbench read each one.

usage: alter.py TIMES SEED FILE OUTPUT COMMAND…

FILE is altered TIMES times; the command, in which IN is the altered file and OUT a file that is there
already, must end each time within 5 s of CPU time, by itself, with a documented exit code. Where it
refuses (2, 3): one message and nothing on standard output, and OUT is as it was; else OUT is whole,
which OUTPUT says how to see: json, html, abt, or none where the command writes no file. A
result whose numbers are not those that its checksum says makes no file. No other file is made.
Prints how many were taken."""

import json
import os
import random
import resource
import subprocess
import sys

TOKENS = [b"NaN", b"-1", b"1e999", b"null", b"18446744073709551616", b"[" * 5000, b'{"a":' * 300, b"\n", b"\0",
          b"\x1b[2J", b"\xe2\x80\xae", b"\\u001b[2J", b"</script><b>", b"\xff\xfe", b"../../x", b'"', b"}", b"]", b","]
OLD = b"what was there before\n"


def alter(data, rng):
    data = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at, how = rng.randrange(len(data) + 1), rng.randrange(5)
        if how == 0 and at < len(data):
            data[at] ^= rng.randint(1, 255)
        elif how == 1:
            data[at:at + rng.choice([0, 1, 8])] = rng.choice(TOKENS)
        elif how == 2:
            del data[at:at + rng.randint(1, 200)]
        elif how == 3:
            data[at:at] = data[at - 100:at]
        else:  # a digit is another one: only a checksum finds it
            while at < len(data) and not chr(data[at]).isdigit():
                at += 1
            data[at:at + 1] = b"%d" % rng.randrange(10)
    return bytes(data[:rng.randrange(len(data))] if rng.randrange(10) == 0 else data)


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (5, 5))


def is_whole(data, output):
    if output == "json":
        json.loads(data)
    return {"json": data.endswith(b"}\n"), "html": data.rstrip().endswith(b"</html>"),
            "abt": data.startswith(b"\x89ABT"), "none": data == OLD}[output]


def is_altered(old, new):
    try:
        old, new = json.loads(old), json.loads(new)
    except ValueError:
        return False
    return isinstance(old, dict) and "checksum" in old and old != new and new.get("checksum") == old["checksum"]


def check(original, data, output, command):
    suffix = os.path.splitext(sys.argv[3])[1]
    with open("in" + suffix, "wb") as f:
        f.write(data)
    with open("out", "wb") as f:
        f.write(OLD)
    words = [{"IN": "in" + suffix, "OUT": "out"}.get(word, word) for word in command]
    done = subprocess.run(["allocbench", *words], stdin=subprocess.DEVNULL, capture_output=True, preexec_fn=limits)
    made = open("out", "rb").read()
    assert done.returncode in range(6), f"ended with {done.returncode}"
    if done.returncode in (2, 3):
        assert made == OLD, "a file was replaced though the input was refused"
        assert not done.stdout, f"refused, but printed {done.stdout[:200]}"
        assert done.stderr.strip(), "refused without a message"
    else:
        assert is_whole(made, output), f"half a file: {made[-60:]}"
        assert output == "none" or not is_altered(original, data), "numbers of an altered result"
    for stream in done.stdout, done.stderr:
        assert b"\x1b" not in stream and b"\xe2\x80\xae" not in stream, f"printed as it was: {stream[:300]}"
    os.remove("in" + suffix)
    left = set(os.listdir(".")) - {"out"}
    assert not left, f"left behind: {left}"
    return done.returncode not in (2, 3)


def main(times, seed, path, output, *command):
    rng, taken = random.Random(int(seed)), 0
    original = open(path, "rb").read()
    for i in range(int(times)):
        data = alter(original, rng)
        try:
            taken += check(original, data, output, command)
        except (AssertionError, ValueError) as error:
            print(f"{path}, alteration {i} of seed {seed}, {' '.join(command)}: {error}")
            return 1
    print(f"{taken} of {times} taken")
    return 0


sys.exit(main(*sys.argv[1:]))
