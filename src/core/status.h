/* SPDX-License-Identifier: MIT
 *
 * How functions say that they failed. A function that can fail returns enum ab_status and leaves
 * its out-parameters untouched on failure; the failing place fills struct ab_err once, callers
 * may prefix *where*, and only cli/main.c prints. Nothing below cli exits or writes to stdout, but
 * for memory that runs out (core/memory.h).
 */
#ifndef AB_CORE_STATUS_H
#define AB_CORE_STATUS_H

/* name, exit code, what it means. The exit codes are an interface (results/README.md). */
#define AB_STATUS_MAP(X) \
    X(OK, 0) \
    X(GATE, 1)         /* failed */ \
    X(USAGE, 2)        /* bad command line */ \
    X(CONFIG, 2)       /* bad workload */ \
    X(INPUT, 3)        /* unreadable or corrupt */ \
    X(BACKEND, 4)      /* is missing, crashed, timed out or was wrong */ \
    X(SYSTEM, 4)       /* refused a resource that allocbench needs */ \
    X(INCONCLUSIVE, 5) /* and --inconclusive=fail */ \
    X(INTERRUPTED, 130)

enum ab_status {
#define X(name, code) AB_##name,
    AB_STATUS_MAP(X)
#undef X
};

struct ab_err {
    enum ab_status status;
    char text[1024]; /* one sentence, no newline at the end; may hold several lines for configs */
};

/* Fills err (which may be NULL) and returns status, so that callers write `return ab_fail(…)`. */
enum ab_status ab_fail(struct ab_err *err, enum ab_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ab_fail with ": strerror(errno)" appended. */
enum ab_status ab_fail_errno(struct ab_err *err, enum ab_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns from the function what `call` returned, unless it was AB_OK. */
#define AB_TRY(call) \
    do { \
        enum ab_status tried_ = (call); \
        if (tried_ != AB_OK) \
            return tried_; \
    } while (0)

/* Prefixes an error on its way up: "traces/x.abt: " + text. Returns err->status. */
enum ab_status ab_err_context(struct ab_err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Functions that say what is wrong with an input as the end of a sentence return this very text
 * when nothing is wrong with it but memory ran out. The second gives the status that such a text
 * stands for: AB_SYSTEM for it, AB_INPUT for every other. */
extern const char ab_no_memory[];
enum ab_status ab_status_of_wrong(const char *wrong);

int ab_status_exit_code(enum ab_status status);

#endif
