"""SIGTERM while a program starts. It must not be lost: the service manager would wait for an end that never comes."""
import json
import os
import signal
import socket
import subprocess

import pytest

from harness.programs import Program
from harness.waiting import PATIENCE

# Reports that a handler of SIGTERM is about to be installed, and installs it once that is allowed.
HELD_SIGACTION = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int sigaction(int number, const struct sigaction *action, struct sigaction *former) {
  int (*original)(int, const struct sigaction *, struct sigaction *) = dlsym(RTLD_NEXT, "sigaction");
  if (number == SIGTERM && action && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) {
    char byte = 0;
    if (write(atoi(getenv("REPORTS")), &byte, 1) != 1 || read(atoi(getenv("PERMISSIONS")), &byte, 1) != 1) abort();
  }
  return original(number, action, former);
}
"""
# How often a program is started and stopped where only chance makes a bug visible.
ATTEMPTS = 12


@pytest.fixture(scope="module")
def held_sigaction(tmp_path_factory):
    library = tmp_path_factory.mktemp("library") / "held-sigaction.so"
    command = ["g++", "-x", "c", "-shared", "-fPIC", "-o", library, "-"]
    subprocess.run(command, input=HELD_SIGACTION, text=True, check=True)
    return library


@pytest.fixture
def listener(tmp_path):
    """A socket of a daemon that accepts connections and answers nothing by itself."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.settimeout(PATIENCE)
        listener.bind(str(tmp_path / "socket"))
        listener.listen()
        yield listener


def commands(programs, directory):
    """For each program a command that runs until it is asked to end."""
    path = directory / "socket"
    return {
        "livehostd": [programs / "livehostd", "--runtime-dir", directory, "--state-dir", directory / "state"],
        "livehostctl": [programs / "livehostctl", "--socket", path, "watch", "main"],
        "livehost-source": [
            programs / "livehost-source", "obs", "127.0.0.1:1", "--ingest", path, "--control", path],
        "livehost-web": [programs / "livehost-web", "--port", "0", "--socket", path],
        "livehost-gateway": [
            programs / "livehost-gateway", "relay", "--from", path, "--listen", directory / "relay"],
    }


@pytest.mark.parametrize(
    "name", ["livehostd", "livehostctl", "livehost-source", "livehost-web", "livehost-gateway"])
def test_sigterm_before_its_handler_is_installed_ends_the_program(
        name, programs, tmp_path, listener, held_sigaction):
    (report, reports), (permissions, permission) = os.pipe(), os.pipe()
    program = Program(
        commands(programs, tmp_path)[name], tmp_path / "log", pass_fds=[reports, permissions],
        environment={"LD_PRELOAD": str(held_sigaction), "REPORTS": str(reports), "PERMISSIONS": str(permissions)})
    os.close(reports)
    try:
        assert os.read(report, 1), f"{name} ended before it caught SIGTERM: {program.log_tail()}"
        program.process.terminate()
        os.write(permission, b"1")
        assert program.wait() in (0, 130, -signal.SIGTERM)
    finally:
        program.kill()
        for descriptor in report, permissions, permission:
            os.close(descriptor)


def test_a_source_ends_in_an_orderly_way_as_soon_as_it_is_connected(programs, tmp_path, listener):
    for _ in range(ATTEMPTS):
        program = Program(commands(programs, tmp_path)["livehost-source"], tmp_path / "log")
        connection, _ = listener.accept()
        program.process.terminate()
        with connection, connection.makefile("rw") as lines:
            for line in lines:
                if (sync := json.loads(line))["type"] == "sync":
                    lines.write(json.dumps({"type": "synced", "token": sync["token"], "received": 1}) + "\n")
                    lines.flush()
        assert program.wait() == 0, program.log_tail()


def test_livehostctl_ends_in_an_orderly_way_as_soon_as_it_is_connected(programs, tmp_path, listener):
    for _ in range(ATTEMPTS):
        program = Program(commands(programs, tmp_path)["livehostctl"], tmp_path / "log")
        connection, _ = listener.accept()
        program.process.terminate()
        with connection:
            assert program.wait() == 130, program.log_tail()
