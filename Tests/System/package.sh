#!/bin/bash
# Test of the Debian package: built, examined, installed in a really booted Debian 12, removed, purged.
#
#   package.sh [DIRECTORY]    the directory with the built livehostd and livehostctl;
#                             default $LIVEHOST_BIN_DIR, else .build/release
#
# See lib.sh for the environment and what it prints. The root has some packages more than that of
# smoke.sh, and so a cache of its own: LIVEHOST_PACKAGE_ROOT_CACHE, default .../livehost/bookworm-package.
set -u -o pipefail

NAME=livehost-package
here=$(cd "$(dirname "$0")" && pwd)
BINARIES=${1:-${LIVEHOST_BIN_DIR:-$here/../../.build/release}}
LIVEHOST_ROOT_CACHE=${LIVEHOST_PACKAGE_ROOT_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/livehost/bookworm-package}

CHECKS=(
  "check_version          package, daemon and client have the same version"
  "check_lintian          lintian finds no error and no warning"
  "check_size             the installed size is the one that README.md states"
  "check_install          it installs on a running system"
  "check_active           service and sockets are active, and enabled for the next boot"
  "check_runtime          the programs find all libraries, the Swift runtime in the package"
  "check_limits           the unit's limits are in force"
  "check_exposure         systemd-analyze security is at most 0.6"
  "check_read             an ordinary user may run livehostctl status"
  "check_refused          an ordinary user's send is refused with 77, and ingest too"
  "check_allowed          a member of the group livehost may send and ingest"
  "check_manuals          the manual pages open without a warning and are found by whatis"
  "check_bash             completion in bash: verbs, rooms, features and views of the daemon"
  "check_zsh              completion in zsh loads"
  "check_catalog          journalctl -x explains an entry"
  "check_configuration    the installed configuration is fine, a wrong one is told with its place"
  "check_demo             an ordinary user plays the installed recording"
  "check_simulate         the installed scenario runs: a member's by the daemon, anybody's with --local"
  "check_upgrade          an upgrade restarts the service and leaves the sockets open"
  "check_status_text      a status text is set"
  "check_unprivileged     it runs as a dynamic user without capabilities"
  "check_restart          a restart brings the rooms back"
  "check_activation       each socket starts the service, also after a stop"
  "check_log              no entry of the service is a warning or worse"
  "check_reload           a reload is put in force or refused, and drops no connection"
  "check_kill             killed under load: back with all that was acknowledged, and the recording goes on"
  "check_kill_unrecorded  the same for a room that is not recorded"
  "check_stop_recording   stopped under load with a recording: cleanly, with all that was acknowledged"
  "check_watchdog         a lane that stands still is noticed by the watchdog, and the rooms come back"
  "check_entries          every kind of journal entry has its fields and its explanation"
  "check_silence          completion is silent while the service is stopped"
  "check_remove           removed: nothing runs, sockets and programs are gone, configuration and state stay"
  "check_reinstall        installed again, with the administrator's configuration"
  "check_purge            purged: nothing is left but what policy keeps"
)

. "$here/lib.sh"
. "$here/lifecycle.sh"

OUTPUT=$REPOSITORY/.build/package-test
PAGES="livehostd.8 livehostctl.1 livehostd.conf.5 livehost-scenario.5 io.livehost.Control.7"
UNITS="livehostd.service livehostd.socket livehostd-ingest.socket"

build_package() {
  local tool
  for tool in dpkg-buildpackage dh lintian patchelf python3; do
    command -v "$tool" >/dev/null || skip "$tool is not installed (packaging/dependencies.sh deb)"
  done
  rm -rf "$OUTPUT"
  # Packed quickly: the contents are what is tested.
  LIVEHOST_COMPRESSION=-z1 timeout 600 "$REPOSITORY/packaging/build-deb.sh" "$BINARIES" "$OUTPUT" >/dev/null ||
    fail_setup "the package could not be built (log: $OUTPUT/build.log)"
  PACKAGE=$(ls "$OUTPUT"/livehost_*.deb)
}

