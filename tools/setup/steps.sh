# Steps: planned first, then run with progress. All of it goes to stderr; stdout is the program's.
#
#   plan_step LABEL COMMAND ARG...    COMMAND's output goes to a log. When it fails it may leave the
#                                     reason in $failure and what to do in $advice; when all is well,
#                                     something the user should know in $note. One line each.

say() { printf 'hone: %s\n' "$*" >&2; }

die() {
  say "$@"
  exit 1
}

plan_step() {
  step_labels+=("$1")
  shift
  step_commands+=("${*@Q}")
}

run_steps() {
  local k
  for k in "${!step_labels[@]}"; do
    run_step "[$((k + 1))/${#step_labels[@]}] ${step_labels[k]}" "${step_commands[k]}"
  done
}

temporary=     # a folder to remove and a process to end when the script ends,
progress_pid=  # however it does
clean_up() {
  [[ -z $progress_pid ]] || kill "$progress_pid" 2>/dev/null || true
  [[ -z $temporary ]] || rm -rf "$temporary"
}
trap clean_up EXIT

run_step() {
  local label=$1 command=$2 started=$SECONDS status=0
  local what=${label#*] }
  local log=${what%%:*}
  log=${log//[^a-zA-Z0-9]/-}
  log=$root/.deps/log/${log%-}.log
  failure='' advice='see the log' note=''
  : >"$log" || die "cannot write to $log: free some space, or run as the owner of this folder"
  [[ -t 2 ]] || printf '%s\n' "$label" >&2
  show_progress "$label" "$log" "$$" &
  progress_pid=$!
  eval "$command" </dev/null >"$log" 2>&1 || status=$?
  kill "$progress_pid" 2>/dev/null || true
  wait "$progress_pid" 2>/dev/null || true
  progress_pid=
  [[ -t 2 ]] && printf '\r\e[K%s' "$label" >&2
  printf '  %d s\n' $((SECONDS - started)) >&2
  [[ -z $note ]] || say "$note"
  ((status == 0)) && return
  grep -qiE "no space left|disk full|enough free space|disk quota" "$log" &&
    failure="the disk is full" advice="free some space and run this again"
  die "cannot ${what%%:*}: ${failure:-it failed}; $advice (log: ${log#"$root/"})"
}

# On a terminal: label, seconds and the log's last line, redrawn. Elsewhere: a line every minute.
show_progress() {
  local label=$1 log=$2 parent=$3 started=$SECONDS pause=60 room=100 before='  ' after='\n' size last
  if [[ -t 2 ]]; then
    size=$(stty size <&2 2>/dev/null) && ((${size#* } > 40)) && room=${size#* }
    label=${label:0:room / 2}
    room=$((room - ${#label} - 12)) pause=0.2 before="\r\e[K$label" after=
  fi
  exec {never}<> <(:) {set_up_lock}>&-
  while ! read -rt "$pause" -u "$never" && kill -0 "$parent" 2>/dev/null; do
    last=$(tail -c 400 "$log" | tr '\r' '\n' | tail -n 1)
    printf "$before  %d s  %.*s$after" $((SECONDS - started)) "$room" "$last" >&2
  done
}

no_network() {
  grep -qiE "resol(ve|ution|ving)|connect|timed? ?out|unreachable|network" "$1"
}
