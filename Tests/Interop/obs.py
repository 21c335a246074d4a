#!/usr/bin/env python3
"""Watches and drives a real OBS: `obs.py BIN SERVERS`, where BIN is the directory of the programs and SERVERS
holds the files of Debian's nginx and its RTMP module. OBS runs on a virtual screen, 640 by 360 at 10 frames per
second, and streams to nginx. Ends with `N passed, N failed`.
"""
import base64
import hashlib
import json
import math
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import wave

from harness.programs import accepts, free_port
from harness.varlink import Client
from harness.waiting import wait_for

PASSWORD = "correct horse battery"
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
fastcgi_temp_path {directory}/t; uwsgi_temp_path {directory}/t; scgi_temp_path {directory}/t; server {{ listen 127.0.0.1:{page}; location /stat {{ rtmp_stat all; }} }} }}
"""
GLOBAL = """[General]
FirstRun=true
LastVersion=486539266
[Basic]
Profile=test
ProfileDir=test
SceneCollection=test
SceneCollectionFile=test
[OBSWebSocket]
FirstLoad=false
ServerEnabled=true
ServerPort={port}
AuthRequired=true
ServerPassword={password}
AlertsEnabled=false
"""
PROFILE = """[General]
Name=test
[Video]
BaseCX=640
BaseCY=360
OutputCX=640
OutputCY=360
FPSCommon=10
[Output]
Mode=Simple
RetryDelay=1
Reconnect=true
[SimpleOutput]
FilePath={directory}
RecFormat=mkv
RecQuality=Stream
StreamEncoder=x264
Preset=ultrafast
VBitrate=600
"""


class Obs:
    """An OBS that is started, asked as a stranger would, and killed."""

    def __init__(self, directory, display):
        self.port = free_port()
        self.directory, self.display = directory, display
        config = f"{directory}/home/.config/obs-studio"
        os.makedirs(f"{config}/basic/profiles/test")
        os.makedirs(f"{config}/basic/scenes")
        with open(f"{config}/global.ini", "w") as file:
            file.write(GLOBAL.format(port=self.port, password=PASSWORD))
        with open(f"{config}/basic/profiles/test/basic.ini", "w") as file:
            file.write(PROFILE.format(directory=directory))
        self.start()

    def start(self):
        environment = {**os.environ, "HOME": f"{self.directory}/home", "XDG_RUNTIME_DIR": self.directory,
                       "XDG_CONFIG_HOME": f"{self.directory}/home/.config",
                       "DISPLAY": self.display, "LIBGL_ALWAYS_SOFTWARE": "1", "LC_ALL": "C.UTF-8"}
        self.process = subprocess.Popen(
            ["obs", "--multi", "--minimize-to-tray", "--disable-updater", "--websocket_port", str(self.port),
             "--websocket_password", PASSWORD, "--websocket_ipv4_only"],
            env=environment, stdin=subprocess.DEVNULL, stdout=open(f"{self.directory}/obs.log", "a"),
            stderr=subprocess.STDOUT)
        wait_for(lambda: accepts(("127.0.0.1", self.port)), "OBS")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def connect(self):
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.file = self.socket.makefile("rb")
        while self.file.readline().strip():
            pass
        hello = self.receive()["d"]["authentication"]

        def digest(text):
            return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        answer = digest(digest(PASSWORD + hello["salt"]) + hello["challenge"])
        self.send({"op": 1, "d": {"rpcVersion": 1, "authentication": answer, "eventSubscriptions": 0}})
        assert self.receive()["op"] == 2

    def send(self, message):
        data = json.dumps(message).encode()
        length = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data))
        # A mask of zeros changes nothing.
        self.socket.sendall(b"\x81" + length + b"\0\0\0\0" + data)

    def receive(self):
        head = self.file.read(2)
        length = head[1]
        if length == 126:
            length, = struct.unpack(">H", self.file.read(2))
        elif length == 127:
            length, = struct.unpack(">Q", self.file.read(8))
        return json.loads(self.file.read(length))

    def ask(self, kind, **data):
        self.send({"op": 6, "d": {"requestType": kind, "requestId": "x", "requestData": data}})
        answer = self.receive()["d"]
        assert answer["requestStatus"]["result"], answer
        return answer.get("responseData", {})

    def ready(self):
        """Waits until it has loaded."""
        def is_ready():
            try:
                return self.ask("GetSceneList") is not None
            except AssertionError:
                return False
        wait_for(is_ready, "OBS to load")


class Nginx:
    def __init__(self, files, directory):
        self.port, self.page = free_port(), free_port()
        self.directory = directory
        self.command = [f"{files}/usr/sbin/nginx", "-c", f"{directory}/nginx.conf", "-p", directory]
        with open(f"{directory}/nginx.conf", "w") as file:
            file.write(NGINX.format(directory=directory, files=files, port=self.port, page=self.page))
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stderr=open(f"{self.directory}/nginx.err", "a"))
        wait_for(lambda: accepts(("127.0.0.1", self.port)), "nginx")

    def kill(self):
        self.process.kill()
        self.process.wait()


def tone(path):
    with wave.open(path, "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(48_000)
        file.writeframes(b"".join(
            struct.pack("<hh", value, value)
            for value in (int(20_000 * math.sin(step * 2 * math.pi * 440 / 48_000)) for step in range(48_000))))


class Test:
    def __init__(self, bin, files):
        self.bin = bin
        self.passed = self.failed = 0
        self.directory = tempfile.mkdtemp()
        self.control = f"{self.directory}/run/io.livehost.Control"
        self.files = files
        self.processes = []

    def prepare(self):
        self.daemon = self.begin(
            [f"{self.bin}/livehostd", "--runtime-dir", f"{self.directory}/run", "--state-dir",
             f"{self.directory}/state"], stderr=open(f"{self.directory}/log", "a"))
        wait_for(lambda: os.path.exists(self.control), "the daemon")
        self.xvfb = self.begin(
            ["Xvfb", "-displayfd", "1", "-screen", "0", "1280x720x24", "-nolisten", "tcp"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.display = ":" + self.xvfb.stdout.readline().decode().strip()
        self.nginx = Nginx(self.files, self.directory)
        self.obs = Obs(self.directory, self.display)
        self.obs.connect()
        self.obs.ready()
        tone(f"{self.directory}/tone.wav")
        scene = self.obs.ask("GetSceneList")["currentProgramSceneName"]
        self.obs.ask("CreateInput", sceneName=scene, inputName="tone", inputKind="ffmpeg_source",
                     inputSettings={"local_file": f"{self.directory}/tone.wav", "looping": True})
        self.obs.ask("CreateScene", sceneName="second")
        self.obs.ask("SetStreamServiceSettings", streamServiceType="rtmp_custom", streamServiceSettings={
            "server": f"rtmp://127.0.0.1:{self.nginx.port}/live", "key": "test"})
        self.scene = scene
        with open(f"{self.directory}/password", "w") as file:
            file.write(PASSWORD + "\n")
        self.reports = open(f"{self.directory}/reports", "wb")
        self.source = self.connect("password")

    def begin(self, command, **options):
        process = subprocess.Popen(command, **options)
        self.processes.append(process)
        return process

    def connect(self, password):
        return self.begin(
            [f"{self.bin}/livehostctl", "--socket", self.control, "connect", "obs",
             f"127.0.0.1:{self.obs.port}", "--password-file", f"{self.directory}/{password}",
             "--room", "main", "--json=short"],
            stdout=self.reports, stderr=subprocess.STDOUT)

    def check(self, name, is_right, detail=""):
        if is_right:
            self.passed += 1
            print(f"ok: {name}", flush=True)
        else:
            self.failed += 1
            print(f"FAILED: {name}\n{detail}", flush=True)

    def call(self, method, **parameters):
        client = Client(self.control)
        try:
            return client.reply(method, **parameters).get("parameters", {})
        finally:
            client.close()

    def room(self, name="main"):
        return self.call("GetRoom", room=name)

    def panel(self):
        return self.room().get("features", {}).get("control") or {"values": {}, "switches": {}}

    def set(self, control, **value):
        return self.call("SetControl", room="main", control=control, **value)

    def state(self):
        sources = self.room().get("features", {}).get("sources") or []
        return next((source["state"] for source in sources), None)

    def becomes(self, name, condition, what=lambda: ""):
        try:
            wait_for(condition, "")
            self.check(name, True)
        except TimeoutError:
            self.check(name, False, f"{what()} {self.room()}")

    def controls(self):
        self.becomes("OBS is live on the screen", lambda: self.state() == "live")
        self.becomes("inputs, scenes and the stream are controls", lambda: (
            self.panel()["values"].get("tone") == 1.0
            and self.panel()["switches"].get("mute tone") is False
            and self.panel()["switches"].get("stream") is False
            and self.panel()["switches"].get(f"scene {self.scene}") is True))
        reply = self.set("tone", value=0.5)
        volume = self.obs.ask("GetInputVolume", inputName="tone")["inputVolumeDb"]
        # 6 - 102 ** 0.5 * 6 ** 0.5, as OBS's own fader has it.
        self.check("a slider moves OBS's volume, and is confirmed",
                   reply.get("outcome") == "confirmed" and abs(volume - (6 - math.sqrt(612))) < 0.01,
                   f"{reply} {volume}")
        committed = self.panel()["committed"]
        self.obs.ask("SetInputVolume", inputName="tone", inputVolumeDb=-6.0)
        wanted = (math.log10(102) - math.log10(12)) / (math.log10(102) - math.log10(6))
        self.becomes("a change in OBS moves the slider",
                     lambda: abs(self.panel()["values"]["tone"] - wanted) < 1e-6)
        volume = self.obs.ask("GetInputVolume", inputName="tone")["inputVolumeDb"]
        panel = self.panel()
        self.check("and does not come back as a request",
                   abs(volume + 6) < 1e-6 and panel["committed"] == committed and not panel.get("pending"),
                   f"{volume} {panel}")
        self.set("mute tone", on=True)
        muted = self.obs.ask("GetInputMute", inputName="tone")["inputMuted"]
        self.obs.ask("SetInputMute", inputName="tone", inputMuted=False)
        self.becomes("mute goes both ways",
                     lambda: muted and self.panel()["switches"]["mute tone"] is False)
        reply = self.set("scene second", on=True)
        self.becomes("a scene is chosen", lambda: (
            self.obs.ask("GetSceneList")["currentProgramSceneName"] == "second"
            and self.panel()["switches"][f"scene {self.scene}"] is False), lambda: reply)
        self.set(f"scene {self.scene}", on=True)
        self.obs.ask("CreateScene", sceneName="third")
        self.becomes("a new scene is a control", lambda: self.panel()["switches"].get("scene third") is False)

    def bitrate(self, room):
        return (((self.room(room).get("features") or {}).get("liveRoomStats") or {}).get("last") or {}).get(
            "bitrateKbps", 0)

    def stream(self):
        server = self.begin(
            [f"{self.bin}/livehostctl", "--socket", self.control, "connect", "nginx-rtmp",
             f"http://127.0.0.1:{self.nginx.page}/stat", "--room", "server", "--json=short"],
            stdout=self.reports, stderr=subprocess.STDOUT)
        self.becomes("nginx without a stream waits", lambda: self.room("server").get("phase") == "waiting")
        reply = self.set("stream", on=True)
        self.becomes("the stream is started from the screen", lambda: (
            self.room()["phase"] == "live" and self.obs.ask("GetStreamStatus")["outputActive"]),
            lambda: reply)
        self.becomes("its statistics are on the screen", lambda: self.bitrate("main") > 50)
        self.becomes("nginx has the stream, too", lambda: (
            self.room("server")["phase"] == "live" and self.bitrate("server") > 50), lambda: self.room("server"))
        self.nginx.kill()
        self.becomes("a lost server is a paused stream", lambda: self.room()["phase"] == "paused")
        time.sleep(2)
        self.check("and stays one although polls say that it is active", self.room()["phase"] == "paused")
        self.nginx.start()
        self.becomes("OBS reconnects, and it is live again", lambda: self.room()["phase"] == "live")
        self.becomes("so has nginx, with the gap", lambda: self.room("server")["phase"] == "live" and (
            self.room("server")["features"]["sources"][0]["gaps"] == 1), lambda: self.room("server"))
        server.send_signal(signal.SIGINT)
        self.check("Ctrl-C ends the source of nginx with 0", server.wait(60) == 0)

    def recording(self):
        reply = self.call("RecordElsewhere", room="main", wish="start")
        recorder = lambda: self.room()["features"]["recorder"]["elsewhere"]
        self.becomes("a recording is started from the screen, and tells its progress", lambda: (
            recorder()["state"] == "recording" and recorder().get("durationMs", 0) > 0), lambda: reply)
        reply = self.call("RecordElsewhere", room="main", wish="stop")
        self.becomes("and stopped", lambda: recorder()["state"] == "idle", lambda: reply)

    def ends(self):
        self.call("RecordElsewhere", room="main", wish="start")
        self.obs.kill()
        self.becomes("an OBS that is killed is told", lambda: self.state() == "connecting")
        reply = self.set("tone", value=0.1)
        self.check("and carries out nothing", reply.get("outcome") == "refused", reply)
        self.obs.start()
        self.becomes("it is live again, with the gap", lambda: self.state() == "live" and (
            '"report":"gap"' in open(f"{self.directory}/reports").read()))
        self.becomes("a recording that was cut off has failed, and the stream has ended", lambda: (
            self.room()["features"]["recorder"]["elsewhere"]["state"] == "failed" and self.room()["phase"] == "ended"))
        self.obs.connect()
        self.obs.ready()
        self.nginx.kill()
        reply = self.set("stream", on=True)
        self.check("a stream that cannot start is refused", reply.get("outcome") == "refused", reply)

    def passwords(self):
        with open(f"{self.directory}/wrong", "w") as file:
            file.write("hunter2 hunter2\n")
        self.check("a wrong password is final", self.connect("wrong").wait(60) == 77)
        arguments = subprocess.run(["ps", "-ww", "-o", "args", "-p", str(self.source.pid)],
                                   capture_output=True, text=True).stdout
        told = open(f"{self.directory}/reports").read() + open(f"{self.directory}/log").read() + arguments
        state = json.dumps(self.room())
        self.check("no password is in arguments, logs, reports or the state",
                   not any(text in told + state for text in (PASSWORD, "hunter2")))
        self.source.send_signal(signal.SIGINT)
        self.check("Ctrl-C ends it with 0", self.source.wait(60) == 0)

    def run(self):
        try:
            self.prepare()
            for part in (self.controls, self.stream, self.recording, self.ends, self.passwords):
                try:
                    part()
                except Exception as error:
                    self.check(part.__name__, False, f"{type(error).__name__}: {error}")
        finally:
            for program in (getattr(self, "obs", None), getattr(self, "nginx", None)):
                if program:
                    program.kill()
            for process in reversed(self.processes):
                process.kill()
                process.wait()
            if self.failed:
                print(open(f"{self.directory}/reports").read()[-3000:])
            shutil.rmtree(self.directory, ignore_errors=True)
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0


if __name__ == "__main__":
    sys.exit(Test(*sys.argv[1:]).run())
