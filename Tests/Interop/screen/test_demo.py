"""All six parts of the host's screen are visible while the bundled recording plays, in four
sizes at the same time."""
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

SIZES = [(160, 48), (100, 30), (80, 24), (60, 20)]
ROUNDS = 8
PANES = ["^main", "[─━] Stream", "━ Chat"]


def test_the_demo_shows_all_parts_in_each_size_of_a_terminal(check, programs, open_terminal):
    if check.lacks("tmux", count=16):
        return

    def play(size):
        terminal, name = open_terminal(*size), "{} x {}: ".format(*size)
        terminal.enter(f"{programs}/livehostctl demo")
        terminal.shows(name + "people wait before the stream", *PANES, "─ Waiting room", "WAITING",
                       "[0-9]+ waiting +[0-9]+ admitted", "events")
        terminal.shows(name + "all six parts have content on the air", *PANES, "─ Connection", "─ Controls",
                       "─ Recorder", "─ Waiting room", "LIVE", "on the air", "kbit/s", "[0-9]+ messages? by",
                       "recording +[0-9]", "[0-9]+%", "over; [0-9]+ admitted", "█", "[▁▂▃▄▅▆▇]")
        terminal.shows(name + "the recording plays in the other room", "examplehost +[A-Z]+", "[0-9]+ messages? by",
                       "U[a-z]+: ", keys=["Right"])
        terminal.type("C-c")
        terminal.is_as_before(name + "Ctrl-C restores the terminal")

    with ThreadPoolExecutor() as pool:
        list(pool.map(play, SIZES))


def test_closing_a_terminal_ends_the_demo_and_its_daemon(check, programs, open_terminal):
    """Closing a terminal makes the shell and then the kernel send SIGHUP, with a varying delay
    between the two."""
    if check.lacks("tmux", count=2 * ROUNDS):
        return
    for number in range(1, ROUNDS + 1):
        with tempfile.TemporaryDirectory() as directory:
            terminal = open_terminal(80, 24)
            terminal.enter(f"TMPDIR={directory} {programs}/livehostctl demo")
            terminal.shows(f"a demonstration runs in terminal {number}", *PANES)
            terminal.close()
            # The files are removed last, after the daemon has ended.
            check.becomes(f"closing terminal {number} ends the demonstration and its daemon, and removes its files",
                          lambda: not os.listdir(directory), lambda: f"files remain: {os.listdir(directory)}")
