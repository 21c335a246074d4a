#!/usr/bin/env bash
# Copies the shared libraries of the Swift toolchain that programs need: bundle-runtime.sh DIRECTORY
# PROGRAM... Libraries from Debian packages become dependencies instead.
#
# The libraries are bundled instead of linked statically, so that all programs share one copy and
# the packaged programs are the ones that were tested.
set -euo pipefail
directory=$1
shift

install -d "$directory"
missing=$(ldd "$@" | grep 'not found' || true)
if [ -n "$missing" ]; then
  echo "bundle-runtime.sh: libraries are missing; was the Swift toolchain moved since the build?" >&2
  echo "$missing" >&2
  exit 1
fi
# The toolchain's directory is the one that contains the Swift core library.
core=$(ldd "$1" | awk '$1 == "libswiftCore.so" { print $3 }')
if [ -z "$core" ]; then
  echo "bundle-runtime.sh: $1 does not use the shared libraries of the Swift runtime" >&2
  exit 1
fi
toolchain=$(dirname "$core")
ldd "$@" | awk -v prefix="$toolchain/" 'index($3, prefix) == 1 { print $3 }' | sort -u |
  while read -r library; do
    install --mode=644 "$library" "$directory/"
  done
