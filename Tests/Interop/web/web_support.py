"""Functions shared by several tests of the page."""
import json

from axe_playwright_python.sync_playwright import Axe


def message(number, text, name="Ada", room="main"):
    return {"type": "chat.message", "room": room, "id": f"{room}-{number}",
            "user": {"id": name.lower(), "name": name}, "text": text}


def panel(tab, name):
    return tab.locator(f'section[data-panel="{name}"]')


def press(tab, key):
    tab.locator("#screen").focus()
    tab.keyboard.press(key)


def accessible(tab, name):
    violations = Axe().run(tab).response["violations"]
    assert not violations, name + json.dumps([
        (one["id"], one["nodes"][0]["target"], one["nodes"][0].get("failureSummary")) for one in violations])


def stage(daemon, name="stage"):
    """Events of a room for pictures: nothing in it moves except the clock."""
    room = {"room": name}
    people = ["Ada", "Grace", "Linus", "Margaret", "Dennis", "Barbara", "Ken", "Radia"]
    texts = ["that filter sounds great", "what key is this in?", "the bass again please", "hello from Lisbon",
             "love it @host", "can you show the patch once more", "wow", "is that the new one?"]
    daemon.send(
        {"type": "title", "title": "Evening stream: building a synthesiser", **room},
        {"type": "stream", "state": "waiting", **room},
        *[{"type": "waiting.join", "user": {"id": f"w{each}", "name": f"Guest {each}"}, **room} for each in range(3)],
        {"type": "stream", "state": "live", **room}, {"type": "viewers", "count": 1204, **room},
        {"type": "reaction", "kind": "heart", "count": 569, **room},
        *[event for name, value in (("gain", 0.24), ("bass", 0.54), ("reverb", 0.37)) for event in (
            {"type": "slider", "control": name, "phase": "begin", "value": value, **room},
            {"type": "slider", "control": name, "phase": "end", "value": value, **room})],
        {"type": "tap", "control": "camera", "on": True, **room}, {"type": "tap", "control": "mute", "on": False, **room},
        {"type": "stats", "bitrateKbps": 5948, "framesPerSecond": 59.9, "droppedFrames": 1, "roundTripMs": 24.3,
         "congestion": 0.013, **room},
        {"type": "poll.begin", "id": "p", "title": "Next patch?", "options": ["Pad", "Lead", "Bass"], **room},
        {"type": "poll.votes", "id": "p", "totals": [39, 26, 7], **room},
        {"type": "chat.notice", "kind": "gift", "user": {"id": "ken", "name": "Ken"}, "count": 5, **room},
        *[message(each, texts[each % 8], people[each * 5 % 8], name) for each in range(40)])
