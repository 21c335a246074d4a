"""Fixtures of the tests of the page: a daemon and livehost-web for each file, and one Chromium
for all files."""
import contextlib
import io
import pathlib

import pytest
from PIL import Image, ImageChops
from playwright.sync_api import expect, sync_playwright

from harness.programs import Daemon
from harness.waiting import PATIENCE
from harness.web import Page

PICTURES = pathlib.Path(__file__).resolve().parents[1] / "Pictures"
# The share of pixels that may differ, because of the clock and of font rendering.
SHARE = 0.02
expect.set_options(timeout=PATIENCE * 1000)


def pytest_addoption(parser):
    parser.addoption("--write-pictures", action="store_true", help="store pictures of the page, a terminal and a report")


@pytest.fixture(scope="module")
def daemon(programs, tmp_path_factory):
    """A daemon in which changing the title of a room takes 300 ms, which is a microhang."""
    daemon = Daemon(programs, tmp_path_factory.mktemp("livehostd"),
                    environment={"LIVEHOST_HOLD": "action:header.titleChanged=300"})
    yield daemon
    assert daemon.stop() == 0


@pytest.fixture(scope="module")
def page(daemon):
    """livehost-web with a room `main`."""
    page = Page(daemon)
    daemon.send({"type": "title", "title": "An evening", "room": "main"},
                {"type": "stream", "state": "waiting", "room": "main"}, {"type": "viewers", "count": 2, "room": "main"})
    yield page
    page.stop()


@pytest.fixture(scope="session")
def playwright():
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright):
    # Chromium refuses to start its sandbox as root, which is the user of CI.
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def visit(browser):
    """Opens a tab with the options of Browser.new_page(), and closes it at the end of the block."""
    @contextlib.contextmanager
    def visit(address, **options):
        with contextlib.closing(browser.new_page(**options)) as tab:
            tab.set_default_timeout(PATIENCE * 1000)
            tab.goto(address)
            yield tab
    return visit


@pytest.fixture(scope="module")
def errors():
    """The errors that `tab` reported."""
    return []


@pytest.fixture(scope="module")
def tab(visit, page, errors):
    """The page with the room `main`. The tests of a file share it and continue from each other."""
    with visit("about:blank") as tab:
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.on("console", lambda line: line.type == "error" and errors.append(line.text))
        tab.goto(page.link)
        yield tab


@pytest.fixture
def compare(request, check, tmp_path):
    """Compares a picture with the stored one of the same name, or stores it with
    --write-pictures."""
    def compare(picture, name):
        seen, path = Image.open(io.BytesIO(picture)).convert("RGB"), PICTURES / name
        if request.config.getoption("--write-pictures", default=False):
            seen.quantize(128).save(path, optimize=True)
            return
        stored = Image.open(path).convert("RGB")
        assert seen.size == stored.size, f"{seen.size}, stored {stored.size}"
        # The stored picture has few colours, to keep it small.
        differences = ImageChops.difference(seen, stored).convert("L").point(lambda value: 255 if value > 40 else 0)
        share = differences.histogram()[255] / (seen.width * seen.height)
        check.write(f"{name}: {share:.2%} differ")
        if share > SHARE:
            seen.save(tmp_path / name)
        assert share <= SHARE, (f"{share:.1%} of the pixels differ, but at most {SHARE:.0%} may; see "
                                f"{tmp_path / name}; if the change is intended, store it with --write-pictures")
    return compare
