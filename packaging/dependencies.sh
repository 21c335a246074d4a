#!/usr/bin/env bash
# Installs missing Debian packages: `dependencies.sh build [deb] [test] [soak]`. Needs root or sudo
# only if a package is missing.
set -euo pipefail

packages=()
for group in "$@"; do
  case "$group" in
    build) packages+=(libsystemd-dev libsimdjson-dev libsqlite3-dev libnats-dev zlib1g-dev pkg-config g++) ;;
    deb) packages+=(debhelper lintian patchelf man-db python3) ;;
    test) packages+=(git debootstrap systemd-container less python3-venv tmux varlink-go zsh fish valgrind \
      iproute2 chromium chromium-driver fonts-dejavu-core obs-studio xvfb zbar-tools) ;;
    soak) packages+=(python3-fusepy fuse3) ;;
    *) echo "dependencies.sh: unknown group '$group': use build, deb, test or soak" >&2; exit 64 ;;
  esac
done

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null || true)
  [ "$status" = "install ok installed" ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

sudo=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "dependencies.sh: missing ${missing[*]}; run as root, or install them or sudo" >&2
    exit 1
  fi
  sudo=(sudo)
fi
echo "installing ${missing[*]}"
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -qq --no-install-recommends "${missing[@]}" >/dev/null
