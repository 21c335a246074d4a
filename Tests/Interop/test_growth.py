"""Checks that the daemon's work for hostile text grows linearly with its size, in every place that accepts text.

The daemon runs under callgrind. For input of 2n bytes it may execute at most 2.2 times the instructions for n bytes.
"""
import contextlib
import re
import shutil
import subprocess

import hostile
from harness.ingest import Ingest
from harness.programs import Daemon

CHECKS = 84
BOUND = 2.2
# The time limit in seconds. Programs run about fifty times slower under callgrind.
PATIENCE = 120
# Valgrind does not support dispatch_main() of libdispatch, which ends the main thread.
MAIN = r"""
#include <unistd.h>
extern void _dispatch_main_queue_callback_4CF(void *);
void dispatch_main(void) {
  for (;;) {
    _dispatch_main_queue_callback_4CF(0);
    usleep(10000);
  }
}
"""
# The kind of input, its templates, the size of the text, and the bytes to send for one template. Lines are repeated so
# that their cost exceeds the cost of the following frame, and the chat is cleared so that the room stays the same.
# Lines with further members share most of their code, so fewer are sent, and those with the same label are counted
# together.
TABLES = [
    ("call", hostile.CALLS, 32 << 10, lambda message: message),
    ("line", hostile.LINES, 20_000, lambda line: line * 10 + b'{"type":"chat.clear"}'),
    ("line", hostile.FURTHER_LINES + hostile.LINES_TO_CONNECTION, 15_000,
     lambda line: line * 4 + b'{"type":"chat.clear"}'),
]


def start_slow_daemon(programs, directory):
    """Starts a daemon under callgrind, without debug information, which valgrind cannot read."""
    subprocess.run(["strip", "--strip-debug", "-o", directory / "program", programs / "livehostd"], check=True)
    library, wrapper = directory / "main.so", directory / "livehostd"
    subprocess.run(["g++", "-x", "c", "-shared", "-fPIC", "-o", library, "-"], input=MAIN, text=True, check=True)
    wrapper.write_text("#!/bin/sh\nexec valgrind --quiet --tool=callgrind --callgrind-out-file=/dev/null "
                       f"{directory}/program \"$@\"\n")
    wrapper.chmod(0o755)
    return Daemon(directory, directory, environment={"LD_PRELOAD": str(library)})


class Measurement:
    def __init__(self, check, daemon):
        self.check, self.daemon = check, daemon

    def send(self, name, data):
        if name == "line":
            with Ingest(self.daemon.ingest, PATIENCE) as ingest:
                assert ingest.sync(data), "no answer to sync"
            return
        with self.daemon.client(PATIENCE) as client, contextlib.suppress(ConnectionError):
            client.socket.sendall(data)
            client.receive()

    def instructions(self):
        report = subprocess.run(["callgrind_control", "-e", str(self.daemon.pid)], capture_output=True, text=True,
                                timeout=PATIENCE, check=True)
        return sum(int(count.replace(",", "")) for count in re.findall(r"Th *\d+ +([\d,]+)", report.stdout))

    def count(self, name, pieces):
        before = self.instructions()
        for data in pieces:
            self.send(name, data)
        return self.instructions() - before

    def compare(self, name, place, small, large):
        once, twice = self.count(name, small), self.count(name, large)
        if twice > BOUND * once:
            # The count may include work for the previous place, or a frame that was due. Such work only
            # increases a count, and is more likely in longer runs, so the minimum of several runs decides.
            again = [(self.count(name, small), self.count(name, large)) for _ in range(5)]
            once, twice = (min(counts) for counts in zip(*again))
        self.check(f"{name}, {place}: {once:,} and {twice:,} instructions, {twice / once:.2f} times as many",
                   twice <= BOUND * once, f"expected at most {BOUND} times as many")


def test_the_cost_of_hostile_input_grows_linearly(check, programs, tmp_path):
    if not shutil.which("callgrind_control"):
        return check.skip("callgrind is not installed (Debian package valgrind)", CHECKS)
    daemon = start_slow_daemon(programs, tmp_path)
    measurement = Measurement(check, daemon)
    daemon.call("OpenRoom", room="main")
    for name, table, size, sent in TABLES:
        def pieces(place, size):
            return [sent(hostile.filled(template, text)) for _, text in hostile.nasty(size)
                    for other, template in table if other == place]

        places = list(dict.fromkeys(place for place, _ in table))
        # A first round excludes one-time work. Its text is too long for a name: a valid name would open a room or
        # start a monitor that continues.
        for place in places:
            for data in pieces(place, 1024):
                measurement.send(name, data)
        for place in places:
            measurement.compare(name, place, pieces(place, size), pieces(place, 2 * size))
    for (shape, small), (_, large) in zip(hostile.shapes(20_000), hostile.shapes(40_000)):
        measurement.compare("call", shape, [small], [large])
    assert daemon.stop() == 0
    check.complete(CHECKS)
