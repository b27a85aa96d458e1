#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the workloads do as many ops as their comments say? For each file named: what `allocbench check`
counts in each phase against the lines `# Ops of PHASE: FORMULA` and `# Allocs of PHASE: FORMULA`,
where $name is a param and `about` allows 2 %. Every file needs one. Exits 1 when one does not hold."""

import json
import re
import subprocess
import sys


def evaluate(formula, params):
    text = re.sub(r"\$(\w+)", lambda m: str(params[m.group(1)]), formula)
    text = re.sub(r"(\d)_(?=\d)", r"\1", re.sub(r"(\d)B\b", r"\1", text)).replace("/", "//")
    if not re.fullmatch(r"[\d\s+*/()-]+", text):
        raise ValueError("not a formula: " + text)
    return eval(text)  # digits and operators alone


def check(path):
    command = ["allocbench", "check", path, "--json", "-"]
    plan = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
    params = dict(p.split("=", 1) for p in plan["params"])
    phases = {p["name"]: p["ops"] for p in plan["phases"]}
    with open(path, encoding="utf-8") as file:
        lines = re.findall(r"^# (Ops|Allocs) of (\w+): (about )?(.*)$", file.read(), re.M)
    wrong = [] if lines else ["no line '# Ops of PHASE: FORMULA'"]
    for what, phase, about, formula in lines:
        ops = phases[phase]
        found = sum(n for kind, n in ops.items() if what == "Ops" or kind.startswith("alloc"))
        said = evaluate(formula, params)
        if abs(found - said) > (0.02 * said if about else 0):
            wrong.append("%s of %s: %d, but %s = %d" % (what, phase, found, formula, said))
    return wrong


failed = 0
for path in sys.argv[1:]:
    for text in check(path):
        print("%s: %s" % (path, text))
        failed = 1
sys.exit(failed)
