"""How the work of a daemon for hostile text grows with its size. Text that is cheap to send must not be dear to read:
for input of 2n bytes a daemon that callgrind runs executes at most 2.2 times the instructions that it does for n, in
every place that takes a text.
"""
import contextlib
import re
import shutil
import subprocess

import hostile
from harness.ingest import Ingest
from harness.programs import Daemon

CHECKS = 80
BOUND = 2.2
# The time limit in seconds. Programs run about fifty times slower under callgrind.
PATIENCE = 120
# Valgrind cannot run libdispatch's own end of the main thread, which serves the main queue by another.
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
# What is sent to count the work for a message, and the size of its text. There are as many lines as outweigh the frame
# that is drawn behind them, and nothing is left of them, so that the next ones find the same room. Of further places
# there are many, which share their code, and those with one name are counted together: fewer lines of each.
TABLES = [
    ("call", hostile.CALLS, 32 << 10, lambda message: message),
    ("line", hostile.LINES, 20_000, lambda line: line * 10 + b'{"type":"chat.clear"}'),
    ("line", hostile.FURTHER_LINES + hostile.LINES_TO_CONNECTION, 15_000,
     lambda line: line * 4 + b'{"type":"chat.clear"}'),
]


def start_slow_daemon(programs, directory):
    """A daemon under callgrind, without its debug information, which valgrind cannot read."""
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
            # The daemon may also have worked for the previous place, or drawn a frame because a
            # second had passed. Such
            # work only increases a count, and is more likely in longer runs.
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
        # What happens only once is not counted. No shorter than this: as a name it would be taken, and a monitor of it
        # would go on.
        for place in places:
            for data in pieces(place, 1024):
                measurement.send(name, data)
        for place in places:
            measurement.compare(name, place, pieces(place, size), pieces(place, 2 * size))
    for (shape, small), (_, large) in zip(hostile.shapes(20_000), hostile.shapes(40_000)):
        measurement.compare("call", shape, [small], [large])
    assert daemon.stop() == 0
    check.complete(CHECKS)
