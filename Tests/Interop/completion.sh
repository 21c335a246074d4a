#!/bin/bash
# Completes command lines of livehostctl in bash against a running daemon: `completion.sh BIN`, where BIN is
# the directory of the programs. What the package installs is tried by Tests/System/package.sh.
set -u
cd "$(dirname "$0")/../.." || exit 1
. Tests/Interop/lib.sh
bin=$(readlink -f "${1:?usage: completion.sh BIN}")
start_daemon "$bin"
export PATH=$bin:$PATH LIVEHOST_SOCKET=$socket
packaging/completion/generate.py --programs "$bin" --output "$directory/completion" || exit 1
livehostctl open main
livehostctl send main '{"type":"tap","control":"camera","on":true}'
livehostctl send main '{"type":"slider","control":"zoom","phase":"begin","value":0.1}'
livehostctl send main '{"type":"slider","control":"zoom","phase":"end","value":0.5}'
recording=$(livehostctl record start main)

# What is offered for a line of words, the last of which is being written.
offered() {
  bash -c '
    set -u
    . "$1" && shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _livehostctl
    echo ${COMPREPLY[*]+"${COMPREPLY[*]}"}' - "$directory/completion/livehostctl" "$@" 2>&1
}
completes() { # expected, words...
  local expected=$1 found
  shift
  found=$(offered "$@")
  [ "$found" = "$expected" ] || { echo "'$*' is completed by '$found'"; return 1; }
}
check "verbs" completes show livehostctl sho
check "rooms" completes main livehostctl show ma
check "features" completes "waitingRoom" livehostctl watch main chat w
check "views" completes HostView livehostctl why main Ho
check "controls" completes "camera zoom" livehostctl set main ''
check "recordings" completes "$recording" livehostctl replay ''
check "recordings of an inner verb" completes "$recording" livehostctl record export main
check "recordings and rooms" completes "$recording main" livehostctl analyze chatters ''
check "values of an option" completes "pending" livehostctl top --sort pe
check "values after =" completes short livehostctl --json = s
check "options" completes --interval livehostctl top --int
check "silence where there is nothing" completes '' livehostctl cancel ''
LIVEHOST_SOCKET=/nonexistent check "silence without a daemon" completes '' livehostctl show ''
if command -v zsh >/dev/null; then
  check "the zsh script is well formed" zsh -n "$directory/completion/_livehostctl"
else
  echo "SKIPPED: zsh is not installed"
  skipped=$((skipped + 1))
fi
finish
