# Packages of engine.lock: fetched by pip (as a client only: nothing of them is run), checked by
# sha256, unpacked into a temporary folder and renamed into .deps one file at a time.

deps=$root/.deps

# Reads engine.lock into slots[SLOT]="I J" (indices of its entries, the fall-back last) and, by
# index, slot group kind name version python sha256, and takes ("FROM TO" a line).
read_lock() {
  local line word n=-1
  declare -gA slots=()
  declare -ga slot=() group=() kind=() name=() version=() python=() sha256=() takes=()
  declare -ga slot_order=()
  while read -r word line; do
    case $word in
      fetch)
        n=$((n + 1))
        read -r slot[n] group[n] kind[n] name[n] version[n] python[n] sha256[n] <<<"$line"
        takes[n]=
        [[ ${slots[${slot[n]}]:-} ]] || slot_order+=("${slot[n]}")
        slots[${slot[n]}]+="$n "
        ;;
      take) takes[n]+="$line"$'\n' ;;
    esac
  done <"$root/engine.lock"
}

# Sets pending_slots to the slots of the groups that are not filled yet.
find_pending_slots() {
  read_lock
  declare -ga pending_slots=()
  local s
  for s in "${slot_order[@]}"; do
    [[ " $* " == *" ${group[${slots[$s]%% *}]} "* ]] || continue
    slot_is_there "$s" || pending_slots+=("$s")
  done
}

plan_fetches() {
  local s n
  for s in "${pending_slots[@]}"; do
    n=${slots[$s]%% *}
    plan_step "fetch $s: ${name[n]} ${version[n]}" fetch_slot "$s"
  done
}

# A slot's stamp names the entry it was filled from.
stamp_of() { echo "${name[$1]} ${version[$1]} ${sha256[$1]}"; }

slot_is_there() {
  local n from to
  for n in ${slots[$1]}; do
    [[ -f $deps/stamps/$1 && $(<"$deps/stamps/$1") == "$(stamp_of "$n")" ]] || continue
    while read -r from to; do
      [[ -z $to || -e $deps/$to ]] || return 1
    done <<<"${takes[n]}"
    return 0
  done
  return 1
}

fetch_slot() {
  local n reason=
  for n in ${slots[$1]}; do
    if fetch_entry "$n"; then
      [[ -z $reason ]] || note="$reason; its fall-back ${name[n]} ${version[n]} is used instead"
      stamp_of "$n" >"$deps/stamps/$1"
      return
    fi
    reason=${reason:-$failure}
  done
  failure=$reason
  return 1
}

# Everything happens in one temporary folder, which is gone whatever comes.
fetch_entry() {
  local n=$1 status=0
  find_pip || { failure="there is no pip" advice="apt-get install python3-pip"; return 1; }
  temporary=$(mktemp -d "$deps/fetch.XXXXXX") || return 1
  download "$n" "$temporary" && unpack "$n" "$temporary" || status=1
  rm -rf "$temporary"
  return "$status"
}

download() {
  local n=$1 temp=$2 found
  local what="${name[n]} ${version[n]}"
  local options=(--only-binary=:all:)
  [[ ${python[n]} == any ]] || options+=(--python-version "${python[n]}")
  [[ ${kind[n]} == sdist ]] && options=(--no-binary=:all: --no-build-isolation)
  mkdir "$temp/package"
  PYTHONPATH=$root/tools/setup/no_build "${pip[@]}" download --no-deps --progress-bar off \
    --disable-pip-version-check "${options[@]}" -d "$temp/package" "${name[n]}==${version[n]}" \
    2>&1 | tee "$temp/log"
  if [[ ${PIPESTATUS[0]} != 0 ]]; then
    failure="$what cannot be had" advice="see the log"
    no_network "$temp/log" && failure="no network to fetch $what" &&
      advice="connect this machine and run this again"
    return 1
  fi
  found=$(sha256sum "$temp"/package/* | cut -d' ' -f1)
  [[ $found == "${sha256[n]}" ]] && return
  failure="$what has sha256 ${found:0:12}..., not ${sha256[n]:0:12}... as in engine.lock"
  advice="it was thrown away; if ${pip[*]} cache purge does not help, someone changed the package"
  return 1
}

unpack() {
  local n=$1 temp=$2 from to file patterns=()
  while read -r from to; do [[ $from ]] && patterns+=("$from"); done <<<"${takes[n]}"
  mkdir "$temp/files"
  failure="${name[n]} ${version[n]} does not hold what engine.lock takes from it"
  if [[ ${kind[n]} == sdist ]]; then
    tar -xzf "$temp"/package/* -C "$temp/files" --strip-components=1 --no-same-owner \
      --wildcards "${patterns[@]/#/*/}" || return 1
  else
    unzip -q "$temp"/package/* "${patterns[@]}" -d "$temp/files" || return 1
  fi
  while read -r from to; do
    [[ $from ]] || continue
    mkdir -p "$deps/$(dirname "$to.")" || return 1
    # shellcheck disable=SC2086
    for file in "$temp"/files/$from; do
      chmod u+rw,go+r "$file" && touch "$file" && mv -fT "$file" "$(destination "$file" "$to")" || return 1
    done
  done <<<"${takes[n]}"
  failure=
}

destination() {
  [[ $2 == */ ]] && echo "$deps/$2$(basename "$1")" || echo "$deps/$2"
}
