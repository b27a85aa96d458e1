# SPDX-License-Identifier: MIT
#
# Interrupts a run at random instants, under a terminal of its own, and looks at what is left:
#   interrupt.py ALLOCBENCH SCHEMA SEED COUNT ARGUMENT…
# Run in an empty folder; results go to ./results. Ends with 1 and a line a finding.
import json, os, pty, random, re, select, shutil, signal, sys, termios, time

allocbench, schema, seed, count = sys.argv[1], json.load(open(sys.argv[2])), *map(int, sys.argv[3:5])
arguments = sys.argv[5:]
build = os.path.dirname(os.path.realpath(allocbench))
try:
    import jsonschema
    validator = jsonschema.Draft202012Validator(schema)
except (ImportError, AttributeError):
    validator = None
findings = []


def processes():
    """Whatever runs an executable of this build."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/exe").startswith(build):
                found.append(int(pid))
        except OSError:
            pass
    return found


def start():
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execv(allocbench, [allocbench, *arguments])
    return pid, terminal


def drain(terminal, until, mark=None):
    """What is printed up to a time or a mark, or to the end (False)."""
    output = b""
    while time.monotonic() < until and not (mark and mark in output):
        if not select.select([terminal], [], [], max(0, until - time.monotonic()))[0]:
            break
        try:
            more = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            return output, False
        if not more:
            return output, False
        output += more
    return output, True


def finish(pid, terminal):
    output, is_open = drain(terminal, time.monotonic() + 120)
    if is_open:
        os.kill(pid, signal.SIGKILL)
        findings.append("did not end within 120 s")
    status = os.waitpid(pid, 0)[1]
    return output, os.waitstatus_to_exitcode(status)


def check_result(path, code):
    document = json.load(open(path))
    for error in validator.iter_errors(document) if validator else ():
        findings.append(f"{path}: {error.message}")
    rounds = len(document["rounds"])
    alls = [r for r in document["results"] if r["op"] == "all"]
    wanted = rounds * len(document["config"]["phases"]) * len(document["backends"])
    if len(alls) != wanted:
        states = [(b["name"], b["status"], b["reason"]) for b in document["backends"]]
        findings.append(f"{path}: {len(alls)} results of {rounds} rounds, not {wanted}: {states}")
    if document["complete"] != (rounds == document["config"]["rounds_planned"]):
        findings.append(f"{path}: complete is {document['complete']} with {rounds} rounds")
    if document["complete"] != (code == 0):
        findings.append(f"complete is {document['complete']} with exit code {code}")


def check_left(before, code, is_started):
    left = processes()
    if left:
        findings.append(f"processes {left} are left")
    stray = [n for n in os.listdir(".") if n != "results"] + os.listdir(os.environ["TMPDIR"])
    results = os.listdir("results") if os.path.isdir("results") else []
    stray += [n for n in results if n.startswith(".") or not n.endswith(".json")]
    if stray:
        findings.append(f"files are left: {stray}")
    if os.path.isdir("results") and not results and is_started:
        findings.append("an empty folder is left")
    if len(results) > 1:
        findings.append(f"several results: {results}")
    for name in results:
        check_result(os.path.join("results", name), code)
    return len(results)


def attempt(delay, number, mark=None):
    """Interrupts one run, so long after its start or after a mark; returns whether a partial result
    was kept."""
    findings_before = len(findings)
    pid, terminal = start()
    settings = termios.tcgetattr(terminal)
    output = drain(terminal, time.monotonic() + 120, mark)[0] if mark else b""
    output += drain(terminal, time.monotonic() + delay)[0]
    if number == signal.SIGINT:
        try:
            os.write(terminal, b"\x03")  # as a user would
        except OSError:
            pass
    else:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass
    try:
        after = termios.tcgetattr(terminal)
    except termios.error:
        after = settings
    more, code = finish(pid, terminal)
    output += more
    os.close(terminal)
    if after != settings:
        findings.append("the terminal's settings changed")
    if output.count(b"\x1b[?25l") > output.count(b"\x1b[?25h"):
        findings.append("the cursor is hidden")
    last = output.rsplit(b"\r\x1b[K", 1)[-1]
    if re.search(rb"round \d+/\d+  ", last):
        findings.append("the progress line is left")
    # before it has its handlers the signal ends it as it ends anything
    if code not in (0, 128 + number, -number):
        findings.append(f"exit code {code}")
    kept = check_left(settings, code, code >= 0)
    if code == -number and kept:
        findings.append("a result, yet no handler")
    if code == 0 and not kept:
        findings.append("it was complete and nothing is kept")
    if mark and mark in output and code == 128 + number and not kept:
        findings.append("a round was complete and nothing is kept")
    for finding in findings[findings_before:]:
        print(f"{mark or ''} after {delay:.3f} s, {signal.Signals(number).name}: {finding}")
    shutil.rmtree("results", ignore_errors=True)
    return kept and code == 128 + number


began = time.monotonic()
pid, terminal = start()
_, code = finish(pid, terminal)
os.close(terminal)
wall = time.monotonic() - began
if code != 0 or check_left(None, code, True) != 1 or findings:
    sys.exit(f"the run that nobody interrupts: exit code {code}, {findings}")
shutil.rmtree("results")

# Half of the instants are anywhere in the run; the others behind the first round, however fast or
# slow the machine has become.
rng = random.Random(seed)
partial = 0
for i in range(count):
    mark = None if i < count / 2 else b"round 2/"
    delay = rng.uniform(0, wall / 2 if mark else wall)
    partial += bool(attempt(delay, (signal.SIGINT, signal.SIGTERM)[i % 2], mark))
print(f"{count} interruptions of {wall:.2f} s of work, {partial} partial results kept")
sys.exit(1 if findings else 0)
