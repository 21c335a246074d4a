"""Certifies the Varlink library's server and client with the suites of PyPI's varlink and Debian's varlink-go."""
import shutil
import sys

from harness.programs import Program, accepts

PYPI = [sys.executable, "-m", "varlink.tests.test_certification"]
GO = ["varlink-go-certification", "-varlink"]
CLI = [sys.executable, "-m", "varlink.cli"]


def test_clients_and_servers_pass_the_varlink_certification(check, programs, tmp_path):
    service = programs / "CertificationService"
    ours, pypi, go = (tmp_path / name for name in ("ours", "pypi", "go"))
    interface = f"unix:{ours}/org.varlink.certification"
    servers = [(ours, [service, ours]), (pypi, [*PYPI, f"--varlink=unix:{pypi}"]), (go, [*GO, f"unix:{go}"])]
    # The output is compared, because varlink.cli exits with 0 even on errors.
    checks = [
        ("our client against our server", [service, "--client", ours]),
        ("PyPI varlink's client against our server", [*PYPI, "--client", f"--varlink=unix:{ours}"],
         "Certification passed"),
        ("our client against PyPI varlink's server", [service, "--client", pypi]),
        ("varlink.cli prints the interfaces of our server", [*CLI, "info", f"unix:{ours}"], "org.varlink.certification"),
        ("varlink.cli prints the definition of our interface", [*CLI, "help", interface], "method Test11"),
        ("our server refuses a call in the wrong order", [*CLI, "call", f"{interface}.End", '{"client_id":"x"}'], "ClientIdError"),
        ("varlink-go's client against our server", [*GO, f"unix:{ours}", "-client"]),
        ("our client against varlink-go's server", [service, "--client", go])]
    if not shutil.which(GO[0]):
        check.skip("varlink-go-certification is not installed (Debian package varlink-go)", 2)
        servers, checks = servers[:2], checks[:6]
    running = []
    for path, command in servers:
        running.append(Program(command, f"{path}.log"))
        running[-1].wait_for(lambda: accepts(path), f"the server {path}")
    for name, command, *texts in checks:
        check.runs(name, command, *texts)
    for server in running:
        server.kill()
