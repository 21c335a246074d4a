#!/bin/bash
# How the work for hostile text grows with its size, in instructions: `growth.sh BIN`, where BIN is the
# directory of the programs.
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
bin=$(readlink -f "${1:?usage: growth.sh BIN}")
if ! command -v callgrind_control >/dev/null; then
  skip "$(python3 "$here/growth.py" --count)" "callgrind is not installed (Debian package valgrind)"
  finish
fi
work=$(mktemp -d)
# Valgrind cannot read the debug information.
strip --strip-debug -o "$work/program" "$bin/livehostd" || exit 1
# Nor can it run libdispatch's own end of the main thread, which serves the main queue by another.
cat >"$work/main.c" <<'C'
#include <unistd.h>
extern void _dispatch_main_queue_callback_4CF(void *);
void dispatch_main(void) {
  for (;;) {
    _dispatch_main_queue_callback_4CF(0);
    usleep(10000);
  }
}
C
g++ -x c -shared -fPIC -o "$work/main.so" "$work/main.c" || exit 1
printf '#!/bin/sh\nexec valgrind --quiet --tool=callgrind --callgrind-out-file=/dev/null %s "$@"\n' \
  "$work/program" >"$work/livehostd"
chmod +x "$work/livehostd"
export LD_PRELOAD=$work/main.so
start_daemon "$work"
unset LD_PRELOAD
python3 "$here/growth.py" "$directory/run" "$daemon"
status=$?
rm -rf "$work"
(exit "$status")
