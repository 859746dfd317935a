#!/usr/bin/env python3
"""Checks what no compiler checks about the tree; prints counts, then problems, and exits 1 on any.

    tools/check_tree.py [ROOT]

tools/check_tree_test.py shows that each rule can fail. Standard library only.
"""

import pathlib
import re
import subprocess
import sys

# Who may include whom, closed transitively below. ARCHITECTURE.md draws it.
ARROWS = {
    "base": [],
    "ir": ["base"],
    "ops": ["ir"],
    "nn": ["ops"],
    "models": ["nn"],
    "pjrt": ["base"],
    "kernels": ["base"],
    "ckpt": ["base"],
    "text": ["ckpt"],
    "data": ["text"],
    "verilog": ["base"],
    "page": ["base"],
    "search": ["page"],
    "watch": ["page", "ckpt"],
    "engine": ["models", "pjrt", "ckpt", "text", "kernels"],
    "train": ["engine", "data", "watch"],
    "tune": ["train", "search"],
    "cli": ["tune", "verilog"],
}

# What the tests of any layer may include beyond that: they ask the engine.
TESTS_MAY = {"pjrt", "base"}

# Records (TYPE, folder) and the one file that must list each of them as &kName.
RECORDS = [
    ("Op", "src/ops", "src/ops/all_ops.cc"),
    ("Family", "src/models", "src/models/families.cc"),
    ("Optimizer", "src/train", "src/train/optimizers.cc"),
    ("Objective", "src/train", "src/train/objectives.cc"),
    ("Store", "src/nn", "src/nn/store.cc"),
    ("Command", "src/cli", "src/cli/main.cc"),
]

# What a find_package needs; engine.lock must name exactly these libraries.
DEBIAN = {
    "fmt": {"libfmt-dev"},
    "GTest": {"libgtest-dev", "libgmock-dev"},
    "Git": set(),  # the commit of `hone env`; a build without git has none
    "hwy": {"libhwy-dev"},
    "jemalloc": {"libjemalloc-dev"},
    "nlohmann_json": {"nlohmann-json3-dev"},
    "OpenSSL": {"libssl-dev"},
    "re2": {"libre2-dev"},
    "SQLite3": {"libsqlite3-dev"},
    "yaml-cpp": {"libyaml-cpp-dev"},
}

CODE = {".cc", ".h", ".py", ".rs", ".sh", ".cmake"}
MOST_LINES = 800
AIM_LINES = 500

BANNED = {
    "a machine's path": re.compile(r"(?<![\w.])/(?:work|root|farm)/"),
    "a registry's host": re.compile(r"py" r"pi\.org|python" r"hosted|crates" r"\.io/|deb\.deb" r"ian|npm" r"js\.org"),
    "a note for later": re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b"),
}
MAY_NAME_HOSTS = {"Cargo.lock"}  # cargo writes them itself

NOT_COMMITTED = (".deps/", "build/", "runs/")


def reachable(layer):
    found = {layer}
    for below in ARROWS[layer]:
        found |= reachable(below)
    return found


