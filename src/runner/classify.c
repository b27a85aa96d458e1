/* SPDX-License-Identifier: MIT
 *
 * Decides what happened to a worker from its exit status, signals, timers and report, and describes
 * where in the work or in the code it happened.
 */
#include "runner/classify.h"

#include "base/bits.h"
#include "core/elf.h"
#include "core/text.h"
#include "core/units_show.h"
#include "wire/crash_report.h"

#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void verdict(struct ab_outcome *out, enum ab_backend_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void verdict(struct ab_outcome *out, enum ab_backend_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(out->reason, sizeof out->reason, fmt, args);
    va_end(args);
    out->status = status;
}

static bool has_text(const char *s)
{
    return s != NULL && s[0] != 0;
}

/* Writes what the worker was doing last: "in op 5000 (alloc of 64 bytes, phase churn)". */
static const char *place(const struct ab_evidence *e, char *buf, size_t cap)
{
    const struct ab_run_report *r = e->report;
    const struct ab_tape_image *image = e->tape->image;
    uint32_t state = r->state, op = r->op, index = r->burst;
    struct ab_tape_part part = ab_tape_part(image, index < image->n_bursts ? index : 0);
    if (state == AB_WORKER_NONE) {
        snprintf(buf, cap, "before main, while the library was loaded");
        return buf;
    }
    if (state == AB_WORKER_RUNNING && e->is_check) {
        snprintf(buf, cap, "%s", has_text(e->call) ? e->call : "during the check");
        return buf;
    }
    if (state != AB_WORKER_RUNNING || op >= part.n_ops) {
        snprintf(buf, cap, "before the first op");
        return buf;
    }
    if (image->n_lanes > 1 && r->op_granularity > 1) {
        uint32_t at = r->phase < image->n_phases ? r->phase : 0;
        snprintf(buf, cap, "in phase %s, in one of the threads", e->tape->phases[at].name);
        return buf;
    }
    const char *phase = "?";
    for (uint32_t i = 0; i < image->n_phases; i++)
        if (part.first + op >= e->tape->phases[i].begin && part.first + op < e->tape->phases[i].end)
            phase = e->tape->phases[i].name;
    struct ab_op_view view = ab_op_decode(part.ops[op], part.wide);
    int kind = view.kind;
    op += part.first;
    if (r->op_granularity > 1)
        snprintf(buf, cap, "between ops %u and %u of phase %s", op, op + r->op_granularity, phase);
    else if (kind < 0 || kind == AB_OP_FREE || kind == AB_OP_ACCESS)
        snprintf(buf, cap, "in op %u (%s, phase %s)", op,
                 kind < 0 ? "touch" : ab_op_kind_name((enum ab_op_kind)kind), phase);
    else
        snprintf(buf, cap, "in op %u (%s of %llu bytes, phase %s)", op,
                 ab_op_kind_name((enum ab_op_kind)kind), (unsigned long long)view.size, phase);
    return buf;
}

/* Writes the memory and the function of a crash, to follow a sentence: "; write to 0x8: not mapped;
 * in libmine.so+0x1139 (free+0x29)". */
static void describe_crash(const struct ab_evidence *e, const struct ab_outcome *out, char *buf,
                           size_t cap)
{
    const struct ab_crash_text *c = &out->crash;
    buf[0] = 0;
    if (!e->is_check) /* checks show memory and function on lines of their own */
        snprintf(buf, cap, "%s%s%s%s", c->memory[0] != 0 ? "; " : "", c->memory,
                 c->function[0] != 0 ? "; in " : "", c->function);
}

/* ---- sentences about calls, memory and functions ---- */

