# The bridge's crates, and the CMake build.

# The build itself is offline: cargo fetches what bridge/Cargo.lock pins here.
plan_crates() {
  [[ -f $root/bridge/Cargo.lock ]] || return 0
  if find_cargo && fetch_crates --offline >/dev/null 2>&1; then return; fi
  plan_step "fetch crates: those of bridge/Cargo.lock" fetch_crates
}

fetch_crates() {
  find_cargo || { failure="there is no cargo >= 1.88" advice="apt-get install cargo-web"; return 1; }
  cargo fetch --locked --manifest-path "$root/bridge/Cargo.toml" "$@" && return
  advice="connect this machine, see that bridge/Cargo.lock is as committed, and run this again"
  return 1
}

plan_build() {
  plan_step "configure $1" configure "$1"
  [[ $2 == none ]] || plan_step "build $1: $2" build "$1" "$2"
}

configure() {
  find_cargo || true
  (cd "$root" && cmake --preset "$1") && return
  advice="see the log; if build/$1 is from elsewhere, remove it and run this again"
  return 1
}

# The stamp is as old as the build's start, so an edit made meanwhile is seen next time.
build() {
  local stamp=$root/.deps/stamps/built-$1 built
  built=$(mktemp "$root/.deps/stamps/built.XXXXXX")
  sha256sum <"$root/engine.lock" >"$built"
  find_cargo || true
  if CARGO_NET_OFFLINE=true cmake --build "$root/build/$1" --target "$2"; then
    mv "$built" "$stamp"
    return
  fi
  rm -f "$built"
  failure=$(grep -m 1 -iE "\berror\b" "$root/.deps/log/build-$1.log")
  return 1
}
