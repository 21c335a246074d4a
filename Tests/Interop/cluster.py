#!/usr/bin/env python3
"""Three NATS servers, three daemons and three gateways, which are killed, stopped and cut off under load.

`cluster.py BIN NATS-SERVER [SCHEDULE ...]`. Each node is a network namespace of its own on one bridge. Senders write
numbered messages with positions through any gateway and send again what was not acknowledged; in the end each
room must have every message exactly once and in order. Run it within `unshare --net --mount`.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

BIN, NATS = sys.argv[1], sys.argv[2]
ONLY = sys.argv[3:]
NODES = (1, 2, 3)
ROOMS = [f"room{n}" for n in range(9)]
BATCH = 5
base = tempfile.mkdtemp(prefix="lhc-", dir="/tmp")
passed = failed = 0


def check(name, ok, detail=""):
    global passed, failed
    if ok:
        passed += 1
        print(f"ok: {name}", flush=True)
    else:
        failed += 1
        print(f"FAILED: {name}: {detail}", flush=True)


def sh(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def call(path, method, parameters=None, timeout=10):
    """One call of a Varlink method; raises if there is no reply."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(timeout)
        s.connect(path)
        s.sendall(json.dumps({"method": method, "parameters": parameters or {}}).encode() + b"\0")
        data = b""
        while not data.endswith(b"\0"):
            part = s.recv(1 << 16)
            if not part:
                raise OSError("closed")
            data += part
    reply = json.loads(data[:-1])
    if "error" in reply:
        raise OSError(reply["error"])
    return reply["parameters"]


class Node:
    def __init__(self, number):
        self.number = number
        self.dir = f"{base}/{number}"
        os.makedirs(f"{self.dir}/run")
        self.ns = f"lhc{number}"
        self.address = f"10.99.0.{number}"
        self.processes = {}
        with open(f"{self.dir}/nats.conf", "w", encoding="utf-8") as f:
            routes = ", ".join(f"nats://10.99.0.{n}:6222" for n in NODES)
            f.write(f'server_name: n{number}\nlisten: "{self.address}:4222"\n'
                    f'jetstream {{ store_dir: "{self.dir}/js", sync_interval: always, max_file: 1G }}\n'
                    f'cluster {{ name: lh, listen: "{self.address}:6222", routes: [{routes}] }}\n')
        with open(f"{self.dir}/gateway.yaml", "w", encoding="utf-8") as f:
            servers = [number] + [n for n in NODES if n != number]
            urls = ", ".join(f"nats://10.99.0.{n}:4222" for n in servers)
            f.write(f"name: node{number}\ningest: {self.dir}/gw-ingest\nlisten: {self.dir}/gw-control\n"
                    f"daemon:\n  ingest: {self.dir}/run/ingest\n"
                    f"  control: {self.dir}/run/io.livehost.Control\n"
                    f"nats:\n  servers: [{urls}]\n  replicas: 3\n")

    @property
    def control(self):
        return f"{self.dir}/gw-control"

    @property
    def daemon_control(self):
        return f"{self.dir}/run/io.livehost.Control"

    def start(self, kind):
        command = {
            "nats": [NATS, "-c", f"{self.dir}/nats.conf"],
            "daemon": [f"{BIN}/livehostd", "--runtime-dir", f"{self.dir}/run",
                       "--state-dir", f"{self.dir}/state"],
            "gateway": [f"{BIN}/livehost-gateway", "run", "--config", f"{self.dir}/gateway.yaml"],
        }[kind]
        log = open(f"{self.dir}/{kind}.log", "ab")
        self.processes[kind] = subprocess.Popen(
            ["ip", "netns", "exec", self.ns] + command, stdout=log, stderr=log)

    def ended(self):
        """Those that have ended, though nobody ended them, with the last they said."""
        for kind, process in self.processes.items():
            if process.poll() is not None:
                with open(f"{self.dir}/{kind}.log", encoding="utf-8", errors="replace") as f:
                    yield f"{kind} of {self.ns} ended with {process.returncode}: {''.join(f.readlines()[-5:]).strip()}"

    def send(self, kind, number):
        self.processes[kind].send_signal(number)

    def end(self, kind, number=signal.SIGKILL):
        process = self.processes.pop(kind, None)
        if process:
            process.send_signal(number)
            if number != signal.SIGKILL:
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
            return process.wait()
        return None


