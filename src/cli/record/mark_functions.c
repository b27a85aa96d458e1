/* SPDX-License-Identifier: MIT
 *
 * The functions by which common libraries show a frame, and those that the user names.
 */
#include "cli/record/mark_functions.h"

#include "base/bits.h"
#include "core/text.h"

#include <stdio.h>
#include <string.h>

static const char *const frame_functions[] = {"SDL_GL_SwapWindow", "glXSwapBuffers",
                                              "eglSwapBuffers", "vkQueuePresentKHR"};
enum { FRAMES = AB_ARRAY_LEN(frame_functions), FUNCTIONS_MOST = AB_SPOOL_HOOKS - FRAMES };

static bool is_among(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Each once: its calls are counted in one place. */
static void add(const char *out[AB_SPOOL_HOOKS], size_t *n, const char *name)
{
    if (!is_among(out, *n, name))
        out[(*n)++] = name;
}

enum ab_status ab_mark_functions_list(const struct ab_options *o, const char *out[AB_SPOOL_HOOKS],
                                      size_t *n, struct ab_err *err)
{
    *n = 0;
#if !defined(__x86_64__)
    if (o->n_mark_functions > 0 || o->marks_frames)
        return ab_fail(err, AB_USAGE, "--mark-function and --marks work on x86-64 only");
#endif
    if (o->n_mark_functions > FUNCTIONS_MOST)
        return ab_fail(err, AB_USAGE, "--mark-function: at most %d functions; %zu were given",
                       FUNCTIONS_MOST, o->n_mark_functions);
    for (size_t i = 0; i < o->n_mark_functions; i++) {
        size_t length = strlen(o->mark_functions[i]);
        if (length == 0 || length >= AB_SPOOL_MARK_NAME)
            return ab_fail(err, AB_USAGE,
                           "--mark-function: a name of %zu bytes; it must have 1 to %d", length,
                           AB_SPOOL_MARK_NAME - 1);
        add(out, n, o->mark_functions[i]);
    }
    for (size_t i = 0; i < FRAMES && o->marks_frames; i++)
        add(out, n, frame_functions[i]);
    return AB_OK;
}

/* A function that is not called looks like one that is called where it is not seen. */
void ab_mark_functions_print_unseen(const struct ab_launch *l, const struct ab_options *o)
{
    uint64_t n_frames = 0;
    for (size_t i = 0; i < l->n_functions; i++) {
        uint64_t n_calls = l->end.function_calls[i];
        if (is_among(frame_functions, FRAMES, l->functions[i]))
            n_frames += n_calls;
        if (n_calls == 0 &&
            is_among((const char *const *)o->mark_functions, o->n_mark_functions, l->functions[i]))
            fprintf(stderr,
                    "allocbench: no call of %s was seen: it is marked where another module than "
                    "its own calls it; calls within a module and static functions are not seen "
                    "(allocbench/mark.h marks them)\n",
                    AB_SHOWN(600, l->functions[i]));
    }
    if (o->marks_frames && n_frames == 0)
        fprintf(stderr, "allocbench: --marks: no call of %s, %s, %s or %s was seen\n",
                frame_functions[0], frame_functions[1], frame_functions[2], frame_functions[3]);
}
