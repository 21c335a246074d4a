"""The drawings of livehostctl in a terminal, its keys and clicks, and restarts of the daemon
meanwhile."""
import json
import os
import re
import socket

ANN = {"id": "u", "name": "ann"}
COLOURS = re.compile(r"\x1b\[([0-9]+;)*3[1-6]m")
AWAY = "The daemon is unreachable; waiting for it"


def ctl(daemon):
    return f"{daemon.programs}/livehostctl --socket {daemon.control}"


def message(identifier, text, user=ANN):
    return {"type": "chat.message", "id": identifier, "user": user, "text": text}


def test_colours_and_paging_depend_on_the_output(check, daemon, open_terminal):
    if check.lacks("tmux", count=5):
        return
    terminal, command = open_terminal(60, 20), ctl(daemon)
    terminal.run(f"NO_COLOR=1 {command} status; {command} status | cat; TERM=dumb {command} status", "all three")
    # Includes the rows above the screen.
    picture = terminal.picture("-e", "-S", "-")
    check("no colour is used with NO_COLOR, in a pipe, or on a dumb terminal", not COLOURS.search(picture), picture)
    terminal.run(f"clear; {command} status", "one")
    picture = terminal.picture("-e")
    check("a terminal gets colours", COLOURS.search(picture), picture)
    with check.attempt("--no-pager turns paging off"):
        terminal.run(f"clear; {command} --help --no-pager", "unpaged")
    if not check.lacks("less", count=2):
        terminal.enter(f"clear; {command} --help; echo back")
        terminal.shows("output taller than the terminal is paged", "^OVERVIEW", "^lines 1-|^:")
        terminal.shows("quitting the pager returns to the shell", "^back", keys=["q"])


def test_keys_and_clicks_in_watch_act_on_the_room(check, daemon, open_terminal):
    if check.lacks("tmux", count=33):
        return
    terminal = open_terminal(60, 20)

    def becomes(name, feature, text, keys=(), done=""):
        """Types keys, and checks that a text appears in the state of a feature. Then waits until
        the bottom line shows the outcome, which would otherwise hide the acts on the next
        selection."""
        terminal.type(*keys)

        def state():
            features = daemon.call("GetRoom", room="main", feature=feature)["features"]
            return json.dumps(features, separators=(",", ":"))
        check.becomes(name, lambda: text in state(), lambda: f"{text} is not in {state()}")
        terminal.wait(f"{done}: done" if done else "")

    daemon.call("OpenRoom", room="main")
    terminal.enter(f"{ctl(daemon)} watch main")
    terminal.shows("watch shows the room", "^main", "[─━] Stream")
    check.becomes("the window has a title", lambda: terminal.title() == "livehost", terminal.title)
    daemon.send(message("0", "alone"))
    for columns, rows in (160, 48), (100, 30):
        terminal.resize(columns, rows)
        with check.attempt(f"at {columns} x {rows}, a single chat has the whole width"):
            # Only the title of the recorder takes space from a single chat.
            picture = terminal.wait("ann: alone", f"^─ Recorder ─{{{columns - 11}}}", "^[─━]+ Chat ━+$")
            assert not re.search("[│┬]", picture), picture
    daemon.send({"type": "poll.begin", "id": "p", "title": "what next?", "options": ["a", "b", "c", "d", "e"]},
                {"type": "tap", "control": "camera", "on": True},
                message("1", "안녕하세요 日本語 e\u0301 x", {"id": "u", "name": "한국어"}), message("2", "👍 plain"))
    terminal.shows("a window that grows is redrawn", "━ Chat ━{40,}┬─ Poll", "├─ Controls", "ann: 👍 plain")
    terminal.wait("한국어: 안녕하세요 日本語")
    columns = terminal.dividers()
    check("columns are aligned next to wide characters", len(columns) == 1,
          f"there are lines between panes in the columns {columns}\n{terminal.picture()}")
    terminal.shows("? lists the keys", "Page Up", "any key", keys=["?"])
    terminal.shows("any key closes the list of keys", "ann: 👍 plain", keys=["x"])

    daemon.send(*({"type": "waiting.join", "user": {"id": name, "name": name}} for name in ("Wanda", "Willi")),
                {"type": "slider", "control": "volume", "phase": "end", "value": 0.5},
                {"type": "chat.notice", "kind": "raid", "user": {"id": "r", "name": "rae"}, "count": 7})
    terminal.wait("Willi", "volume", "rae raids")
    terminal.focus("the waiting room can be focused", "Waiting room")
    terminal.shows("waiting people can be selected, and the bottom line lists the acts", "e let in|l let in",
                   keys=["Down", "Down"])
    becomes("Enter admits a person", "waitingRoom", '"admitted":1', ["Enter"])
    terminal.shows("the bottom line confirms the admission", "let in: done")
    terminal.focus("the chat can be focused", "Chat")
    terminal.press("Up reaches a notice", "Up", lambda picture: "p pin" in picture.rstrip("\n").split("\n")[-1])
    becomes("and pinned", "chat", '"pinned":true', ["p"], "pin")
    terminal.shows("a message can be selected", "t thread +o only this person", keys=["Escape", "End", "Up"])
    terminal.shows("t opens the thread of the message", "thread:", keys=["t"])
    becomes("o filters the chat by the author", "chat", '"filter":{', ["o"], "only this person")
    terminal.shows("the screen shows the filter by author", "only by")
    daemon.ctl("chat", "filter", "main")
    terminal.type("Escape", "Down")
    terminal.wait("select|f filter by words")
    terminal.shows("f asks for the words to filter by", "filter by words:", keys=["f"])
    terminal.enter("plain")
    terminal.shows("the screen shows the filter by words", 'only with "plain"')
    daemon.ctl("chat", "filter", "main")
    terminal.type("Escape", "/", *"plain", "Enter")
    terminal.shows("a search selects the message found", "ann: 👍 plain", "t thread")
    terminal.type("Escape")
    terminal.focus("the controls can be focused", "Controls")
    terminal.type("Down")
    terminal.wait(r"s set +\+- change")
    # 0.5 and two steps.
    becomes("+ moves a slider", "control", '"volume":0.6', ["+", "+"])
    terminal.type("s", "2", "5", "Enter")
    becomes("and set", "control", '"volume":0.25')
    becomes("Enter toggles a switch", "control", '"camera":false', ["Down", "Enter"], "turn off")
    # A first click on the current selection would act.
    terminal.type("Up")
    terminal.wait(r"s set +\+- change")
    terminal.click("camera off")
    terminal.shows("a click selects a switch", "turn on")
    terminal.click("camera off")
    becomes("a second click acts", "control", '"camera":true')
    terminal.focus("the recorder can be focused", "Recorder")
    becomes("Enter starts a recording", "recorder", '"state":"recording"', ["Down", "Enter"], "record")
    terminal.wait("here +recording")
    terminal.type("Down")
    terminal.wait("p pause|s stop|pause")
    becomes("s stops the recording", "recorder", '"state":"idle"', ["s"])
    terminal.shows("Escape shows the list of rooms", "^Rooms +1", "main +waiting", keys=["Escape", "Escape"])
    terminal.shows("Enter opens a room from the list", "━ ", keys=["Enter"])


