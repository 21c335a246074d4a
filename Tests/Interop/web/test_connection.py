"""Hidden tabs, slow tabs, tabs that lose their daemon; and a second browser driver."""
import selenium.webdriver
from playwright.sync_api import expect

from harness.waiting import wait_for
from web_support import message, panel


def test_a_hidden_tab_draws_nothing_and_ends_its_stream(check, visit, page, daemon):
    with check.attempt("a hidden tab draws nothing, and ends its stream after a while"), visit("about:blank") as tab:
        tab.clock.install()
        tab.goto(page.link)
        expect(panel(tab, "header")).to_contain_text("viewers")
        streams = page.status()["streams"]
        hide = """(isHidden) => {
          Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }"""
        tab.evaluate(hide, True)
        daemon.send({"type": "viewers", "count": 7_777, "room": "main"})
        tab.wait_for_function("() => new Promise((resolve) => setTimeout(() => resolve(true), 0))")
        assert "7,777" not in panel(tab, "header").text_content()
        tab.clock.fast_forward(31_000)
        wait_for(lambda: page.status()["streams"] == streams - 1, "the end of the stream")
        daemon.send({"type": "viewers", "count": 8_888, "room": "main"})
        tab.evaluate(hide, False)
        expect(panel(tab, "header")).to_contain_text("8,888 viewers")
        assert page.status()["streams"] == streams, page.status()


def test_a_slow_connection_lags_behind_but_ends_correct(check, visit, page, daemon):
    with check.attempt("at 2 kB/s the page lags behind, and is correct in the end"), visit(page.link) as tab:
        expect(panel(tab, "header")).to_contain_text("viewers")
        session = tab.context.new_cdp_session(tab)
        network = {"offline": False, "latency": 0, "uploadThroughput": -1}
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", {**network, "downloadThroughput": 2048})
        for number in range(20):
            daemon.send(*[message(900_000 + number * 10 + each, f"a flood, wave {number}") for each in range(10)])
        daemon.send({"type": "viewers", "count": 9_999, "room": "main"})
        session.send("Network.emulateNetworkConditions", {**network, "downloadThroughput": -1})
        expect(panel(tab, "header")).to_contain_text("9,999 viewers")
        expect(panel(tab, "chat")).to_contain_text("wave 19")
        expect(tab.locator("#connection")).to_have_text("live")


def test_selenium_can_drive_the_page(check, page):
    with check.attempt("Selenium can also read the page and act on it"):
        options = selenium.webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        for argument in ("--headless=new", "--no-sandbox"):
            options.add_argument(argument)
        driver = selenium.webdriver.Chrome(options, selenium.webdriver.ChromeService("/usr/bin/chromedriver"))
        try:
            driver.get(page.link)
            wait_for(lambda: driver.find_element("id", "connection").text in ("● live", "live"), "the stream")
            wait_for(lambda: "viewers" in driver.find_element("css selector", "[data-panel=header]").text, "the room")
            driver.find_element("css selector", "[data-view=list]").click()
            wait_for(lambda: "main" in driver.find_element("id", "list").text, "the rooms")
        finally:
            driver.quit()


def test_tabs_survive_the_loss_of_the_daemon(check, visit, page, tab, daemon):
    daemon.send(message(389, "before the second tab"))
    with check.attempt("an act in one tab is visible in the other"), visit(page.link) as second:
        expect(panel(second, "header")).to_contain_text("An evening")
        daemon.send({"type": "tap", "control": "camera", "on": False, "room": "main"})
        for one, other, word, state in ((second, tab, "turn on", "camera on"), (tab, second, "turn off", "camera off")):
            panel(one, "control").get_by_role("button", name=word, exact=True).click()
            for each in (one, other):
                expect(panel(each, "control")).to_contain_text(state)
        second.locator("#screen").focus()
        second.keyboard.press("Space")
        daemon.send(message(390, "only one of them is paused"))
        expect(panel(tab, "chat")).to_contain_text("only one of them is paused")
        expect(panel(second, "chat")).not_to_contain_text("only one of them is paused")
    with check.attempt("the page reports a lost daemon"):
        daemon.stop()
        expect(tab.locator("#connection")).to_contain_text("lost")
    with check.attempt("the page continues when the daemon is back"):
        daemon.start()
        expect(tab.locator("#connection")).to_have_text("live")
        daemon.send(message(400, "back again"))
        expect(panel(tab, "chat")).to_contain_text("back again")
