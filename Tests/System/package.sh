#!/bin/bash
# Test of the Debian package: built, examined, installed in a really booted Debian 12, upgraded, removed,
# purged.
#
#   package.sh [DIRECTORY]    the directory with the built livehostd and livehostctl;
#                             default $LIVEHOST_BIN_DIR, else .build/release
#
# LIVEHOST_OLD_PACKAGE      the package of version 0.1.0 to upgrade from. By default the new package is
#                           repacked under that version. The upgrade then starts from state, recordings and
#                           configuration that 0.1.0 wrote (Tests/Compatibility), and dpkg runs the same
#                           steps, but the programs running before the upgrade are the new ones.
#
# See lib.sh for the other variables and what it prints. The root has more packages than that of smoke.sh,
# and so a cache of its own: LIVEHOST_PACKAGE_ROOT_CACHE, default .../livehost/bookworm-packages.
set -u -o pipefail

NAME=livehost-package
here=$(cd "$(dirname "$0")" && pwd)
BINARIES=${1:-${LIVEHOST_BIN_DIR:-$here/../../.build/release}}
LIVEHOST_ROOT_CACHE=${LIVEHOST_PACKAGE_ROOT_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/livehost/bookworm-packages}

CHECKS=(
  "check_version          package, daemon and client have the same version"
  "check_lintian          lintian finds no error and no warning"
  "check_size             the installed size is the one stated in README.md"
  "check_install          it installs on a running system"
  "check_active           service and sockets are active, and enabled for the next boot"
  "check_runtime          the programs find all libraries, the Swift runtime in the package"
  "check_limits           the unit's limits are in effect"
  "check_exposure         systemd-analyze security is at most 0.6"
  "check_read             an ordinary user may run livehostctl status"
  "check_refused          an ordinary user's send is refused with 77, and ingest too"
  "check_allowed          a member of the group livehost may send and ingest"
  "check_manuals          the manual pages open without a warning and are found by whatis"
  "check_bash             completion in bash: verbs, rooms, features and views of the daemon"
  "check_zsh              completion in zsh loads"
  "check_catalog          journalctl -x explains an entry"
  "check_configuration    the installed configuration is valid; an invalid one is refused with its location"
  "check_demo             an ordinary user plays the installed recording"
  "check_simulate         the installed scenario runs: in the daemon for members, for every user with --local"
  "check_status_text      a status text is set"
  "check_unprivileged     it runs as a dynamic user without capabilities"
  "check_restart          a restart brings the rooms back"
  "check_activation       each socket starts the service, also after a stop"
  "check_log              no entry of the service is a warning or worse"
  "check_upgrade          an upgrade from 0.1.0 under load keeps sockets, rooms, recordings and what was acknowledged"
  "check_reload           a reload takes effect or is refused, and drops no connection"
  "check_kill             killed under load: back with everything acknowledged, and recording continues"
  "check_kill_unrecorded  the same for a room that is not recorded"
  "check_stop_recording   stopped under load with a recording: cleanly, with everything acknowledged"
  "check_watchdog         the watchdog notices a blocked lane, and the rooms come back"
  "check_entries          every kind of journal entry has its fields and its explanation"
  "check_contents         the packages of the page and the sources have what they need, and nothing is enabled"
  "check_sources          livehost-source@main: a dynamic user, exposure, no state of others, told to the room"
  "check_page             livehost-web enabled: the page answers through the proxy, and the link acts"
  "check_page_sandbox     page and proxy: dynamic users without network beyond their sockets, and exposure"
  "check_page_outside     the page is not reached from outside this machine, nor its link by other users"
  "check_page_restart     the page comes back when it is killed, and when the daemon is restarted"
  "check_page_off         disabled, nothing listens; removed and purged, nothing is left of both packages"
  "check_gateway          livehost-gateway: says what is wrong without NATS; with it active, a dynamic user, exposure"
  "check_relay            livehost-relay@out: who may read and change, an upgrade and a removal while it runs"
  "check_silence          completion is silent while the service is stopped"
  "check_remove           removed: nothing runs, sockets and programs are gone, configuration and state are kept"
  "check_reinstall        installed again, with the administrator's configuration"
  "check_purge            purged: nothing is left except what policy requires"
)

