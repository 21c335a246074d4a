# shellcheck shell=bash
# Debian roots for tests, made by debootstrap once and reused. To be sourced.
#
# LIVEHOST_DEBIAN_MIRROR    the package mirror; default: the one in this machine's configuration of apt

# Prints the mirror; nothing if the machine has none.
debian_mirror() {
  local format='$(RELEASE) $(COMPONENT) $(REPO_URI)' origin
  [ -z "${LIVEHOST_DEBIAN_MIRROR:-}" ] || { echo "$LIVEHOST_DEBIAN_MIRROR"; return; }
  # The origin is known only once the lists of packages have been fetched.
  for origin in 'Origin: Debian' ''; do
    apt-get indextargets --format "$format" 'Created-By: Packages' ${origin:+"$origin"} 2>/dev/null |
      awk '$1 !~ /[-\/]/ && $2 == "main" && $3 ~ /^https?:/ { print $3 }'
  done | head -n 1
}

# make_debian_root DIRECTORY SUITE PROGRAM PACKAGES: makes the root unless it has PROGRAM already. Prints
# why it cannot, and fails. The root is made under another name and renamed, so that a root is complete.
make_debian_root() {
  local root=$1 suite=$2 program=$3 packages=$4 mirror
  mkdir -p "$(dirname "$root")" || return
  exec 9>"$root.lock"
  flock 9
  if [ ! -x "$root/$program" ]; then
    command -v debootstrap >/dev/null || { echo "debootstrap is not installed"; return 1; }
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || { echo "apt is not configured with a mirror; set LIVEHOST_DEBIAN_MIRROR"; return 1; }
    rm -rf "$root.new"
    echo "# making a Debian root in $root (once)"
    if ! debootstrap --variant=minbase --include="$packages" "$suite" "$root.new" "$mirror" \
      >"$root.log" 2>&1; then
      tail -n 5 "$root.log" | sed 's/^/# /'
      rm -rf "$root.new"
      echo "debootstrap failed (log: $root.log)"
      return 1
    fi
    rm -rf "$root"
    mv "$root.new" "$root"
  fi
  exec 9>&-
}
