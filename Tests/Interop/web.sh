#!/usr/bin/env bash
# Drives the page with Debian's Chromium: web.sh PROGRAMS. Needs chromium and the Python package playwright, which it
# installs into a virtual environment.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
programs=$(cd "$1" && pwd)
environment=$here/../../.build/web-venv
if [ ! -x "$environment/bin/python" ] ||
  ! "$environment/bin/python" -c 'import axe_playwright_python, playwright' 2>/dev/null; then
  python3 -m venv "$environment"
  "$environment/bin/pip" install --quiet playwright axe-playwright-python
fi
exec "$environment/bin/python" "$here/web.py" "$programs"