class Sender(threading.Thread):
    """Writes numbered messages into one room until it is told to finish, then until all are acknowledged."""

    def __init__(self, room, nodes, pause):
        super().__init__(daemon=True)
        self.room, self.nodes, self.pause = room, nodes, pause
        self.acknowledged = 0
        self.ending = threading.Event()
        self.longest = 0.0

    def run(self):
        batch, turn, began = 1, hash(self.room) % 3, time.monotonic()
        while True:
            try:
                with socket.socket(socket.AF_UNIX) as s:
                    s.settimeout(20)
                    s.connect(f"{self.nodes[turn % 3].dir}/gw-ingest")
                    reader = s.makefile("rb")
                    while True:
                        if self.ending.is_set() and began is None:
                            return
                        began = began or time.monotonic()
                        s.sendall(self.text(batch))
                        answer = json.loads(reader.readline() or b"{}")
                        if answer.get("type") != "synced":
                            raise OSError(f"answer {answer}")
                        self.longest = max(self.longest, time.monotonic() - began)
                        began = None
                        self.acknowledged = batch * BATCH
                        batch += 1
                        self.ending.wait(self.pause)
                        if self.ending.is_set():
                            return
            except (OSError, ValueError):
                turn += 1
                time.sleep(0.2)

    def text(self, batch):
        lines = [{"type": "position", "source": f"s-{self.room}", "sequence": batch}]
        for n in range((batch - 1) * BATCH + 1, batch * BATCH + 1):
            lines.append({"type": "chat.message", "room": self.room, "id": f"{self.room}-{n}",
                          "user": {"id": "u", "name": "u"}, "text": f"{n}"})
        lines.append({"type": "sync", "token": f"{batch}"})
        return "".join(json.dumps(line) + "\n" for line in lines).encode()


def wait(what, condition, seconds):
    end = time.monotonic() + seconds
    last = None
    while time.monotonic() < end:
        try:
            last = condition()
            if last:
                return last
        except OSError as error:
            last = error
        time.sleep(0.1)
    print(f"waited {seconds} s for {what}: {last}", flush=True)
    return None


def network():
    os.makedirs("/run/netns", exist_ok=True)
    sh("mount", "-t", "tmpfs", "none", "/run/netns")
    sh("ip", "link", "set", "lo", "up")
    sh("ip", "link", "add", "name", "lhbr", "type", "bridge")
    sh("ip", "link", "set", "lhbr", "up")
    for n in NODES:
        sh("ip", "netns", "add", f"lhc{n}")
        sh("ip", "link", "add", f"v{n}", "type", "veth", "peer", "name", "eth", "netns", f"lhc{n}")
        sh("ip", "link", "set", f"v{n}", "up", "master", "lhbr")
        sh("ip", "-n", f"lhc{n}", "address", "add", f"10.99.0.{n}/24", "dev", "eth")
        sh("ip", "-n", f"lhc{n}", "link", "set", "eth", "up")
        sh("ip", "-n", f"lhc{n}", "link", "set", "lo", "up")


def owned(nodes):
    """How many partitions each node has."""
    return [call(n.control, "io.livehost.Gateway.GetStatus")["partitions"] for n in nodes]


def whole(nodes):
    return sum(owned(nodes)) == 64 and owned(nodes)


def state(node, room):
    return call(node.control, "io.livehost.Control.GetRoom", {"room": room})


def verify(name, nodes, senders):
    """Every acknowledged message is in its room exactly once and in order, seen from each node."""
    for sender in senders:
        expected = sender.acknowledged

        def complete(sender=sender, expected=expected):
            return all(state(n, sender.room)["features"]["chat"]["total"] >= expected
                       for n in nodes)
        wait(f"{sender.room} to have {expected}", complete, 20)
        for node in nodes:
            try:
                room = state(node, sender.room)
            except OSError as error:
                check(f"{name}: {sender.room} at {node.ns}", False, error)
                continue
            chat = room["features"]["chat"]
            rejected = room.get("rejectedByReason") or {}
            texts = [m["text"] for m in chat["messages"]]
            newest = [str(n) for n in range(expected - len(texts) + 1, expected + 1)]
            ok = chat["total"] == expected and not rejected and texts == newest
            if not ok or node is nodes[0]:
                check(f"{name}: {sender.room} has {expected} messages at {node.ns}", ok,
                      f"total {chat['total']}, rejected {rejected}, newest {texts[-3:]}")


def drop(node, yes):
    if yes:
        sh("ip", "link", "set", f"v{node.number}", "down")
    else:
        sh("ip", "link", "set", f"v{node.number}", "up")


def kill_gateway(nodes):
    nodes[0].end("gateway")
    began = time.monotonic()
    check("kill -9 of a gateway: taken over within 8 s",
          wait("takeover", lambda: sum(owned(nodes[1:])) == 64, 8), owned(nodes[1:]))
    print(f"    after {time.monotonic() - began:.1f} s", flush=True)
    nodes[0].start("gateway")


def stop_gateway(nodes):
    began = time.monotonic()
    code = nodes[1].end("gateway", signal.SIGTERM)
    check("SIGTERM of a gateway: ends with 0", code == 0, code)
    check("SIGTERM of a gateway: taken over within 2 s of its end",
          wait("takeover", lambda: sum(owned([nodes[0], nodes[2]])) == 64, 2))
    print(f"    after {time.monotonic() - began:.1f} s", flush=True)
    nodes[1].start("gateway")