. "$here/lib.sh"
. "$here/lifecycle.sh"
. "$here/companions.sh"

OUTPUT=$REPOSITORY/.build/package-test
PAGES="livehostd.8 livehostctl.1 livehostd.conf.5 livehost-events.5 livehost-scenario.5 io.livehost.Control.7"
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
  SOURCES_PACKAGE=$(ls "$OUTPUT"/livehost-sources_*.deb)
  WEB_PACKAGE=$(ls "$OUTPUT"/livehost-web_*.deb)
  GATEWAY_PACKAGE=$(ls "$OUTPUT"/livehost-gateway_*.deb)
}

# Prepares the package of 0.1.0.
build_old_package() {
  OLD_PACKAGE=${LIVEHOST_OLD_PACKAGE:-}
  [ -z "$OLD_PACKAGE" ] || return 0
  OLD_PACKAGE=$OUTPUT/old.deb
  dpkg-deb -R "$PACKAGE" "$OUTPUT/old" && sed -i 's/^Version: .*/Version: 0.1.0/' "$OUTPUT/old/DEBIAN/control" &&
    dpkg-deb --root-owner-group -z1 -b "$OUTPUT/old" "$OLD_PACKAGE" >/dev/null ||
    fail_setup "the package could not be repacked as 0.1.0"
  rm -rf "$OUTPUT/old"
}

