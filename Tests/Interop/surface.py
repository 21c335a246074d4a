#!/usr/bin/env python3
"""Drives a daemon as a control surface does: `surface.py BIN`, where BIN is the directory of the programs.

A small surface takes requests by MonitorRequests and answers them by ReportOutcome, over the socket. Ends with
`N passed, N failed`.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

CONTROL = "io.livehost.Control."
LIMIT = 60  # seconds for anything that is waited for


class Client:
    """A connection to the control socket."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(LIMIT)
        self.socket.connect(path)
        self.rest = b""

    def send(self, method, more=False, **parameters):
        message = {"method": CONTROL + method, "parameters": parameters}
        if more:
            message["more"] = True
        self.socket.sendall(json.dumps(message).encode() + b"\0")

    def receive(self):
        while b"\0" not in self.rest:
            piece = self.socket.recv(1 << 16)
            if not piece:
                raise EOFError("the connection was closed")
            self.rest += piece
        reply, self.rest = self.rest.split(b"\0", 1)
        return json.loads(reply)

    def call(self, method, **parameters):
        self.send(method, **parameters)
        return self.receive()

    def close(self):
        self.socket.close()


class Surface:
    """Somebody who moves the real sliders of a room."""

    def __init__(self, path, room="main", controls=None):
        self.path = path
        self.client = Client(path)
        parameters = {"room": room}
        if controls is not None:
            parameters["controls"] = controls
        self.client.send("MonitorRequests", more=True, **parameters)

    def next(self):
        """The next request, or the identifier of one that was withdrawn."""
        parameters = self.client.receive()["parameters"]
        return parameters.get("request") or parameters["withdrawn"]

    def report(self, identifier, outcome, reason=None):
        parameters = {"identifier": identifier, "outcome": outcome}
        if reason:
            parameters["reason"] = reason
        return Client(self.path).call("ReportOutcome", **parameters)

    def leave(self):
        self.client.close()


class Daemon:
    def __init__(self, bin, directory, configuration=None):
        self.bin, self.directory = bin, directory
        self.path = f"{directory}/run/io.livehost.Control"
        self.arguments = [f"{bin}/livehostd", "--runtime-dir", f"{directory}/run",
                          "--state-dir", f"{directory}/state"]
        if configuration:
            with open(f"{directory}/livehostd.yaml", "w") as file:
                file.write(configuration)
            self.arguments += ["--config", f"{directory}/livehostd.yaml"]
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            self.arguments, stderr=open(f"{self.directory}/log", "a"))
        end = time.monotonic() + LIMIT
        while True:
            try:
                Client(self.path).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.terminate()
        return self.process.wait(LIMIT)

    def call(self, method, **parameters):
        return Client(self.path).call(method, **parameters)

    def panel(self, room="main"):
        return self.call("GetRoom", room=room)["parameters"]["features"]["control"]

    def until(self, test, room="main"):
        """Waits until the panel passes a test, and gives the panel."""
        end = time.monotonic() + LIMIT
        while True:
            panel = self.panel(room)
            if test(panel) or time.monotonic() > end:
                return panel
            time.sleep(0.01)

    def slide(self, phase, value, control="zoom"):
        event = {"type": "slider", "control": control, "phase": phase, "value": value}
        reply = self.call("SendEvents", room="main", events=[event])
        assert reply["parameters"]["rejected"] == 0, reply

    def surface(self, **parameters):
        """A surface that the room knows of."""
        surfaces = self.metric('livehost_room_actions_total{feature="control",room="main"}')
        surface = Surface(self.path, **parameters)
        end = time.monotonic() + LIMIT
        while self.metric('livehost_room_actions_total{feature="control",room="main"}') == surfaces:
            assert time.monotonic() < end, "the surface is not noticed"
            time.sleep(0.01)
        return surface

    def metric(self, name):
        text = subprocess.run(
            [f"{self.bin}/livehostctl", "--socket", self.path, "metrics"],
            capture_output=True, text=True, check=True).stdout
        for line in text.split("\n"):
            if line.startswith(name + " "):
                return float(line.split(" ")[1])
        return 0


def alone(daemon):
    """Without a surface values hold at once."""
    daemon.call("OpenRoom", room="main")
    daemon.slide("end", 0.1)
    assert daemon.panel()["values"] == {"zoom": 0.1}, daemon.panel()
    reply = daemon.call("SetControl", room="main", control="zoom", value=0.2)
    assert reply["parameters"] == {"value": 0.2}, reply


