#!/bin/bash
# Certifies the Varlink library, server and client, against the suites of others.
#
#   certification.sh SERVICE
#
# SERVICE is the built CertificationService.
set -u
here=$(dirname "$(readlink -f "$0")")
. "$here/lib.sh"
service=$(readlink -f "${1:?usage: certification.sh SERVICE}")
directory=$(mktemp -d)
started=()
cleanup() {
  [ ${#started[@]} -eq 0 ] || kill "${started[@]}" 2>/dev/null
  rm -rf "$directory"
}
trap cleanup EXIT

# serve NAME COMMAND...: starts a server and waits until it accepts.
serve() {
  local name=$1
  shift
  "$@" >"$directory/$name.log" 2>&1 &
  started+=($!)
  wait_for_socket "$directory/$name" $! || cat "$directory/$name.log"
}

serve ours "$service" "$directory/ours"
check "our client against our server" "$service" --client "$directory/ours"

if interpreter=$("$here/../Support/python.sh"); then
  suite=("$interpreter" -m varlink.tests.test_certification)
  check "PyPI varlink's client against our server" \
    contains "Certification passed" "${suite[@]}" --client "--varlink=unix:$directory/ours"
  serve pypi "${suite[@]}" "--varlink=unix:$directory/pypi"
  check "our client against PyPI varlink's server" "$service" --client "$directory/pypi"
  python=("$interpreter" -m varlink.cli)
  check "info" contains "org.varlink.certification" "${python[@]}" info "unix:$directory/ours"
  check "help" contains "method Test11" \
    "${python[@]}" help "unix:$directory/ours/org.varlink.certification"
  check "call out of turn" contains "ClientIdError" \
    "${python[@]}" call "unix:$directory/ours/org.varlink.certification.End" '{"client_id":"x"}'
else
  skip 5 "PyPI varlink cannot be installed (no network, or no python3-venv)"
fi

if command -v varlink-go-certification >/dev/null; then
  check "varlink-go's client against our server" \
    varlink-go-certification -varlink "unix:$directory/ours" -client
  serve go varlink-go-certification -varlink "unix:$directory/go"
  check "our client against varlink-go's server" "$service" --client "$directory/go"
else
  skip 2 "varlink-go-certification is not installed (Debian package varlink-go)"
fi
finish
