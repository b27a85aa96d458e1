/* SPDX-License-Identifier: MIT
 *
 * The texts, each about 25 lines: enough to be changed by somebody who has not read the language.
 */
#include "cli/scaffolds.h"

#include "base/bits.h"
#include "core/embed.h"

AB_EMBED(frame, "configs/init/frame.yaml")
AB_EMBED(server, "configs/init/server.yaml")
AB_EMBED(churn, "configs/init/churn.yaml")
AB_EMBED(pipeline, "configs/init/pipeline.yaml")
AB_EMBED(ci, "configs/init/allocbench-ci.yaml")
AB_EMBED(workflow, "configs/init/allocbench.yml")

const struct ab_scaffold ab_scaffolds[] = {
    {"frame", {".", "frame.yaml", frame}, {".", "", NULL}},
    {"server", {".", "server.yaml", server}, {".", "", NULL}},
    {"churn", {".", "churn.yaml", churn}, {".", "", NULL}},
    {"pipeline", {".", "pipeline.yaml", pipeline}, {".", "", NULL}},
    {"ci", {".", "allocbench-ci.yaml", ci}, {".github/workflows", "allocbench.yml", workflow}},
};
const size_t ab_scaffold_count = AB_ARRAY_LEN(ab_scaffolds);
