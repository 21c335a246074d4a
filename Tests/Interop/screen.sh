#!/bin/bash
# Looks at the screen of livehostctl in a real terminal, tmux: `screen.sh BIN`, where BIN is the directory
# of the programs. All six children of the host are on it while the bundled recording plays, in four sizes;
# and the terminal is afterwards as it was, however the program ended.
set -u
cd "$(dirname "$0")/../.." || exit 1
. Tests/Interop/lib.sh
bin=$(readlink -f "${1:?usage: screen.sh BIN}")
if ! command -v tmux >/dev/null; then
  skip 62 "tmux is not installed (Debian package tmux)"
  finish
fi
work=$(mktemp -d)
server=
terminals=0
tmux() { command tmux -L "$server" -f /dev/null "$@"; }
cleanup() {
  [ -z "$server" ] || tmux kill-server 2>/dev/null
  rm -rf "$work"
}
trap cleanup EXIT

# A shell in a terminal of a size: terminal COLUMNS ROWS.
terminal() {
  # Another server each time: one that is told to end takes its time.
  [ -z "$server" ] || tmux kill-server
  terminals=$((terminals + 1))
  server=livehost-screen-$$-$terminals
  tmux new-session -d -x "$1" -y "$2" -s screen "env -u NO_COLOR PS1='> ' LC_ALL=C.UTF-8 bash --norc --noprofile"
  tmux set-option -g status off
}
screen() { tmux capture-pane -p -t screen; }
type() { tmux send-keys -t screen "$@"; }
enter() { type -l "$1" && type Enter; }

# Waits until the screen has every one of the texts at once; shows it if it never has.
shows() { # TEXT...
  local text picture
  for _ in $(seq 1200); do
    picture=$(screen) || return 1
    for text in "$@"; do
      grep -qE -- "$text" <<<"$picture" || { sleep 0.05; continue 2; }
    done
    return 0
  done
  printf 'never on the screen together: %s\n%s\n' "$*" "$picture"
  return 1
}
panes=("^main" "[─━] Stream" "━ Chat")
onAir=("─ Connection" "─ Controls" "─ Recorder" "─ Waiting room")

# What the terminal is like between two commands: its settings, and what it shows.
settings() { tmux send-keys -t screen -l "stty -a | sed 's/rows.*columns[^;]*//' >$work/$1; echo $1 done" && type Enter && shows "^$1 done"; }
unchanged() { # what the settings and the text before it were called
  # What is typed before the screen is gone belongs to the screen.
  shows "^written before$" || return 1
  settings after >/dev/null || return 1
  diff "$work/$1" "$work/after" || return 1
  # The lines above are still there, and nothing of the screen is.
  shows "^written before$" "^after done" && ! screen | grep -qE '[─━] (Recorder|Stream)'
}

demo() { # columns, rows: the panes in both states of a stream
  terminal "$1" "$2"
  enter "echo written before"
  shows "^written before$" >/dev/null
  settings before
  enter "$bin/livehostctl demo"
  check "$1 x $2: before the stream people wait" \
    shows "${panes[@]}" "─ Waiting room" "WAITING" "[0-9]+ waiting +[0-9]+ admitted" "events"
  check "$1 x $2: on the air all six children show something" \
    shows "${panes[@]}" "${onAir[@]}" "LIVE" "on the air" "kbit/s" "[0-9]+ messages? by" \
    "recording +[0-9]" "[0-9]+%" "over; [0-9]+ admitted" "█" "[▁▂▃▄▅▆▇]"
  type Right
  check "$1 x $2: the recording plays in the other room" \
    shows "examplehost +[A-Z]+" "[0-9]+ messages? by" "U[a-z]+: "
  type C-c
  check "$1 x $2: Ctrl-C gives the terminal back as it was" unchanged before
}
demo 160 48
demo 100 30
demo 80 24
demo 60 20

# The daemon goes away under a screen.
start_daemon "$bin"
trap 'status=$?; cleanup; (exit "$status"); stop_daemon' EXIT
terminal 60 20
# What the terminal shows once a text is on it, with its colours; then whether there are any.
picture() { shows "$1" && tmux capture-pane -ep -t screen | cat -v; }
colours='\^\[\[([0-9]+;)*3[1-6]m'
coloured() { picture "$1" | tee "$work/picture" | grep -qE "$colours" || { cat "$work/picture" && false; }; }
colourless() { picture "$1" | tee "$work/picture" | { ! grep -E "$colours"; } && [ -s "$work/picture" ]; }
ctl="$bin/livehostctl --socket $socket"
enter "NO_COLOR=1 $ctl status; $ctl status | cat; TERM=dumb $ctl status; echo all three"
check "no colour with NO_COLOR, in a pipe, or on a dumb terminal" colourless "^all three"
enter "clear; $ctl status; echo one"
check "colour on a terminal" coloured "^one"
enter "clear; $ctl --help --no-pager; echo unpaged"
check "nothing is paged with --no-pager" shows "^unpaged"
if command -v less >/dev/null; then
  enter "clear; unset PAGER LESS; $ctl --help; echo back"
  check "what is taller than the terminal is paged" shows "^OVERVIEW" "^lines 1-|^:"
  type q
  check "and the shell is back after it" shows "^back"