# Installs the package's dependencies from the mirror if the cached root lacks some.
install_dependencies() {
  local name package missing=()
  for name in $(for package in "$PACKAGE" "$SOURCES_PACKAGE" "$WEB_PACKAGE" "$GATEWAY_PACKAGE"; do dpkg-deb -f "$package" Depends; done |
    sed 's/|[^,]*//g; s/([^)]*)//g; s/,/ /g'); do
    [ "$name" = livehost ] && continue
    # A package that is only known counts as found by dpkg-query.
    [ "$(chroot "$ROOT" dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] ||
      missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return
  echo "# the cached root lacks ${missing[*]}; remove $CACHE to have it created again"
  timeout 300 chroot "$ROOT" sh -c "apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
    apt-get install -qq --no-install-recommends ${missing[*]}" >/dev/null 2>&1 ||
    skip "${missing[*]} cannot be installed in the root"
}

prepare_root() {
  install_dependencies
  install -m 644 "$PACKAGE" "$ROOT/root/livehost.deb"
  install -m 644 "$SOURCES_PACKAGE" "$ROOT/root/livehost-sources.deb"
  install -m 644 "$WEB_PACKAGE" "$ROOT/root/livehost-web.deb"
  install -m 644 "$GATEWAY_PACKAGE" "$ROOT/root/livehost-gateway.deb"
  install -m 644 "$OLD_PACKAGE" "$ROOT/root/old.deb"
  # The root may be configured to omit manual pages.
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

# All files except those of the kernel, of processes, of the journal, and man-db's cache.
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
  # README.md need not follow a change of less than a tenth.
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
  local wanted=(TasksMax=512 MemoryMax=2147483648 LimitCORE=0 LimitNOFILE=65536
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

check_manuals() { # pages, by default those of the daemon's package
  local page name text failed=0
  inside timeout 60 mandb --quiet
  for page in ${*:-$PAGES}; do
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

complete_in_bash() { # words, the last of which is being completed
  inside timeout 20 bash -c "$(cat "$REPOSITORY/Tests/Interop/complete.bash")" - \
    /usr/share/bash-completion/completions/livehostctl "$@" 2>&1
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

# Puts the state that 0.1.0 left behind when it was killed in place of the present one, with a room main.
lay_old_state() {
  local set=$REPOSITORY/Tests/Compatibility/0.1.0
  inside systemctl stop $UNITS || return
  # A new directory: systemd gives everything in it to the service's user if the directory belongs to another.
  inside sh -c 'rm -rf /var/lib/private/livehost && mkdir /var/lib/private/livehost &&
    mkdir -p /etc/livehost/livehostd.yaml.d' || return
  tar -xzf "$set/state.tar.gz" -C "$ROOT/var/lib/private/livehost" --strip-components=1 || return
  install -m 644 "$set/livehostd.yaml" "$ROOT/etc/livehost/livehostd.yaml.d/0.1.0.yaml"
}

# Whether the rooms that 0.1.0 left behind are as 0.1.0 itself showed them after a restart.
old_rooms_are_back() {
  local room
  for room in waiting live evening twitch; do
    control show "$room" --json=short | python3 "$REPOSITORY/Tests/Compatibility/compare.py" \
      "$REPOSITORY/Tests/Compatibility/0.1.0/expected/show-$room.json" || return
  done
}

check_upgrade() {
  local room status
  upgrade
  status=$?
  for room in main waiting live evening twitch cut lobby; do control close "$room"; done >/dev/null 2>&1
  inside rm -rf /etc/livehost/livehostd.yaml.d
  inside systemctl restart livehostd.service && wait_for is_active || status=1
  return "$status"
}

# Upgrades under load: a room is being recorded, and its sender is connected.
upgrade() {
  local sockets process version acknowledged total recorded status=0
  lay_old_state && dpkg_inside -i /root/old.deb >/dev/null || return
  inside systemctl start $UNITS && wait_for is_active && old_rooms_are_back || return
  version=$(control status --json=short | value version)
  feed_main record || return
  sockets=$(inside stat -c %i /run/livehost/io.livehost.Control /run/livehost/ingest)
  process=$(property MainPID livehostd.service)
  dpkg_inside -i /root/livehost.deb >/dev/null || return
  wait "$FEEDER"
  check_active || return
  [ "$(property MainPID livehostd.service)" != "$process" ] || { echo "not restarted"; return 1; }
  [ "$(inside stat -c %i /run/livehost/io.livehost.Control /run/livehost/ingest)" = "$sockets" ] ||
    { echo "the sockets were created again"; return 1; }
  acknowledged=$(acknowledged)
  total=$(control show main chat --json=short | value features.chat.total) || return
  recorded=$(control record list main --json=short |
    python3 -c 'import json, sys; print(json.load(sys.stdin)[-1]["events"])')
  echo "from $version to $(control status --json=short | value version): $acknowledged acknowledged," \
    "$total in the room, $recorded in $RECORDING"
  [ "$acknowledged" -gt 0 ] && [ "$total" -ge "$acknowledged" ] && [ "$recorded" = "$total" ] || status=1
  control record list main --json=short | grep -q '"state":"recording"' ||
    { echo "recording does not continue"; status=1; }
  [ "$(control rooms --json=short | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')" = 7 ] ||
    { echo "not all rooms are open"; status=1; }
  old_rooms_are_back || status=1
  # A sender that reconnects is served.
  control send main '{"type":"viewers","count":3}' || status=1
  inside grep -q 'chatHistory: 200' /etc/livehost/livehostd.yaml.d/0.1.0.yaml || status=1
  return "$status"
}

check_silence() {
  inside systemctl stop $UNITS || return
  local status=0
  expect_completion '' livehostctl show '' && expect_completion '' livehostctl why main '' || status=1
  inside systemctl start $UNITS && return "$status"
}

check_remove() {
  inside sh -c 'echo "# kept" >>/etc/livehost/livehostd.yaml'
  # Something that a purge has to remove.
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
  inside getent group livehost | sed 's/^/left, as policy requires, the group /'
  # Files that systemd, dpkg and shadow keep for any package or user.
  unexpected=$(grep -vE '^/var/lib/dpkg/|^/var/cache/ldconfig/|^/etc/(passwd|group|shadow|gshadow|subuid|subgid)-$|^/var/lib/private$|^/var/lib/systemd/|^$' <<<"$left")
  [ -z "$unexpected" ] || { echo "unexpected: $unexpected"; return 1; }
}

begin "$BINARIES"
build_package
build_old_package
make_root man-db bash-completion zsh libsimdjson14 libsqlite3-0 zlib1g ca-certificates
mount_root
prepare_root
boot
run_checks
