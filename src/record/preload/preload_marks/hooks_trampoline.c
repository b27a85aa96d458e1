/* SPDX-License-Identifier: MIT
 *
 * Stands in front of a function whose arguments are not known: keeps all registers that can hold
 * one, and leaves the stack as it was, so that the caller is the function's own caller. (Of vectors
 * of more than 16 bytes the upper part may be lost.)
 */
#include "record/preload/preload_marks/hooks.h"

#if defined(__x86_64__)

enum { ENTRY_BYTES = 16 };
_Static_assert(AB_SPOOL_HOOKS *AB_HOOKS_PLACES == 160, "as many entries as below");

extern const char ab_hooks_entries[] AB_HIDDEN;

__asm__(".text\n"
        ".balign 16\n"
        ".hidden ab_hooks_entries\n"
        ".globl ab_hooks_entries\n"
        "ab_hooks_entries:\n"
        ".set hook, 0\n"
        ".rept 160\n"
        "    .balign 16\n"
        "    endbr64\n"
        "    pushq $hook\n"
        "    jmp 1f\n"
        "    .set hook, hook + 1\n"
        ".endr\n"
        ".balign 16\n"
        "1:  .cfi_startproc\n"
        "    .cfi_def_cfa_offset 16\n"
        "    pushq %rax\n"
        "    pushq %rdi\n"
        "    pushq %rsi\n"
        "    pushq %rdx\n"
        "    pushq %rcx\n"
        "    pushq %r8\n"
        "    pushq %r9\n"
        "    pushq %r10\n"
        "    subq $128, %rsp\n"
        "    .cfi_adjust_cfa_offset 192\n"
        "    movups %xmm0, (%rsp)\n"
        "    movups %xmm1, 16(%rsp)\n"
        "    movups %xmm2, 32(%rsp)\n"
        "    movups %xmm3, 48(%rsp)\n"
        "    movups %xmm4, 64(%rsp)\n"
        "    movups %xmm5, 80(%rsp)\n"
        "    movups %xmm6, 96(%rsp)\n"
        "    movups %xmm7, 112(%rsp)\n"
        "    movl 192(%rsp), %edi\n"
        "    call ab_hooks_enter\n"
        "    movq %rax, 192(%rsp)\n"
        "    movups (%rsp), %xmm0\n"
        "    movups 16(%rsp), %xmm1\n"
        "    movups 32(%rsp), %xmm2\n"
        "    movups 48(%rsp), %xmm3\n"
        "    movups 64(%rsp), %xmm4\n"
        "    movups 80(%rsp), %xmm5\n"
        "    movups 96(%rsp), %xmm6\n"
        "    movups 112(%rsp), %xmm7\n"
        "    addq $128, %rsp\n"
        "    .cfi_adjust_cfa_offset -128\n"
        "    popq %r10\n"
        "    popq %r9\n"
        "    popq %r8\n"
        "    popq %rcx\n"
        "    popq %rdx\n"
        "    popq %rsi\n"
        "    popq %rdi\n"
        "    popq %rax\n"
        "    .cfi_adjust_cfa_offset -64\n"
        "    popq %r11\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    jmp *%r11\n"
        "    .cfi_endproc\n");

uintptr_t ab_hooks_trampoline(uint32_t i)
{
    return (uintptr_t)ab_hooks_entries + (uintptr_t)i * ENTRY_BYTES;
}

#else

uintptr_t ab_hooks_trampoline(uint32_t i)
{
    (void)i;
    return 0;
}

#endif
