#!/bin/bash
# What local users and senders whom nobody trusts can do to a daemon: `strangers.sh BIN`, where BIN is the
# directory of the programs. Needs root, to be another user; without it, everything is skipped.
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
bin=${1:?usage: strangers.sh BIN}
if [ "$(id -u)" -ne 0 ]; then
  skip "$(python3 "$here/strangers.py" --count)" "strangers.sh has to be run by root, to become another user"
  finish
fi
# Senders are members of the group livehost, which a machine without the package does not have. In a mount namespace
# of its own the script sees a file of groups that has it; for everybody else that stays as it is.
if ! getent group livehost >/dev/null && [ -z "${STRANGERS_TRIED:-}" ]; then
  export STRANGERS_TRIED=1
  number=64000
  while getent group "$number" >/dev/null; do number=$((number + 1)); done
  groups=$(mktemp)
  { awk 1 /etc/group && echo "livehost:x:$number:"; } >"$groups"
  chmod 644 "$groups"
  inside=(unshare --mount --propagation private sh -c 'mount --bind "$0" /etc/group && exec "$@"' "$groups")
  if "${inside[@]}" getent group livehost >/dev/null 2>&1; then
    exec "${inside[@]}" sh -c 'rm "$0" && exec "$@"' "$groups" "$here/strangers.sh" "$bin"
  fi
  rm "$groups"
fi
directory=$(mktemp -d)
# Strangers have to reach the sockets, as in the installed service.
chmod 755 "$directory"
mkdir -m 755 "$directory/run"
"$bin/livehostd" --runtime-dir "$directory/run" --state-dir "$directory/state" 2>"$directory/log" &
daemon=$!
trap stop_daemon EXIT
wait_for_socket "$directory/run/io.livehost.Control" "$daemon" || {
  cat "$directory/log"
  echo "0 passed, 1 failed"
  exit 1
}
python3 "$here/strangers.py" "$directory/run" "$daemon" "$bin"
