#!/bin/bash
# Completes command lines of livehostctl against a running daemon: `completion.sh BIN`, where BIN is the
# directory of the programs. Tests/System/package.sh tries the scripts that the package installs.
set -u
cd "$(dirname "$0")/../.." || exit 1
. Tests/Interop/lib.sh
bin=$(readlink -f "${1:?usage: completion.sh BIN}")
start_daemon "$bin"
export PATH=$bin:$PATH LIVEHOST_SOCKET=$socket
for shell in bash zsh fish; do livehostctl completion $shell >"$directory/$shell" || exit 1; done
livehostctl open main
livehostctl send main '{"type":"tap","control":"camera","on":true}'
livehostctl send main '{"type":"slider","control":"zoom","phase":"begin","value":0.1}'
livehostctl send main '{"type":"slider","control":"zoom","phase":"end","value":0.5}'
livehostctl send main '{"type":"waiting.join","user":{"id":"u42","name":"Wanda"}}'
livehostctl send main '{"type":"chat.notice","kind":"raid","user":{"id":"7","name":"Ada"},"count":9}'
recording=$(livehostctl record start main)

completes() { # expected, words...
  local expected=$1 found
  shift
  found=$(bash Tests/Interop/complete.bash "$directory/bash" "$@" 2>&1)
  [ "$found" = "$expected" ] || { echo "'$*' is completed by '$found'"; return 1; }
}
check "verbs" completes show livehostctl sho
check "verbs after an option" completes show livehostctl --socket "$socket" sho
check "inner verbs" completes "start stop" livehostctl record st
check "rooms" completes main livehostctl show ma
check "rooms after a global option" completes main livehostctl --socket "$socket" show ma
check "rooms after an option with =" completes main livehostctl show --json = short ma
check "features" completes "waitingRoom" livehostctl watch main chat w
check "views" completes HostView livehostctl why main Ho
check "views after an option with =" completes HostView livehostctl why --json = short main Ho
check "controls" completes "camera zoom" livehostctl set main ''
check "people in the waiting room" completes u42 livehostctl admit main u
check "notices" completes 1 livehostctl chat pin main ''
check "recordings" completes "$recording" livehostctl replay ''
check "recordings of an inner verb" completes "$recording" livehostctl record export main
check "recordings and rooms" completes "$recording main" livehostctl analyze chatters ''
check "values of an option" completes "pending" livehostctl top --sort pe
check "values after =" completes short livehostctl --json = s
check "values after = behind a verb" completes short livehostctl show main --json = s
check "devices" completes iphone-13-mini livehostctl simulate --device iphone-13
check "options" completes --interval livehostctl top --int
check "silence where there is nothing" completes '' livehostctl cancel ''
LIVEHOST_SOCKET=/nonexistent check "silence without a daemon" completes '' livehostctl show ''

if command -v zsh >/dev/null; then
  check "the zsh script is well formed" zsh -n "$directory/zsh"
else
  skip 1 "zsh is not installed"
fi
if command -v fish >/dev/null; then
  # It asks the line editor for the words, so it completes nothing in a script.
  check "the fish script is well formed" fish --no-execute "$directory/fish"
else
  skip 1 "fish is not installed"
fi
finish
