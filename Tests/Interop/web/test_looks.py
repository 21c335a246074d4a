"""Pictures of the page, a terminal and a report; and a comparison of the words on the page and
in the terminal."""
import concurrent.futures
import io
import json
import subprocess

import pytest
from playwright.sync_api import expect
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from harness.places import ROOT
from harness.programs import Program
from harness.waiting import PATIENCE, wait_for
from terminal_words import WORDS_OF_THE_PAGE, first_difference, words, words_of_the_terminal
from web_support import accessible, panel, stage

LOOKS = [(*size, scheme) for size in ((300, 700), (900, 700), (1600, 900)) for scheme in ("light", "dark")]
# The colours of the terminal: background, text, then black, red and so on.
GROUND, TEXT, *COLOURS = [tuple(bytes.fromhex(colour)) for colour in (
    "14181d e4e8ec 14181d ff6b6b 4cc38a f0b94f 7aa2f7 d08ce0 56c8d8 e4e8ec".split())]
LINES = ("<pre style=\"width:110ch;margin:0;padding:12px;background:{background};color:{foreground};"
         "font:14px/1.25 'DejaVu Sans Mono'\">{code}</pre>")


def drawn(text):
    """Returns a page with a text as drawn by a terminal."""
    console = Console(record=True, width=200, file=io.StringIO())
    console.print(Text.from_ansi(text.rstrip("\n")), end="")
    return console.export_html(theme=TerminalTheme(GROUND, TEXT, COLOURS), code_format=LINES, inline_styles=True)


def simulated_host(programs, directory):
    """Returns a recording of some seconds of the simulated host, from the room of a
    demonstration."""
    demo = Program([programs / "livehostctl", "demo", "--web"], directory / "log", {"TMPDIR": str(directory)},
                   stdout=subprocess.PIPE, text=True)
    try:
        demo.output.readline()
        control = next(directory.glob("*/run/io.livehost.Control"))

        def ctl(*arguments):
            return subprocess.run([programs / "livehostctl", "--socket", control, *arguments], check=True, text=True,
                                  stdout=subprocess.PIPE, timeout=PATIENCE).stdout

        wait_for(lambda: '"main"' in ctl("rooms", "--json=short"), "the room")
        recording = ctl("record", "start", "main").strip()
        wait_for(lambda: json.loads(ctl("record", "list", "main", "--json=short"))[-1]["events"] > 300, "events", pause=0.5)
        ctl("record", "stop", "main")
        return ctl("record", "export", recording)
    finally:
        demo.stop()


@pytest.fixture(scope="module", autouse=True)
def recording_of_host(programs, tmp_path_factory):
    """A future of a recording of the simulated host. It takes 10 s, while the other tests run."""
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        yield executor.submit(simulated_host, programs, tmp_path_factory.mktemp("demo"))


def test_the_page_looks_like_its_stored_pictures(check, visit, page, daemon, compare):
    """Checks that the page looks like the stored pictures."""
    stage(daemon)
    for width, height, scheme in LOOKS:
        name = f"page-{width}-{scheme}.png"
        with check.attempt(f"{name}: the page looks like its stored picture"), visit(
                f"{page.base}/?room=stage#t={page.token}", viewport={"width": width, "height": height},
                color_scheme=scheme) as tab:
            # Recent messages are part of a rate, so the test waits.
            expect(panel(tab, "chat")).to_contain_text(" 0/s")
            # Other rooms vary, so their buttons are removed.
            tab.evaluate("() => document.querySelectorAll('#rooms button:not([aria-current])').forEach((each) => each.remove())")
            for part in ("header", "chat"):
                expect(panel(tab, part).locator(".sparkline")).to_be_visible()
            log = panel(tab, "chat").locator(".scrolling")
            wait_for(lambda: log.evaluate("list => list.scrollHeight - list.scrollTop - list.clientHeight") < 2, "the end of the chat")
            tab.locator("#pause").click()
            tab.mouse.move(0, 0)
            compare(tab.screenshot(), name)


