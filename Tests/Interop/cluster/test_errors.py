"""Messages and exit codes of a gateway that cannot work, and a relay over TLS."""
import select
import socket
import subprocess

import pytest
import trustme

from cluster_nodes import NATS
from harness.places import unpacked
from harness.programs import Program, accepts, free_port
from harness.waiting import wait_for

# Represents the NATS server of Debian, which the test unpacks first.
OLD = "old"


@pytest.mark.parametrize("name, server, options, status, text", [
    ("no server", None, "", 69, "no NATS server answers"),
    ("wrong credentials", NATS, "authorization { user: a, password: b }", 77, "refuses this gateway"),
    ("a server without JetStream", NATS, "", 69, "no JetStream"),
    ("a server that is too old", OLD, 'jetstream { store_dir: "old" }', 69, "older than 2.11"),
])
def test_a_gateway_without_a_usable_nats_server_ends_with_an_exit_code(check, programs, tmp_path, name, server, options, status, text):
    address = ("127.0.0.1", free_port())
    if server:
        if server == OLD:
            if not (files := unpacked("nats-server-old", "nats-server")):
                return check.skip("the old NATS server cannot be downloaded")
            server = files / "usr/sbin/nats-server"
        (tmp_path / "nats.conf").write_text(f'listen: "127.0.0.1:{address[1]}"\n{options}\n')
        nats = Program([server, "-c", "nats.conf"], tmp_path / "log", cwd=tmp_path)
        nats.wait_for(lambda: accepts(address), "the NATS server")
    (tmp_path / "gateway.yaml").write_text(
        f"name: alone\ningest: {tmp_path}/ingest\nlisten: {tmp_path}/control\n"
        f'nats: {{servers: ["nats://127.0.0.1:{address[1]}"], replicas: 1}}\n')
    check.runs(f"{name}: the gateway ends with {status}", [programs / "livehost-gateway", "run", "--config", tmp_path / "gateway.yaml"], text,
               status=status)
    if server:
        nats.kill()


def test_wrong_use_of_the_gateway_ends_with_an_exit_code(check, programs, tmp_path):
    path = tmp_path / "gateway.yaml"
    path.write_text("name: a b\n")
    gateway = programs / "livehost-gateway"
    check.runs("a wrong configuration ends with 78", [gateway, "run", "--config", path], "gateway.yaml:1", status=78)
    check.runs("status ends with 69 without a gateway", [gateway, "status", "--socket", tmp_path / "none"], status=69)


def certificate(directory, name, authority):
    """Returns options for a certificate of an authority, and for trust in the authority `ca`."""
    issued = authority.issue_cert("localhost", "127.0.0.1", common_name=name)
    issued.private_key_pem.write_to_path(directory / f"{name}.key")
    issued.cert_chain_pems[0].write_to_path(directory / f"{name}.pem")
    return [f"--ca={directory}/ca.pem", f"--certificate={directory}/{name}.pem", f"--key={directory}/{name}.key"]


def test_relays_over_tls_show_rooms_and_refuse_strangers(check, daemon, programs, tmp_path):
    """Two relays connect over TLS, with certificates of one authority."""
    gateway, ctl = programs / "livehost-gateway", programs / "livehostctl"
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    identity = {name: certificate(tmp_path, name, own) for name, own in (
        ("near", authority), ("far", authority), ("wrong", trustme.CA()))}
    check.runs("a relay on a name without an address ends with 69",
               [gateway, "relay", "--listen", "nobody.invalid:7444", *identity["near"]], status=69)
    port = free_port()
    relays = [Program([ctl, "relay", "--from", daemon.control, "--listen", f"127.0.0.1:{port}", *identity["near"]],
                      tmp_path / "log", {"RUNTIME_DIRECTORY": str(tmp_path)})]
    for end in ("far", "wrong"):
        relays.append(Program([gateway, "relay", "--from", f"127.0.0.1:{port}", "--listen", tmp_path / end,
                               *identity[end]], tmp_path / f"{end}.log"))
        relays[-1].wait_for((tmp_path / end).is_socket, "the socket of the relay")
    far = [ctl, "--socket", tmp_path / "far"]
    wait_for(lambda: subprocess.run([*far, "status"], capture_output=True).returncode == 0, "the relay")
    daemon.ctl("open", "main")
    check.runs("a relay over TLS shows a room", [*far, "rooms"], "main")
    check.runs("a room can be watched over TLS", [*far, "show", "main", "--json=short"], '"room":"main"')
    check.runs("TLS clients are read-only", [*far, "open", "side"], status=77)

    def relayed():
        """Returns the number of connections that the relay has accepted from its tunnel."""
        sockets = subprocess.run(["ss", "-xnH"], capture_output=True, text=True, check=True).stdout
        return sum(f"{tmp_path}/livehost-gateway-" in line and "/relay " in line for line in sockets.splitlines())
    with check.attempt("a client without a certificate is disconnected, and never reaches the daemon"):
        before = relayed()
        silent = [socket.create_connection(("127.0.0.1", port), 30) for _ in range(300)]
        # The relay immediately closes connections that exceed the limit for clients without a certificate.
        assert select.select(silent, [], [], 5)[0], "more than 256 strangers"
        assert relayed() <= before, f"{relayed()} connections, {before} before"
        for connection in silent:
            assert connection.recv(1) == b"", "it is not closed"
    wrong = subprocess.run([ctl, "--socket", tmp_path / "wrong", "rooms"], capture_output=True)
    check("a certificate of another authority is refused", wrong.returncode != 0, wrong)
    for relay in relays:
        relay.kill()
