#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Decodes the histograms of a result with nothing of allocbench's own: prints how many there are,
and fails where the counts of one do not add up to its n, or where a percentile that is told lies
elsewhere than the histogram says."""
import base64, json, math, struct, sys, zlib

QUANTILES = {"p50": .5, "p90": .9, "p99": .99, "p99.5": .995, "p99.9": .999, "p99.99": .9999}


def varints(data):
    at = 0
    while at < len(data):
        value = 0
        for i in range(9):
            byte = data[at]
            at += 1
            if i == 8:
                value |= byte << 56
                break
            value |= (byte & 0x7f) << (7 * i)
            if not byte & 0x80:
                break
        yield (value >> 1) ^ -(value & 1)


def counts_of(text):
    outer = base64.b64decode(text, validate=True)
    cookie, length = struct.unpack(">ii", outer[:8])
    assert cookie == 0x1c849314 and length == len(outer) - 8, "outer header"
    inner = zlib.decompress(outer[8:])
    cookie, length, offset, digits, lowest, highest, ratio = struct.unpack(">iiiiqqd", inner[:40])
    assert cookie == 0x1c849313 and length == len(inner) - 40 and offset == 0, "inner header"
    assert digits == 3 and ratio == 1.0, "digits"
    index, counts = 0, []
    for v in varints(inner[40:]):
        if v < 0:
            index += -v
        else:
            counts.append((index, v))
            index += 1
    magnitude = lowest.bit_length() - 1
    return [(highest_equivalent(i, magnitude), n) for i, n in counts if n > 0]


def highest_equivalent(index, magnitude):
    half = 1024  # 3 digits: 2048 sub-buckets
    bucket, sub = (index >> 10) - 1, (index & (half - 1)) + half
    if bucket < 0:
        bucket, sub = 0, sub - half
    return ((sub + 1) << (bucket + magnitude)) - 1


def value_at(counts, n, q):
    rank, seen = max(1, math.ceil(q * n)), 0
    for value, c in counts:
        seen += c
        if seen >= rank:
            return value


def main():
    results = json.load(open(sys.argv[1]))["results"]
    for r in results:
        counts = counts_of(r["hdr_v2"])
        where = f'{r["backend"]} {r["phase"]} {r["op"]} round {r["round"]}'
        total = sum(n for _, n in counts)
        if total != r["n"]:
            sys.exit(f'{where}: {total} in the histogram, n is {r["n"]}')
        for name, q in QUANTILES.items():
            told = r["quantiles"][name]
            if told is not None and abs(told / value_at(counts, total, q) - 1) > 0.002:
                sys.exit(f"{where}: {name} is {told}, by the histogram {value_at(counts, total, q)}")
    print(len(results))


main()
