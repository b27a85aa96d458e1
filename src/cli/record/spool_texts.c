/* SPDX-License-Identifier: MIT
 *
 * Why a recording ended, in words.
 */
#include "cli/record/spool_texts.h"

const char *ab_spool_stop_text(uint32_t stop)
{
    switch (stop) {
    case AB_SPOOL_NO_SPACE:
        return "the disk is full";
    case AB_SPOOL_FILE_LIMIT:
        return "the limit on file sizes (ulimit -f) was reached";
    case AB_SPOOL_NO_MEMORY:
        return "the spool could not be mapped";
    case AB_SPOOL_NO_FILE:
        return "the program can no longer open the spool (chroot, another user, no descriptors)";
    case AB_SPOOL_NO_SLOT:
        return "more than 65,536 threads at once";
    default: /* as was asked for */
        return NULL;
    }
}

const char *ab_spool_short_text(const struct ab_convert_report *report)
{
    const char *stop = ab_spool_stop_text(report->stop);
    return stop != NULL ? stop : report->damage[0] != 0 ? report->damage : NULL;
}

const char *ab_spool_end_text(uint32_t stop)
{
    switch (stop) {
    case AB_SPOOL_ENOUGH:
        return "when there were as many events as --max-events asks for";
    case AB_SPOOL_TIME_UP:
        return "when the time of --duration was up";
    case AB_SPOOL_SIGNAL:
        return "at a signal";
    case AB_SPOOL_ENDED:
        return "with the command";
    default:
        return NULL;
    }
}
