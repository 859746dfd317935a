#!/usr/bin/env bash
# Checks the tree's rules and its format; with --tidy also runs clang-tidy over src/.
#   tools/lint.sh [--tidy]
#   tools/lint.sh --format      formats instead of checking
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

source_files() { find src tests bench bridge -path bridge/target -prune -o -name '*.cc' -print -o -name '*.h' -print; }

if [[ ${1:-} == --format ]]; then
  source_files | xargs clang-format-19 -i
  exit
fi

python3 tools/check_tree.py
source_files | xargs clang-format-19 --dry-run -Werror || {
  echo "run tools/lint.sh --format" >&2
  exit 1
}
echo "clang-format: $(source_files | wc -l) files are as .clang-format wants them"

[[ ${1:-} == --tidy ]] || exit 0

source tools/setup.sh
set_up tidy none build lint
# Tests are left out: GoogleTest's macros break the naming rules. Clang warns of a deprecation in
# the libraries' headers where GCC is silent.
library_files() { find src -name '*.cc' ! -name '*_test.cc'; }
library_files | xargs -P "$(nproc)" -n 4 \
  clang-tidy-19 -p build/tidy --quiet --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-deprecated-declarations
echo "clang-tidy: $(library_files | wc -l) files pass"
