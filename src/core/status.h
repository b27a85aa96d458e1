/* SPDX-License-Identifier: MIT
 *
 * Error handling. A function that can fail returns enum ab_status and leaves its out-parameters
 * untouched on failure. The failing function fills struct ab_err once. Callers may put a prefix in
 * front that says where it failed, and cli/main.c prints the error. Nothing below cli exits or
 * writes to stdout, except when memory runs out (core/alloc.h).
 */
#ifndef AB_CORE_STATUS_H
#define AB_CORE_STATUS_H

/* X(name, exit code), with the meaning of each status. The exit codes are an interface
 * (results/README.md). */
#define AB_STATUS_MAP(X) \
    X(OK, 0) \
    X(GATE, 1)         /* a gate failed */ \
    X(USAGE, 2)        /* bad command line */ \
    X(CONFIG, 2)       /* bad workload */ \
    X(INPUT, 3)        /* unreadable or corrupt */ \
    X(BACKEND, 4)      /* a back end is missing, crashed, timed out or was wrong */ \
    X(SYSTEM, 4)       /* the system refused a resource that allocbench needs */ \
    X(INCONCLUSIVE, 5) /* result inconclusive, and --inconclusive=fail was given */ \
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

/* Does what ab_fail() does, with ": strerror(errno)" appended to the text. */
enum ab_status ab_fail_errno(struct ab_err *err, enum ab_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns the result of `call` from the calling function unless it is AB_OK. */
#define AB_TRY(call) \
    do { \
        enum ab_status tried_ = (call); \
        if (tried_ != AB_OK) \
            return tried_; \
    } while (0)

/* Puts a prefix such as "traces/x.abt: " in front of the text of an error. Returns err->status. */
enum ab_status ab_err_context(struct ab_err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

int ab_status_exit_code(enum ab_status status);

/* Returns the worse of two exit codes, in the order 130, 4, 3, 2, 1, 5, 0. ab_status_worse()
 * returns the status with the worse exit code; `a` if both have the same. */
int ab_exit_code_worse(int a, int b);
enum ab_status ab_status_worse(enum ab_status a, enum ab_status b);

#endif
