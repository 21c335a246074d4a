"""Tests the verbs of livehostctl that act on platforms, with a scripted controller."""
import fcntl
import signal
import struct
import subprocess
import termios

import pytest

from harness.controller import Platform
from harness.waiting import PATIENCE, wait_for

ACTS = ["say", "reply", "delete", "ban", "unban", "setTitle"]
CHAT = [
    {"type": "options", "room": "main", "platform": "twitch", "source": "chat"},
    {"type": "chat.message", "id": "m1", "user": {"id": "u1", "name": "Ann"}, "text": "hi"},
]


class Command:
    """livehostctl while it waits for an outcome."""

    def __init__(self, daemon, *words, input="", ends=True):
        """Writes standard input, and ends it unless `ends` is false."""
        self.process = subprocess.Popen(
            [daemon.programs / "livehostctl", "--socket", daemon.control, *words], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.process.stdin.write(input)
        self.process.stdin.flush()
        if ends:
            self.process.stdin.close()

    def ends(self, status, *, output="", error=""):
        """Asserts the exit code, the output, and a part of the diagnostics."""
        # The output is short, so it fits into the pipes before it is read.
        code = self.process.wait(PATIENCE)
        seen = code, self.process.stdout.read(), self.process.stderr.read()
        for pipe in self.process.stdin, self.process.stdout, self.process.stderr:
            pipe.close()
        assert seen[:2] == (status, output) and error in seen[2], f"expected {status, output, error}, seen {seen}"


@pytest.fixture
def twitch(daemon):
    daemon.call("OpenRoom", room="main")
    daemon.send(*CHAT)
    with Platform(daemon, "twitch", ACTS) as platform:
        yield platform


def test_an_act_reaches_the_controller_and_its_outcome_is_printed(daemon, twitch):
    command = Command(daemon, "chat", "say", "main", "-", input="hello\n")
    twitch.answer(twitch.next(kind="say", text="hello"), "confirmed")
    command.ends(0, output="confirmed: the message was posted\n")

    command = Command(daemon, "title", "main", "A title")
    twitch.answer(twitch.next(kind="setTitle", text="A title"), "sent")
    command.ends(0, output="sent; the platform does not confirm whether the title was changed\n")

    command = Command(daemon, "chat", "ban", "main", "@ann")
    twitch.answer(twitch.next(kind="ban", user={"id": "u1", "name": "Ann"}), "confirmed")
    command.ends(0, output="confirmed: Ann (u1) was banned\n"
                 "to lift the ban: livehostctl chat unban --platform twitch -- main u1\n")


def test_a_refused_act_fails_with_a_safe_reason(daemon, twitch):
    command = Command(daemon, "chat", "delete", "main", "m1")
    twitch.answer(twitch.next(kind="delete", message="m1"), "refused", reason="too old\x1b[2J")
    command.ends(1, error="message m1 was not deleted: too old\N{REPLACEMENT CHARACTER}[2J")


def test_the_outcome_is_unknown_if_the_controller_leaves(daemon, twitch):
    command = Command(daemon, "chat", "reply", "main", "m1", "hello")
    twitch.next(kind="reply", text="hello", message="m1")
    twitch.close()
    command.ends(1, error="it is unknown whether the reply was posted: the outcome is unknown")


def test_an_impossible_act_names_the_remedy(daemon, twitch):
    Command(daemon, "chat", "announce", "main", "hello").ends(1, error="'livehostctl connect'")
    with Platform(daemon, "owncast", ACTS):
        Command(daemon, "chat", "say", "main", "hello").ends(1, error="choose one with --platform or --source")
        command = Command(daemon, "chat", "say", "main", "hello", "--platform", "twitch")
        twitch.answer(twitch.next(kind="say"), "confirmed")
        command.ends(0, output="confirmed: the message was posted\n")


def test_ctrl_c_ends_the_wait_for_standard_input(daemon, twitch):
    command = Command(daemon, "chat", "say", "main", "-", input="hel", ends=False)
    # The signal's handler is installed before standard input is read.
    wait_for(lambda: unread(command.process.stdin) == 0, "livehostctl to read its standard input")
    command.process.send_signal(signal.SIGINT)
    command.ends(130)


def unread(pipe):
    """Returns the number of bytes in a pipe that its reader has not read."""
    return struct.unpack("i", fcntl.ioctl(pipe.fileno(), termios.FIONREAD, b"\0" * 4))[0]
