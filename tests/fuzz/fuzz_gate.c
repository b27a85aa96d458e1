/* SPDX-License-Identifier: MIT
 *
 * libFuzzer entry: any bytes as a gate and as a claim. Reading must end in a gate or in an error
 * whose place lies within the text and whose words are printable.
 *
 *     clang -fsanitize=fuzzer,address,undefined … tests/fuzz/fuzz_gate.c liballocbench.a …
 *     fuzz_gate tests/golden/gates
 */
#include "stats/gate.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const struct ab_gate_phase phases[] = {{.name = "run", .kinds = ~0u, .iteration = "frame"},
                                              {.name = "drain", .kinds = 1u << AB_OP_FREE}};
static const char *const backends[] = {"glibc", "slab:threads=sharded", "jemalloc{A=B:C,x/y<z}"};
static const char *const known[] = {"glibc", "arena"};

static void feed(const char *text, bool is_claim)
{
    const struct ab_gate_scope scope = {phases, 2, backends, 3, known, 2, false};
    struct ab_gate gate;
    struct ab_gate_error error = {0, 0, ""};
    if (ab_gate_parse(text, is_claim, &scope, &gate, &error)) {
        if (gate.metric.phase == NULL || !(gate.bound >= 0))
            abort();
        return;
    }
    if (error.text[0] == 0 || error.offset + error.n > strlen(text) + 1)
        abort();
    for (const char *s = error.text; *s != 0; s++)
        if ((unsigned char)*s < 0x20)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = malloc(n + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, n);
    text[n] = 0;
    feed(text, false);
    feed(text, true);
    free(text);
    return 0;
}
