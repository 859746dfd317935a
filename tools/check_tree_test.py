#!/usr/bin/env python3
"""Shows that check_tree.py can fail: each case breaks one rule in a small tree that is fine."""

import contextlib
import io
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_tree  # noqa: E402

FINE = {
    "ARCHITECTURE.md": "The graph is in `src/ir/graph.h`; ops in `src/ops/*.cc`; built into `build/x`.\n",
    "CMakeLists.txt": "find_package(fmt REQUIRED)\n",
    "engine.lock": "debian build g++ libfmt-dev\ndebian lint libother-dev\n",
    "src/base/error.h": "// Errors.\n#pragma once\n",
    "src/ir/CMakeLists.txt": "hone_library(ir DEPS base LINK fmt::fmt)\n",
    "src/ir/graph.h": '// Graph.\n//\n// More.\n#pragma once\n\n#include "base/error.h"\n',
    "src/ops/add.cc": '#include "ir/graph.h"\nextern const Op kAdd{"add"};\n',
    "src/ops/all_ops.cc": "all[] = {&kAdd};\n",
}

# name -> (files that replace or join those above, what the one problem must say)
CASES = {
    "fine": ({}, None),
    "arrow up": ({"src/base/a.cc": '#include "ir/graph.h"\n'}, "base may not include ir"),
    "arrow across": ({"src/pjrt/a.cc": '#include "ir/graph.h"\n'}, "pjrt may not include ir"),
    "arrow of a test": ({"src/ir/a_test.cc": '#include "pjrt/client.h"\n'}, None),
    "arrow up of a test": ({"src/ir/a_test.cc": '#include "ops/ops.h"\n'}, "ir may not include ops"),
    "arrow of a target": (
        {"src/ckpt/CMakeLists.txt": "hone_library(ckpt DEPS base engine)\n"},
        "ckpt may not depend on engine",
    ),
    "beside": ({"src/ir/a.cc": '#include "graph.h"\n'}, 'write "ir/graph.h"'),
    "unknown layer": ({"src/misc/a.cc": "\n"}, "folder misc is not in the table"),
    "package not locked": ({"engine.lock": "debian build g++\n"}, "libfmt-dev is needed and missing"),
    "package not needed": ({"CMakeLists.txt": "\n"}, "libfmt-dev is needed by no find_package"),
    "package unknown": (
        {"src/ir/x.cmake": "find_package(fmt)\nfind_package(zlib)\n"},
        "zlib is not in the table",
    ),
    "no pragma": ({"src/ir/a.h": "// A.\nint a;\n"}, "#pragma once goes right after"),
    "late pragma": ({"src/ir/a.h": "// A.\nint a;\n#pragma once\n"}, "#pragma once goes right after"),
    "no purpose": ({"src/ir/a.h": "#pragma once\n"}, "begin with a comment"),
    "unlisted op": ({"src/ops/sub.cc": 'const Op kSub{"sub"};\n'}, "kSub is not in"),
    "no op": ({"src/ops/add.cc": "\n"}, "no record of Op"),
    "unlisted family": (
        {"src/models/llama.cc": 'const Family kLlama{"llama"};\n'},
        "kLlama is not in src/models/families.cc",
    ),
    "unlisted command": (
        {"src/cli/emit.cc": "const Command kEmit{};\n", "src/cli/main.cc": "all[] = {};\n"},
        "kEmit is not in src/cli/main.cc",
    ),
    "too long": ({"src/ir/a.cc": "\n" * 801}, "801 lines"),
    "long": ({"src/ir/a.cc": "\n" * 800}, None),
    "machine path": ({"docs/a.md": "see /wo" "rk/x\n"}, "a machine's path"),
    "later": ({"docs/a.md": "TO" "DO: all\n"}, "a note for later"),
    "host": ({"docs/a.md": "from py" "pi.org\n"}, "a registry's host"),
    "dead path": ({"ARCHITECTURE.md": "see `src/ir/gone.h`\n"}, "src/ir/gone.h does not exist"),
    "dead glob": ({"ARCHITECTURE.md": "see `src/nn/*.cc`\n"}, "src/nn/*.cc does not exist"),
    "no page": ({"ARCHITECTURE.md": "nothing\n"}, "names no path"),
}


def problems_of(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        with contextlib.redirect_stdout(io.StringIO()):
            return check_tree.problems_of(root)


def main():
    wrong = 0
    for name, (files, wanted) in CASES.items():
        problems = problems_of({**FINE, **files})
        good = len(problems) == 1 and wanted in problems[0] if wanted else not problems
        if not good:
            wrong += 1
            print(f"{name}: wanted {wanted!r}, found {problems}")
    if "src: no file found" not in problems_of({"ARCHITECTURE.md": FINE["ARCHITECTURE.md"]}):
        wrong += 1
        print("an empty tree passes")
    print(f"check_tree_test: {len(CASES) + 1} cases, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