def freeze_gateway(nodes):
    nodes[2].send("gateway", signal.SIGSTOP)
    check("SIGSTOP of a gateway: taken over within 8 s",
          wait("takeover", lambda: sum(owned(nodes[:2])) == 64, 8))
    nodes[2].send("gateway", signal.SIGCONT)


def kill_daemon(nodes):
    nodes[0].end("daemon")
    time.sleep(1)
    nodes[0].start("daemon")


def kill_nats(nodes):
    nodes[0].end("nats")
    time.sleep(6)
    nodes[0].start("nats")


def partition(nodes):
    drop(nodes[1], True)
    others = [nodes[0], nodes[2]]
    check("partition of a node: taken over within 15 s",
          wait("takeover", lambda: sum(owned(others)) == 64, 15))
    check("partition of a node: it says that it is cut off",
          wait("problem", lambda: call(
              nodes[1].control, "io.livehost.Gateway.GetStatus")["problems"], 10))
    drop(nodes[1], False)


def slow_servers(nodes):
    """Each server in turn is held up for a while, as by a slow disk or network; not every kernel has netem."""
    for turn in range(30):
        nodes[turn % 3].send("nats", signal.SIGSTOP)
        time.sleep(0.15)
        nodes[turn % 3].send("nats", signal.SIGCONT)


def freeze_nats(nodes):
    nodes[1].send("nats", signal.SIGSTOP)
    time.sleep(8)
    nodes[1].send("nats", signal.SIGCONT)


def no_majority(nodes):
    nodes[0].end("nats")
    nodes[1].end("nats")
    began = time.monotonic()
    check("without a majority: every gateway says so",
          wait("problems", lambda: all(call(
              n.control, "io.livehost.Gateway.GetStatus")["problems"] for n in nodes), 15),
          [call(n.control, "io.livehost.Gateway.GetStatus") for n in nodes])
    check("without a majority: rooms are shown",
          all(state(n, ROOMS[0])["features"]["chat"]["total"] > 0 for n in nodes))
    print(f"    after {time.monotonic() - began:.1f} s", flush=True)
    nodes[0].start("nats")
    nodes[1].start("nats")


def rolling(nodes):
    for node in nodes:
        node.end("gateway", signal.SIGTERM)
        node.end("daemon", signal.SIGTERM)
        node.end("nats", signal.SIGTERM)
        node.start("nats")
        node.start("daemon")
        node.start("gateway")
        wait("all partitions", lambda: whole(nodes), 30)


SCHEDULES = [kill_gateway, stop_gateway, freeze_gateway, kill_daemon, kill_nats, freeze_nats, no_majority,
             partition, slow_servers, rolling]


def main():
    network()
    nodes = [Node(n) for n in NODES]
    try:
        for node in nodes:
            node.start("nats")
            node.start("daemon")
        time.sleep(1)
        for node in nodes:
            node.start("gateway")
        check("three nodes share all partitions",
              wait("all partitions", lambda: whole(nodes), 40), [text for node in nodes for text in node.ended()])
        senders = [Sender(room, nodes, 0.02) for room in ROOMS]
        for sender in senders:
            sender.start()
        time.sleep(2)
        for schedule in SCHEDULES:
            name = schedule.__name__.replace("_", " ")
            if ONLY and schedule.__name__ not in ONLY:
                continue
            before = sum(s.acknowledged for s in senders)
            for sender in senders:
                sender.longest = 0
            began = time.monotonic()
            schedule(nodes)
            check(f"{name}: every partition has an owner again",
                  wait("all partitions", lambda: whole(nodes), 40))
            ended = [text for node in nodes for text in node.ended()]
            check(f"{name}: nothing else has ended", not ended, "; ".join(ended))
            time.sleep(1)
            print(f"    {time.monotonic() - began:.1f} s, "
                  f"{sum(s.acknowledged for s in senders) - before} messages acknowledged, "
                  f"longest wait {max(s.longest for s in senders):.1f} s", flush=True)
        for sender in senders:
            sender.ending.set()
        for sender in senders:
            sender.join(40)
        check("every sender was answered", not any(s.is_alive() for s in senders))
        verify("in the end", nodes, senders)
        print(f"{sum(s.acknowledged for s in senders)} messages acknowledged", flush=True)
        for node in nodes:
            try:
                print("   ", json.dumps(call(node.control, "io.livehost.Gateway.GetStatus")), flush=True)
            except OSError as error:
                print("   ", error, flush=True)
    finally:
        for node in nodes:
            for kind in list(node.processes):
                node.end(kind)
        for n in NODES:
            subprocess.run(["ip", "netns", "delete", f"lhc{n}"], check=False)
        if failed == 0:
            shutil.rmtree(base)
        else:
            print(f"logs are in {base}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