# The package's dependencies, from the mirror if the cached root lacks one.
install_dependencies() {
  local name missing=()
  for name in $(dpkg-deb -f "$PACKAGE" Depends | sed 's/|[^,]*//g; s/([^)]*)//g; s/,/ /g'); do
    chroot "$ROOT" dpkg-query -W "$name" >/dev/null 2>&1 || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return
  echo "# the cached root lacks ${missing[*]}; remove $CACHE to have it made anew"
  timeout 300 chroot "$ROOT" sh -c "apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq --no-install-recommends ${missing[*]}" >/dev/null 2>&1 ||
    skip "${missing[*]} cannot be installed in the root"
}

prepare_root() {
  install_dependencies
  install -m 644 "$PACKAGE" "$ROOT/root/livehost.deb"
  # debootstrap's root may leave manual pages out.
  rm -f "$ROOT/etc/dpkg/dpkg.cfg.d/docker" "$ROOT/etc/dpkg/dpkg.cfg.d/excludes"
  chroot "$ROOT" useradd --create-home visitor
  chroot "$ROOT" useradd --create-home host
}

dpkg_inside() {
  inside timeout 120 env DEBIAN_FRONTEND=noninteractive dpkg "$@"
}

as() { # user, command...
  local user=$1
  shift
  inside timeout 60 runuser -u "$user" -- "$@"
}

# All files but those of the kernel and of processes, the journal's, and man-db's cache of all pages.
list_files() {
  inside find / \( -path /proc -o -path /sys -o -path /dev -o -path /run/systemd -o -path /run/udev \
    -o -path /tmp -o -path /var/tmp -o -path /var/log/journal -o -path /run/log -o -path /var/cache/man \) -prune \
    -o -print | sort
}

check_version() {
  local package daemon client
  package=$(dpkg-deb -f "$PACKAGE" Version)
  daemon=$("$BINARIES/livehostd" --version)
  client=$("$BINARIES/livehostctl" --version)
  [ "$daemon" = "$package" ] && [ "${client#livehostctl }" = "$package" ] ||
    { echo "package $package, daemon $daemon, client $client"; return 1; }
}

check_lintian() {
  local found
  found=$(timeout 300 lintian --allow-root --tag-display-limit 0 --fail-on error,warning "$OUTPUT"/livehost_*.changes 2>&1)
  local status=$?
  echo "$found"
  [ "$status" = 0 ]
}

check_size() {
  local installed stated
  installed=$(($(dpkg-deb -f "$PACKAGE" Installed-Size) * 1024 / 1000000))
  stated=$(grep -oE 'takes [0-9]+ MB' "$REPOSITORY/README.md" | grep -oE '[0-9]+')
  echo "installed $installed MB, stated ${stated:-nothing} MB"
  # A tenth more or less is what a release adds or saves without a word.
  [ -n "$stated" ] && [ $((installed * 10)) -le $((stated * 11)) ] && [ $((installed * 10)) -ge $((stated * 9)) ]
}

check_install() {
  list_files >"$WORK/before"
  dpkg_inside -i /root/livehost.deb
}

check_active() {
  local unit state
  for unit in $UNITS; do
    state="$(inside systemctl is-active "$unit") $(inside systemctl is-enabled "$unit")"
    [ "$state" = "active enabled" ] || { echo "$unit is $state"; return 1; }
  done
}

check_runtime() {
  local program libraries
  for program in livehostd livehostctl; do
    libraries=$(inside ldd "/usr/bin/$program") || return
    if grep 'not found' <<<"$libraries"; then return 1; fi
    grep -q 'libswiftCore.so => /usr/lib/livehost/' <<<"$libraries" ||
      { echo "$program does not use the bundled runtime"; return 1; }
  done
}

