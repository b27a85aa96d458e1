/* SPDX-License-Identifier: MIT
 *
 * Passes messages of a use case to the listener, if there is one.
 */
#include "app/say.h"

#include "core/alloc.h"

#include <stdio.h>
#include <stdlib.h>

void ab_say(const struct ab_talk *talk, const char *fmt, ...)
{
    va_list args;
    if (talk->is_quiet || talk->is_repeated || talk->listener == NULL)
        return;
    va_start(args, fmt);
    char *text = ab_vstrdupf(fmt, args);
    va_end(args);
    talk->listener->say(text);
    free(text);
}

void ab_complain(const struct ab_talk *talk, const char *text)
{
    if (talk->listener != NULL)
        talk->listener->say(text);
}

void ab_say_prepare(const struct ab_talk *talk, const char *what)
{
    if (talk->listener != NULL)
        talk->listener->prepare(talk, what);
}

void ab_say_count(const struct ab_talk *talk, const char *what, const char *unit, uint64_t done,
                  uint64_t total)
{
    if (talk->listener != NULL)
        talk->listener->count(what, unit, done, total);
}

void ab_say_doing(const struct ab_talk *talk, const char *fmt, ...)
{
    char text[400];
    va_list args;
    if (talk->listener == NULL)
        return;
    va_start(args, fmt);
    if (fmt != NULL)
        vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    talk->listener->doing(talk, fmt != NULL ? text : NULL);
}
