#!/usr/bin/env python3
"""Make tests/golden/rows_*.parquet: the same rows, written by pyarrow 26.0.1 in the ways that data sets are written."""
import pathlib

import pyarrow
import pyarrow.parquet

VERSION = "26.0.1"
OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden"
ROWS = [
    {"id": 1, "score": 0.5, "good": True, "input_ids": [1, 2, 3],
     "messages": [{"role": "user", "content": "hé\n"}, {"role": "assistant", "content": ""}]},
    {"id": None, "score": None, "good": None, "input_ids": None, "messages": None},
    {"id": -(1 << 62), "score": -1e300, "good": False, "input_ids": [],
     "messages": [{"role": "user", "content": None}]},
]


def main():
    if pyarrow.__version__ != VERSION:
        raise SystemExit(f"pyarrow {VERSION} is wanted, not {pyarrow.__version__}")
    table = pyarrow.Table.from_pylist(ROWS)
    for name, options in {"snappy": {}, "zstd": {"row_group_size": 2}, "gzip": {"use_dictionary": False, "data_page_version": "2.0"}}.items():
        pyarrow.parquet.write_table(table, OUT / f"rows_{name}.parquet", compression=name, **options)


if __name__ == "__main__":
    main()
