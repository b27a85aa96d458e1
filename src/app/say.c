/* SPDX-License-Identifier: MIT
 *
 * Passes messages of a use case to the listener, if there is one.
 */
#include "app/say.h"

#include "core/alloc.h"

#include <stdio.h>
#include <stdlib.h>

void ab_say(const struct ab_options *o, const char *fmt, ...)
{
    va_list args;
    bool is_repeated = o->talk.is_in_suite &&
                       o->talk.stage.number > 1; /* it was reported for the first
                                                                 item */
    if (o->talk.is_quiet || is_repeated || o->talk.listener == NULL)
        return;
    va_start(args, fmt);
    char *text = ab_vstrdupf(fmt, args);
    va_end(args);
    o->talk.listener->say(text);
    free(text);
}

void ab_complain(const struct ab_options *o, const char *text)
{
    if (o->talk.listener != NULL)
        o->talk.listener->say(text);
}

void ab_say_prepare(const struct ab_options *o, const char *what)
{
    if (o->talk.listener != NULL)
        o->talk.listener->prepare(o, what);
}

void ab_say_count(const struct ab_options *o, const char *what, const char *unit, uint64_t done,
                  uint64_t total)
{
    if (o->talk.listener != NULL)
        o->talk.listener->count(what, unit, done, total);
}

void ab_say_doing(const struct ab_options *o, const char *fmt, ...)
{
    char text[400];
    va_list args;
    if (o->talk.listener == NULL)
        return;
    va_start(args, fmt);
    if (fmt != NULL)
        vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    o->talk.listener->doing(o, fmt != NULL ? text : NULL);
}
