/* SPDX-License-Identifier: MIT
 *
 * The environment of a program that is measured: the user's, with the allocator in front of what
 * else is preloaded and the variables of its settings in place of others of their name.
 */
#ifndef AB_PROGRAM_ENVIRONMENT_H
#define AB_PROGRAM_ENVIRONMENT_H

/* A list that ends with NULL, to be freed by ab_environment_free; NULL when out of memory.
 * `preload` NULL: LD_PRELOAD stays as it is. */
char **ab_environment_build(const char *preload, const char *const *settings);
void ab_environment_free(char **list);

#endif
