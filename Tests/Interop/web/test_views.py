"""The other views of the page: rooms, hangs and simulations."""
import json
import re

from playwright.sync_api import expect

from harness.places import ROOT
from harness.programs import deterministic
from harness.waiting import wait_for
from web_support import panel, press


def saved(tab, button):
    """Returns the text that a button saves."""
    with tab.expect_download() as download:
        tab.get_by_role("button", name=button).click()
    return download.value.path().read_text()


def test_the_list_shows_all_rooms_and_opens_them(check, tab, daemon):
    with check.attempt("the list of rooms has the same figures as livehostctl"):
        press(tab, "2")
        expect(tab.locator("#list")).to_be_visible()
        daemon.send({"type": "viewers", "count": 5, "room": "other"})
        rooms = daemon.json("rooms")
        assert len(rooms) > 1, rooms
        for room in rooms:
            line = tab.locator("#list tr", has=tab.get_by_role("button", name=room["room"], exact=True))
            for kind in ("received", "coalesced", "rejected"):
                expect(line).to_contain_text(f"{room['counters'][kind]:,}")
            expect(line).to_contain_text(room["phase"].upper())
    with check.attempt("the list can open a room and show it"):
        tab.get_by_label("New room").fill("fresh")
        tab.locator("#list form").get_by_role("button").click()
        tab.locator("#list table").get_by_role("button", name="fresh").click()
        expect(tab.locator("#screen")).to_be_visible()
        expect(tab.locator("#rooms [aria-current]")).to_have_text("fresh")
        assert "room=fresh" in tab.url, tab.url
    with check.attempt("the list of keys opens and closes"):
        press(tab, "?")
        for text in ("pause, and continue", "go to Hangs", "filter the chat by words"):
            expect(tab.get_by_role("dialog")).to_contain_text(text)
        tab.keyboard.press("Escape")
    with check.attempt("keys work while a button has the focus, and Space presses the button"):
        tab.locator("[data-view=hangs]").click()
        tab.keyboard.press("2")
        expect(tab.locator("#list")).to_be_visible()
        tab.locator("[data-view=screen]").focus()
        tab.keyboard.press("Space")
        expect(tab.locator("#screen")).to_be_visible()
        expect(tab.locator("#pause")).to_have_text("Pause")
        tab.locator("#rooms").get_by_role("button", name="main").click()


def test_hangs_are_listed_with_their_cause(check, tab, daemon):
    with check.attempt("a hang is listed with its action and field"):
        press(tab, "3")
        daemon.send({"type": "title", "title": "An evening", "room": "slow"},
                    {"type": "title", "title": "Another evening", "room": "slow"})
        line = tab.locator("#hangs tr", has_text="slow")
        expect(line.first).to_contain_text("header.titleChanged")
        # Which of the two it is depends on the load of the machine.
        expect(line.first).to_contain_text(re.compile("(MICRO)?HANG"))
        line.first.get_by_role("button", name="why").click()
        why = panel(tab, "why").locator("tr", has_text="HeaderView")
        expect(why).to_contain_text("title")
        expect(why).to_contain_text("it reads the field")
    with check.attempt("the trace of the hangs can be saved"):
        events = json.loads(saved(tab, "Save as trace"))["traceEvents"]
        held = [event for event in events if event["args"]["room"] == "slow"]
        assert held and all(event["ph"] == "X" and event["dur"] >= 250_000 for event in held), events
        assert {event["name"] for event in held} == {"header.titleChanged"}, events


def test_the_page_runs_and_compares_simulations(check, tab, daemon, tmp_path):
    scenario = str(ROOT / "config/scenarios/host-screen.yaml")
    report = ["simulate", scenario, "--set", "duration=10s", "--device", "iphone-15-plus", "--json=short"]
    page = tab.locator("#simulate")

    def run(seed):
        tab.get_by_label("Seed", exact=True).fill(seed)
        page.get_by_role("button", name="Run").click()
        expect(page.locator("#report option:checked")).to_contain_text(f"seed {seed}")
        return deterministic(saved(tab, "Save report"))

    with check.attempt("a simulated scenario has the same result as with livehostctl"):
        tab.locator("#screen, #hangs").locator("visible=true").focus()
        tab.keyboard.press("4")
        expect(page.get_by_label("iphone-15-plus")).to_be_checked()
        for box in page.locator("#devices input").all():
            box.set_checked(box.get_attribute("value") == "iphone-15-plus")
        tab.get_by_label("Settings").fill("duration=10s")
        assert run("42") == deterministic(daemon.ctl(*report))
        expect(panel(tab, "iphone-15-plus").locator("tr", has_text="hitches").first).to_contain_text("−38.4 %")
        expect(panel(tab, "iphone-15-plus")).to_contain_text("HeaderView")
    with check.attempt("the saved trace of a simulation equals that of livehostctl"):
        tab.get_by_label("with a trace").check()
        run("42")
        daemon.ctl(*report, "--trace", tmp_path / "trace.json")
        ours, theirs = map(json.loads, (saved(tab, "Save trace"), (tmp_path / "trace.json").read_text()))
        assert ours["traceEvents"] and ours == theirs, f"{len(ours['traceEvents'])}, {len(theirs['traceEvents'])} events"
        tab.get_by_label("with a trace").uncheck()
    with check.attempt("a second report is compared with the first"):
        assert run("7")["seed"] == 7
        page.get_by_label("compared with").select_option(index=1)
        heads = panel(tab, "iphone-15-plus").locator("th").all_text_contents()
        assert heads[:5] == ["tracked, other", "ignored, other", "tracked", "ignored", "change"], heads
        assert "<svg" in saved(tab, "Save page")
    with check.attempt("an invalid setting is reported, and a run can be cancelled"):
        tab.get_by_label("Settings").fill("durtion=10s")
        page.get_by_role("button", name="Run").click()
        expect(tab.get_by_role("alert")).to_contain_text("unknown key")
        tab.get_by_label("Settings").fill("duration=60m")
        page.get_by_role("button", name="Run").click()
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_role("progressbar")).to_be_hidden()
        wait_for(lambda: "simulat" not in daemon.ctl("tasks", "--json=short"), "the end of the simulation")
        tab.locator("#simulate").focus()
        tab.keyboard.press("1")


def test_the_page_has_no_errors(check, errors):
    unexpected = [error for error in errors if not re.search("status of 4(00|04|09)", error)]
    check("the page reports no errors", not unexpected, unexpected)
