#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A second reader of trace files, written from traces/FORMAT.md alone: it prints the totals and the
digest of each, and refuses what the document says must be refused. Only Python and libzstd; slow
(some microseconds an event), because it is meant to be compared with, not to be used.

usage: scripts/read-trace.py [--partial] [--quiet] TRACE...     (--quiet: the digest only)
Exit codes: 0 all are whole, 2 usage, 3 one is not.
"""
import ctypes
import hashlib
import re
import struct
import sys

MASK = (1 << 64) - 1
BLOCK_EVENTS, RAW_MAX, STORED_MAX, WINDOW_LOG = 65536, 2621440, 2686976, 21
THREADS, SLOTS, BYTES_MAX = 1 << 20, (1 << 28) - 1, (1 << 63) - 1
ALLOC, ZEROED, ALIGNED, RESIZE, FREE, THREAD_END, RELEASED, FAILED = 0, 1, 2, 3, 4, 5, 6, 8
SIZED = (0, 1, 2, 8, 9, 10)
RESIZED = (3, 11)
INHERITED, SITES, SITE_COLUMN, MARKS = 0x80000001, 0x80000002, 0x80000003, 0x80000005  # chunks
WRITTEN = 0x80000007
REQUESTS, WHOLE = 0x80000006, 0x80000008
NAMES = ("events", "threads", "live_peak_bytes", "live_peak_blocks", "alloc", "alloc_zeroed",
         "alloc_aligned", "resize", "free", "failed", "live_end_blocks", "live_end_bytes",
         "total_bytes", "thread_ends", "time_us")


class Refused(Exception):
    pass


def rotate(x, n):
    return (x << n | x >> (64 - n)) & MASK


def xxh64(data):
    p1, p2, p3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
    p4, p5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5

    def lane(acc, word):
        return rotate((acc + word * p2) & MASK, 31) * p1 & MASK

    n, at = len(data), 0
    if n >= 32:
        a, b, c, d = (p1 + p2) & MASK, p2, 0, -p1 & MASK
        for at in range(0, n - 31, 32):
            w = struct.unpack_from("<4Q", data, at)
            a, b, c, d = lane(a, w[0]), lane(b, w[1]), lane(c, w[2]), lane(d, w[3])
        at += 32
        h = (rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)) & MASK
        for acc in (a, b, c, d):
            h = ((h ^ lane(0, acc)) * p1 + p4) & MASK
    else:
        h = p5
    h = (h + n) & MASK
    while at + 8 <= n:
        h ^= lane(0, struct.unpack_from("<Q", data, at)[0])
        h = (rotate(h, 27) * p1 + p4) & MASK
        at += 8
    if at + 4 <= n:
        h ^= struct.unpack_from("<I", data, at)[0] * p1 & MASK
        h = (rotate(h, 23) * p2 + p3) & MASK
        at += 4
    for byte in data[at:]:
        h ^= byte * p5 & MASK
        h = rotate(h, 11) * p1 & MASK
    h = (h ^ h >> 33) * p2 & MASK
    h = (h ^ h >> 29) * p3 & MASK
    return h ^ h >> 32


class Buffer(ctypes.Structure):  # ZSTD_inBuffer and ZSTD_outBuffer alike
    _fields_ = [("bytes", ctypes.c_void_p), ("size", ctypes.c_size_t), ("pos", ctypes.c_size_t)]


class Stream:
    """The one zstd stream of a file."""

    def __init__(self):
        self.zstd = ctypes.CDLL("libzstd.so.1")
        for name in ("ZSTD_decompressStream", "ZSTD_DCtx_setParameter"):
            getattr(self.zstd, name).restype = ctypes.c_size_t
        self.zstd.ZSTD_createDCtx.restype = ctypes.c_void_p
        self.context = ctypes.c_void_p(self.zstd.ZSTD_createDCtx())
        window_log_max = 100  # enum ZSTD_dParameter
        self.zstd.ZSTD_DCtx_setParameter(self.context, window_log_max, WINDOW_LOG)

    def __del__(self):
        self.zstd.ZSTD_freeDCtx(self.context)

    def unpack(self, stored, n_raw):
        room = ctypes.create_string_buffer(n_raw + 1)
        source = ctypes.create_string_buffer(stored, len(stored) or 1)
        given = Buffer(ctypes.addressof(source), len(stored), 0)
        taken = Buffer(ctypes.addressof(room), n_raw + 1, 0)
        while True:
            before = given.pos, taken.pos
            left = self.zstd.ZSTD_decompressStream(self.context, ctypes.byref(taken),
                                                   ctypes.byref(given))
            if self.zstd.ZSTD_isError(ctypes.c_size_t(left)):
                raise Refused("stored bytes that are not zstd")
            if left == 0:
                raise Refused("the zstd frame ends")
            if taken.pos > n_raw or (given.pos, taken.pos) == before:
                break
        if taken.pos != n_raw or given.pos != given.size:
            raise Refused("%d raw bytes where %d are said" % (taken.pos, n_raw))
        return room.raw[:n_raw]


def unpack_frame(stored, n_raw):
    """A chunk that is a zstd frame of its own."""
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(n_raw or 1)
    if zstd.ZSTD_decompress(room, ctypes.c_size_t(n_raw), stored, ctypes.c_size_t(len(stored))) != n_raw:
        raise Refused("a frame that is not zstd, or of other bytes")
    return room.raw[:n_raw]


class Columns:
    """A cursor over raw bytes."""

    def __init__(self, raw):
        self.raw, self.at = raw, 0

    def bytes(self, n):
        if n > len(self.raw) - self.at:
            raise Refused("a column that ends before its events")
        self.at += n
        return self.raw[self.at - n:self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.bytes(1)[0]
            value |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
            if shift > 63:
                raise Refused("a varint of more than ten bytes")
        if value > MASK or (byte == 0 and shift > 0):
            raise Refused("a varint beyond 64 bits or not in its shortest form")
        return value

    def varints(self, n):
        return [self.varint() for _ in range(n)]


def unzigzag(v):
    return v >> 1 if v % 2 == 0 else -(v >> 1) - 1


def decode_runs(columns, n):
    n_runs = columns.varint()
    if not 1 <= n_runs <= n:
        raise Refused("%d runs of %d events" % (n_runs, n))
    lengths, run_threads = columns.varints(n_runs), columns.varints(n_runs)
    if 0 in lengths or sum(lengths) != n or max(run_threads) >= THREADS:
        raise Refused("runs that do not match the events")
    if any(a == b for a, b in zip(run_threads, run_threads[1:])):
        raise Refused("two runs of one thread in a row")
    return [thread for length, thread in zip(lengths, run_threads) for _ in range(length)]


class Marks:
    """Marks, or requests: what was read of them, and where the next one counts from."""

    def __init__(self):
        self.names, self.all, self.call, self.time = [], [], 0, 0


class Trace:
    def __init__(self, data):
        self.data, self.at, self.is_partial = data, 0, False
        self.totals = dict.fromkeys(NAMES, 0)
        self.n_events = self.n_chunks = self.n_optional = self.next_number = 0
        self.live, self.live_bytes, self.ended, self.inherited = {}, 0, set(), 0
        self.sha, self.stream = hashlib.sha256(), Stream()
        self.modules, self.frames, self.stacks, self.column = [], [], [], None
        self.written, self.large = {}, {}  # by call: pages known and written; bytes it gave
        self.marks, self.requests, self.whole = Marks(), Marks(), None

    def refuse(self, why):
        raise Refused("byte %d: %s" % (self.at, why))

    def read_header(self):
        data = self.data
        if data[:8] != b"\x89ABT\r\n\x1a\n":
            self.refuse("not an allocbench trace")
        if len(data) < 32:
            self.refuse("the header is truncated")
        version, n_header, flags, n, zero = struct.unpack_from("<IIQII", data, 8)
        if version != 1:
            self.refuse("version %d" % version)
        if n > 255 or n_header != 40 + n or flags > 1 or zero != 0:
            self.refuse("header fields")
        if len(data) < n_header:
            self.refuse("the header is truncated")
        if xxh64(data[:32 + n]) != struct.unpack_from("<Q", data, 32 + n)[0]:
            self.refuse("the checksum of the header")
        self.program, self.has_time, self.at = data[32:32 + n], flags == 1, n_header
        if 0 in self.program:
            self.refuse("a NUL in the name")

    def read_chunk(self):
        """One chunk; None at the end mark, False when the file is cut."""
        head = self.data[self.at:self.at + 40]
        if len(head) < 40:
            return False
        magic, kind, sequence, n, n_raw, n_stored, first, checksum = struct.unpack("<4sIIIIIQQ", head)
        if magic != b"ABLK" or not (kind in (1, 2) or kind >> 31) or sequence != self.n_chunks:
            self.refuse("no chunk, or not the next")
        if first != self.n_events or (not 1 <= n <= BLOCK_EVENTS if kind == 1 else n != 0):
            self.refuse("events of the block")
        if n_raw > RAW_MAX or n_stored > STORED_MAX or (kind == 2 and not n_raw == n_stored == 120):
            self.refuse("bytes of the block")
        stored = self.data[self.at + 40:self.at + 40 + n_stored]
        if len(stored) < n_stored:
            return False
        if xxh64(head[:32] + stored) != checksum:
            self.refuse("the checksum of the block")
        if kind == 1:
            self.decode(Columns(self.stream.unpack(stored, n_raw)), n)
        elif kind == SITES:
            self.define_sites(Columns(unpack_frame(stored, n_raw)))
        elif kind == SITE_COLUMN:
            self.read_site_column(Columns(unpack_frame(stored, n_raw)))
        elif kind == MARKS:
            self.read_marks(Columns(unpack_frame(stored, n_raw)), self.marks)
        elif kind == WRITTEN:
            self.read_written(Columns(unpack_frame(stored, n_raw)))
        elif kind == REQUESTS:
            self.read_marks(Columns(unpack_frame(stored, n_raw)), self.requests)
        elif kind == WHOLE:
            self.read_whole(stored, n_raw)
        elif kind == INHERITED:
            if n_raw != 8 or n_stored != 8 or self.n_events > 0 or self.inherited > 0:
                self.refuse("inherited blocks")
            self.inherited = struct.unpack("<Q", stored)[0]
        self.n_optional += kind >> 31 and kind not in (INHERITED, SITES, SITE_COLUMN, MARKS,
                                                       REQUESTS, WRITTEN, WHOLE)
        self.n_chunks += 1
        self.at += 40 + n_stored
        if kind != 2:
            return True
        if struct.unpack("<15Q", stored) != tuple(self.totals.values()):
            self.refuse("the totals in the end mark")
        if any(call > self.totals["events"] or thread > self.totals["threads"]
               for call, _, thread, _ in self.marks.all + self.requests.all):
            self.refuse("a mark beyond the end")
        for call, (known, _) in self.written.items():
            if known > self.large.get(call, 0) // 4096:
                self.refuse("more written than call %d gave" % call)
        return None

    def define_sites(self, columns):
        for _ in range(columns.varint()):
            n = columns.varint()
            path = columns.bytes(n) if n <= 4095 else b"\0"
            n = columns.bytes(1)[0]
            if n > 64 or 0 in path:
                self.refuse("a module of call sites")
            self.modules.append((path, columns.bytes(n)))
        address = 0
        for _ in range(columns.varint()):
            module = columns.varint()
            address = (address + unzigzag(columns.varint())) & MASK
            if module > len(self.modules):
                self.refuse("a frame of an unknown module")
            self.frames.append((module, address))
        for _ in range(columns.varint()):
            depth, end = columns.bytes(2)
            frames = columns.varints(depth)
            if not 1 <= depth <= 64 or end > 4 or max(frames) >= len(self.frames):
                self.refuse("a stack of call sites")
            self.stacks.append((end, frames))
        if columns.at != len(columns.raw) or len(self.modules) > 65535 or \
                max(len(self.frames), len(self.stacks)) > 1 << 24:
            self.refuse("definitions of call sites")

    def read_site_column(self, columns):
        if self.column is not None:
            self.refuse("a second column of call sites")
        self.column = []
        while columns.at < len(columns.raw):
            self.column.append(columns.varint())
        if max(self.column, default=0) > len(self.stacks):
            self.refuse("a call site that is not defined")

    def read_whole(self, stored, n_raw):
        if self.whole is not None or len(stored) != 40 or n_raw != 40:
            self.refuse("the program as a whole")
        self.whole = struct.unpack("<5Q", stored)
        if self.whole[4] != MASK and (self.whole[3] == MASK or self.whole[4] > self.whole[3]):
            self.refuse("memory that was not asked for")

    def read_marks(self, columns, marks):
        is_mark = marks is self.marks
        for _ in range(columns.varint()):
            n = columns.varint()
            name = columns.bytes(n) if 1 <= n <= 255 else b"\0"
            if 0 in name or not (is_mark or re.fullmatch(b"[A-Za-z0-9_:]+", name)):
                self.refuse("a name of marks")
            marks.names.append(name)
        for _ in range(columns.varint()):
            calls, name, thread, last = columns.varints(4)
            marks.call, marks.time = marks.call + calls, marks.time + (last if is_mark else 0)
            if name >= len(marks.names) or thread > THREADS or \
                    max(marks.call, marks.time) > BYTES_MAX:
                self.refuse("a mark")
            if marks.call < self.totals["events"]:
                self.refuse("a mark of a call before its chunk")
            marks.all.append((marks.call, name, thread, marks.time if is_mark else last))
        if columns.at != len(columns.raw) or len(marks.names) > 65535 or \
                len(marks.all) > 1 << 24:
            self.refuse("marks")

    def read_written(self, columns):
        call = 0
        for i in range(columns.varint()):
            step, known, pages = columns.varints(3)
            call += step
            if (i > 0 and step == 0) or call > BYTES_MAX or not 1 <= known < 1 << 32 or pages > known:
                self.refuse("what is written")
            if call in self.written:
                self.refuse("what is written of one call, twice")
            self.written[call] = known, pages
        if columns.at != len(columns.raw) or len(self.written) > 1 << 24:
            self.refuse("what is written")

    def decode(self, columns, n):
        thread_of = decode_runs(columns, n)
        places = {}
        for event, thread in enumerate(thread_of):
            places.setdefault(thread, []).append(event)
        order = [event for events in places.values() for event in events]
        packed = columns.bytes((n + 1) // 2)
        if n % 2 and packed[-1] > 15:
            self.refuse("a last half byte")
        kinds = [packed[i // 2] >> i % 2 * 4 & 15 for i in range(n)]  # by place
        n_sites = sum(kind & 7 <= RESIZE or kind == RELEASED for kind in kinds)
        if self.column is not None and len(self.column) != n_sites:
            self.refuse("a column of call sites that does not match its events")
        self.column = None
        if not set(kinds) <= {0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11}:
            self.refuse("an event of unknown kind")

        def column(wanted):
            return iter(columns.varints(sum(kind in wanted for kind in kinds)))
        sizes, new_sizes = column(SIZED), column(RESIZED)
        frees, resizes = column((FREE,)), column((RESIZE, RELEASED, RESIZE | FAILED))
        aligns = iter(columns.bytes(sum(kind in (2, 10) for kind in kinds)))
        kind_of = dict(zip(order, kinds))
        numbers, number = [], self.next_number  # of each event that gave a block
        for event in range(n):
            numbers.append(number)
            number += kind_of[event] <= ALIGNED
        records, thread = [None] * n, None
        for event, kind in zip(order, kinds):
            if thread != thread_of[event]:
                thread, base = thread_of[event], self.next_number
            size, align, block = 0, 0, MASK
            if kind in SIZED:
                size = next(sizes)
                align = next(aligns) if kind & 7 == ALIGNED else 0
                if kind < FAILED:
                    block = base = numbers[event]
            elif kind != THREAD_END:
                size = next(new_sizes) if kind in RESIZED else 0
                step = next(frees) if kind == FREE else next(resizes)
                block = base = (base + unzigzag(step)) & MASK
            if align > 63:
                self.refuse("an alignment")
            records[event] = (kind, align, thread, block, size)
        self.next_number = number
        ticks = columns.varints(n) if self.has_time else None
        if columns.at != len(columns.raw):
            self.refuse("bytes behind the last column")
        for event, record in enumerate(records):
            self.take(record, ticks[event] if ticks else 0)

    def take(self, record, ticks):
        kind, align, thread, block, size = record
        t = self.totals
        if self.n_events < self.inherited and kind > ALIGNED:
            self.refuse("event %d: no allocation of an inherited block" % self.n_events)
        if thread > t["threads"] or thread in self.ended:
            self.refuse("event %d: its thread" % self.n_events)
        t["time_us"] += ticks
        if t["time_us"] > BYTES_MAX or (self.n_events == 0 and ticks != 0):
            self.refuse("event %d: its time" % self.n_events)
        if kind == THREAD_END:
            if thread == t["threads"]:
                self.refuse("event %d: a thread that never called ends" % self.n_events)
            self.ended.add(thread)
            t["thread_ends"] += 1
        else:
            self.call(kind, block, size)
            t["threads"] = max(t["threads"], thread + 1)
        self.n_events += 1
        self.sha.update(struct.pack("<BBHIQQ", kind, align, 0, thread, block, size))
        if self.has_time:
            self.sha.update(struct.pack("<Q", t["time_us"]))

    def call(self, kind, block, size):
        t = self.totals
        name = NAMES[4 + (RESIZE if kind == RELEASED else kind & 7)]
        old = 0
        if kind in (RESIZE, FREE, RELEASED, RESIZE | FAILED):
            if block not in self.live:
                self.refuse("event %d: a block that is not live" % self.n_events)
            old = self.live[block]
        if kind in (FREE, RELEASED):
            del self.live[block]
        elif kind < FAILED:
            self.live[block] = size
            t["total_bytes"] += size
            if size >= 4096:
                self.large[t["events"]] = size
        if kind < FAILED:
            self.live_bytes += size - old
        if len(self.live) > SLOTS or max(self.live_bytes, t["total_bytes"]) > BYTES_MAX:
            self.refuse("event %d: too many blocks or bytes" % self.n_events)
        t["events"] += 1
        t[name] += 1
        t["failed"] += kind >= FAILED
        t["live_peak_bytes"] = max(t["live_peak_bytes"], self.live_bytes)
        t["live_peak_blocks"] = max(t["live_peak_blocks"], len(self.live))
        t["live_end_blocks"], t["live_end_bytes"] = len(self.live), self.live_bytes

    def read(self, accepts_partial):
        self.read_header()
        more = True
        while more:
            try:
                more = self.read_chunk()
            except Refused as why:
                if str(why).startswith("byte "):
                    raise
                self.refuse(str(why))
        if more is False:
            if not accepts_partial:
                self.refuse("no end mark; %d calls before it are whole" % self.totals["events"])
            self.is_partial = True
        elif self.at != len(self.data):
            self.refuse("data after the end mark")


def main(arguments):
    options = [a for a in arguments if a.startswith("--")]
    paths = [a for a in arguments if not a.startswith("--")]
    if not paths or not set(options) <= {"--partial", "--quiet"}:
        sys.stderr.write(__doc__)
        return 2
    code = 0
    for path in paths:
        with open(path, "rb") as f:
            trace = Trace(f.read())
        try:
            trace.read("--partial" in options)
        except Refused as why:
            sys.stderr.write("%s: %s\n" % (path, why))
            code = 3
            continue
        if "--quiet" not in options:
            print("program %s" % ascii(trace.program.decode("utf-8", "backslashreplace")))
            for name, value in trace.totals.items():
                print("%s %d" % (name, value))
            print("inherited %d\noptional_blocks %d\npartial %s"
                  % (trace.inherited, trace.n_optional, trace.is_partial))
        print("digest %s" % trace.sha.hexdigest())
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
