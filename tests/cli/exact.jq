# What of a result does not depend on the clock, nor on the kernel: where it put a process's memory
# (external_2m counts aligned areas of 2 MiB), which pages of libraries it had at hand (faults), nor
# on the neighbours: samples that they spoilt are left out. For back ends whose memory is
# deterministic.
[.config | .tape_sha256, .sha256, .settings, .phases, .tape, .n_edges, .n_remote, .window],
.seed, .complete,
[.backends[] | {name, version, build_id, path, status, reason, boundary, settings}],
[.rounds[] | {index, order}],
[.timer.null[] | {phase, boundary, round, n_ops}],
[.results[] | {backend, phase, op, round, n: (.n + (.n_left_out // 0)), n_ops, n_unsupported, live_peak_blocks, tail: .tail.n}],
[.windows[] | {backend, phase, round, begin, "end": .end}],
[.size_classes[] | {backend, phase, op, round, le_bytes}],
[.memory[] | with_entries(select(.key | test("^(external_2m|faults)") | not))],
.timelines,
.memory_distributions
