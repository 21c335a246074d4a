"""The work of a moderator in a terminal: acts on messages and people. A scripted controller carries out the acts on one of
two platforms."""
import re

from harness.controller import Platform
from harness.waiting import wait_for

ACTS = ["say", "reply", "delete", "timeOut", "ban", "unban"]
ANN, KIM = {"id": "id-ann", "name": "Ann"}, {"id": "id-kim", "name": "Kim"}


def foot(picture):
    """Returns the bottom line, which lists the acts on the selection."""
    return picture.rstrip("\n").split("\n")[-1]


def key(terminal, label):
    """Returns the key of an act on the selection, once the bottom line lists the act."""
    act = re.compile(rf"(?:^| )(\w) {label}(?=  |$)")
    return wait_for(lambda: act.search(foot(terminal.picture())), lambda: f"{label} is not offered\n{terminal.picture()}")[1]


def test_a_moderator_works_in_a_terminal(check, start_daemon, open_terminal):
    if check.lacks("tmux", count=24):
        return
    daemon = start_daemon("rooms:\n  requestTimeout: 1h\n")
    daemon.call("OpenRoom", room="main")
    for platform, identifier, user, text in ("twitch", "m1", ANN, "buy followers"), ("kick", "m2", KIM, "from elsewhere"):
        daemon.send({"type": "options", "room": "main", "platform": platform, "source": platform},
                    {"type": "chat.message", "id": identifier, "user": user, "text": text})
    terminal = open_terminal(160, 48)
    with Platform(daemon, "twitch", ACTS) as twitch:
        terminal.enter(f"{daemon.programs}/livehostctl --socket {daemon.control} watch main")
        terminal.wait("buy followers", "from elsewhere")
        terminal.focus("the chat can be focused", "Chat")
        terminal.shows("a message of another platform can be selected", "t thread", keys=["Up"])
        check("a message of another platform offers no acts", not re.search("reply|delete|ban", foot(terminal.picture())),
              terminal.picture())
        terminal.shows("a message of the controller's platform offers its acts", "reply .*delete .*time out .*ban", keys=["Up"])

        terminal.type(key(terminal, "reply"))
        terminal.wait("^reply:$")
        terminal.write("no advertising")
        terminal.shows("a reply is typed in the bottom line", "^reply: no advertising")
        terminal.type("Enter")
        request = twitch.next(kind="reply", message="m1", text="no advertising")
        terminal.shows("an act is pending until the platform answers", 'reply to Ann "no advertising".*: pending')
        twitch.answer(request, "refused", reason="the chat is in slow mode")
        terminal.shows("the chat and the bottom line show the platform's reason",
                       'reply to Ann "no advertising".*: the chat is in slow mode', "^reply: the chat is in slow mode")

        def again(name, label):
            """Selects an element again, whose acts the bottom line lists in place of an outcome."""
            terminal.type("Down")
            wait_for(lambda: not re.match(r"\w+: ", foot(terminal.picture())), terminal.picture)
            terminal.press(name, "Up", lambda picture: label in foot(picture))

        again("the message can be selected after a refused act", "delete")
        terminal.shows("a deletion must be confirmed", "^delete .*buy followers.*y/n", keys=[key(terminal, "delete")])
        # The next request is this one, so neither of the other keys sent one.
        terminal.shows("another key is no answer", "^delete .*y/n", keys=["x"])
        terminal.shows("n cancels the question", "time out .*ban", keys=["n"])
        terminal.type(key(terminal, "ban"))
        terminal.wait("^ban .*y/n")
        terminal.shows("Escape cancels the question, and keeps the selection", "d delete", keys=["Escape"])
        terminal.type(key(terminal, "delete"))
        terminal.wait("^delete .*y/n")
        terminal.type("y")
        twitch.answer(twitch.next(kind="delete", message="m1"), "confirmed")
        terminal.shows("the bottom line confirms the deletion", "^delete: done")

        again("the message can be selected after its deletion", "delete")
        terminal.type(key(terminal, "ban"))
        terminal.wait("^ban .*y/n")
        terminal.type("y")
        twitch.answer(twitch.next(kind="ban", user=ANN), "confirmed")
        terminal.shows("a ban can be undone", "ban Ann.*: done")
        terminal.press("the line of the ban can be selected", "Up", lambda picture: "lift" in foot(picture))
        terminal.type("Enter")
        twitch.answer(twitch.next(kind="unban", user=ANN), "confirmed")
        terminal.lacks("a lifted ban is not offered again", "ban Ann")

        terminal.press("a message can be selected", "Down", lambda picture: "delete" in foot(picture))
        terminal.shows("the card of a person opens", "person: +Ann", "identifier id-ann", "banned",
                       keys=[key(terminal, "person")])
        terminal.press("the card can be selected", "Up", lambda picture: "close" in foot(picture))
        terminal.type(key(terminal, "note"))
        terminal.wait("^note:$")
        terminal.write("knows the rules")
        terminal.type("Enter")
        terminal.shows("the card shows the note", "note: +knows the rules")
        again("the card can be selected after the note", "close")
        terminal.type(key(terminal, "close"))
        terminal.lacks("the card closes", "identifier id-ann")
        terminal.type("q")
        terminal.is_as_before("watch restores the terminal")
