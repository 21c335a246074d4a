"""Sends SIGTERM while programs start. If it were lost, the service manager would wait for their end in vain."""
import os
import pathlib
import select
import signal
import socket
import subprocess

import pytest

from harness.programs import Program
from harness.waiting import wait_for

# A library that reports when a handler of SIGTERM is about to be installed, and waits for permission to install it.
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


@pytest.fixture(scope="module")
def held_sigaction(tmp_path_factory):
    library = tmp_path_factory.mktemp("library") / "held-sigaction.so"
    command = ["g++", "-x", "c", "-shared", "-fPIC", "-o", library, "-"]
    subprocess.run(command, input=HELD_SIGACTION, text=True, check=True)
    return library


@pytest.fixture
def listener(tmp_path):
    """A socket that accepts connections but never answers."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        listener.listen()
        yield listener


def is_idle(process):
    """Returns whether all threads of the process are waiting."""
    tasks = pathlib.Path(f"/proc/{process}/task").iterdir()
    try:
        return all((task / "stat").read_text().rpartition(") ")[2][0] == "S" for task in tasks)
    except (FileNotFoundError, ProcessLookupError):
        # A thread ended while this function was reading.
        return False


def commands(programs, directory):
    """Returns a command for each program that runs until the program is asked to end."""
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
def test_a_program_starts_work_only_once_it_handles_sigterm(
        name, programs, tmp_path, listener, held_sigaction):
    (report, reports), (permissions, permission) = os.pipe(), os.pipe()
    program = Program(
        commands(programs, tmp_path)[name], tmp_path / "log", pass_fds=[reports, permissions],
        environment={"LD_PRELOAD": str(held_sigaction), "REPORTS": str(reports), "PERMISSIONS": str(permissions)})
    os.close(reports)
    try:
        assert os.read(report, 1), f"{name} ended before it caught SIGTERM: {program.log_tail()}"
        wait_for(lambda: is_idle(program.pid), f"{name} waits for its handler")
        assert not select.select([listener], [], [], 0)[0], f"{name} connected before it caught SIGTERM"
        program.process.terminate()
        os.write(permission, b"1")
        assert program.wait() in (0, 130, -signal.SIGTERM)
    finally:
        program.kill()
        for descriptor in report, permissions, permission:
            os.close(descriptor)