def files_of(root):
    """What git tracks or would track; every file where there is no git."""
    listing = subprocess.run(
        ["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True
    )
    names = (
        listing.stdout.splitlines()
        if listing.returncode == 0
        else [p.relative_to(root).as_posix() for p in root.rglob("*")]
    )
    skip = (".git/", *NOT_COMMITTED, "bridge/target/")
    return sorted(n for n in names if not n.startswith(skip) and (root / n).is_file())


def read(path):
    """The text of a file, or None where it is no text."""
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError:
        return None


def check_includes(root, texts):
    for name, text in texts.items():
        parts = name.split("/")
        if parts[0] != "src" or len(parts) < 3:
            continue
        if parts[1] not in ARROWS:
            yield f"{name}: folder {parts[1]} is not in the table of tools/check_tree.py"
            continue
        allowed = reachable(parts[1]) | (TESTS_MAY if name.endswith("_test.cc") else set())
        for number, line in enumerate(text.splitlines(), 1):
            include = re.match(r'\s*#\s*include "([^"]+)"', line)
            if not include:
                continue
            target = include[1]
            above = target.split("/")[0]
            if "/" not in target and (root / name).with_name(target).exists():
                yield f'{name}:{number}: write "{parts[1]}/{target}", from src/'
            elif above in ARROWS and above not in allowed:
                yield f"{name}:{number}: {parts[1]} may not include {above}"


def check_targets(root, texts):
    for name, text in texts.items():
        call = re.search(r"hone_library\((\w+)(?:\s+DEPS((?:\s+[a-z]+\b)*))?", text)
        if not re.fullmatch(r"src/\w+/CMakeLists.txt", name) or not call:
            continue
        for above in sorted(set((call[2] or "").split()) - reachable(call[1])):
            yield f"{name}: {call[1]} may not depend on {above}"


def check_packages(root, texts):
    needed = set()
    for name, text in texts.items():
        if not name.endswith(("CMakeLists.txt", ".cmake")):
            continue
        for package in re.findall(r"find_package\(([\w-]+)", text):
            if package not in DEBIAN:
                yield f"{name}: {package} is not in the table of tools/check_tree.py"
            needed |= DEBIAN.get(package, set())
    lock = texts.get("engine.lock", "")
    locked = set(re.findall(r"[\w+.-]+-dev\b", " ".join(re.findall(r"^debian build (.*)", lock, re.M))))
    for package in sorted(needed - locked):
        yield f"engine.lock: {package} is needed and missing"
    for package in sorted(locked - needed):
        yield f"engine.lock: {package} is needed by no find_package"


def check_headers(root, texts):
    for name, text in texts.items():
        if not name.endswith(".h") or not name.startswith("src/"):
            continue
        if not text.startswith("//"):
            yield f"{name}: begin with a comment that says what the header is for"
        first = next((l for l in text.splitlines() if l.strip() and not l.startswith("//")), "")
        if first != "#pragma once":
            yield f"{name}: #pragma once goes right after the first comment"


def check_records(root, texts):
    for kind, folder, listing in RECORDS:
        sources = {n: t for n, t in texts.items() if re.fullmatch(rf"{folder}/\w+\.cc", n)}
        if not sources:
            continue
        pattern = rf"^(?:extern )?const (?:\w+::)*{kind} (k\w+)\s*[{{=]"
        records = [(n, k) for n, t in sources.items() for k in re.findall(pattern, t, re.M)]
        listed = set(re.findall(r"&(?:\w+::)*(k\w+)", texts.get(listing, "")))
        print(f"check_tree: {len(records)} records of {kind} in {folder}")
        if not records:
            yield f"{folder}: holds sources but no record of {kind}"
        for name, record in records:
            if record not in listed:
                yield f"{name}: {record} is not in {listing}"


def check_sizes(root, texts):
    for name, text in texts.items():
        lines = text.count("\n")
        if pathlib.PurePath(name).suffix not in CODE or lines <= AIM_LINES:
            continue
        if lines > MOST_LINES:
            yield f"{name}: {lines} lines; the limit is {MOST_LINES}"
        else:
            print(f"check_tree: {name} has {lines} lines; the aim is {AIM_LINES}")


def check_banned(root, texts):
    for name, text in texts.items():
        if pathlib.PurePath(name).name in MAY_NAME_HOSTS:
            continue
        for what, pattern in BANNED.items():
            for number, line in enumerate(text.splitlines(), 1):
                if found := pattern.search(line):
                    yield f'{name}:{number}: {what}: "{found[0]}"'


def check_architecture(root, texts):
    page = texts.get("ARCHITECTURE.md", "")
    paths = [
        p
        for p in re.findall(r"`([\w./*-]+)`", page)
        if ("/" in p or re.search(r"\.\w+$", p)) and not p.startswith(NOT_COMMITTED)
    ]
    print(f"check_tree: {len(paths)} paths in ARCHITECTURE.md")
    if not paths:
        yield "ARCHITECTURE.md: names no path"
    for path in paths:
        if not any(True for _ in root.glob(path.rstrip("/"))):
            yield f"ARCHITECTURE.md: {path} does not exist"


CHECKS = [
    check_includes,
    check_targets,
    check_packages,
    check_headers,
    check_records,
    check_sizes,
    check_banned,
    check_architecture,
]


def problems_of(root):
    names = files_of(root)
    texts = {n: t for n in names if (t := read(root / n)) is not None}
    sources = sum(n.startswith("src/") for n in texts)
    print(f"check_tree: {len(names)} files, {sources} in src")
    problems = [p for check in CHECKS for p in check(root, texts)]
    if sources == 0:
        problems.append("src: no file found")
    return problems


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    problems = problems_of(root.resolve())
    for problem in problems:
        print(problem)
    print(f"check_tree: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
