"""All six children of the host are on the screen while the bundled recording plays, in four sizes at once."""
from concurrent.futures import ThreadPoolExecutor

SIZES = [(160, 48), (100, 30), (80, 24), (60, 20)]
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
