/* SPDX-License-Identifier: MIT
 *
 * Marks for `allocbench record`: names a place in the recording, as the end of a frame or of a
 * request.
 *
 *     allocbench_mark("frame");
 *
 * Nothing has to be linked. Without the recorder it is one comparison. C99 and C++98 with gcc or
 * clang, Linux. May be called from any thread and from signal handlers; allocates nothing and keeps
 * errno. The name is copied: its first 123 bytes.
 */
#ifndef ALLOCBENCH_MARK_H
#define ALLOCBENCH_MARK_H

#ifdef __cplusplus
extern "C" {
#endif

/* In the recorder, which is preloaded; not there without it. */
extern void allocbench_mark_record(const char *name) __attribute__((__weak__));

static __inline__ __attribute__((__unused__)) void allocbench_mark(const char *name)
{
    void (*record)(const char *);
    /* From the table that the dynamic linker fills, in every kind of executable: where its address
     * is taken in another way, the linker decides that what is not there now never will be. */
#if defined(__x86_64__)
    __asm__(".weak allocbench_mark_record\n\tmovq allocbench_mark_record@GOTPCREL(%%rip), %0"
            : "=r"(record));
#elif defined(__aarch64__)
    __asm__(".weak allocbench_mark_record\n\tadrp %0, :got:allocbench_mark_record\n\t"
            "ldr %0, [%0, :got_lo12:allocbench_mark_record]"
            : "=r"(record));
#else
    record = allocbench_mark_record;
#endif
    if (record)
        record(name);
}

#ifdef __cplusplus
}
#endif

#endif
