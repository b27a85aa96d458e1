/* SPDX-License-Identifier: MIT
 *
 * The control file is untrusted: any recorded process could write into it.
 */
#include "record/converter/converter_marks.h"

#include "base/clock.h"
#include "record/spool_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Measured once, and not before a time is asked for: it takes a twentieth of a second. */
static double measured_ns_per_tick(void)
{
    static double ns_per_tick;
    struct ab_clock clock;
    if (ns_per_tick == 0) {
        ab_clock_calibrate(&clock);
        ns_per_tick = clock.ns_per_tick;
    }
    return ns_per_tick;
}

/* From the clocks at the start of the recording to those of now, which is long and so exact, where
 * it agrees with what is measured now. It does not where the machine has slept between, when one of
 * the two may have gone on without the other, or was started again. */
static double find_us_per_tick(const struct ab_convert_marks *m)
{
    const double most_difference = 1e-3; /* a clock that is being set right differs by half of it */
    double ns = (double)ab_clock_now_ns() - (double)m->begin_ns;
    double ticks = (double)ab_tick_end() - (double)m->begin_ticks;
    double measured = measured_ns_per_tick(), rate = ticks > 0 ? ns / ticks : 0;
    return (fabs(rate / measured - 1) < most_difference ? rate : measured) / 1e3;
}

static void take_control(struct ab_convert_marks *m, const struct ab_spool_control *control)
{
    memcpy(m->names, control->mark_names, sizeof control->mark_names);
    for (size_t i = 0; i < AB_SPOOL_MARK_NAMES; i++)
        m->names[i].text[AB_SPOOL_MARK_NAME - 1] = 0;
    m->has_time = control->has_time != 0;
    m->begin_ns = control->begin_ns;
    m->begin_ticks = control->begin_ticks;
}

enum ab_status ab_convert_marks_refresh(struct ab_convert_marks *m, const char *folder,
                                        struct ab_err *err)
{
    struct ab_spool_control *control = malloc(sizeof *control);
    bool is_made = control != NULL && m->names != NULL;
    if (is_made && ab_spool_read_control(folder, control))
        take_control(m, control);
    free(control);
    return is_made ? AB_OK : ab_fail(err, AB_SYSTEM, "out of memory for the marks");
}

enum ab_status ab_convert_marks_open(struct ab_convert_marks *m, const char *folder,
                                     struct ab_err *err)
{
    *m = (struct ab_convert_marks){.names = calloc(AB_SPOOL_MARK_NAMES, sizeof m->names[0])};
    return ab_convert_marks_refresh(m, folder, err);
}

void ab_convert_marks_close(struct ab_convert_marks *m)
{
    ab_mark_table_fini(&m->table);
    free(m->names);
    m->names = NULL;
}

uint64_t ab_convert_marks_time(struct ab_convert_marks *m, uint64_t stamp)
{
    if (m->base_stamp == 0)
        m->base_stamp = stamp;
    if (stamp > m->base_stamp) {
        if (m->us_per_tick == 0)
            m->us_per_tick = find_us_per_tick(m);
        uint64_t us = (uint64_t)((double)(stamp - m->base_stamp) * m->us_per_tick);
        m->last_us = us > m->last_us ? us : m->last_us;
    }
    return m->last_us;
}

/* A name in the control file may be there twice; one that was killed while it was written, or for
 * which there was no room, is called "mark". */
static bool find_name(struct ab_convert_marks *m, uint64_t place, uint32_t *number)
{
    uint32_t *known = &m->numbers[place <= AB_SPOOL_MARK_NAMES ? place : 0];
    bool is_there = place > 0 && place <= AB_SPOOL_MARK_NAMES &&
                    m->names[place - 1].state == AB_SPOOL_NAME_THERE;
    if (*known == 0) {
        if (!ab_mark_know_name(&m->table, is_there ? m->names[place - 1].text : "", number))
            return false;
        *known = *number + 1;
    }
    *number = *known - 1;
    return true;
}

enum ab_status ab_convert_marks_take(struct ab_convert_marks *m, const struct ab_spool_event *e,
                                     uint64_t call, uint32_t thread, struct ab_err *err)
{
    struct ab_trace_mark mark = {.call = call, .thread = thread};
    if (m->base_stamp != 0) /* else it is ahead of the first event */
        mark.time_us = ab_convert_marks_time(m, AB_SPOOL_STAMP(e));
    if (!find_name(m, e->size, &mark.name) || !ab_mark_add(&m->table, mark))
        return ab_fail(err, AB_SYSTEM, "out of memory for the marks");
    return AB_OK;
}
