/* SPDX-License-Identifier: MIT
 *
 * A library that has nothing to do with memory.
 */
int nomalloc_answer(void);

int nomalloc_answer(void)
{
    return 42;
}
