"""The screen of a room in Chromium: updates and acts."""
import re

from playwright.sync_api import expect

from harness.waiting import wait_for
from web_support import message, panel, press


def feature(daemon, name):
    return daemon.json("show", "main", name)["features"][name]


def test_the_page_shows_a_room_and_its_changes(check, tab, daemon):
    with check.attempt("the page shows the first state"):
        expect(tab.locator("#connection")).to_have_text("live")
        expect(panel(tab, "header")).to_contain_text("An evening")
    with check.attempt("the page shows changes"):
        daemon.send(message(1, "first of all"), {"type": "viewers", "count": 1234, "room": "main"})
        expect(panel(tab, "chat")).to_contain_text("first of all")
        expect(panel(tab, "header")).to_contain_text("1,234 viewers")
    with check.attempt("markup in untrusted text is shown as text"):
        daemon.send(message(2, "<b>bold</b><script>alert(1)</script>", name="<img src=x onerror=alert(1)>"))
        expect(panel(tab, "chat")).to_contain_text("<img src=x onerror=alert(1)>")
        assert tab.locator("section img, section script, section b").count() == 0
    with check.attempt("the page removes the token from the address"):
        assert "t=" not in tab.url, tab.url


def test_a_scrolled_back_chat_stays_in_position(check, tab, daemon):
    log = panel(tab, "chat").locator(".scrolling")
    with check.attempt("a part that appears does not disturb the others"):
        daemon.send({"type": "waiting.join", "user": {"id": "v", "name": "Visitor"}, "room": "main"})
        expect(panel(tab, "waitingRoom")).to_contain_text("Visitor")
        assert tab.locator(".scrolling").count() == 1
        expect(log).to_contain_text("first of all")
        panel(tab, "waitingRoom").get_by_role("button", name="let in", exact=True).click()
        expect(panel(tab, "waitingRoom")).to_contain_text("1 admitted")
    with check.attempt("a scrolled-back chat stays in position"):
        daemon.send(*[message(100 + number, f"line {number} of many") for number in range(60)])
        expect(log).to_contain_text("line 59 of many")
        log.evaluate("list => { list.scrollTop = 0; }")
        top = log.evaluate("list => list.firstElementChild.textContent")
        daemon.send(message(200, "while reading back"))
        expect(log).to_contain_text("while reading back")
        assert log.evaluate("list => list.scrollTop") < 40
        assert log.evaluate("list => list.firstElementChild.textContent") == top
    with check.attempt("G scrolls to the newest message"):
        press(tab, "Shift+G")
        wait_for(lambda: log.evaluate("list => list.scrollHeight - list.scrollTop - list.clientHeight") < 30, "the end")
    with check.attempt("Space pauses and continues the screen"):
        press(tab, "Space")
        daemon.send(message(300, "not yet to be seen"))
        daemon.send({"type": "viewers", "count": 5, "room": "other"})
        expect(tab.locator("#pause")).to_have_text("Continue")
        expect(log).not_to_contain_text("not yet to be seen")
        tab.keyboard.press("Space")
        expect(log).to_contain_text("not yet to be seen")


