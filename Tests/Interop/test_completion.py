"""Tests completion of livehostctl in shells. Tests/System/test_installed.py tests the installed scripts."""
import os
import pathlib
import shlex
import shutil
import subprocess

EVENTS = [
    {"type": "tap", "control": "camera", "on": True},
    {"type": "slider", "control": "zoom", "phase": "begin", "value": 0.1},
    {"type": "slider", "control": "zoom", "phase": "end", "value": 0.5},
    {"type": "waiting.join", "user": {"id": "u42", "name": "Wanda"}},
    {"type": "chat.notice", "kind": "raid", "user": {"id": "7", "name": "Ada"}, "count": 9},
    {"type": "chat.message", "id": "m1", "user": {"id": "8", "name": "Bo"}, "text": "hi"},
]
# The kind of completion, the words as bash splits them, and the expected completions of the last word.
CASES = [
    ("verbs", "sho", "show"),
    ("verbs after an option", "--socket SOCKET sho", "show"),
    ("inner verbs", "record st", "start stop"),
    ("rooms", "show ma", "main"),
    ("rooms after a global option", "--socket SOCKET show ma", "main"),
    ("rooms after an option with =", "show --json = short ma", "main"),
    ("features", "watch main chat w", "waitingRoom"),
    ("views", "why main Ho", "HostView"),
    ("views after an option with =", "why --json = short main Ho", "HostView"),
    ("controls", "set main ''", "camera zoom"),
    ("people in the waiting room", "admit main u", "u42"),
    ("notices", "chat pin main ''", "1"),
    ("messages", "chat delete main ''", "m1"),
    ("people in the chat", "chat ban main @", "@Bo @Ada"),
    ("options after a name, which bash splits", "chat timeout main @ Bo 10m --rea", "--reason"),
    ("decisions", "chat held main m1 a", "allow"),
    ("recordings", "replay ''", "RECORDING"),
    ("recordings of an inner verb", "record export main", "RECORDING"),
    ("recordings and rooms", "analyze chatters ''", "RECORDING main"),
    ("values of an option", "top --sort pe", "pending"),
    ("values after =", "--json = s", "short"),
    ("values after = following a verb", "show main --json = s", "short"),
    ("devices", "simulate --device iphone-13", "iphone-13-mini"),
    ("options", "top --int", "--interval"),
    ("nothing if there are no candidates", "cancel ''", ""),
    ("nothing without a daemon", "show ''", ""),
]


def test_completion_works_in_bash_zsh_and_fish(check, daemon, programs, tmp_path):
    for shell in "bash", "zsh", "fish":
        (tmp_path / shell).write_text(daemon.ctl("completion", shell))
    daemon.ctl("open", "main")
    daemon.send(*({"room": "main", **event} for event in EVENTS))
    # Viewers choose their identifiers and names. bash would evaluate these if they were offered.
    trap = tmp_path / "evaluated"
    people = [{"id": text, "name": text} for text in (f"$(touch {trap})", f"`touch {trap}`", "a;b", "u\\42")]
    daemon.send(*({"room": "main", "type": "waiting.join", "user": person} for person in people))
    daemon.send(*({"room": "main", "type": "chat.message", "id": person["id"], "user": person, "text": "hi"}
                  for person in people))
    recording = daemon.ctl("record", "start", "main").strip()
    for name, words, offered in CASES:
        socket = "/nonexistent" if name == "nothing without a daemon" else daemon.control
        command = ["bash", pathlib.Path(__file__).with_name("complete.bash"), tmp_path / "bash", "livehostctl",
                   *shlex.split(words.replace("SOCKET", str(daemon.control)))]
        environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "LIVEHOST_SOCKET": str(socket)}
        seen = subprocess.run(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        check.equal(f"bash completes {name}", seen.stdout.rstrip("\n"), offered.replace("RECORDING", recording))
    check("bash evaluates no name", not trap.exists(), f"{trap} exists")
    # fish gets the words from its line editor, so it cannot complete in a script.
    for shell, option in ("zsh", "-n"), ("fish", "--no-execute"):
        if shutil.which(shell):
            check.runs(f"the {shell} script is syntactically valid", [shell, option, tmp_path / shell])
        else:
            check.skip(f"{shell} is not installed")