def test_watch_top_and_ingest_survive_restarts_of_the_daemon(check, daemon, open_terminal):
    if check.lacks("tmux", count=16):
        return
    terminal, command = open_terminal(100, 30), ctl(daemon)
    daemon.send(message("2", "👍 plain"))
    terminal.enter(f"{command} watch main")
    terminal.wait("ann: 👍 plain")
    daemon.kill()
    terminal.shows("watch reports that the daemon is unreachable, and keeps its picture", AWAY, "ann: 👍 plain")
    daemon.start()
    terminal.lacks("watch continues when the daemon is back", "is unreachable")
    daemon.send(message("3", "after the restart", {"id": "u", "name": "bea"}))
    terminal.shows("watch shows messages sent after the restart", "ann: 👍 plain", "bea: after the restart")
    terminal.type("q")
    terminal.is_as_before("watch restores the terminal")

    terminal.enter(f"{command} top --interval 0.2")
    terminal.shows("top shows the room", "main", "HostView")
    terminal.shows("Enter in top watches the room", "━ ", "ann: 👍 plain", keys=["Enter"])
    terminal.type("q")
    terminal.is_as_before("watch from top restores the terminal")
    check.equal("the title of the window is restored", terminal.title(), socket.gethostname())
    terminal.enter(f"{command} top --interval 0.2")
    terminal.wait("main", "HostView")
    daemon.kill()
    terminal.shows("top reports that the daemon is unreachable", AWAY, "HostView")
    daemon.start()
    terminal.lacks("top continues when the daemon is back", "is unreachable")
    terminal.type("q")
    terminal.is_as_before("top restores the terminal")

    os.mkfifo(pipe := terminal.directory / "pipe")
    with open(pipe, "r+b", buffering=0) as file:
        terminal.enter(f"{command} ingest - --room main <{pipe}")
        reaction = b'{"type":"reaction","kind":"like","count":1}\n'
        file.write(reaction * 100)
        terminal.shows("the first lines of ingest are confirmed", "100 lines +.*100 confirmed")
        daemon.kill()
        terminal.shows("ingest reports that the daemon is unreachable",
                       "the daemon is unreachable; waiting for it")
        file.write(reaction * 50)
        terminal.shows("ingest keeps the lines that it reads", "daemon unreachable, 50 lines waiting")
        daemon.start()
        terminal.shows("ingest delivers these lines when the daemon is back", "connected again", "150 lines +.*150 confirmed")
    check.equal("each line of ingest took effect once", daemon.call("GetRoom", room="main")["features"]["header"]["likes"], 150)
