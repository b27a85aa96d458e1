/* SPDX-License-Identifier: MIT
 *
 * What a program can ask of the valgrind that it runs in: the sequences of instructions that valgrind
 * promises never to change (its header valgrind.h), which do nothing outside it.
 */
#ifndef AB_WORKER_COUNTS_CALLGRIND_H
#define AB_WORKER_COUNTS_CALLGRIND_H

#include <stdint.h>

enum {
    AB_VALGRIND_IS_THERE = 0x1001,
    AB_CALLGRIND_TOGGLE = 0x43540002, /* "CT" */
    AB_CALLGRIND_WRITE = 0x43540003,  /* argument: why, a text; then it counts from 0 */
};

/* 0 outside of valgrind. */
static inline uint64_t ab_valgrind_ask(uint64_t what, const void *argument)
{
    volatile uint64_t words[6] = {what, (uint64_t)(uintptr_t)argument, 0, 0, 0, 0};
#if defined(__x86_64__)
    uint64_t answer = 0;
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(&words[0])
                     : "cc", "memory");
    return answer;
#elif defined(__aarch64__)
    register uint64_t answer __asm__("x3") = 0;
    register volatile uint64_t *from __asm__("x4") = words;
    __asm__ volatile("ror x12, x12, #3; ror x12, x12, #13; ror x12, x12, #51; ror x12, x12, #61\n\t"
                     "orr x10, x10, x10"
                     : "+r"(answer)
                     : "r"(from)
                     : "cc", "memory");
    return answer;
#else
#error "valgrind requests: x86-64 and aarch64"
#endif
}

#endif
