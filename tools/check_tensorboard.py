#!/usr/bin/env python3
"""TensorBoard reads what a run wrote, and finds in it what metrics.jsonl says.

    tools/check_tensorboard.py RUN

By hand, with tensorboard 2.21.0 (numpy 2.4.6, protobuf 7.36.2). RUN is the folder of a run with
log.tensorboard, or the one that watch_test leaves:

    TEST_TMPDIR=/tmp/w build/src/watch/watch_test --gtest_filter='TensorBoard.*'
    tools/check_tensorboard.py /tmp/w/hone_watch_tensorboard
    tools/check_tensorboard.py /tmp/w/hone_watch_tensorboard_resumed      begun twice
"""

import json
import pathlib
import struct
import sys

from tensorboard.backend.event_processing import event_accumulator
from tensorboard.util import tensor_util


def single(value):
    """As a 32-bit float, which is what event files hold."""
    return struct.unpack("f", struct.pack("f", float("nan") if value is None else value))[0]


def same(a, b):
    return a == b or (a != a and b != b)


def expected(folder):
    """(tag, step) -> value, of all numbers that metrics.jsonl and TensorBoard share."""
    wanted = {}
    for line in (folder / "metrics.jsonl").read_text().splitlines():
        event = json.loads(line)
        kind = event.pop("kind", "step")
        if kind not in ("step", "evaluation"):
            continue
        step, prefix = event.pop("step"), "train" if kind == "step" else "eval"
        event.pop("targets", None)
        for name, value in event.items():
            wanted[f"{prefix}/{name}", step] = single(value)
    return wanted


def main():
    folder = pathlib.Path(sys.argv[1])
    events = event_accumulator.EventAccumulator(
        str(folder / "tensorboard"), size_guidance={k: 0 for k in event_accumulator.DEFAULT_SIZE_GUIDANCE}
    )
    events.Reload()
    tags = events.Tags()
    found = {(t, e.step): e.value for t in tags["scalars"] for e in events.Scalars(t)}
    wanted = expected(folder)
    problems = [f"{k}: {found.get(k)} instead of {v}" for k, v in wanted.items() if not same(found.get(k), v)]
    problems += [f"{k}: not in metrics.jsonl" for k in found if k not in wanted]
    for tag in tags["histograms"]:
        for e in events.Histograms(tag):
            h = e.histogram_value
            if sum(h.bucket) != h.num or len(h.bucket) != len(h.bucket_limit) or h.min > h.max:
                problems.append(f"{tag} at step {e.step}: {h}")

    shown = 0
    for tag in tags["tensors"]:
        metadata = events.SummaryMetadata(tag)
        if metadata.plugin_data.plugin_name != "text":
            problems.append(f"{tag}: of plugin {metadata.plugin_data.plugin_name!r}")
        for e in events.Tensors(tag):
            value = tensor_util.make_ndarray(e.tensor_proto)
            shown += 1
            if value.shape != (1,) or b"**prompt**" not in value[0]:
                problems.append(f"{tag} at step {e.step}: {value!r}")
    for problem in problems:
        print(problem)
    print(
        f"check_tensorboard: {len(wanted)} numbers of metrics.jsonl, {len(found)} scalars, "
        f"{len(tags['histograms'])} histograms, {shown} texts; {len(problems)} problems"
    )
    return 1 if problems or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