/* Returns "invalid memory access" for SIGSEGV etc.; NULL if the signal needs no explanation. */
static const char *crash_meaning(int signal)
{
    static const struct {
        int signal;
        const char *meaning;
    } known[] = {{SIGSEGV, "invalid memory access"},      {SIGBUS, "memory that cannot be reached"},
                 {SIGILL, "illegal instruction"},         {SIGFPE, "arithmetic error"},
                 {SIGABRT, "the process aborted itself"}, {SIGTRAP, "trap"},
                 {SIGSYS, "forbidden system call"}};
    for (size_t i = 0; i < AB_ARRAY_LEN(known); i++)
        if (known[i].signal == signal)
            return known[i].meaning;
    return NULL;
}

/* ---- calls ---- */

static const struct called {
    const char *name, *args;
} called[AB_CALLED_COUNT] = {
#define X(id, name, args) [AB_CALLED_##id] = {name, args},
    AB_CALLED_MAP(X)
#undef X
};

static void add_call(char *buf, size_t cap, const struct ab_call_note *note)
{
    char text[200];
    const struct called *c = &called[note->called];
    size_t n = (size_t)snprintf(text, sizeof text, "%s(", c->name), used = 0;
    for (const char *a = c->args; *a != 0 && used < AB_CALL_ARGS; a++) {
        const char *comma = a == c->args ? "" : ", ";
        if (*a == 'o')
            n += (size_t)snprintf(text + n, sizeof text - n, "%s&p", comma);
        else if (*a == 'p' && note->args[used] == 0)
            n += (size_t)snprintf(text + n, sizeof text - n, "%sNULL", comma);
        else
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  *a == 'p' ? "%s0x%" PRIx64 : "%s%" PRIu64, comma,
                                  note->args[used]);
        used += *a != 'o';
    }
    snprintf(buf, cap, "%s), call %" PRIu64 " of the check", text, note->number);
}

static bool is_complete(const struct ab_call_note *note)
{
    return note->called > AB_CALLED_NONE && note->called < AB_CALLED_COUNT;
}

static const struct ab_call_note *note_of(const struct ab_run_report *r, uint32_t index)
{
    bool is_there = index > 0 && index <= AB_CALL_NOTES && is_complete(&r->calls.notes[index - 1]);
    return is_there ? &r->calls.notes[index - 1] : NULL;
}

/* Finds a call that has not returned: the first thread's if that thread has one, otherwise another
 * thread's. *n receives the number of such calls. */
static const struct ab_call_note *find_inside(const struct ab_run_report *r, unsigned *n)
{
    const struct ab_call_note *found = NULL;
    *n = 0;
    for (uint32_t i = 0; i < AB_CALL_NOTES; i++)
        if (r->calls.notes[i].is_inside != 0 && is_complete(&r->calls.notes[i])) {
            found = found == NULL ? &r->calls.notes[i] : found;
            ++*n;
        }
    return found;
}

void ab_crash_call(const struct ab_run_report *r, char *buf, size_t cap)
{
    unsigned n = 0;
    const struct ab_call_note *note = note_of(r, r->calls.failed);
    const struct ab_call_note *dead = note_of(r, r->crash.is_taken != 0 ? r->crash.note : 0);
    const char *before = note != NULL ? "" : "after ";
    const struct ab_call_note *child = note_of(r, AB_CALL_NOTES);
    buf[0] = 0;
    /* the worker finished its work, so its failure does not belong to a call */
    if (r->state == AB_WORKER_DONE)
        return;
    if (child != NULL && child->is_inside != 0) {
        size_t at = (size_t)snprintf(buf, cap, "in the child: ");
        add_call(buf + at, cap - at, child);
        return;
    }
    if (note == NULL && dead != NULL) {
        note = dead;
        before = dead->is_inside != 0 ? "in " : before;
    }
    if (note == NULL && (note = find_inside(r, &n)) != NULL)
        before = "in ";
    if (note == NULL && (note = note_of(r, 1)) == NULL)
        return;
    size_t used = (size_t)snprintf(buf, cap, "%s", before);
    add_call(buf + used, cap - used, note);
    used = strlen(buf);
    if (r->crash.is_taken != 0 && r->crash.note == 0 && used < cap)
        snprintf(buf + used, cap - used, "; another thread crashed%s",
                 r->calls.n_threads < AB_CALL_NOTES ? ", one of the allocator's own" : "");
    else if (n > 1) {
        snprintf(buf + used, cap - used, "; %u other thread%s in a call as well", n - 1,
                 n == 2 ? " is" : "s are");
    }
}

