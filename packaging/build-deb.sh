#!/usr/bin/env bash
# Builds the Debian packages: build-deb.sh PROGRAMS [OUTPUT]
#
# PROGRAMS is the directory with the built programs. OUTPUT, by default .build/deb, receives the
# packages. Debian's tools expect packaging/debian at the root of the sources, so a copy is staged
# in OUTPUT. The copy is kept if the build fails.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
programs=$(cd "$1" && pwd)
mkdir -p "${2:-$repository/.build/deb}"
output=$(cd "${2:-$repository/.build/deb}" && pwd)

for program in livehostd livehostctl livehost-source livehost-web livehost-gateway; do
  if [ ! -x "$programs/$program" ]; then
    echo "build-deb.sh: $programs/$program is missing; build it first" >&2
    exit 1
  fi
done

tree=$output/livehost
rm -rf "$tree"
rm -f "$output"/livehost{,-sources,-web,-gateway}_*
mkdir "$tree"
cd "$repository"
cp -a LICENSE README.md packaging config "$tree/"
install -D --mode=644 -t "$tree/Sources/Control/ControlInterface" \
  Sources/Control/ControlInterface/io.livehost.Control.varlink
mv "$tree/packaging/debian" "$tree/debian"
cd "$tree"
# The programs are already built, so the build dependencies need not be installed.
LIVEHOST_BIN=$programs dpkg-buildpackage --build=binary --no-check-builddeps --no-sign \
  >"$output/build.log" 2>&1 || {
  tail -n 30 "$output/build.log" >&2
  exit 1
}
cd "$output"
rm -rf "$tree"
ls "$output"/livehost{,-sources,-web,-gateway}_*.deb
