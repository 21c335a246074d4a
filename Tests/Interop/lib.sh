# Shared by the scripts of the tests: counting and a daemon.

# Where Python finds the harness.
PYTHONPATH=$(cd "$(dirname "${BASH_SOURCE[0]}")/../Support" && pwd)
export PYTHONPATH

passed=0
failed=0
skipped=0

# check NAME COMMAND...: passes if the command succeeds; its output is shown if not.
check() {
  local name=$1 output
  shift
  if output=$("$@" 2>&1); then
    passed=$((passed + 1))
    echo "ok: $name"
  else
    failed=$((failed + 1))
    printf 'FAILED: %s\n%s\n' "$name" "$output"
  fi
}

# skip COUNT REASON: counts checks that cannot be run, and says why.
skip() {
  echo "SKIPPED: $2"
  skipped=$((skipped + $1))
}

# contains TEXT COMMAND...: succeeds if the command's output contains the text. The command's exit status
# is ignored, since varlink.cli also ends with 0 on errors.
contains() {
  local text=$1 output
  shift
  output=$("$@" 2>&1)
  if grep -qF -- "$text" <<<"$output"; then return 0; fi
  printf 'expected %s in:\n%s\n' "$text" "$output"
  return 1
}

# silent COMMAND...: succeeds if the command prints nothing, as varlink.cli does for an empty reply.
silent() {
  local output
  output=$("$@" 2>&1)
  if [ -z "$output" ]; then return 0; fi
  printf 'expected no output, got:\n%s\n' "$output"
  return 1
}

# finish: prints the totals and ends the script.
finish() {
  local line="$passed passed, $failed failed"
  [ "$skipped" -eq 0 ] || line+=", $skipped skipped"
  echo "$line"
  [ "$failed" -eq 0 ]
  exit
}

# wait_for_socket PATH PID: until a connection is accepted; false once the process has ended.
wait_for_socket() {
  until python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' "$1" \
    2>/dev/null; do
    kill -0 "$2" 2>/dev/null || return 1
    sleep 0.05
  done
}

# start_daemon BIN: starts a livehostd for this script, stopped at its end. Sets daemon (its process; empty
# it once it has ended), directory (its files) and socket (its control socket); ends the script if it does
# not start.
start_daemon() {
  directory=$(mktemp -d)
  "$1/livehostd" --runtime-dir "$directory/run" --state-dir "$directory/state" 2>"$directory/log" &
  daemon=$!
  trap stop_daemon EXIT
  socket=$directory/run/io.livehost.Control
  wait_for_socket "$socket" "$daemon" && return
  cat "$directory/log"
  echo "0 passed, 1 failed"
  exit 1
}

# Stops it, at the end of the script, which fails if the daemon did not end with 0.
stop_daemon() {
  local status=$? ended=0
  if [ -n "$daemon" ]; then
    kill "$daemon" 2>/dev/null
    wait "$daemon" 2>/dev/null
    ended=$?
  fi
  if [ "$ended" -ne 0 ]; then
    echo "FAILED: the daemon ended with status $ended"
    tail -n 10 "$directory/log"
    status=1
  fi
  rm -rf "$directory"
  exit "$status"
}