/* ---- memory ---- */

static const char *verb(uint32_t access)
{
    return access == AB_FAULT_WRITE   ? "write to "
           : access == AB_FAULT_READ  ? "read of "
           : access == AB_FAULT_FETCH ? "jump to "
                                      : "access to ";
}

static size_t add_block(char *buf, size_t cap, const struct ab_crash_report *c)
{
    char of[96];
    const struct ab_near_block *b = &c->block;
    uint64_t end = b->at + b->size;
    AB_FIT(of, "block of %" PRIu64 " bytes at 0x%" PRIx64, b->size, b->at);
    switch (b->near) {
    case AB_NEAR_INSIDE:
        return (size_t)snprintf(buf, cap, "byte %" PRIu64 " of the live %s", c->address - b->at,
                                of);
    case AB_NEAR_BEHIND:
        return (size_t)snprintf(buf, cap, "%" PRIu64 " bytes past the end of the live %s",
                                c->address - end, of);
    case AB_NEAR_BEFORE:
        return (size_t)snprintf(buf, cap, "%" PRIu64 " bytes before the live %s",
                                b->at - c->address, of);
    case AB_NEAR_FREED:
        return (size_t)snprintf(buf, cap, "byte %" PRIu64 " of a freed %s", c->address - b->at, of);
    default:
        return 0;
    }
}

struct ab_code_map {
    uint64_t begin, end, offset;
    char perms[5];   /* "rw-p" */
    char file[4096]; /* raw, not made printable; "" = the mapping is not of a file */
};

/* ---- finding files and functions of code addresses ----
 *
 * The stack of a broken process cannot be unwound, and this program has no unwinder. So a word on
 * the stack is taken as a return address if the bytes before the address are a call instruction. */

static bool read_line(const char *line, size_t n, struct ab_code_map *m)
{
    char text[4352];
    int path = 0;
    n = n < sizeof text - 1 ? n : sizeof text - 1;
    memcpy(text, line, n);
    text[n] = 0;
    *m = (struct ab_code_map){.begin = 0};
    if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &m->begin, &m->end,
               m->perms, &m->offset, &path) < 4)
        return false;
    if (path > 0 && text[path] == '/')
        AB_COPY(m->file, text + path);
    return true;
}

/* Finds the mapping that contains the address. Returns false if the worker did not record that
 * mapping. It recorded all mappings of code, and those of the fault's address and of the stack
 * pointer. */
static bool code_map_find(const struct ab_crash_report *crash, uint64_t address,
                          struct ab_code_map *out)
{
    const char *at = crash->maps, *end = crash->maps + crash->maps_bytes;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (stop == NULL)
            return false;
        if (read_line(at, (size_t)(stop - at), out) && address >= out->begin && address < out->end)
            return true;
        at = stop + 1;
    }
    return false;
}

/* Returns the last part of a path, printable. */
static const char *code_file(char *buf, size_t cap, const char *path)
{
    const char *slash = strrchr(path, '/');
    return ab_text_printable(buf, cap, slash != NULL ? slash + 1 : path);
}

