"""Monitors and controls a real OBS on a virtual screen, which streams to nginx's RTMP module.

packaging/dependencies.sh installs OBS and Xvfb.
"""
import base64
import hashlib
import json
import math
import pathlib
import struct
import subprocess
import wave

import pytest
from websockets.sync.client import connect

from harness.places import unpacked
from harness.programs import Program, accepts, free_port
from harness.waiting import wait_for

PASSWORD, WRONG = "correct horse battery", "hunter2 hunter2"
NGINX = """
daemon off;
master_process off;
worker_processes 1;
pid {directory}/nginx.pid;
error_log {directory}/nginx.log;
load_module {files}/usr/lib/nginx/modules/ngx_rtmp_module.so;
events {{ worker_connections 64; }}
rtmp {{ access_log off; server {{ listen 127.0.0.1:{port}; application live {{ live on; }} }} }}
http {{ access_log off; client_body_temp_path {directory}/t; proxy_temp_path {directory}/t;
fastcgi_temp_path {directory}/t; uwsgi_temp_path {directory}/t; scgi_temp_path {directory}/t;
server {{ listen 127.0.0.1:{page}; location /stat {{ rtmp_stat all; }} }} }}
"""
GLOBAL = {
    "General": {"FirstRun": "true", "LastVersion": 486539266},
    "Basic": {"Profile": "test", "ProfileDir": "test", "SceneCollection": "test", "SceneCollectionFile": "test"},
    "OBSWebSocket": {"FirstLoad": "false", "ServerEnabled": "true", "AuthRequired": "true", "AlertsEnabled": "false",
                     "ServerPassword": PASSWORD},
}
PROFILE = {
    "General": {"Name": "test"},
    "Video": {"BaseCX": 640, "BaseCY": 360, "OutputCX": 640, "OutputCY": 360, "FPSCommon": 10},
    "Output": {"Mode": "Simple", "RetryDelay": 1, "Reconnect": "true"},
    "SimpleOutput": {"RecFormat": "mkv", "RecQuality": "Stream", "StreamEncoder": "x264", "Preset": "ultrafast",
                     "VBitrate": 600},
}


def write_settings(path, sections):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"[{section}]\n" + "".join(f"{name}={value}\n" for name, value in settings.items())
                            for section, settings in sections.items()))


def write_tone(path):
    """Writes a tone of 440 Hz that lasts one second."""
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, 48_000, 0, "NONE", ""))
        values = (int(20_000 * math.sin(step * 2 * math.pi * 440 / 48_000)) for step in range(48_000))
        file.writeframes(b"".join(struct.pack("<hh", value, value) for value in values))


class Server(Program):
    """A program that listens on a dedicated port."""

    def start(self):
        super().start()
        self.wait_for(lambda: accepts(("127.0.0.1", self.port)), f"{self.command[0]} to listen")


class Nginx(Server):
    """An RTMP server with a page of statistics."""

    def __init__(self, files, directory):
        self.port, self.page = free_port(), free_port()
        configuration = directory / "nginx.conf"
        configuration.write_text(NGINX.format(directory=directory, files=files, port=self.port, page=self.page))
        super().__init__([files / "usr/sbin/nginx", "-c", configuration, "-p", directory], directory / "nginx.err")


class Obs(Server):
    """OBS, with an independent connection to it."""

    def __init__(self, directory, display):
        self.port = free_port()
        home = directory / "home"
        settings = home / ".config/obs-studio"
        write_settings(settings / "global.ini",
                       GLOBAL | {"OBSWebSocket": GLOBAL["OBSWebSocket"] | {"ServerPort": self.port}})
        write_settings(settings / "basic/profiles/test/basic.ini",
                       PROFILE | {"SimpleOutput": PROFILE["SimpleOutput"] | {"FilePath": directory}})
        (settings / "basic/scenes").mkdir()
        super().__init__(
            ["obs", "--multi", "--minimize-to-tray", "--disable-updater", "--websocket_port", self.port,
             "--websocket_password", PASSWORD, "--websocket_ipv4_only"], directory / "obs.log",
            {"HOME": str(home), "XDG_RUNTIME_DIR": str(directory), "XDG_CONFIG_HOME": str(home / ".config"),
             "DISPLAY": display, "LIBGL_ALWAYS_SOFTWARE": "1", "LC_ALL": "C.UTF-8"})

    def start(self):
        super().start()
        self.socket = connect(f"ws://127.0.0.1:{self.port}", proxy=None, max_size=None).__enter__()
        hello = self.receive()["authentication"]

        def digest(text):
            return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        answer = digest(digest(PASSWORD + hello["salt"]) + hello["challenge"])
        self.send(1, rpcVersion=1, authentication=answer, eventSubscriptions=0)
        assert self.receive()["negotiatedRpcVersion"] == 1
        self.wait_for(lambda: self.reply("GetSceneList")["requestStatus"]["result"], "OBS to load")

    def send(self, kind, **data):
        self.socket.send(json.dumps({"op": kind, "d": data}))

    def receive(self):
        return json.loads(self.socket.recv(timeout=60))["d"]

    def reply(self, kind, **data):
        self.send(6, requestType=kind, requestId="x", requestData=data)
        return self.receive()

    def ask(self, kind, **data):
        reply = self.reply(kind, **data)
        assert reply["requestStatus"]["result"], reply
        return reply.get("responseData", {})

    def volume(self):
        return self.ask("GetInputVolume", inputName="tone")["inputVolumeDb"]