else
  skip 2 "less is not installed (Debian package less)"
fi
enter "clear; echo written before"
# A command that is typed while another runs would be echoed into its output.
shows "^written before$" >/dev/null
settings before
"$bin/livehostctl" --socket "$socket" open main
enter "$ctl watch main"
check "a room is watched" shows "${panes[@]:0:2}"
title() { [ "$(tmux display -p -t screen '#{pane_title}')" = "$1" ] || { tmux display -p -t screen '#{pane_title}'; false; }; }
check "the window says what is in it" title livehost
send() { "$bin/livehostctl" --socket "$socket" send main "$1" >/dev/null; }
send '{"type":"chat.message","id":"0","user":{"id":"u","name":"ann"},"text":"alone"}'
# Nothing but the title of the recorder takes space from a chat that is alone.
alone() {
  shows "ann: alone" "^─ Recorder ─{${1}}" && screen | grep -qE "^[─━]+ Chat ━+$" && ! screen | grep -q "[│┬]"
}
for size in "160 48" "100 30"; do
  tmux resize-window -t screen -x "${size% *}" -y "${size#* }"
  check "at ${size/ / x } a chat alone has the whole width" alone $((${size% *} - 11))
done
send '{"type":"poll.begin","id":"p","title":"what next?","options":["a","b","c","d","e"]}'
send '{"type":"tap","control":"camera","on":true}'
send '{"type":"chat.message","id":"1","user":{"id":"u","name":"한국어"},"text":"안녕하세요 日本語 e\u0301 x"}'
send '{"type":"chat.message","id":"2","user":{"id":"u","name":"ann"},"text":"👍 plain"}'
check "a window that grows is drawn anew" shows "━ Chat ━{40,}┬─ Poll" "├─ Controls" "ann: 👍 plain"
# The columns at which the lines between panes are, one for each row that has one.
dividers() {
  screen | python3 -c '
import sys, unicodedata
for line in sys.stdin:
    width = 0
    for c in line:
        if c in "┬│├": print(width); break
        wide = unicodedata.east_asian_width(c) in "WF"
        width += 0 if unicodedata.combining(c) else 2 if wide else 1'
}
aligned() { shows "한국어: 안녕하세요 日本語" && [ "$(dividers | sort -u | wc -l)" = 1 ]; }
check "columns line up beside wide characters" aligned
type "?"
check "its keys are listed" shows "Page Up" "Any key"
type x
check "and any key closes the list" shows "ann: 👍 plain"
# Acting on what is selected. `state FEATURE TEXT` waits until the room's state contains a text.
state() {
  local text
  for _ in $(seq 200); do
    text=$("$bin/livehostctl" --socket "$socket" show main "$1" --json=short)
    grep -qE -- "$2" <<<"$text" && return 0
    sleep 0.05
  done
  echo "never in the state: $2; $text"
  return 1
}
send '{"type":"waiting.join","user":{"id":"w1","name":"Wanda"}}'
send '{"type":"waiting.join","user":{"id":"w2","name":"Willi"}}'
send '{"type":"slider","control":"volume","phase":"end","value":0.5}'
send '{"type":"chat.notice","kind":"raid","user":{"id":"r","name":"rae"},"count":7}'
# The number of a pane is its position among those by importance.
focus() { # TITLE
  for _ in 1 2 3 4 5 6 7 8; do screen | grep -q "━ $1 ━" && return 0; type Tab; sleep 0.2; done
  screen
  return 1
}
check "the waiting room can be focused" focus "Waiting room"
type Down Down
check "its people can be selected, and the bottom line says what can be done" shows "e let in|l let in"
type Enter
check "one is let in" state waitingRoom '"admitted":1'
check "and the screen says so" shows "let in: done"
check "the chat can be focused" focus Chat
# Upwards from the newest message until there is an act.
upTo() { for _ in $(seq 20); do type Up; sleep 0.2; screen | tail -n 1 | grep -q "$1" && return 0; done; screen; return 1; }
check "a notice is reached" upTo "p pin"
type p
check "and pinned" state chat '"pinned":true'
type Escape
type End
type Up
check "a message is selected" shows "t thread +o only this person"
type t
check "its thread is opened" shows "thread:"
type o
check "the chat is filtered by its author" state chat '"filter":\{'
check "and shown so" shows "only by"
"$bin/livehostctl" --socket "$socket" chat filter main >/dev/null
type Escape Down
shows "select|f filter by words" >/dev/null
type f
check "words to filter by are asked for" shows "filter by words:"
type -l plain && type Enter
check "the chat is filtered by words" shows 'only with "plain"'
"$bin/livehostctl" --socket "$socket" chat filter main >/dev/null
type Escape
type / && type -l plain && type Enter
check "a search selects what it finds" shows "ann: 👍 plain" "t thread"
type Escape
check "the controls can be focused" focus Controls
type Down
shows "s set +\+- change" >/dev/null
type + + # 0.5 and two steps
check "a slider is moved" state control '"volume":0.6'
type s && type -l 25 && type Enter
check "and set" state control '"volume":0.25'
type Down Enter
check "a switch is turned" state control '"camera":false'
# SGR 1006: the first button goes down at a column and a row that count from 1.
click() { # TEXT
  local row column
  row=$(screen | grep -n -- "$1" | head -1 | cut -d: -f1)
  column=$(screen | sed -n "${row}p" | python3 -c '
import sys, unicodedata
before = sys.stdin.read().split(sys.argv[1])[0]
print(1 + sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in before))' "$1")
  type -l "$(printf '\033[<0;%d;%dM\033[<0;%d;%dm' "$column" "$row" "$column" "$row")"
}
shows "camera off" >/dev/null
click "camera off"
check "a click selects" shows "turn on"
click "camera off"
check "a second one acts" state control '"camera":true'
check "the recorder can be focused" focus Recorder
type Down Enter
check "a recording is started" state recorder '"state":"recording"'
type Down && shows "p pause|s stop|pause" >/dev/null
type s
check "and stopped" state recorder '"state":"idle"'
type Escape Escape
check "Escape gives the list of rooms" shows "^Rooms +1" "main +waiting"
type Enter
check "from which one is opened" shows "━ "
# The daemon is killed and comes back under each of the verbs that stay.
kill_daemon() { kill -9 "$daemon" && wait "$daemon" 2>/dev/null; daemon=; }
restart_daemon() {
  "$bin/livehostd" --runtime-dir "$directory/run" --state-dir "$directory/state" "$@" 2>>"$directory/log" &
  daemon=$!
  wait_for_socket "$socket" "$daemon"
}
gone() { ! screen | grep -q "went away"; }
eventually_gone() { for _ in $(seq 600); do gone && return 0; sleep 0.05; done; screen; return 1; }
kill_daemon
check "watch says that the daemon went away, and keeps its picture" \
  shows "The daemon went away; waiting for it" "ann: 👍 plain"
