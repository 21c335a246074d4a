"""All six children of the host are on the screen while the bundled recording plays, in four sizes at once."""
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor

SIZES = [(160, 48), (100, 30), (80, 24), (60, 20)]
ROUNDS = 8
PANES = ["^main", "[─━] Stream", "━ Chat"]


def test_demo(check, programs, open_terminal):
    if check.lacks("tmux", count=16):
        return

    def play(size):
        terminal, name = open_terminal(*size), "{} x {}: ".format(*size)
        terminal.enter(f"{programs}/livehostctl demo")
        terminal.shows(name + "before the stream people wait", *PANES, "─ Waiting room", "WAITING",
                       "[0-9]+ waiting +[0-9]+ admitted", "events")
        terminal.shows(name + "on the air all six children show something", *PANES, "─ Connection", "─ Controls",
                       "─ Recorder", "─ Waiting room", "LIVE", "on the air", "kbit/s", "[0-9]+ messages? by",
                       "recording +[0-9]", "[0-9]+%", "over; [0-9]+ admitted", "█", "[▁▂▃▄▅▆▇]")
        terminal.shows(name + "the recording plays in the other room", "examplehost +[A-Z]+", "[0-9]+ messages? by",
                       "U[a-z]+: ", keys=["Right"])
        terminal.type("C-c")
        terminal.is_as_before(name + "Ctrl-C gives the terminal back as it was")

    with ThreadPoolExecutor() as pool:
        list(pool.map(play, SIZES))


def test_closed_terminals(check, programs, open_terminal):
    """The shell and then the kernel tell the program that its terminal is gone, one sooner or later after the other."""
    if check.lacks("tmux", count=2 * ROUNDS):
        return
    for number in range(1, ROUNDS + 1):
        with tempfile.TemporaryDirectory() as directory:
            terminal = open_terminal(80, 24)
            terminal.enter(f"TMPDIR={directory} {programs}/livehostctl demo")
            terminal.shows(f"a demonstration runs in terminal {number}", *PANES)
            terminal.close()
            # They are removed last, once the daemon has ended.
            check.becomes(f"terminal {number} is closed, which ends it with its daemon and its files",
                          lambda: not os.listdir(directory), lambda: f"there is still {os.listdir(directory)}")
