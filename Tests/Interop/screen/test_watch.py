"""What livehostctl draws in a terminal, the keys and clicks it acts on, and daemons that go away under it."""
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


def test_output(check, daemon, open_terminal):
    if check.lacks("tmux", count=5):
        return
    terminal, command = open_terminal(60, 20), ctl(daemon)
    terminal.run(f"NO_COLOR=1 {command} status; {command} status | cat; TERM=dumb {command} status", "all three")
    # With the rows above the screen.
    picture = terminal.picture("-e", "-S", "-")
    check("no colour with NO_COLOR, in a pipe, or on a dumb terminal", not COLOURS.search(picture), picture)
    terminal.run(f"clear; {command} status", "one")
    picture = terminal.picture("-e")
    check("colour on a terminal", COLOURS.search(picture), picture)
    with check.attempt("nothing is paged with --no-pager"):
        terminal.run(f"clear; {command} --help --no-pager", "unpaged")
    if not check.lacks("less", count=2):
        terminal.enter(f"clear; {command} --help; echo back")
        terminal.shows("what is taller than the terminal is paged", "^OVERVIEW", "^lines 1-|^:")
        terminal.shows("and the shell is back after it", "^back", keys=["q"])


def test_acts(check, daemon, open_terminal):
    if check.lacks("tmux", count=33):
        return
    terminal = open_terminal(60, 20)

    def becomes(name, feature, text, keys=(), done=""):
        """Types keys, and checks that the state of a feature gets a text. Then waits until what is done is in the
        bottom line, since it would hide what can be done with the next selection."""
        terminal.type(*keys)

        def state():
            features = daemon.call("GetRoom", room="main", feature=feature)["features"]
            return json.dumps(features, separators=(",", ":"))
        check.becomes(name, lambda: text in state(), lambda: f"{text} is not in {state()}")
        terminal.wait(f"{done}: done" if done else "")

    daemon.call("OpenRoom", room="main")
    terminal.enter(f"{ctl(daemon)} watch main")
    terminal.shows("a room is watched", "^main", "[─━] Stream")
    check.becomes("the window says what is in it", lambda: terminal.title() == "livehost", terminal.title)
    daemon.send(message("0", "alone"))
    for columns, rows in (160, 48), (100, 30):
        terminal.resize(columns, rows)
        with check.attempt(f"at {columns} x {rows} a chat alone has the whole width"):
            # Nothing but the title of the recorder takes space from a chat that is alone.
            picture = terminal.wait("ann: alone", f"^─ Recorder ─{{{columns - 11}}}", "^[─━]+ Chat ━+$")
            assert not re.search("[│┬]", picture), picture
    daemon.send({"type": "poll.begin", "id": "p", "title": "what next?", "options": ["a", "b", "c", "d", "e"]},
                {"type": "tap", "control": "camera", "on": True},
                message("1", "안녕하세요 日本語 e\u0301 x", {"id": "u", "name": "한국어"}), message("2", "👍 plain"))
    terminal.shows("a window that grows is drawn anew", "━ Chat ━{40,}┬─ Poll", "├─ Controls", "ann: 👍 plain")
    terminal.wait("한국어: 안녕하세요 日本語")
    columns = terminal.dividers()
    check("columns line up beside wide characters", len(columns) == 1,
          f"there are lines between panes in the columns {columns}\n{terminal.picture()}")
    terminal.shows("its keys are listed", "Page Up", "Any key", keys=["?"])
    terminal.shows("and any key closes the list", "ann: 👍 plain", keys=["x"])

    daemon.send(*({"type": "waiting.join", "user": {"id": name, "name": name}} for name in ("Wanda", "Willi")),
                {"type": "slider", "control": "volume", "phase": "end", "value": 0.5},
                {"type": "chat.notice", "kind": "raid", "user": {"id": "r", "name": "rae"}, "count": 7})
    terminal.wait("Willi", "volume", "rae raids")
    terminal.focus("the waiting room can be focused", "Waiting room")
    terminal.shows("its people can be selected, and the bottom line says what can be done", "e let in|l let in",
                   keys=["Down", "Down"])
    becomes("one is let in", "waitingRoom", '"admitted":1', ["Enter"])
    terminal.shows("and the screen says so", "let in: done")
    terminal.focus("the chat can be focused", "Chat")
    terminal.press("a notice is reached", "Up", lambda picture: "p pin" in picture.rstrip("\n").split("\n")[-1])
    becomes("and pinned", "chat", '"pinned":true', ["p"], "pin")
    terminal.shows("a message is selected", "t thread +o only this person", keys=["Escape", "End", "Up"])
    terminal.shows("its thread is opened", "thread:", keys=["t"])
    becomes("the chat is filtered by its author", "chat", '"filter":{', ["o"], "only this person")
    terminal.shows("and shown so", "only by")
    daemon.ctl("chat", "filter", "main")
    terminal.type("Escape", "Down")
    terminal.wait("select|f filter by words")
    terminal.shows("words to filter by are asked for", "filter by words:", keys=["f"])
    terminal.enter("plain")
    terminal.shows("the chat is filtered by words", 'only with "plain"')
    daemon.ctl("chat", "filter", "main")
    terminal.type("Escape", "/", *"plain", "Enter")
    terminal.shows("a search selects what it finds", "ann: 👍 plain", "t thread")
    terminal.type("Escape")
    terminal.focus("the controls can be focused", "Controls")
    terminal.type("Down")
    terminal.wait(r"s set +\+- change")
    # 0.5 and two steps.
    becomes("a slider is moved", "control", '"volume":0.6', ["+", "+"])
    terminal.type("s", "2", "5", "Enter")
    becomes("and set", "control", '"volume":0.25')
    becomes("a switch is turned", "control", '"camera":false', ["Down", "Enter"], "turn off")
    # On what is selected already the first click would act.
    terminal.type("Up")
    terminal.wait(r"s set +\+- change")
    terminal.click("camera off")
    terminal.shows("a click selects", "turn on")
    terminal.click("camera off")
    becomes("a second one acts", "control", '"camera":true')
    terminal.focus("the recorder can be focused", "Recorder")
    becomes("a recording is started", "recorder", '"state":"recording"', ["Down", "Enter"], "record")
    terminal.wait("here +recording")
    terminal.type("Down")
    terminal.wait("p pause|s stop|pause")
    becomes("and stopped", "recorder", '"state":"idle"', ["s"])
    terminal.shows("Escape gives the list of rooms", "^Rooms +1", "main +waiting", keys=["Escape", "Escape"])
    terminal.shows("from which one is opened", "━ ", keys=["Enter"])


