/* SPDX-License-Identifier: MIT
 *
 * Marks for `allocbench record`. A mark is a named point in the recording, such as the end of a
 * frame or of a request.
 *
 *   allocbench_mark("frame");
 *
 * Needs no library. Without the recorder, a mark costs one comparison. C99 and C++98 with gcc or
 * clang on Linux. May be called from any thread and from signal handlers; allocates nothing and
 * keeps errno. Copies at most the first 123 bytes of the name.
 */
#ifndef ALLOCBENCH_MARK_H
#define ALLOCBENCH_MARK_H

#ifdef __cplusplus
extern "C" {
#endif

/* Defined by the recorder when it is preloaded; otherwise its address is NULL. */
extern void allocbench_mark_record(const char *name) __attribute__((__weak__));

static __inline__ __attribute__((__unused__)) void allocbench_mark(const char *name)
{
    void (*record)(const char *);
    /* Loads the address from the GOT, which the dynamic linker fills, in every kind of executable.
     * With plain C, the static linker could decide that a function missing now is always NULL. */
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
