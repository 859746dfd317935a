# Debian packages: those of engine.lock's groups that are missing.

plan_debian() {
  local groups=("$@") missing
  ((${#pending_slots[@]} == 0)) || find_pip || groups+=(pip)
  find_cargo || groups+=(rust)
  mapfile -t missing < <(missing_packages "${groups[@]}")
  ((${#missing[@]})) || return 0
  command -v apt-get >/dev/null ||
    die "set-up needs Debian 12 or a relative of it; install by hand: ${missing[*]}"
  become_root "${missing[@]}"
  plan_step "install Debian packages: ${missing[*]}" install_packages "${missing[@]}"
}

missing_packages() {
  local packages
  packages=$(lock_packages "$@")
  comm -23 <(sort -u <<<"$packages") <(installed_packages $packages | sort -u)
}

lock_packages() {
  local word group rest
  while read -r word group rest; do
    [[ $word == debian && " $* " == *" $group "* ]] && printf '%s\n' $rest
  done <"$root/engine.lock"
  return 0
}

installed_packages() {
  dpkg-query -W -f='${Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
    sed -n 's/ installed$//p'
}

# Sets as_root to what goes before a command that needs root; asks for a password on a terminal.
become_root() {
  as_root=()
  ((EUID == 0)) && return
  as_root=(sudo)
  if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [[ -t 0 ]] && sudo -v; }; }; then
    return
  fi
  die "Debian packages are missing and neither root nor sudo is at hand; have someone run:" \
    "apt-get install $*"
}

install_packages() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 update ||
    echo "going on with the package lists that are there"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 \
    --no-install-recommends --no-remove install "$@" && return
  no_network "$root/.deps/log/install-Debian-packages.log" && failure="no network, or no such package"
  advice="when this helps, run this again: apt-get install $*"
  return 1
}

# Sets pip to a command that runs pip.
find_pip() {
  local python
  for python in python3 /usr/bin/python3; do
    pip=("$python" -m pip)
    "${pip[@]}" --version >/dev/null 2>&1 && return
  done
  return 1
}

# Puts a cargo of at least 1.88, which the bridge's crates need, on PATH.
find_cargo() {
  local folder
  new_enough cargo && return
  for folder in "${HOME:-}/.cargo/bin" /usr/bin; do
    new_enough "$folder/cargo" || continue
    PATH=$folder:$PATH
    return
  done
  return 1
}

new_enough() {
  local version
  version=$("$1" --version 2>/dev/null) || return 1
  version=${version#cargo }
  printf '1.88\n%s\n' "${version%%[ -]*}" | sort -C -V
}