check_limits() {
  local wanted=(TasksMax=512 MemoryMax=1073741824 LimitCORE=0 LimitNOFILE=65536
    "IPAddressDeny=0.0.0.0/0 ::/0" PrivateNetwork=yes NoNewPrivileges=yes DynamicUser=yes
    CapabilityBoundingSet= ProtectSystem=strict WatchdogUSec=30s)
  local line found failed=0
  for line in "${wanted[@]}"; do
    # systemd lists the members of a set in any order.
    found=$(property "${line%%=*}" livehostd.service | tr ' ' '\n' | sort | paste -sd ' ')
    [ "$found" = "${line#*=}" ] || { echo "${line%%=*}=$found, expected $line"; failed=1; }
  done
  return "$failed"
}

check_read() {
  as visitor livehostctl status | head -n 1
}

check_refused() {
  local status
  as visitor livehostctl send main '{"type":"viewers","count":1}'
  status=$?
  [ "$status" = 77 ] || { echo "send ends with $status"; return 1; }
  echo '{"type":"viewers","count":1}' | as visitor livehostctl ingest -
  status=$?
  [ "$status" = 77 ] || { echo "ingest ends with $status"; return 1; }
}

check_allowed() {
  inside usermod -aG livehost host || return
  as host livehostctl send main \
    '{"type":"chat.message","id":"1","user":{"id":"7","name":"Ada"},"text":"hello"}' || return
  echo '{"type":"viewers","room":"other","count":1}' | as host livehostctl ingest - || return
  as visitor livehostctl show main chat --json=short | grep -q '"total":1[,}]'
}

check_manuals() {
  local page name text failed=0
  inside timeout 60 mandb --quiet
  for page in $PAGES; do
    name=${page%.*}
    text=$(inside env MANWIDTH=80 timeout 20 man --warnings "${page##*.}" "$name" 2>"$WORK/warnings")
    if [ -z "$text" ] || [ -s "$WORK/warnings" ]; then
      echo "$page: $(wc -l <<<"$text") lines; $(head -n 3 "$WORK/warnings")"
      failed=1
    fi
    inside timeout 20 whatis "$name" || failed=1
  done
  return "$failed"
}

# What bash offers for a line of words, the last of which is being written.
complete_in_bash() {
  inside timeout 20 bash -c '
    set -u
    . /usr/share/bash-completion/completions/livehostctl
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _livehostctl
    echo ${COMPREPLY[*]+"${COMPREPLY[*]}"}' - "$@" 2>&1
}

expect_completion() { # expected, words...
  local expected=$1 found
  shift
  found=$(complete_in_bash "$@")
  [ "$found" = "$expected" ] || { echo "'$*' is completed by '$found', expected '$expected'"; return 1; }
}

check_bash() {
  expect_completion show livehostctl sho &&
    expect_completion main livehostctl show ma &&
    expect_completion header livehostctl watch main chat h &&
    expect_completion ChatView livehostctl why main Ch &&
    expect_completion short livehostctl --json = s &&
    expect_completion --format livehostctl ingest --form &&
    expect_completion iphone-13-mini livehostctl simulate --device iphone-13
}

