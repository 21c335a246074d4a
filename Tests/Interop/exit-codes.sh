#!/bin/bash
# Provokes each exit code once with the real programs, and tries what a user without rights must not do:
# `exit-codes.sh BIN`, where BIN is the directory of the programs.
set -u
cd "$(dirname "$0")/../.." || exit 1
here=$PWD/Tests/Interop
. "$here/lib.sh"
bin=$(readlink -f "${1:?usage: exit-codes.sh BIN}")
start_daemon "$bin"
ctl=$bin/livehostctl
provoked=()

# ends_with CODE COMMAND...: whether the command exits with CODE, and with a diagnostic if it failed.
ends_with() {
  local wanted=$1 status output
  shift
  output=$("$@" 2>&1 >/dev/null)
  status=$?
  provoked+=("$wanted")
  [ $status -eq "$wanted" ] || { echo "ended with $status: $output"; return 1; }
  [ "$wanted" -eq 0 ] || [ "$wanted" -eq 130 ] || [ -n "$output" ] || { echo "printed no diagnostic"; return 1; }
}

# code CODE NAME COMMAND...
code() {
  local wanted=$1 name=$2
  shift 2
  # Not in a subshell, since it records the code.
  if ends_with "$wanted" "$@" >"$directory/output"; then
    passed=$((passed + 1))
    echo "ok: $wanted, $name"
  else
    failed=$((failed + 1))
    echo "FAILED: $wanted, $name: $(cat "$directory/output")"
  fi
}

interrupted() {
  "$ctl" --socket "$socket" watch main --json=short >"$directory/states" &
  local watching=$!
  until [ -s "$directory/states" ]; do
    kill -0 "$watching" || break
    sleep 0.05
  done
  kill -INT "$watching"
  wait "$watching"
}

cat >"$directory/wrong.yaml" <<'YAML'
name: wrong
nonsense: 1
YAML

code 0 "a room is opened" "$ctl" --socket "$socket" open main
code 1 "a room that is open is opened" "$ctl" --socket "$socket" open main
code 64 "a room is not named" "$ctl" --socket "$socket" show
code 65 "an event of an unknown type" "$ctl" --socket "$socket" send main '{"type":"nonsense"}'
code 69 "no daemon listens there" "$ctl" --socket "$directory/nobody" status
code 78 "a scenario with an unknown key" "$ctl" simulate "$directory/wrong.yaml" --local
code 99 "a threshold that cannot be met" "$ctl" simulate config/scenarios/host-screen.yaml --local \
  --set duration=5s --device iphone-15-plus --variant ignored --threshold 'frames < 0'
code 130 "Ctrl-C" interrupted

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  # As the service's socket unit does: every user may connect.
  chmod 711 "$directory" "$directory/run" && chmod 666 "$socket"
  install -m 755 "$ctl" "$directory/livehostctl"
  stranger=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all env HOME=/nonexistent)
  if "${stranger[@]}" "$directory/livehostctl" --version >/dev/null 2>&1; then
    code 77 "a stranger opens a room" "${stranger[@]}" "$directory/livehostctl" --socket "$socket" open x
    code 0 "a stranger looks at one" "${stranger[@]}" "$directory/livehostctl" --socket "$socket" show main
    install -m 644 "$here/permissions.py" "$directory/permissions.py"
    check "every method that requires privileges is refused to a stranger, and no other" \
      "${stranger[@]}" python3 "$directory/permissions.py" "$socket"
    chmod 600 "$socket"
    code 77 "a stranger who may not even connect" \
      "${stranger[@]}" "$directory/livehostctl" --socket "$socket" status
  else
    skip 4 "the programs cannot be run as another user here"
    provoked+=(77)
  fi
else
  skip 4 "not root, so the rights of other users cannot be tried"
  provoked+=(77)
fi

every_code() {
  local listed number
  listed=$("$ctl" --help | tr '\n' ' ' | grep -oE 'Exit codes: .*interrupted' | grep -oE '[0-9]+')
  [ -n "$listed" ] || { echo "--help lists no exit codes"; return 1; }
  for number in $listed; do
    [[ " ${provoked[*]} " == *" $number "* ]] || { echo "$number was never provoked"; return 1; }
  done
}
check "every exit code listed by --help was provoked" every_code
code 64 "the daemon does not know an option" "$bin/livehostd" --nonsense
code 78 "the daemon's configuration is wrong" "$bin/livehostd" --config "$directory/wrong.yaml"
code 1 "the daemon's sockets are taken" \
  "$bin/livehostd" --runtime-dir "$directory/run" --state-dir "$directory/other"
kill -TERM "$daemon"
wait "$daemon"
ended=$?
daemon=
check "0, the daemon is asked to end" test $ended -eq 0
finish