def test_restarts(check, daemon, open_terminal):
    if check.lacks("tmux", count=16):
        return
    terminal, command = open_terminal(100, 30), ctl(daemon)
    daemon.send(message("2", "👍 plain"))
    terminal.enter(f"{command} watch main")
    terminal.wait("ann: 👍 plain")
    daemon.kill()
    terminal.shows("watch says that the daemon went away, and keeps its picture", AWAY, "ann: 👍 plain")
    daemon.start()
    terminal.lacks("and goes on when it is back", "went away")
    daemon.send(message("3", "after the restart", {"id": "u", "name": "bea"}))
    terminal.shows("with what comes then", "ann: 👍 plain", "bea: after the restart")
    terminal.type("q")
    terminal.is_as_before("and ends as it began")

    terminal.enter(f"{command} top --interval 0.2")
    terminal.shows("top shows the room", "main", "HostView")
    terminal.shows("Enter watches it", "━ ", "ann: 👍 plain", keys=["Enter"])
    terminal.type("q")
    terminal.is_as_before("and it ends as it began")
    check.equal("the window has its title back", terminal.title(), socket.gethostname())
    terminal.enter(f"{command} top --interval 0.2")
    terminal.wait("main", "HostView")
    daemon.kill()
    terminal.shows("top says that the daemon went away", AWAY, "HostView")
    daemon.start()
    terminal.lacks("and goes on, too", "went away")
    terminal.type("q")
    terminal.is_as_before("and ends as it began")

    os.mkfifo(pipe := terminal.directory / "pipe")
    with open(pipe, "r+b", buffering=0) as file:
        terminal.enter(f"{command} ingest - --room main <{pipe}")
        reaction = b'{"type":"reaction","kind":"like","count":1}\n'
        file.write(reaction * 100)
        terminal.shows("ingest has its first lines confirmed", "100 lines +.*100 confirmed")
        daemon.kill()
        terminal.shows("ingest reports that the daemon is unreachable",
                       "the daemon is unreachable; waiting for it")
        file.write(reaction * 50)
        terminal.shows("and keeps what it reads", "daemon away, 50 lines waiting")
        daemon.start()
        terminal.shows("which is delivered when the daemon is back", "connected again", "150 lines +.*150 confirmed")
    check.equal("each line took effect once", daemon.call("GetRoom", room="main")["features"]["header"]["likes"], 150)
