"""The work of a moderator in Chromium: acts on messages and people with the mouse, the keyboard and a finger. A scripted
controller carries out the acts on one of two platforms."""
import itertools
import json
import subprocess

import pytest
from playwright.sync_api import expect

from harness.controller import Platform
from harness.programs import Daemon
from harness.waiting import wait_for
from harness.web import Page
from web_support import accessible, message, panel

ACTS = ["say", "reply", "delete", "timeOut", "ban", "unban", "announce", "setTitle"]
ON_ROWS = ["reply", "delete", "time out", "ban"]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
NARROW = {"viewport": {"width": 900, "height": 700}}
# The numbers of the messages.
numbers = itertools.count(1)


@pytest.fixture(scope="module")
def daemon(programs, tmp_path_factory):
    """A daemon whose acts stay pending until the controller answers or leaves."""
    daemon = Daemon(programs, tmp_path_factory.mktemp("livehostd"), "rooms:\n  requestTimeout: 1h\n")
    yield daemon
    assert daemon.stop() == 0


@pytest.fixture(scope="module")
def page(daemon, programs):
    """livehost-web with the room `main`; its link is that of a moderator, Mo."""
    file = daemon.directory / "people"
    added = subprocess.run(
        [programs / "livehostctl", "web", "people", "--json=short", "--file", file, "add", "Mo", "--role", "moderator"],
        stdout=subprocess.PIPE, text=True, check=True)
    daemon.send({"type": "title", "title": "An evening", "room": "main"})
    write(daemon, "kick", "Kim", "hello from the other platform")
    page = Page(daemon, "--people", file)
    page.link = f"{page.base}/#t={json.loads(added.stdout)['link'].rsplit('#t=', 1)[1]}"
    yield page
    assert page.stop() == 0


@pytest.fixture
def twitch(daemon, page):
    with Platform(daemon, "twitch", ACTS) as platform:
        yield platform


def write(daemon, platform, name, text):
    """Sends a message of a person on a platform. Returns the identifiers of the message and of the person."""
    identifier, user = f"{platform}-{next(numbers)}", f"id-{name}"
    daemon.send({"type": "options", "room": "main", "platform": platform, "source": platform},
                {**message(0, text), "id": identifier, "user": {"id": user, "name": name}})
    return identifier, user


class Moderator:
    """The page of a moderator. `choose` makes the buttons of a message visible, `press` presses a button, and `twice`
    presses the same place twice."""

    def __init__(self, tab, choose, press, twice=None):
        self.tab, self.chat, self.choose, self.press, self.twice = tab, panel(tab, "chat"), choose, press, twice
        self.log = self.chat.locator(".scrolling")
        expect(tab.locator("#connection")).to_have_text("live")

    def row(self, text):
        return self.log.locator(".acting", has_text=text)

    def button(self, row, name):
        return row.get_by_role("button", name=name, exact=True)

    def act(self, row, *names):
        """Presses the buttons of a message one after the other."""
        self.choose(row)
        for name in names:
            self.press(self.button(row, name))

    def sees(self, text):
        """The chat shows this text above the messages, on the visible part of the page."""
        expect(self.chat.get_by_text(text)).to_be_in_viewport()

    def settled(self):
        """No act is pending. When its line disappears, the messages below move."""
        expect(self.chat.get_by_text("(by Mo): pending")).to_have_count(0)


