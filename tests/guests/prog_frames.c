/* SPDX-License-Identifier: MIT
 *
 * Frames, for tests of scopes: some assets that stay, and then FRAMES frames whose blocks are freed
 * before their end. Its functions are the call sites: load_assets, parse_item, build_list.
 */
#include <stdio.h>
#include <stdlib.h>

enum { FRAMES = 40, ITEMS = 30, ASSETS = 20 };

static void *volatile assets[ASSETS];

__attribute__((noinline)) static void load_assets(void)
{
    for (int i = 0; i < ASSETS; i++)
        assets[i] = malloc(4000);
}

__attribute__((noinline)) static void *parse_item(int i)
{
    void *volatile item = malloc((size_t)(20 + i % 5));
    return item;
}

__attribute__((noinline)) static void *build_list(void)
{
    void *volatile list = malloc(ITEMS * sizeof(void *));
    return list;
}

__attribute__((noinline)) static void run_frame(void)
{
    void **list = build_list();
    for (int i = 0; i < ITEMS; i++)
        list[i] = parse_item(i);
    for (int i = 0; i < ITEMS; i++)
        free(list[i]);
    free(list);
}

int main(void)
{
    load_assets();
    for (int i = 0; i < FRAMES; i++)
        run_frame();
    return assets[0] == NULL;
}
