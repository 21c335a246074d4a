#!/usr/bin/env python3
"""Measures the cost of one source: `source.py BIN [RATE] [SECONDS]`.

BIN is the directory of the programs. Needs the Python whose path Tests/Support/python.sh prints. A scripted chat server
sends RATE messages per second over 200 channels to one livehost-source, which runs on one core and sends them to a
scripted daemon. Prints the acknowledged rate, the processor time and the memory.
"""
import collections
import json
import os
import pathlib
import socket
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Support"))
from harness.programs import Program  # noqa: E402
from harness.serving import serve, serve_irc  # noqa: E402
from harness.waiting import wait_for  # noqa: E402

CHANNELS = [f"channel{number}" for number in range(200)]
TEXT = ("@badge-info=subscriber/8;badges=subscriber/6;color=#0000FF;display-name=Somebody;emotes=;first-msg=0;"
        "flags=;id=%08x-0000-4000-8000-000000000000;mod=0;returning-chatter=0;room-id=1;subscriber=1;"
        "tmi-sent-ts=1700000000000;turbo=0;user-id=%d;user-type= :somebody!somebody@somebody.tmi.twitch.tv "
        "PRIVMSG %s :this is a message of a usual length, number %d\r\n")
BEAT = 0.02


def main(bin, rate=20_000, seconds=20):
    directory = pathlib.Path(tempfile.mkdtemp())
    counts, clients = collections.Counter(), collections.defaultdict(list)

    def take(client):
        """Receives batches and acknowledges them."""
        for line in client.makefile("rb"):
            counts["lines"] += b" PRIVMSG #" in line
            if line.startswith(b'{"type":"sync"'):
                answer = {"type": "synced", "token": json.loads(line)["token"], "received": 0, "rejected": 0}
                client.sendall(json.dumps(answer).encode() + b"\n")

    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(directory / "ingest"))
    listener.listen()
    serve(take, listener)
    server = serve_irc(lambda client, channels: clients[client].extend(channels))
    (directory / "source.yaml").write_text(
        f"kind: twitch\ningest: {directory}/ingest\ntwitch:\n  server: {server}\n  tls: false\n"
        f"  joinsPerTenSeconds: 2000\n  channels: [{', '.join(CHANNELS)}]\n")
    source = Program([f"{bin}/livehost-source", f"--config={directory}/source.yaml"], directory / "log",
                     preexec_fn=lambda: os.sched_setaffinity(0, {0}))
    wait_for(lambda: sum(map(len, clients.copy().values())) == len(CHANNELS), source.log_tail)
    before, idle = source.processor_seconds(), source.resident() >> 20
    sent, began = 0, time.monotonic()
    while (elapsed := time.monotonic() - began) < seconds:
        share = (int(elapsed * rate) - sent) // len(clients)
        for client, channels in clients.items():
            client.sendall("".join(
                TEXT % (sent + number, number % 5_000, channels[number % len(channels)], number)
                for number in range(share)).encode())
            sent += share
        time.sleep(max(0, BEAT - (time.monotonic() - began - elapsed)))
    elapsed = time.monotonic() - began
    wait_for(lambda: counts["lines"] >= sent or time.monotonic() - began > seconds + 30, "the last one")
    behind = time.monotonic() - began - elapsed
    used, busy, peak = source.processor_seconds() - before, source.resident() >> 20, source.memory("VmHWM") >> 20
    source.stop()
    print(f"channels {len(CHANNELS)}  connections {len(clients)}  sent {sent}  acknowledged {counts['lines']}  "
          f"rate {sent / elapsed:.0f}/s  last after {behind:.2f} s")
    print(f"processor {100 * used / elapsed:.1f} % of one core, {before + used:.2f} s in all  "
          f"memory {busy} MiB, at most {peak} MiB, idle {idle} MiB")
    return counts["lines"] != sent


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
