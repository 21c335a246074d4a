#!/usr/bin/env bash
# Prints the path of a Python that has the packages of requirements.txt. Installs them on the first
# call, and again when that file changes. Fails, with the reason on standard error, if they cannot
# be installed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
environment=$here/../../.build/python
mkdir -p "$here/../../.build"
exec 9>"$here/../../.build/python.lock"
flock 9
if ! cmp -s "$here/requirements.txt" "$environment/requirements.txt"; then
  rm -rf "$environment"
  python3 -m venv "$environment" >&2
  "$environment/bin/pip" --quiet --disable-pip-version-check install -r "$here/requirements.txt" >&2
  cp "$here/requirements.txt" "$environment/"
fi
echo "$environment/bin/python"