check_zsh() {
  local errors
  errors=$(inside timeout 20 zsh -f -c 'autoload -Uz compinit && compinit -u -D &&
    [[ $_comps[livehostctl] == _livehostctl ]] && autoload +X _livehostctl' 2>&1)
  local status=$?
  [ "$status" = 0 ] && [ -z "$errors" ] || { echo "status $status: $errors"; return 1; }
}

check_catalog() {
  inside journalctl --sync
  inside journalctl -q -x --no-pager -u livehostd.service "MESSAGE_ID=$(room_opened)" |
    grep -F 'Room main was opened'
}

check_configuration() {
  inside timeout 20 livehostd --check-config || return
  inside timeout 20 livehostd --check-config --config /usr/share/doc/livehost/examples/livehostd.yaml || return
  local directory=/etc/livehost/livehostd.yaml.d text status
  inside mkdir -p "$directory"
  inside sh -c "printf 'rooms:\n  maximun: 3\n' >$directory/wrong.yaml"
  text=$(inside timeout 20 livehostd --check-config 2>&1)
  status=$?
  inside rm -r "$directory"
  echo "$text"
  [ "$status" = 78 ] && grep -qF "$directory/wrong.yaml:2: rooms.maximun" <<<"$text"
}

check_demo() {
  as visitor sh -c 'cd && exec livehostctl demo --once' | tail -n 12
}

check_simulate() {
  local arguments=(simulate /usr/share/livehost/scenarios/host-screen.yaml --set duration=10s --json=short)
  as host livehostctl "${arguments[@]}" >"$WORK/by-daemon" &&
    as visitor livehostctl "${arguments[@]}" --local >"$WORK/local" &&
    cmp "$WORK/by-daemon" "$WORK/local"
}

check_upgrade() {
  local sockets process
  sockets=$(inside stat -c %i /run/livehost/io.livehost.Control /run/livehost/ingest)
  process=$(property MainPID livehostd.service)
  dpkg_inside -i /root/livehost.deb >/dev/null || return
  check_active || return
  [ "$(property MainPID livehostd.service)" != "$process" ] || { echo "not restarted"; return 1; }
  [ "$(inside stat -c %i /run/livehost/io.livehost.Control /run/livehost/ingest)" = "$sockets" ] ||
    { echo "the sockets were made anew"; return 1; }
  as visitor livehostctl status >/dev/null
}

check_silence() {
  inside systemctl stop $UNITS || return
  local status=0
  expect_completion '' livehostctl show '' && expect_completion '' livehostctl why main '' || status=1
  inside systemctl start $UNITS && return "$status"
}

check_remove() {
  inside sh -c 'echo "# kept" >>/etc/livehost/livehostd.yaml'
  # Something that a purge has to take away.
  inside sh -c 'echo data >/var/lib/private/livehost/kept'
  dpkg_inside -r livehost >/dev/null || return
  if inside sh -c 'cat /proc/[0-9]*/comm' 2>/dev/null | grep -x livehostd; then return 1; fi
  local path failed=0
  for path in /run/livehost /usr/bin/livehostd /usr/lib/livehost /lib/systemd/system/livehostd.service; do
    if inside test -e "$path"; then echo "$path is still there"; failed=1; fi
  done
  for path in /etc/livehost/livehostd.yaml /var/lib/private/livehost/kept; do
    inside test -e "$path" || { echo "$path is gone"; failed=1; }
  done
  return "$failed"
}

check_reinstall() {
  dpkg_inside -i /root/livehost.deb >/dev/null || return
  check_active || return
  inside grep -qx '# kept' /etc/livehost/livehostd.yaml || { echo "the configuration was replaced"; return 1; }
  inside test -e /var/lib/private/livehost/kept || { echo "the state is gone"; return 1; }
  as visitor livehostctl status >/dev/null
}

check_purge() {
  local left unexpected
  dpkg_inside -P livehost >/dev/null || return
  list_files >"$WORK/after"
  left=$(comm -13 "$WORK/before" "$WORK/after")
  echo "left: $(tr '\n' ' ' <<<"$left")"
  inside getent group livehost | sed 's/^/left, as policy has it, the group /'
  # Not ours: what systemd, dpkg and shadow keep of any package or user.
  unexpected=$(grep -vE '^/var/lib/dpkg/|^/var/cache/ldconfig/|^/etc/(passwd|group|shadow|gshadow|subuid|subgid)-$|^/var/lib/private$|^/var/lib/systemd/|^$' <<<"$left")
  [ -z "$unexpected" ] || { echo "unexpected: $unexpected"; return 1; }
}

begin "$BINARIES"
build_package
make_root man-db bash-completion zsh libsimdjson14 zlib1g
mount_root
prepare_root
boot
run_checks
