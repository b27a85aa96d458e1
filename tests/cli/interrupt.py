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


class Run:
    """allocbench on a terminal of its own. The session's leader is a process that outlives it: what
    a terminal has not handed over yet is lost when its leader ends."""

    END = b"\x00end\x00"

    def __init__(self):
        pid_read, pid_write = os.pipe()
        self.output = b""
        self.leader, self.terminal = pty.fork()
        if self.leader == 0:
            self.lead(pid_write)
        os.close(pid_write)
        self.pid = int.from_bytes(os.read(pid_read, 8), "little")
        os.close(pid_read)

    def lead(self, pid_write):
        os.environ["TERM"] = "xterm"
        release_read, release_write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.read(release_read, 1)  # not before the leader ignores what is meant for it
            os.execv(allocbench, [allocbench, *arguments])
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        os.write(pid_write, pid.to_bytes(8, "little"))
        os.write(release_write, b"x")
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.write(1, self.END + str(code).encode() + self.END)
        signal.pause()

    def read(self, until, mark):
        """Reads up to a time or a mark, or to the end."""
        start = len(self.output)
        while time.monotonic() < until and not (mark and mark in self.output[start:]):
            if self.output.count(self.END) == 2:
                return
            if not select.select([self.terminal], [], [], max(0, until - time.monotonic()))[0]:
                return
            self.output += os.read(self.terminal, 65536)

    def finish(self):
        """Its exit code; output is then only what it printed."""
        self.read(time.monotonic() + 120, None)
        if self.output.count(self.END) != 2:
            os.kill(self.pid, signal.SIGKILL)
            findings.append("did not end within 120 s")
            self.read(time.monotonic() + 5, None)
        self.output, code, _ = self.output.split(self.END)
        os.kill(self.leader, signal.SIGKILL)
        os.waitpid(self.leader, 0)
        os.close(self.terminal)
        return int(code)


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
    run = Run()
    settings = termios.tcgetattr(run.terminal)
    if mark:
        run.read(time.monotonic() + 120, mark)
    run.read(time.monotonic() + delay, None)
    if number == signal.SIGINT:
        os.write(run.terminal, b"\x03")  # as a user would
    else:
        try:
            os.kill(run.pid, number)
        except ProcessLookupError:
            pass
    after = termios.tcgetattr(run.terminal)
    code = run.finish()
    output = run.output
    if after != settings:
        findings.append("the terminal's settings changed")
    if output.count(b"\x1b[?25l") > output.count(b"\x1b[?25h"):
        findings.append("the cursor is hidden")
    last = output.rsplit(b"\r\x1b[K", 1)[-1]
    if re.search(rb"round \d+ of \d+  |so far: ", last):
        findings.append(f"the progress line is left: {output[-400:]}")
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
code = Run().finish()
wall = time.monotonic() - began
if code != 0 or check_left(None, code, True) != 1 or findings:
    sys.exit(f"a run that is not interrupted: exit code {code}, {findings}")
shutil.rmtree("results")

# Half of the instants are anywhere in the run; the others after the first round, however fast or
# slow the machine has become.
rng = random.Random(seed)
partial = 0
for i in range(count):
    mark = None if i < count / 2 else b"round 2 of"
    delay = rng.uniform(0, wall / 2 if mark else wall)
    partial += bool(attempt(delay, (signal.SIGINT, signal.SIGTERM)[i % 2], mark))
print(f"{count} interruptions of {wall:.2f} s of work, {partial} partial results kept")
sys.exit(1 if findings else 0)