class Room:
    """The state and the controls of a room."""

    def __init__(self, check, daemon, name):
        self.check, self.daemon, self.name = check, daemon, name

    def state(self):
        return self.daemon.reply("GetRoom", room=self.name).get("parameters", {})

    def phase(self):
        return self.state().get("phase")

    def feature(self, name):
        return self.state().get("features", {}).get(name) or {}

    def value(self, control):
        return self.feature("control").get("values", {}).get(control)

    def switch(self, control):
        return self.feature("control").get("switches", {}).get(control)

    def source(self):
        return next(iter(self.feature("sources")), {})

    def bitrate(self):
        return self.feature("liveRoomStats").get("last", {}).get("bitrateKbps", 0)

    def recorder(self):
        return self.feature("recorder").get("elsewhere", {})

    def set(self, control, **value):
        return self.call("SetControl", control=control, **value)

    def call(self, method, **parameters):
        return self.daemon.reply(method, room=self.name, **parameters).get("parameters", {})

    def becomes(self, name, condition, *replies):
        self.check.becomes(name, condition, lambda: f"{replies} {self.state()}")


def controls(check, room, obs, scene):
    room.becomes("the source of OBS is live", lambda: room.source().get("state") == "live")
    room.becomes("inputs, scenes and the stream are controls of the room", lambda: room.value("tone") == 1.0 and [
        room.switch(name) for name in ("mute tone", "stream", f"scene {scene}")] == [False, False, True])
    reply = room.set("tone", value=0.5)
    # OBS's fader has 6 - 102 ** 0.5 * 6 ** 0.5 dB at this position.
    check("a slider changes OBS's volume, and its request is confirmed",
          reply.get("outcome") == "confirmed" and abs(obs.volume() - (6 - math.sqrt(612))) < 0.01,
          f"{reply} {obs.volume()}")
    committed = room.feature("control")["committed"]
    obs.ask("SetInputVolume", inputName="tone", inputVolumeDb=-6.0)
    wanted = (math.log10(102) - math.log10(12)) / (math.log10(102) - math.log10(6))
    room.becomes("a volume change in OBS moves the slider", lambda: abs(room.value("tone") - wanted) < 1e-6, wanted)
    volume, panel = obs.volume(), room.feature("control")
    check("a volume change in OBS causes no request",
          abs(volume + 6) < 1e-6 and panel["committed"] == committed and not panel.get("pending"),
          f"expected -6 dB and {committed} committed, seen {volume} dB and {panel}")
    room.set("mute tone", on=True)
    muted = obs.ask("GetInputMute", inputName="tone")["inputMuted"]
    obs.ask("SetInputMute", inputName="tone", inputMuted=False)
    room.becomes("the mute switch works in both directions", lambda: muted and room.switch("mute tone") is False, muted)
    reply = room.set("scene second", on=True)
    room.becomes("a scene switch selects the scene",
                 lambda: obs.ask("GetSceneList")["currentProgramSceneName"] == "second"
                 and room.switch(f"scene {scene}") is False, reply)
    room.set(f"scene {scene}", on=True)
    obs.ask("CreateScene", sceneName="third")
    room.becomes("a new scene becomes a control", lambda: room.switch("scene third") is False)


