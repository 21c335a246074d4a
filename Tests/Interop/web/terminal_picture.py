"""A terminal as a picture: what livehostctl draws, as HTML."""
import fcntl
import html
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

import pyte

from harness.waiting import PATIENCE


# What a terminal calls its colours.
COLOURS = {"black": "#14181d", "red": "#ff6b6b", "green": "#4cc38a", "brown": "#f0b94f", "blue": "#7aa2f7", "magenta": "#d08ce0",
           "cyan": "#56c8d8", "white": "#e4e8ec"}
GROUND, TEXT = "#14181d", "#e4e8ec"


def terminal(daemon, columns, rows, until, *arguments):
    """What livehostctl draws on a terminal, as a page."""
    screen = pyte.Screen(columns, rows)
    stream = pyte.ByteStream(screen)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen([daemon.programs / "livehostctl", "--socket", daemon.control, *arguments], stdin=theirs, stdout=theirs,
                               stderr=theirs, env=environment, start_new_session=True)
    os.close(theirs)
    try:
        end = time.monotonic() + PATIENCE
        while not until("\n".join(screen.display)):
            assert time.monotonic() < end, "\n".join(screen.display)
            if select.select([ours], [], [], 0.1)[0]:
                # The emulator knows no faint text.
                stream.feed(re.sub(rb"\x1b\[0((?:;1)?);2((?:;7)?)m", b"\x1b[0\\1\\2;38;2;139;148;160m", os.read(ours, 1 << 16)))
    finally:
        os.write(ours, b"q")
        process.wait(PATIENCE)
        os.close(ours)

    def colour(name, default):
        return default if name == "default" else COLOURS.get(name, f"#{name}")

    def cell(character):
        front, back = colour(character.fg, TEXT), colour(character.bg, GROUND)
        if character.reverse:
            front, back = back, front
        return (f'<span style="color:{front};background:{back};font-weight:{700 if character.bold else 400}">'
                f"{html.escape(character.data)}</span>")

    lines = ["".join(cell(screen.buffer[row][column]) for column in range(columns)) for row in range(rows)]
    return (f'<pre style="display:inline-block;margin:0;padding:12px;background:{GROUND};font:14px/1.25 \'DejaVu Sans Mono\'">'
            + "\n".join(lines) + "</pre>")
