# Set-up for ./hone, ./test and tools/lint.sh, which source this file: Debian packages, the packages
# of engine.lock, the bridge's crates, then a CMake build. Needs $root.
#
#   set_up PRESET TARGET GROUP...     PRESET: of CMakePresets.json    GROUP: of engine.lock
#                                     TARGET: none configures only
# Every part first says what it has to do, as steps (tools/setup/steps.sh), so that progress can be
# shown as k of n; what is there already costs a check and no network.

for part in steps debian fetch build; do source "$root/tools/setup/$part.sh"; done

set_up() {
  local preset=$1 target=$2
  shift 2
  [[ $(uname -sm) == "Linux x86_64" ]] ||
    die "the engine's packages are for Linux on x86-64, and this is $(uname -sm)"
  mkdir -p "$root/.deps/stamps" "$root/.deps/log" && [[ -w $root/.deps/stamps ]] ||
    die "cannot write to $root/.deps: run as the owner of this folder"
  lock_set_up
  step_labels=() step_commands=()
  find_pending_slots "$@"
  plan_debian "$@"
  plan_fetches
  plan_crates
  plan_build "$preset" "$target"
  run_steps
  exec {set_up_lock}>&-
}

# One set-up at a time in this folder; another one waits.
lock_set_up() {
  exec {set_up_lock}>"$root/.deps/lock"
  flock -n "$set_up_lock" && return
  say "another set-up is running in this folder; waiting for it"
  flock "$set_up_lock"
}