def test_mouse_and_keyboard_act_on_the_room(check, tab, daemon):
    with check.attempt("the mouse toggles a switch"):
        daemon.send({"type": "tap", "control": "camera", "on": False, "room": "main"})
        panel(tab, "control").get_by_role("button", name="turn on").click()
        wait_for(lambda: feature(daemon, "control")["switches"]["camera"], "the switch")
    with check.attempt("the keyboard sets a slider"):
        daemon.send({"type": "slider", "control": "gain", "phase": "begin", "value": 0.5, "room": "main"},
                    {"type": "slider", "control": "gain", "phase": "end", "value": 0.5, "room": "main"})
        slider = panel(tab, "control").get_by_label("gain")
        slider.focus()
        tab.keyboard.press("End")
        wait_for(lambda: feature(daemon, "control")["values"]["gain"] == 1, "the slider")
    with check.attempt("the page starts and stops a recording"):
        panel(tab, "recorder").get_by_role("button", name="record").click()
        panel(tab, "recorder").get_by_role("button", name="stop").click()
        wait_for(lambda: '"finished"' in daemon.ctl("record", "list", "main", "--json=short"), "a recording")
    with check.attempt("the page reports a failed act"):
        daemon.send({"type": "waiting.join", "user": {"id": "w", "name": "Guest"}, "room": "main"})
        button = panel(tab, "waitingRoom").get_by_role("button", name="let in", exact=True)
        expect(button).to_be_visible()
        tab.evaluate("() => { document.querySelector('[data-panel=waitingRoom] .list .acts button').act.value = 'x'; }")
        button.click()
        expect(tab.get_by_role("alert")).to_contain_text("NobodyWaits")
    with check.attempt("the page admits waiting people"):
        panel(tab, "waitingRoom").get_by_role("button", name="let all in").click()
        wait_for(lambda: feature(daemon, "waitingRoom")["admitted"] == 2, "the guest")


def test_the_chat_is_filtered_by_mouse_and_keyboard(check, tab, daemon):
    """Checks filters and threads, by mouse and by keyboard."""
    log = panel(tab, "chat").locator(".scrolling")
    daemon.send(message(700, "about trains", name="Bo"), message(701, "about boats", name="Cleo"),
                {**message(702, "more about trains", name="Cleo"), "replyTo": "main-700"})
    with check.attempt("a reply names the author of the message to which it replies"):
        expect(log.locator(".acting", has_text="more about trains")).to_contain_text("> Bo:")
    with check.attempt("the keyboard can filter the chat by words"):
        press(tab, "/")
        tab.keyboard.type("bo")
        # Messages that arrive in the meantime affect neither the focus nor the typed text.
        daemon.send(message(703, "meanwhile"))
        expect(log).to_contain_text("meanwhile")
        tab.keyboard.type("ats")
        tab.keyboard.press("Enter")
        wait_for(lambda: feature(daemon, "chat").get("filter", {}).get("words") == "boats", "the filter")
        expect(log).not_to_contain_text("about trains")
        expect(log).to_contain_text("about boats")
        panel(tab, "chat").get_by_role("button", name="show all").click()
        expect(log).to_contain_text("about trains")
    with check.attempt("the buttons of a message appear under the mouse, and open its thread"):
        line = log.locator(".acting", has_text="about trains").first
        tab.mouse.move(0, 0)
        assert line.locator(".acts").evaluate("acts => getComputedStyle(acts).opacity") == "0"
        # The buttons are created only under the mouse, because during a flood they took a quarter
        # of the page's time.
        assert line.locator("button").count() == 0
        line.hover()
        line.get_by_role("button", name="thread").click()
        wait_for(lambda: feature(daemon, "chat").get("thread"), "the thread")
        expect(panel(tab, "chat")).to_contain_text("thread:")
        panel(tab, "chat").get_by_role("button", name="close").click()
        expect(panel(tab, "chat")).not_to_contain_text("thread:")
    with check.attempt("the arrow keys select a message, and its button filters by its author"):
        log.focus()
        for _ in range(3):
            tab.keyboard.press("ArrowUp")
        assert tab.evaluate("() => document.activeElement.closest('.acting').textContent.includes('about boats')")
        line = log.locator(".acting:focus-within")
        line.get_by_role("button", name="only this person").focus()
        tab.keyboard.press("Enter")
        wait_for(lambda: feature(daemon, "chat").get("filter", {}).get("user") == "cleo", "the filter")
        panel(tab, "chat").get_by_role("button", name="show all").click()
        wait_for(lambda: not feature(daemon, "chat").get("filter"), "no filter")


def test_the_page_has_no_errors(check, errors):
    unexpected = [error for error in errors if not re.search("status of 4(00|04|09)", error)]
    check("the page reports no errors", not unexpected, unexpected)