def work(check, moderator, daemon, twitch, name):
    """Lets a moderator reply, delete, time out, ban and lift, and checks what the moderator sees of each outcome."""
    person = f"Ann{name}"
    identifier, user = write(daemon, "twitch", person, f"a message for {name}")
    row = moderator.row(f"a message for {name}")

    with check.attempt(f"{name}: a refused reply shows the platform's reason"):
        moderator.act(row, "reply")
        expect(row.get_by_role("textbox")).to_be_focused()
        moderator.tab.keyboard.type("no links, n or p")
        accessible(moderator.tab, f"{name}, a reply: ")
        moderator.press(moderator.button(row, "reply"))
        request = twitch.next(kind="reply", message=identifier, text="no links, n or p")
        moderator.sees(f'reply to {person} "no links, n or p" (by Mo): pending')
        twitch.answer(request, "refused", reason="the chat is in slow mode")
        moderator.sees(f'reply to {person} "no links, n or p" (by Mo): the chat is in slow mode')
        expect(moderator.tab.get_by_role("alert")).to_have_text("Refused: the chat is in slow mode")
    if moderator.twice:
        with check.attempt(f"{name}: a double click does not confirm"):
            for label in "delete", "ban":
                moderator.choose(row)
                box = moderator.button(row, label).bounding_box()
                moderator.twice(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
                if moderator.button(row, "Cancel").count():
                    moderator.press(moderator.button(row, "Cancel"))
                expect(moderator.button(row, label)).to_be_visible()
            # The next request is a later act, so nothing was sent.
    with check.attempt(f"{name}: a message is deleted only after the confirmation"):
        moderator.act(row, "delete", "Cancel")
        expect(moderator.button(row, "delete")).to_be_focused()
        moderator.act(row, "delete")
        accessible(moderator.tab, f"{name}, a question: ")
        moderator.press(moderator.button(row, "Confirm: delete"))
        # The next request is this one, so the cancelled act was not sent.
        twitch.answer(twitch.next(kind="delete", message=identifier), "confirmed")
        moderator.settled()
    with check.attempt(f"{name}: a time-out needs no confirmation, and can be lifted"):
        moderator.act(row, "time out")
        request = twitch.next(kind="timeOut", seconds=600, user={"id": user, "name": person})
        moderator.sees(f"time out {person} for 10:00 (by Mo): pending")
        twitch.answer(request, "confirmed")
        lift(moderator, twitch, user, f"time out {person} for 10:00 (by Mo): done")
    with check.attempt(f"{name}: a person is banned only after the confirmation, and the ban can be lifted"):
        moderator.act(row, "ban", "Confirm: ban")
        twitch.answer(twitch.next(kind="ban", user={"id": user, "name": person}), "confirmed")
        accessible(moderator.tab, f"{name}, an act that can be undone: ")
        lift(moderator, twitch, user, f"ban {person} (by Mo): done")
    with check.attempt(f"{name}: the card of a person opens, shows a note, and closes"):
        moderator.act(row, "person")
        moderator.sees(f"identifier {user}")
        field = moderator.chat.get_by_role("textbox", name="note")
        field.focus()
        moderator.tab.keyboard.type("knows the rules")
        moderator.tab.keyboard.press("Enter")
        moderator.sees("knows the rules")
        expect(field).to_have_value("")
        moderator.sees("banned by Mo")
        accessible(moderator.tab, f"{name}, a card: ")
        moderator.press(moderator.button(moderator.chat, "close"))
        expect(moderator.chat.get_by_text(f"identifier {user}")).to_have_count(0)


def lift(moderator, twitch, user, line):
    moderator.sees(line)
    moderator.press(moderator.button(moderator.chat, "lift"))
    request = twitch.next(kind="unban")
    # The offer disappears once the act is under way, so that it is not repeated.
    expect(moderator.button(moderator.chat, "lift")).to_have_count(0)
    twitch.answer(request, "confirmed")
    expect(moderator.chat.get_by_text(line)).to_have_count(0)
    moderator.settled()


@pytest.mark.parametrize("options", [{}, NARROW], ids=["wide", "narrow"])
def test_a_moderator_works_with_the_mouse(check, visit, page, daemon, twitch, options):
    with visit(page.link, **options) as tab:
        def choose(row):
            """Buttons appear under the mouse, if they cover nothing, and otherwise after a click."""
            if options and not row.get_attribute("data-chosen"):
                row.click(position={"x": 4, "y": 4})
            row.hover(position={"x": 4, "y": 4})
        moderator = Moderator(tab, choose, lambda button: button.click(), tab.mouse.dblclick)
        work(check, moderator, daemon, twitch, "narrow mouse" if options else "mouse")


def test_a_moderator_works_with_the_keyboard_alone(check, visit, page, daemon, twitch):
    with visit(page.link) as tab:
        keyboard = tab.keyboard

        def has_focus(element):
            return element.evaluate("element => element === document.activeElement")

        def choose(row):
            if row.evaluate("row => row.contains(document.activeElement)"):
                return
            moderator.log.focus()
            for _ in range(20):
                keyboard.press("ArrowUp")
                if row.evaluate("row => row.contains(document.activeElement)"):
                    return
            raise AssertionError("the arrow keys do not reach the message")

        def press(button):
            """Moves the focus to a button with the arrow keys in a message, and with Tab elsewhere."""
            expect(button).to_be_visible()
            keys = ["Tab", "ArrowRight"]
            is_offered = button.evaluate("button => button.tabIndex < 0")
            if not is_offered and not button.evaluate("button => button.closest('.scrolling') !== null"):
                tab.locator("#screen").focus()
            for _ in range(40):
                if has_focus(button):
                    return keyboard.press("Enter")
                keyboard.press(keys[is_offered])
            raise AssertionError(f"the keyboard does not reach {button}")

        moderator = Moderator(tab, choose, press)
        work(check, moderator, daemon, twitch, "keyboard")
        with check.attempt("Escape cancels a question, and then leaves the message"):
            write(daemon, "twitch", "Eve", "a message for Escape")
            row = moderator.row("a message for Escape")
            moderator.act(row, "ban")
            keyboard.press("Escape")
            expect(moderator.button(row, "ban")).to_be_focused()
            keyboard.press("Escape")
            expect(moderator.log).to_be_focused()


def test_a_moderator_works_with_a_finger(check, visit, page, daemon, twitch):
    with visit(page.link, **PHONE) as tab:
        def choose(row):
            if not row.get_attribute("data-chosen"):
                row.tap(position={"x": 4, "y": 4})

        def twice(x, y):
            for _ in range(2):
                tab.touchscreen.tap(x, y)
        moderator = Moderator(tab, choose, lambda button: button.tap(), twice)
        # The whole chat fits on the phone.
        moderator.chat.evaluate("part => part.scrollIntoView({ block: 'center' })")
        work(check, moderator, daemon, twitch, "finger")
        with check.attempt("nothing is wider than the phone"):
            assert tab.evaluate("() => document.documentElement.scrollWidth") <= 390


def test_acts_are_offered_only_for_the_platform_of_the_controller(check, visit, page, daemon, twitch):
    write(daemon, "twitch", "Ann", "a message on this platform")
    with visit(page.link) as tab:
        moderator = Moderator(tab, lambda row: row.hover(), lambda button: button.click())
        with check.attempt("a message of the controller's platform offers its acts"):
            row = moderator.row("a message on this platform")
            moderator.choose(row)
            for name in ON_ROWS:
                expect(moderator.button(row, name)).to_be_visible()
        with check.attempt("a message of another platform offers no acts"):
            row = moderator.row("hello from the other platform")
            moderator.choose(row)
            expect(moderator.button(row, "person")).to_be_visible()
            for name in ON_ROWS:
                expect(moderator.button(row, name)).to_have_count(0)
        with check.attempt("a moderator is not offered the acts of hosts"):
            expect(moderator.chat.get_by_role("textbox", name="say")).to_be_visible()
            expect(moderator.chat.get_by_role("textbox", name="title")).to_have_count(0)
        with check.attempt("a message is sent to the chat"):
            moderator.chat.get_by_role("textbox", name="say").fill("good evening")
            tab.keyboard.press("Enter")
            twitch.answer(twitch.next(kind="say", text="good evening"), "sent")
            moderator.sees('say "good evening" (by Mo): sent, not confirmed')
        with check.attempt("the outcome is unknown if the controller leaves, and its acts disappear"):
            row = moderator.row("a message on this platform")
            moderator.choose(row)
            moderator.press(moderator.button(row, "time out"))
            twitch.next(kind="timeOut")
            twitch.close()
            moderator.sees("the outcome is unknown")
            moderator.choose(row)
            expect(moderator.button(row, "person")).to_be_visible()
            expect(moderator.button(row, "ban")).to_have_count(0)
        accessible(tab, "a moderator without a controller: ")


def test_a_message_in_use_stays_in_place(check, visit, page, daemon, twitch):
    """New messages must not bring the buttons of another message to the place that the user presses."""
    write(daemon, "twitch", "Ann", "a message in use")
    with visit(page.link) as tab:
        moderator = Moderator(tab, lambda row: row.hover(), lambda button: button.click())
        row = moderator.row("a message in use")

        def stays(text):
            before = row.bounding_box()["y"]
            for number in range(30):
                write(daemon, "twitch", "Bob", f"{text} {number}")
            expect(moderator.log).to_contain_text(f"{text} 29")
            assert row.bounding_box()["y"] == before, (row.bounding_box(), before)

        with check.attempt("a message stays while the mouse is over its buttons"):
            moderator.choose(row)
            moderator.button(row, "time out").hover()
            stays("under the mouse")
        with check.attempt("a message stays during a question"):
            moderator.press(moderator.button(row, "ban"))
            tab.mouse.move(0, 0)
            stays("during the question")
        with check.attempt("a question stays while the outcome of another act appears and changes"), daemon.client() as caller:
            caller.send("Act", {"room": "main", "kind": "say", "text": "meanwhile"})
            request = twitch.next(kind="say", text="meanwhile")
            moderator.sees('say "meanwhile": pending')
            expect(moderator.button(row, "Confirm: ban")).to_be_in_viewport()
            twitch.answer(request, "confirmed")
            expect(moderator.chat.get_by_text('say "meanwhile"')).to_have_count(0)
            expect(moderator.button(row, "Confirm: ban")).to_be_in_viewport()
            moderator.press(moderator.button(row, "Cancel"))
        with check.attempt("a message stays after a click, until the next click"):
            row.click(position={"x": 4, "y": 4})
            tab.mouse.move(0, 0)
            stays("after the click")
            row.click(position={"x": 4, "y": 4})
            tab.mouse.move(0, 0)
            write(daemon, "twitch", "Bob", "after the release")
            expect(moderator.row("after the release")).to_be_in_viewport()
            expect(row).not_to_be_in_viewport()
        with check.attempt("a message stays while the arrow keys select it, until the focus leaves the chat"):
            moderator.log.focus()
            tab.keyboard.press("ArrowUp")
            row = moderator.row("after the release")
            stays("with the keyboard")
            moderator.chat.get_by_role("textbox", name="say").focus()
            wait_for(lambda: not row.get_attribute("data-chosen"), "the release")
            write(daemon, "twitch", "Bob", "the last message")
            expect(moderator.row("the last message")).to_be_in_viewport()