restart_daemon
check "and goes on when it is back" eventually_gone
send '{"type":"chat.message","id":"3","user":{"id":"u","name":"bea"},"text":"after the restart"}'
check "with what comes then" shows "ann: 👍 plain" "bea: after the restart"
type q
check "and ends as it began" unchanged before
enter "$ctl top --interval 0.2"
check "top shows the room" shows "main" "HostView"
type Enter
check "Enter watches it" shows "━ " "ann: 👍 plain"
type q
check "and it ends as it began" unchanged before
check "the window has its title back" title "$(hostname)"
enter "$ctl top --interval 0.2"
shows "main" "HostView" >/dev/null
kill_daemon
check "top says that the daemon went away" shows "The daemon went away; waiting for it" "HostView"
restart_daemon
check "and goes on, too" eventually_gone
type q
check "and ends as it began" unchanged before
mkfifo "$work/pipe"
exec 9<>"$work/pipe"
enter "$ctl ingest - --room main <$work/pipe"
reaction() { printf '{"type":"reaction","kind":"like","count":1}\n' >&9; }
for _ in $(seq 100); do reaction; done
check "ingest has its first lines confirmed" shows "100 lines +.*100 confirmed"
kill_daemon
check "ingest says that the daemon went away" shows "the daemon went away; waiting for it"
for _ in $(seq 50); do reaction; done
check "and keeps what it reads" shows "daemon away, 50 lines waiting"
restart_daemon
check "which is delivered when the daemon is back" shows "connected again" "150 lines +.*150 confirmed"
exec 9>&-
type C-d
likes() { "$bin/livehostctl" --socket "$socket" show main header --json=short | grep -q '"likes":150'; }
check "each line took effect once" likes
# A flood with a wave in it.
kill_daemon
echo "rooms: {chatWaves: true}" >"$work/waves.yaml"
restart_daemon --config "$work/waves.yaml"
terminal 100 30
enter "$ctl watch main"
shows "━ Chat" >/dev/null
flood() { Tests/Interop/flood.py "$directory/run/ingest" "$server" | tee "$work/flood"; [ "${PIPESTATUS[0]}" -eq 0 ]; }
check "at 300 messages/s rows change once per second, and a wave stays where it is" flood
cat "$work/flood"
check "the wave is one row with its messages and people" shows "[0-9,]+ messages by [0-9,]+ people: POGGERS"
type q
finish
