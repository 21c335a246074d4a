#!/usr/bin/env bash
# Records a trace with Debian's Chromium, of a page that measures with performance.measure(), and has livehostctl take
# costs from it: chromium-trace.sh PROGRAMS. Needs chromium. No time is judged: only that everything in the trace is found.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
programs=$(cd "$1" && pwd)
. "$here/lib.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if ! command -v chromium >/dev/null; then
  skip 6 'there is no chromium'
  finish
fi

cat >"$folder/page.html" <<'PAGE'
<script>
function burn(milliseconds) {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}
function measure(name, milliseconds, detail, within) {
  const start = performance.now();
  burn(milliseconds);
  if (within) within();
  performance.measure(name, {start, end: performance.now(), detail});
}
for (let number = 0; number < 40; number++) {
  const elements = number % 5;
  measure("HostView", 1, {elements, first: number == 0},
    () => measure("ChatView", 1 + elements, {elements, first: number == 0}));
}
</script>
PAGE
record() {
  timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$folder/profile" \
    --trace-startup=blink.user_timing --trace-startup-format=json --trace-startup-file="$folder/trace.json" \
    --trace-startup-duration=4 --virtual-time-budget=3000 --dump-dom "file://$folder/page.html"
}
ctl() { "$programs/livehostctl" calibrate "$@"; }
# found NAME: how many of its measurements the costs were fitted to.
found() {
  ctl "$folder/trace.json" --json=short |
    python3 -c 'import json, sys; print(next(c["measurements"] for c in json.load(sys.stdin)["costs"] if c["name"] == sys.argv[1]))' "$1"
}

check 'Chromium records a trace' record
check 'which is there' test -s "$folder/trace.json"
check 'livehostctl takes costs from it' ctl "$folder/trace.json"
# Every fifth of those after the first evaluation is held out.
check 'it has every measure of a view' test "$(found HostView)" = 33
check 'and of the view within that' test "$(found ChatView)" = 33
check 'a device profile comes of it' ctl "$folder/trace.json" --like iphone-15-plus --output "$folder/mine.yaml"
finish
