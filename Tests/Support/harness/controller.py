"""A scripted controller that acts on a platform for the room main."""
from harness.varlink import Client
from harness.waiting import wait_for


def actions(daemon):
    """Returns the number of actions that the controls of the room main have reduced."""
    name = 'livehost_room_actions_total{feature="control",room="main"} '
    found = [line for line in daemon.ctl("metrics").splitlines() if line.startswith(name)]
    return float(found[0].split(" ")[1]) if found else 0


class Platform(Client):
    """A controller of the room main that carries out acts on a platform. The initialiser waits until the room knows it."""

    def __init__(self, daemon, name, acts):
        super().__init__(daemon.control)
        self.daemon, before = daemon, actions(daemon)
        self.send("MonitorRequests", {"room": "main", "controls": [], "platform": name, "acts": acts}, more=True)
        wait_for(lambda: actions(daemon) != before, "an action for the new controller")

    def next(self, **members):
        """Returns the identifier of the next request, whose act must have these members."""
        request = self.receive()["parameters"]["request"]
        assert request["kind"] == "act" and members.items() <= request["act"].items(), request
        return request["identifier"]

    def answer(self, identifier, outcome, **reason):
        self.daemon.call("ReportOutcome", identifier=identifier, outcome=outcome, **reason)
