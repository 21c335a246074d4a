#!/usr/bin/env bash
# Drives the page with Debian's Chromium: web.sh PROGRAMS [--write]. Needs chromium, chromium-driver and
# fonts-dejavu-core; Python packages it installs into a virtual environment. With --write it makes the pictures anew
# with which the page, a terminal and a report are compared, and which README.md shows (Tests/Interop/Pictures).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
programs=$(cd "$1" && pwd)
environment=$here/../../.build/web-venv
if [ ! -x "$environment/bin/python" ] ||
  ! "$environment/bin/python" -c 'import axe_playwright_python, PIL, playwright, pyte, selenium' 2>/dev/null; then
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet playwright axe-playwright-python pillow pyte selenium
fi
exec "$environment/bin/python" "$here/web.py" "$programs" "${@:2}"
