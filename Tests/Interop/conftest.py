"""A fixture that runs a shell in a tmux terminal, types keys, and checks what livehostctl draws."""
import re
import subprocess
import unicodedata

import pytest

from harness.waiting import wait_for

SHELL = "env -u NO_COLOR -u PAGER -u LESS HISTFILE= PS1='> ' LC_ALL=C.UTF-8 bash --norc --noprofile"


def width(text):
    """Returns the number of columns that a text takes."""
    return sum(0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
               for character in text)


class Terminal:
    """A shell in a terminal of the given size, on a dedicated tmux server."""

    def __init__(self, check, directory, columns, rows):
        self.check, self.directory, self.readings, self.is_closed = check, directory, 0, False
        self.tmux("new-session", "-d", "-x", columns, "-y", rows, "-s", "screen", SHELL)
        self.tmux("set-option", "-g", "status", "off")
        self.enter("echo written before")
        # A command typed while another command runs would appear in that command's output.
        self.wait("^written before$")
        self.before = self.settings()

    def tmux(self, *arguments):
        command = ["tmux", "-S", self.directory / "tmux", "-f", "/dev/null", *arguments]
        return subprocess.run(list(map(str, command)), check=True, text=True, stdout=subprocess.PIPE).stdout

    def close(self):
        """Ends the terminal, like closing its window."""
        if not self.is_closed:
            self.tmux("kill-server")
        self.is_closed = True

    def picture(self, *options):
        return self.tmux("capture-pane", "-p", "-t", "screen", *options)

    def title(self):
        return self.tmux("display", "-p", "-t", "screen", "#{pane_title}").strip()

    def resize(self, columns, rows):
        self.tmux("resize-window", "-t", "screen", "-x", columns, "-y", rows)

    def type(self, *keys):
        self.tmux("send-keys", "-t", "screen", *keys)

    def write(self, text):
        self.tmux("send-keys", "-t", "screen", "-l", text)

    def enter(self, text):
        self.write(text)
        self.type("Enter")

    def run(self, command, last):
        """Runs a command and waits for the line `last`, which is typed with quotes to distinguish it from the output."""
        self.enter(f"{command}; echo '{last[0]}'{last[1:]}")
        self.wait(f"^{last}$")

    def wait(self, *texts):
        """Waits until the screen matches all patterns at the same time, and returns the screen."""
        seen = []

        def has_all():
            seen[:] = [self.picture()]
            return all(re.search(text, seen[0], re.MULTILINE) for text in texts) and seen[0]
        return wait_for(has_all, lambda: f"never on the screen together: {texts}\n{seen[0]}", pause=0.05)

    def shows(self, name, *texts, keys=()):
        """Types keys, and checks that the screen matches all patterns at the same time."""
        self.type(*keys)
        with self.check.attempt(name):
            self.wait(*texts)

    def lacks(self, name, text):
        """Checks that a text disappears from the screen."""
        self.check.becomes(name, lambda: text not in self.picture(), self.picture)

    def settled(self, *options):
        """Waits until two consecutive pictures are equal, and returns the picture."""
        pictures = []

        def is_settled():
            pictures.append(self.picture(*options))
            return pictures[-1] in pictures[-2:-1] and pictures[-1]
        return wait_for(is_settled, "the screen does not settle", pause=0.05)

    def marks(self):
        """Returns the title of the focused pane and the text in reverse video, which is the selected entry."""
        return re.findall(r"━ ([^━\x1b]+) ━|\x1b\[[0-9;]*\b7m(?:\x1b\[[0-9;]*m)*([^\x1b]+)", self.settled("-e"))

    def dividers(self):
        """Returns the columns of the first divider between panes in all rows that have a divider."""
        rows = [re.split("[┬│├]", row) for row in self.settled().split("\n")]
        return {width(row[0]) for row in rows if len(row) > 1}

    def press(self, name, key, condition):
        """Presses a key up to 20 times, and checks that a picture then satisfies the condition."""
        with self.check.attempt(name):
            for _ in range(20):
                if condition(self.settled()):
                    return
                before = self.marks()
                self.type(key)
                wait_for(lambda: self.marks() != before, lambda: f"{key} moves nothing: {before}\n{self.picture()}")
            raise AssertionError(self.picture())

    def focus(self, name, title):
        self.press(name, "Tab", lambda picture: f"━ {title} ━" in picture)

    def click(self, text):
        """Clicks a text with the first button, in the encoding SGR 1006: columns and rows count from 1."""
        self.wait(text)
        row, line = next((row, line) for row, line in enumerate(self.settled().split("\n"), 1) if text in line)
        place = f"{1 + width(line.split(text)[0])};{row}"
        self.write(f"\x1b[<0;{place}M\x1b[<0;{place}m")

    def settings(self):
        """Returns the settings of the terminal except its size."""
        self.readings += 1
        path = self.directory / f"settings{self.readings}"
        self.run(f"stty -a | sed 's/rows.*columns[^;]*//' >{path}", f"read {self.readings}")
        return path.read_text()

    def is_as_before(self, name):
        """Checks that the terminal has its former settings and lines, and no remains of the drawn screen."""
        with self.check.attempt(name):
            # Keys typed before the screen has ended would go to the screen.
            self.wait("^written before$")
            settings = self.settings()
            assert settings == self.before, f"the settings were {self.before} and are {settings}"
            picture = self.wait("^written before$", f"^read {self.readings}$")
            assert not re.search("[─━] (Recorder|Stream)", picture), picture


@pytest.fixture
def open_terminal(check, tmp_path_factory):
    """Returns a function that opens a terminal of the given size."""
    terminals = []

    def open_terminal(columns, rows):
        terminals.append(Terminal(check, tmp_path_factory.mktemp("terminal"), columns, rows))
        return terminals[-1]

    yield open_terminal
    for terminal in terminals:
        terminal.close()