static void crash_text_describe_code(const struct ab_code_map *m, uint64_t pc, char *buf,
                                     size_t cap)
{
    struct ab_elf_place place;
    char file[128], function[512];
    code_file(file, sizeof file, m->file);
    if (!ab_elf_find_place(m->file, pc - m->begin + m->offset, &place))
        snprintf(buf, cap, "%s", file);
    else if (place.function[0] == 0)
        snprintf(buf, cap, "%s+0x%" PRIx64, file, place.address);
    else
        snprintf(buf, cap, "%s+0x%" PRIx64 " (%s+0x%" PRIx64 ")", file, place.address,
                 ab_text_printable(function, sizeof function, place.function), place.offset);
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return a[0] != 0 && b != NULL && stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* True if the bytes before the address are a call instruction. */
static bool follows_call(const struct ab_code_map *m, uint64_t address)
{
    unsigned char b[8];
    if (!ab_elf_read_before(m->file, address - m->begin + m->offset, b + 1, 7))
        return false;
#if defined(__x86_64__)
    /* call to a fixed target; the other call instruction is FF /2, through a register or memory */
    bool is_call = b[3] == 0xe8;
    for (unsigned i = 1; i < 7 && !is_call; i++)
        is_call = i != 3 && b[i] == 0xff && (b[i + 1] & 0x38) == 0x10;
    return is_call;
#elif defined(__aarch64__)
    uint32_t word = (uint32_t)b[4] | (uint32_t)b[5] << 8 | (uint32_t)b[6] << 16 |
                    (uint32_t)b[7] << 24;
    /* the instructions bl and blr */
    return word >> 26 == 0x25 || (word & 0xfffffc1f) == 0xd63f0000;
#else
    return false;
#endif
}

/* Finds the innermost call from the library that has not returned, by the first return address on
 * the stack that is in the library. Returns false if there is none. */
static bool find_caller(const struct ab_crash_report *crash, const char *library,
                        struct ab_code_map *m, uint64_t *address)
{
    for (uint32_t i = 0; i < crash->n_stack; i++) {
        *address = crash->stack[i];
        if (code_map_find(crash, *address, m) && m->perms[2] == 'x' &&
            is_same_file(m->file, library) && follows_call(m, *address))
            return true;
    }
    return false;
}

/* Writes the function that crashed: "libmine.so+0x1139 (free+0x29)". If it is not in the library
 * under test, also writes its caller in the library: the first word on the stack that is a return
 * address there. "" = not known. */
static void describe_code_and_caller(const struct ab_crash_report *crash, const char *library,
                                     char *buf, size_t cap)
{
    struct ab_code_map m, caller;
    uint64_t from;
    size_t n = 0;
    buf[0] = 0;
    bool is_code = code_map_find(crash, crash->pc, &m) && m.perms[2] == 'x';
    if (is_code && m.file[0] != 0)
        crash_text_describe_code(&m, crash->pc, buf, cap);
    else
        snprintf(buf, cap, "0x%" PRIx64 ", which is not code", crash->pc);
    n = strlen(buf);
    if ((is_code && is_same_file(m.file, library)) || n + 32 > cap ||
        !find_caller(crash, library, &caller, &from))
        return;
    n += (size_t)snprintf(buf + n, cap - n, ", called from ");
    crash_text_describe_code(&caller, from - 1, buf + n, cap - n);
}

static const char *access_of(const struct ab_code_map *m)
{
    return m->perms[0] == '-'   ? "mapped without access"
           : m->perms[1] == '-' ? "mapped read-only"
                                : "mapped writable";
}

enum { STACK_NEAR = 65536 };

/* Writes what kind of memory is mapped at the address. */
static void add_mapping(char *buf, size_t cap, const struct ab_crash_report *c)
{
    struct ab_code_map map;
    char file[128];
    bool is_near_sp = c->address + STACK_NEAR > c->sp && c->address < c->sp + STACK_NEAR;
    bool is_mapped = code_map_find(c, c->address, &map);
    if (c->address < AB_NEAR_BYTES)
        snprintf(buf, cap, c->address == 0 ? "a null pointer" : "a null pointer + %" PRIu64,
                 c->address);
    else if (c->access != AB_FAULT_FETCH && is_near_sp && (!is_mapped || map.perms[0] == '-'))
        snprintf(buf, cap, "the stack has overflowed");
    else if (!is_mapped)
        snprintf(buf, cap, "not mapped");
    else if (map.file[0] != 0)
        snprintf(buf, cap, "%s, from %s", access_of(&map), code_file(file, sizeof file, map.file));
    else
        snprintf(buf, cap, "%s", access_of(&map));
}

/* Appends the distance from the address to the nearest mapped memory, if it is small. */
static void add_distance(char *buf, size_t cap, const struct ab_crash_report *c)
{
    struct ab_code_map map;
    uint64_t behind = c->address - c->below_end, before = c->above_begin - c->address;
    if (code_map_find(c, c->address, &map) || c->address < AB_NEAR_BYTES)
        return;
    if (c->below_end != 0 && c->below_end <= c->address && behind < AB_NEAR_BYTES)
        snprintf(buf, cap, ", %" PRIu64 " bytes past the end of a mapping", behind);
    else if (c->above_begin > c->address && before <= AB_NEAR_BYTES)
        snprintf(buf, cap, ", %" PRIu64 " bytes before a mapping", before);
}

static void describe_memory(const struct ab_crash_report *c, char *buf, size_t cap)
{
    size_t n = 0;
    bool is_memory = (c->signal == SIGSEGV || c->signal == SIGBUS) && c->code > 0;
    buf[0] = 0;
    if (!is_memory)
        return;
    if (c->address == 0 && c->code == SI_KERNEL) {
        snprintf(buf, cap, "the address is not known: no pointer at all (not canonical)");
        return;
    }
    n = (size_t)snprintf(buf, cap, "%s0x%" PRIx64 ": ", verb(c->access), c->address);
    size_t n_added = add_block(buf + n, cap - n, c);
    n += n_added;
    n += (size_t)snprintf(buf + n, cap - n, "%s", n_added > 0 ? "; " : "");
    add_mapping(buf + n, cap - n, c);
    n = strlen(buf);
    add_distance(buf + n, cap - n, c);
}

void ab_crash_place(const struct ab_crash_report *crash, const char *library,
                    struct ab_crash_text *out)
{
    *out = (struct ab_crash_text){.memory = ""};
    if (crash->is_taken == 0 || crash->is_whole == 0 || crash->maps_bytes > sizeof crash->maps ||
        crash->n_stack > AB_CRASH_STACK)
        return;
    describe_memory(crash, out->memory, sizeof out->memory);
    describe_code_and_caller(crash, library, out->function, sizeof out->function);
}

static void classify_death(const struct ab_evidence *e, struct ab_outcome *out)
{
    char where[384], meaning[64] = "", about[sizeof out->crash + 8];
    int status = e->ending->wait_status;
    place(e, where, sizeof where);
    describe_crash(e, out, about, sizeof about);
    if (WIFSIGNALED(status)) {
        const char *name = sigabbrev_np(WTERMSIG(status));
        const char *means = e->is_check ? crash_meaning(WTERMSIG(status)) : NULL;
        if (means != NULL)
            AB_FIT(meaning, "(%s) ", means);
        if (WTERMSIG(status) == SIGKILL && e->ending->oom_killed)
            verdict(out, AB_BACKEND_OOM, "killed by the OOM killer %s", where);
        else
            verdict(out, AB_BACKEND_CRASHED, "SIG%s %s%s%s", name == NULL ? "?" : name, meaning,
                    where, about);
    } else {
        verdict(out, AB_BACKEND_CRASHED, "the process exited with status %d %s",
                WEXITSTATUS(status), where);
    }
}

static enum ab_status classify_failure(const struct ab_evidence *e, struct ab_outcome *out,
                                       struct ab_err *err)
{
    char reason[AB_TEXT_MAX * 4], raw[AB_TEXT_MAX];
    memcpy(raw, e->report->reason, sizeof raw);
    raw[sizeof raw - 1] = 0;
    ab_text_printable(reason, sizeof reason, raw);
    switch (e->report->failure) {
    case AB_FAILURE_LIBRARY:
        verdict(out, AB_BACKEND_WRONG_LIBRARY, "%s", reason);
        break;
    case AB_FAILURE_NULL:
        verdict(out, AB_BACKEND_OOM, "%s", reason);
        break;
    case AB_FAILURE_OPEN:
    case AB_FAILURE_CHECK:
        verdict(out, AB_BACKEND_FAILED_CHECK, "%s", reason);
        break;
    default:
        return ab_fail(err, AB_SYSTEM, "internal worker error: %s", reason);
    }
    return AB_OK;
}

static void classify_forced_end(const struct ab_evidence *e, struct ab_outcome *out)
{
    char where[384];
    const struct ab_ending *ending = e->ending;
    place(e, where, sizeof where);
    if (ending->end == AB_END_MEMORY)
        verdict(out, AB_BACKEND_OOM, "used %s, more than --mem-limit %s, %s",
                AB_BYTES(ending->rss_bytes), AB_BYTES(e->memory_limit_bytes), where);
    else
        verdict(out, AB_BACKEND_TIMEOUT, "timed out after %s, last seen %s%s",
                AB_TIME((double)e->timeout_ns), where,
                ending->ignored_term ? "; ignored SIGTERM, killed" : "");
}

static void first_line(char *dst, size_t cap, const char *text)
{
    char line[200];
    size_t n = strcspn(text, "\n");
    n = n < sizeof line - 1 ? n : sizeof line - 1;
    memcpy(line, text, n);
    line[n] = 0;
    ab_text_printable(dst, cap, line);
}

/* Judges a worker that finished its work by what it did besides: sent us a signal, left processes
 * running, or wrote to standard output. */
static void classify_conduct(const struct ab_evidence *e, struct ab_outcome *out)
{
    char line[256];
    if (e->ending->sent_signal != 0) {
        const char *name = sigabbrev_np(e->ending->sent_signal);
        verdict(out, AB_BACKEND_FAILED_CHECK, "sent SIG%s to allocbench",
                name == NULL ? "?" : name);
    } else if (e->ending->n_left > 0) {
        verdict(out, AB_BACKEND_FAILED_CHECK, "left %u child process%s running (killed)",
                e->ending->n_left, e->ending->n_left == 1 ? "" : "es");
    } else if (e->stdout_text[0] != 0) {
        first_line(line, sizeof line, e->stdout_text);
        verdict(out, AB_BACKEND_FAILED_CHECK, "printed to standard output: \"%s\"", line);
    }
}

enum ab_status ab_classify(const struct ab_evidence *e, struct ab_outcome *out, struct ab_err *err)
{
    const struct ab_ending *ending = e->ending;
    out->status = AB_BACKEND_OK;
    out->reason[0] = 0;
    first_line(out->note, sizeof out->note, e->stderr_text);
    if (ending->end == AB_END_INTERRUPTED)
        return ab_fail(err, AB_INTERRUPTED, "interrupted");
    bool is_exit = WIFEXITED(ending->wait_status);
    enum ab_status status = AB_OK;
    if (ending->end != AB_END_ITSELF)
        classify_forced_end(e, out);
    else if (is_exit && e->report->state == AB_WORKER_FAILED)
        status = classify_failure(e, out, err);
    else if (!is_exit || e->report->state != AB_WORKER_DONE ||
             WEXITSTATUS(ending->wait_status) != 0)
        classify_death(e, out);
    else
        classify_conduct(e, out);
    if (out->status == AB_BACKEND_WRONG_LIBRARY && out->note[0] != 0) {
        size_t used = strlen(out->reason);
        snprintf(out->reason + used, sizeof out->reason - used, " (%s)", out->note);
    }
    return status;
}
