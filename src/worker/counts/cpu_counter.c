/* SPDX-License-Identifier: MIT
 *
 * perf_event_open(2), which has no wrapper in glibc.
 */
#include "worker/counts/cpu_counter.h"

#include "wire/run.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct reading { /* PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING */
    uint64_t value, enabled, running;
};

int ab_cpu_counter_open_as(uint32_t type, uint64_t config)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = type;
    attr.config = config;
    attr.disabled = 1;
    attr.pinned = 1; /* all the time or not at all: never scaled up */
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int ab_cpu_counter_open(void)
{
    return ab_cpu_counter_open_as(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}

void ab_cpu_counter_start(int fd)
{
    ioctl(fd, PERF_EVENT_IOC_RESET, 0);
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

uint64_t ab_cpu_counter_stop(int fd)
{
    struct reading r;
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    ssize_t n = read(fd, &r, sizeof r);
    return n == (ssize_t)sizeof r && r.running > 0 && r.running == r.enabled ? r.value
                                                                             : AB_NOT_COUNTED;
}
