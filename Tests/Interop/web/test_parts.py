"""Overlays, and individual parts of a room in separate tabs."""
import json
import re

from playwright.sync_api import expect

from harness.waiting import wait_for
from harness.web import Page
from web_support import message, panel


def test_overlays_show_their_part_and_survive_a_restart(check, visit, page, daemon, tmp_path):
    with check.attempt("an overlay shows its part on a transparent background"), visit(
            f"{page.base}/overlay/chat?room=main&t={page.reading}") as tab:
        daemon.send(message(500, "on the stream"))
        expect(tab.locator("body")).to_contain_text("on the stream")
        expect(panel(tab, "header")).to_be_hidden()
        assert tab.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgba(0, 0, 0, 0)"
    with check.attempt("an overlay waits for its room"), visit(
            f"{page.base}/overlay/chat?room=later&t={page.reading}") as tab:
        wait_for(lambda: page.request("GET", f"/api/rooms/later/events?t={page.reading}")[0] == 404, "no such room")
        daemon.send(message(1, "in a room that was opened later", room="later"))
        expect(tab.locator("body")).to_contain_text("in a room that was opened later")
    options = ("--overlay-token-file", str(tmp_path / "overlay-token"))
    first = Page(daemon, *options)
    with check.attempt("an overlay continues after a restart of the program"), visit(
            f"{first.base}/overlay/chat?room=main&t={first.reading}") as tab:
        expect(tab.locator("body")).to_contain_text("on the stream")
        first.stop()
        second = Page(daemon, *options, port=first.port)
        assert second.reading == first.reading and second.token != first.token
        daemon.send(message(501, "after the restart"))
        expect(tab.locator("body")).to_contain_text("after the restart")
        second.stop()


def test_names_have_readable_colours_and_badges(check, visit, page, daemon):
    """Checks the colours and badges of names, as sent by their platform."""
    colours = ["#0000FF", "#000000", "#FFFFFF", "#FFFF00", "#1E90FF"]
    people = [{"id": f"c{each}", "name": f"Colour{each}", "color": colour} for each, colour in enumerate(colours)]
    people[0]["badges"] = ["moderator/1", "subscriber/12"]
    daemon.send(*[{"type": "chat.message", "room": "colours", "id": f"c{each}", "user": user, "text": "hello",
                   **({"bits": 100} if each == 0 else {})} for each, user in enumerate(people)])
    luminance = """(colour) => {
      const [red, green, blue] = colour.match(/[0-9.]+/g).map((part) => part / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    }"""
    seen = {}
    for scheme in ("light", "dark"):
        with check.attempt(f"chosen colours are readable in the {scheme} scheme"), visit(
                f"{page.base}/?room=colours#t={page.token}", color_scheme=scheme) as tab:
            names = panel(tab, "chat").locator("[data-own]")
            expect(names).to_have_count(len(people))
            expect(names.first).to_have_text("mod Colour0 with 100 bits:")
            expect(names.first.locator(".standing")).to_have_text("mod")
            seen[scheme] = [names.nth(each).evaluate("(name) => getComputedStyle(name).color") for each in range(len(people))]
            ground = panel(tab, "chat").evaluate("(part) => getComputedStyle(part).backgroundColor")
            lights = [tab.evaluate(luminance, each) for each in (ground, *seen[scheme])]
            for colour, light in zip(colours, lights[1:]):
                low, high = sorted((lights[0], light))
                assert (high + 0.05) / (low + 0.05) >= 4.5, f"{colour} on {ground}"
    # Blue stays blue on both backgrounds; only white on white and black on black must change.
    blues = [[int(part) for part in re.findall(r"\d+", each[0])] for each in seen.values()]
    check("chosen colours keep their hue", all(blue > red and blue > green for red, green, blue in blues), f"{seen}")


def test_emotes_are_highlighted(check, visit, page, daemon):
    """Checks that emotes are highlighted in the text of a message."""
    daemon.send({"type": "chat.message", "room": "emotes", "id": "1", "user": {"id": "u", "name": "Ann"},
                 "text": "\U0001F600 <b>Kappa</b> \u202Ex", "emotes": [5, 10, 15, 17]})
    with check.attempt("emotes are highlighted in the text of a message, which stays text"), visit(
            f"{page.base}/?room=emotes#t={page.token}") as tab:
        marks = panel(tab, "chat").locator("em")
        expect(marks).to_have_text(["Kappa", "\uFFFDx"])
        expect(panel(tab, "chat").locator("b")).to_have_count(0)


def test_statistics_are_drawn_as_charts(check, visit, page, daemon, tmp_path):
    file, begin = tmp_path / "stats.ndjson", 1_700_000_000_000
    live = json.dumps({"type": "stream", "state": "live", "ts": begin}) + "\n"
    file.write_text(live + "".join(json.dumps({
        "type": "stats", "ts": begin + second * 1000, "bitrateKbps": 4000 + 500 * (second // 10 % 4), "framesPerSecond": 60,
        "roundTripMs": 30 + second % 3, "droppedFrames": 0, "congestion": 0.01}) + "\n" for second in range(300)))
    daemon.ctl("ingest", str(file), "--speed", "max", "--room", "charts")
    with check.attempt("statistics are drawn as charts over time, with scales"), visit(
            f"{page.base}/?room=charts#t={page.token}") as tab:
        figures = panel(tab, "liveRoomStats").locator("figure")
        expect(figures).to_have_count(2)
        expect(figures.first.locator("figcaption")).to_contain_text("bitrate")
        expect(figures.first.locator(".high")).to_have_text("5,500")
        expect(figures.first.locator(".low")).to_have_text("4,000")
        expect(figures.first.locator(".since")).to_have_text("5 min ago")
        expect(figures.nth(1).locator("figcaption")).to_contain_text("round trip")
        assert figures.first.locator(".line").get_attribute("d").count("L") > 50
