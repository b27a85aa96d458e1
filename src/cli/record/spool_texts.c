/* SPDX-License-Identifier: MIT
 *
 * Why a recording ended, in words.
 */
#include "cli/record/spool_texts.h"

#include "base/bits.h"

/* Why it had to be stopped; the others were asked for. */
static const char *const stops[] = {
    [AB_SPOOL_NO_SPACE] = "the disk is full",
    [AB_SPOOL_FILE_LIMIT] = "the limit on file sizes (ulimit -f) was reached",
    [AB_SPOOL_NO_MEMORY] = "the spool could not be mapped",
    [AB_SPOOL_NO_FILE] = "the program can no longer open the spool (chroot, another user, no "
                         "descriptors)",
    [AB_SPOOL_NO_SLOT] = "more than 65,536 concurrent threads",
    [AB_SPOOL_SHARE] = "the spool had taken half of the space that was free on its disk "
                       "(--max-spool sets another bound)",
};

static const char *const ends[] = {
    [AB_SPOOL_ENOUGH] = "at --max-events", [AB_SPOOL_FULL] = "at --max-spool",
    [AB_SPOOL_TIME_UP] = "at --duration",  [AB_SPOOL_SIGNAL] = "at a signal",
    [AB_SPOOL_ENDED] = "with the command",
};

const char *ab_spool_stop_text(uint32_t stop)
{
    return stop < AB_ARRAY_LEN(stops) ? stops[stop] : NULL;
}

const char *ab_spool_short_text(const struct ab_convert_report *report)
{
    const char *stop = ab_spool_stop_text(report->stop);
    return stop != NULL ? stop : report->damage[0] != 0 ? report->damage : NULL;
}

const char *ab_spool_end_text(uint32_t stop)
{
    return stop < AB_ARRAY_LEN(ends) ? ends[stop] : NULL;
}
