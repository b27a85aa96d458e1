/* SPDX-License-Identifier: MIT
 *
 * Fills errors, adds their context, and maps each status to its exit code.
 */
#include "core/status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const int exit_codes[] = {
#define X(name, code) [AB_##name] = code,
    AB_STATUS_MAP(X)
#undef X
};

enum ab_status ab_fail(struct ab_err *err, enum ab_status status, const char *fmt, ...)
{
    if (err == NULL)
        return status;
    va_list args;
    va_start(args, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    err->status = status;
    return status;
}

enum ab_status ab_fail_errno(struct ab_err *err, enum ab_status status, const char *fmt, ...)
{
    int saved = errno;
    if (err == NULL)
        return status;
    va_list args;
    va_start(args, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, ": %s", strerror(saved));
    err->status = status;
    return status;
}

enum ab_status ab_err_context(struct ab_err *err, const char *fmt, ...)
{
    char old[sizeof err->text];
    memcpy(old, err->text, sizeof old);
    va_list args;
    va_start(args, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, args);
    va_end(args);
    size_t used = strlen(err->text);
    size_t room = sizeof err->text - used - 1;
    strncat(err->text, old, room);
    return err->status;
}

int ab_status_exit_code(enum ab_status status)
{
    return exit_codes[status];
}

int ab_exit_code_worse(int a, int b)
{
    static const int by_weight[] = {0, 5, 1, 2, 3, 4, 130};
    size_t weight_a = 0, weight_b = 0;
    for (size_t i = 0; i < sizeof by_weight / sizeof by_weight[0]; i++) {
        weight_a = by_weight[i] == a ? i : weight_a;
        weight_b = by_weight[i] == b ? i : weight_b;
    }
    return weight_b > weight_a ? b : a;
}

enum ab_status ab_status_worse(enum ab_status a, enum ab_status b)
{
    int code = ab_status_exit_code(a);
    return ab_exit_code_worse(code, ab_status_exit_code(b)) == code ? a : b;
}