def confirmed(daemon):
    """One request per drag; the value holds once it is confirmed."""
    surface = daemon.surface()
    daemon.slide("begin", 0.3)
    for step in range(20):
        daemon.slide("change", 0.3 + step / 100)
    daemon.slide("end", 0.5)
    request = surface.next()
    assert request["kind"] == "setControl" and request["control"] == "zoom", request
    assert request["value"] == 0.5 and request["room"] == "main", request
    panel = daemon.panel()
    assert panel["values"]["zoom"] == 0.2 and panel["pending"] == {"zoom": 0.5}, panel
    assert "parameters" in surface.report(request["identifier"], "confirmed")
    panel = daemon.panel()
    assert panel["values"]["zoom"] == 0.5 and not panel.get("pending"), panel
    # It is void now, and others never were.
    for identifier in [request["identifier"], "main/99", "other/1", "x", "", "main/", "/1", "a/b/c"]:
        reply = surface.report(identifier, "confirmed")
        assert reply.get("error") == CONTROL + "NoSuchRequest", (identifier, reply)
    # The next message is the next request: there was only one.
    daemon.slide("end", 0.6)
    request = surface.next()
    assert request["value"] == 0.6, request
    surface.report(request["identifier"], "confirmed")
    surface.leave()


def refused(daemon):
    """A refusal leaves the value and says why, until the next attempt."""
    surface = daemon.surface()
    caller = Client(daemon.path)
    caller.send("SetControl", room="main", control="zoom", value=0.9)
    request = surface.next()
    surface.report(request["identifier"], "refused", "the slider is locked")
    reply = caller.receive()["parameters"]
    assert reply == {"value": 0.6, "outcome": "refused", "reason": "the slider is locked"}, reply
    panel = daemon.panel()
    assert panel["values"]["zoom"] == 0.6, panel
    assert panel["failures"] == {"zoom": "the slider is locked"}, panel
    caller.send("SetControl", room="main", control="zoom", value=0.7)
    request = surface.next()
    assert not daemon.panel().get("failures"), daemon.panel()
    surface.report(request["identifier"], "confirmed")
    assert caller.receive()["parameters"] == {"value": 0.7, "outcome": "confirmed"}
    surface.leave()


def withdrawn(daemon):
    """A new drag withdraws the request."""
    surface = daemon.surface()
    caller = Client(daemon.path)
    caller.send("SetControl", room="main", control="zoom", value=0.1)
    request = surface.next()
    daemon.slide("begin", 0.2)
    assert surface.next() == request["identifier"]
    reply = caller.receive()["parameters"]
    assert reply["outcome"] == "refused" and "later" in reply["reason"], reply
    reply = surface.report(request["identifier"], "confirmed")
    assert reply.get("error") == CONTROL + "NoSuchRequest", reply
    daemon.slide("end", 0.3)
    second = surface.next()
    assert second["value"] == 0.3, second
    surface.report(second["identifier"], "confirmed")
    surface.leave()


def left(daemon):
    """What a surface was asked fails at once when it leaves; then values hold at once again."""
    surface = daemon.surface()
    daemon.slide("end", 0.9)
    surface.next()
    surface.leave()
    panel = daemon.until(lambda panel: panel.get("failures"))
    assert panel["failures"] == {"zoom": "the surface left"} and panel["values"]["zoom"] == 0.3, panel
    daemon.slide("end", 0.4)
    panel = daemon.panel()
    assert panel["values"]["zoom"] == 0.4, panel


def several(daemon):
    """The last one that takes a control gets its requests; who comes gets what is outstanding."""
    everything = daemon.surface()
    camera = daemon.surface(controls=["camera"])
    caller = Client(daemon.path)
    caller.send("SetControl", room="main", control="camera", on=True)
    request = camera.next()
    assert request["kind"] == "setSwitch" and request["on"] is True, request
    second = daemon.surface(controls=["camera", "zoom"])
    assert second.next() == request
    second.report(request["identifier"], "confirmed")
    assert caller.receive()["parameters"] == {"on": True, "outcome": "confirmed"}
    caller.send("SetControl", room="main", control="zoom", value=0.5)
    request = second.next()
    assert request["control"] == "zoom", request
    second.report(request["identifier"], "confirmed")
    assert caller.receive()["parameters"]["outcome"] == "confirmed"
    caller.send("SetControl", room="main", control="mic", value=0.5)
    request = everything.next()
    assert request["control"] == "mic", request
    everything.report(request["identifier"], "confirmed")
    caller.receive()
    for surface in [everything, camera, second]:
        surface.leave()