def test_terminal_and_report_look_like_their_stored_pictures(check, visit, programs, daemon, compare, tmp_path, open_terminal):
    """Checks that the terminal and a report look like the stored pictures."""
    with check.attempt("terminal.png: the terminal looks like its stored picture"), visit(
            "about:blank", viewport={"width": 1200, "height": 900}) as tab:
        terminal = open_terminal(110, 32)
        terminal.enter(f"COLORTERM=truecolor {programs}/livehostctl --socket {daemon.control} watch stage")
        # The history of the rate grows until the line is full. When the line is full, the rows stay
        # in place.
        terminal.wait(" 0/s", "LIVE", "reverb", "^most by Ada")
        tab.set_content(f"<body style='margin:0'>{drawn(terminal.settled('-e'))}")
        compare(tab.locator("pre").screenshot(), "terminal.png")
    page = tmp_path / "report-of-four.html"
    subprocess.run([programs / "livehostctl", "simulate", "--local", ROOT / "config/scenarios/host-screen.yaml", "--html", page],
                   stdout=subprocess.DEVNULL, timeout=10 * PATIENCE)
    for scheme in ("light", "dark"):
        with check.attempt(f"report-{scheme}.png: a report looks like its stored picture"), visit(
                page.as_uri(), viewport={"width": 1000, "height": 900}, color_scheme=scheme) as tab:
            compare(tab.screenshot(), f"report-{scheme}.png")
    with check.attempt("a report fits on a phone, and axe finds no problem"), visit(
            page.as_uri(), viewport={"width": 360, "height": 700}) as tab:
        assert tab.evaluate("() => document.documentElement.scrollWidth") <= 360
        accessible(tab, "the report")


def test_nothing_overflows_the_page_at_any_width(check, visit, page, daemon):
    stage(daemon, "main")
    for width, height, scheme in LOOKS:
        with check.attempt(f"{width} pixels, {scheme}: nothing overflows, and axe finds no problem"), visit(
                page.link, viewport={"width": width, "height": height}, color_scheme=scheme) as tab:
            expect(tab.locator("#connection")).to_have_text("live")
            for view, content in (("screen", "[data-panel=chat]"), ("list", "#list tr"), ("hangs", "#hangs tr"),
                                  ("simulate", "#devices input")):
                tab.locator(f"[data-view={view}]").click()
                expect(tab.locator(content).first).to_be_visible()
                wide = tab.evaluate("() => document.documentElement.scrollWidth")
                assert wide <= width, f"{view} is {wide} pixels wide"
                out = tab.evaluate("() => [...document.querySelectorAll('#screen .panel > div')]"
                                   ".filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent)")
                assert not out, f"{out} overflow their panels"
                if view == "list":
                    # A table drops columns before it is cut off.
                    expect(tab.locator("#list th", has_text="rejected")).to_be_visible(visible=width > 400)
                    lines = [each.get_attribute("d") for each in tab.locator("#list .sparkline .line").all()]
                    assert all("L" in line for line in lines), "a history of one sample is not drawn as a level line"
                accessible(tab, view)


def is_the_terminals(check, visit, page, daemon, room):
    """Checks that the page has the same words as the terminal, part by part and in order."""
    with check.attempt(f"{room}: the page and the terminal show the same words"), visit(
            f"{page.base}/?room={room}#t={page.token}", viewport={"width": 1600, "height": 900}) as tab:
        expect(tab.locator("#connection")).to_have_text("live")

        def same():
            before = {title: words(text) for title, text in tab.evaluate(WORDS_OF_THE_PAGE).items()}
            terminal = words_of_the_terminal(daemon, room)
            after = {title: words(text) for title, text in tab.evaluate(WORDS_OF_THE_PAGE).items()}
            same.difference = {
                title: first_difference(after.get(title, []), terminal.get(title, []))
                for title in {*after, *terminal} if after.get(title, []) != terminal.get(title, [])}
            # The clock of a room advances, so only the unchanged words are compared.
            return before == after and not same.difference and after

        try:
            found = wait_for(same, "the same")
        except TimeoutError:
            raise AssertionError(f"page and terminal: {same.difference}") from None
        check.write(f"{room}: {len(found)} parts, {sum(len(text) for text in found.values())} words")


def test_page_and_terminal_show_the_same_words(check, visit, page, daemon, tmp_path, recording_of_host):
    daemon.ctl("ingest", str(ROOT / "config/recordings/chat-burst.irc.gz"), "--speed", "max")
    host = tmp_path / "host.ndjson"
    with check.attempt("the simulated host is recorded"):
        host.write_text(recording_of_host.result(PATIENCE))
        daemon.ctl("ingest", str(host), "--speed", "max", "--room", "simulated")
    for room in "examplehost", "simulated":
        is_the_terminals(check, visit, page, daemon, room)