def stream(check, room, obs, nginx, server):
    source = server.daemon.start_ctl("connect", "nginx-rtmp", f"http://127.0.0.1:{nginx.page}/stat",
                                     "--room", server.name, "--json=short")
    server.becomes("without a stream, the room of nginx is waiting", lambda: server.phase() == "waiting")
    reply = room.set("stream", on=True)
    room.becomes("a switch starts the stream",
                 lambda: room.phase() == "live" and obs.ask("GetStreamStatus")["outputActive"], reply)
    room.becomes("the room shows the statistics of the stream", lambda: room.bitrate() > 50)
    server.becomes("the room of nginx shows the stream", lambda: server.phase() == "live" and server.bitrate() > 50)
    nginx.kill()
    room.becomes("a lost RTMP server pauses the stream", lambda: room.phase() == "paused")
    with pytest.raises(TimeoutError):
        wait_for(lambda: room.phase() != "paused", "another phase", limit=2)
    check.equal("the stream stays paused although polls report it as active", room.phase(), "paused")
    nginx.start()
    room.becomes("the stream is live again after OBS has reconnected", lambda: room.phase() == "live")
    server.becomes("the room of nginx is live again and shows the gap",
                   lambda: server.phase() == "live" and server.source().get("gaps") == 1)
    check.equal("after Ctrl-C the source of nginx exits with 0", source.interrupt(), 0)


def recording(room):
    reply = room.call("RecordElsewhere", wish="start")
    room.becomes("a request starts a recording, which reports its progress", lambda: (
        room.recorder()["state"] == "recording" and room.recorder().get("durationMs", 0) > 0), reply)
    reply = room.call("RecordElsewhere", wish="stop")
    room.becomes("a request stops the recording", lambda: room.recorder()["state"] == "idle", reply)


def ends(check, room, obs, nginx, source):
    room.call("RecordElsewhere", wish="start")
    obs.kill()
    room.becomes("the source reports that OBS was killed", lambda: room.source().get("state") == "connecting")
    check.equal("requests to a killed OBS are refused", room.set("tone", value=0.1).get("outcome"), "refused")
    obs.start()
    room.becomes("the source is live again and reports the gap", lambda: room.source().get("state") == "live"
                 and '"report":"gap"' in source.log.read_text())
    room.becomes("an interrupted recording has failed, and the stream has ended", lambda: (
        room.recorder()["state"] == "failed" and room.phase() == "ended"))
    nginx.kill()
    check.equal("a request for a stream that cannot start is refused",
                room.set("stream", on=True).get("outcome"), "refused")


def test_livehost_controls_a_real_obs(check, daemon, tmp_path):
    if check.lacks("obs", "Xvfb", count=27):
        return
    if not (files := unpacked("rtmp-server", "nginx", "libnginx-mod-rtmp")):
        check.skip("nginx cannot be downloaded", 27)
        return
    screen = Program(["Xvfb", "-displayfd", "1", "-screen", "0", "1280x720x24", "-nolisten", "tcp"],
                     tmp_path / "xvfb.log", stdout=subprocess.PIPE, text=True)
    nginx, obs = Nginx(files, tmp_path), Obs(tmp_path, ":" + screen.output.readline().strip())
    scene = obs.ask("GetSceneList")["currentProgramSceneName"]
    write_tone(tmp_path / "tone.wav")
    obs.ask("CreateInput", sceneName=scene, inputName="tone", inputKind="ffmpeg_source",
            inputSettings={"local_file": str(tmp_path / "tone.wav"), "looping": True})
    obs.ask("CreateScene", sceneName="second")
    obs.ask("SetStreamServiceSettings", streamServiceType="rtmp_custom", streamServiceSettings={
        "server": f"rtmp://127.0.0.1:{nginx.port}/live", "key": "test"})

    def watch(password):
        (tmp_path / "password").write_text(password + "\n")
        return daemon.start_ctl("connect", "obs", f"127.0.0.1:{obs.port}", "--password-file", tmp_path / "password",
                                "--room", "main", "--json=short")
    source = watch(PASSWORD)
    room, server = Room(check, daemon, "main"), Room(check, daemon, "server")
    controls(check, room, obs, scene)
    stream(check, room, obs, nginx, server)
    recording(room)
    ends(check, room, obs, nginx, source)
    check.equal("a source with a wrong password exits with 77", watch(WRONG).wait(), 77)
    places = {"arguments": pathlib.Path(f"/proc/{source.pid}/cmdline").read_text(), "log": daemon.log.read_text(),
              "reports": source.log.read_text(), "state": json.dumps(room.state())}
    check.equal("no password appears in arguments, logs, reports or state",
                [name for name, text in places.items() if PASSWORD in text or "hunter2" in text], [])
    check.equal("after Ctrl-C the source exits with 0", source.interrupt(), 0)
    for program in (obs, screen):
        program.kill()