def ending(daemon):
    """The stream ends when its source says so; a refusal asks again."""
    daemon.call("SendEvents", room="main", events=[{"type": "stream", "state": "live"}])
    surface = daemon.surface()
    tap = dict(room="main", control="endStream", on=True)
    assert daemon.call("SetControl", **tap)["parameters"] == {}
    caller = Client(daemon.path)
    caller.send("SetControl", **tap)
    request = surface.next()
    assert request["kind"] == "endStream", request
    assert daemon.call("GetRoom", room="main")["parameters"]["phase"] == "live"
    surface.report(request["identifier"], "refused", "an advertisement runs")
    assert caller.receive()["parameters"] == {"outcome": "refused", "reason": "an advertisement runs"}
    # The question is asked again, so the next tap is the answer.
    caller.send("SetControl", **tap)
    request = surface.next()
    assert "parameters" in surface.report(request["identifier"], "confirmed")
    assert daemon.call("GetRoom", room="main")["parameters"]["phase"] == "live"
    daemon.call("SendEvents", room="main", events=[{"type": "stream", "state": "ended"}])
    assert caller.receive()["parameters"] == {"outcome": "confirmed"}
    assert daemon.call("GetRoom", room="main")["parameters"]["phase"] == "ended"
    surface.leave()


def recorder(daemon):
    """A recorder elsewhere is asked; without one that is an error."""
    other = daemon.surface(controls=["zoom"])
    ask = dict(room="main", wish="start")
    error = daemon.call("RecordElsewhere", **ask)
    assert error.get("error") == CONTROL + "NoSurface", error
    assert error["parameters"] == {"room": "main", "control": "recorder"}, error
    surface = daemon.surface(controls=["recorder"])
    for wish in ["start", "pause", "resume", "stop"]:
        caller = Client(daemon.path)
        caller.send("RecordElsewhere", room="main", wish=wish)
        request = surface.next()
        assert request["kind"] == wish + "Recording" and "control" not in request, request
        surface.report(request["identifier"], "confirmed")
        assert caller.receive()["parameters"] == {"outcome": "confirmed"}
    command = subprocess.Popen(
        [f"{daemon.bin}/livehostctl", "--socket", daemon.path, "record", "start", "main", "--elsewhere"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    request = surface.next()
    surface.report(request["identifier"], "refused", "the disk is full")
    printed, told = command.communicate(timeout=LIMIT)
    assert command.returncode == 1 and "refused: the disk is full" in told, (printed, told)
    assert daemon.panel()["failures"]["recorder"] == "the disk is full", daemon.panel()
    recorder = daemon.call("GetRoom", room="main")["parameters"]["features"]["recorder"]
    assert recorder["state"] == "idle", "only events say what it does"
    surface.leave()
    other.leave()


def restarted(daemon):
    """A request survives kill -9, and goes to the surface that comes back."""
    surface = daemon.surface()
    caller = Client(daemon.path)
    daemon.slide("end", 0.8)
    request = surface.next()
    daemon.kill()
    daemon.start()
    panel = daemon.panel()
    assert panel["pending"] == {"zoom": 0.8} and panel["values"]["zoom"] == 0.5, panel
    again = daemon.surface()
    assert again.next() == request
    again.report(request["identifier"], "confirmed")
    panel = daemon.panel()
    assert panel["values"]["zoom"] == 0.8 and not panel.get("pending"), panel
    again.leave()
    caller.close()


def silent(daemon):
    """Without an answer the value comes back, and the screen says why."""
    daemon.call("OpenRoom", room="main")
    surface = daemon.surface()
    reply = daemon.call("SetControl", room="main", control="zoom", value=0.9)["parameters"]
    assert reply == {"outcome": "refused", "reason": "no answer"}, reply
    request = surface.next()
    assert surface.next() == request["identifier"]
    panel = daemon.panel()
    assert panel["failures"] == {"zoom": "no answer"} and not panel["values"], panel
    surface.leave()


def closed(daemon):
    """The call ends with the room."""
    surface = daemon.surface()
    daemon.call("CloseRoom", room="main")
    assert surface.client.receive()["error"] == CONTROL + "NoSuchRoom"
    reply = Client(daemon.path)
    reply.send("MonitorRequests", more=True, room="none")
    assert reply.receive()["error"] == CONTROL + "NoSuchRoom"


def main():
    passed = failed = 0
    for configuration, checks in [
        ("rooms:\n  requestTimeout: 1h\n",
         [alone, confirmed, refused, withdrawn, left, several, ending, recorder, restarted]),
        ("rooms:\n  requestTimeout: 20ms\n", [silent, closed]),
    ]:
        directory = tempfile.mkdtemp()
        daemon = Daemon(sys.argv[1], directory, configuration)
        for check in checks:
            try:
                check(daemon)
                passed += 1
                print(f"ok: {check.__doc__}")
            except (AssertionError, OSError, EOFError, KeyError) as problem:
                failed += 1
                print(f"FAILED: {check.__doc__}\n{type(problem).__name__}: {problem}")
                break
        status = daemon.stop()
        if status != 0 or failed:
            failed += status != 0
            print(f"the daemon ended with {status}")
            print(open(f"{directory}/log").read()[-2000:])
        shutil.rmtree(directory)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
