#!/usr/bin/env python3
"""What one source costs: `source.py BIN [RATE] [SECONDS]`, where BIN is the directory of the programs. A scripted chat
server sends RATE messages per second over 200 channels to one livehost-source, on one core, which passes them to
something that reads lines and acknowledges batches. Prints the rate that was acknowledged, processor time and memory.
"""
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time

CHANNELS = [f"channel{number}" for number in range(200)]


def numbers(process):
    with open(f"/proc/{process}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    with open(f"/proc/{process}/status") as file:
        sizes = dict(line.split(":", 1) for line in file if line.startswith(("VmRSS", "VmHWM")))
    ticks = os.sysconf("SC_CLK_TCK")
    return (int(fields[11]) + int(fields[12])) / ticks, {name: int(size.split()[0]) / 1024
                                                         for name, size in sizes.items()}


def daemon(path, counts):
    """Takes batches and acknowledges them."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    while True:
        client, _ = listener.accept()
        rest = b""
        while data := client.recv(1 << 20):
            lines = (rest + data).split(b"\n")
            rest = lines.pop()
            counts["lines"] += sum(b" PRIVMSG #" in line for line in lines)
            answers = [json.dumps({"type": "synced", "token": json.loads(line)["token"], "received": 0, "rejected": 0})
                       for line in lines if line.startswith(b'{"type":"sync"')]
            if answers:
                client.sendall(("\n".join(answers) + "\n").encode())


def serve(listener, joined, clients):
    def one(client):
        nick, own = b"", []
        for line in client.makefile("rb"):
            if line.startswith(b"CAP REQ"):
                client.sendall(b":t CAP * ACK :twitch.tv/commands twitch.tv/tags\r\n")
            elif line.startswith(b"NICK"):
                nick = line.split()[1]
                client.sendall(b":t 001 %s :hi\r\n" % nick)
            elif line.startswith(b"JOIN"):
                for channel in line.split()[1].split(b","):
                    client.sendall(b":%s!x@x JOIN %s\r\n" % (nick, channel))
                    own.append(channel)
                    joined.add(channel)
                clients[client] = own
            elif line.startswith(b"PING"):
                client.sendall(b":tmi.twitch.tv PONG tmi.twitch.tv " + line[5:])
    while True:
        client, _ = listener.accept()
        threading.Thread(target=one, args=(client,), daemon=True).start()


def main():
    bin = sys.argv[1]
    rate = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    directory = tempfile.mkdtemp()
    counts, joined, clients = {"lines": 0}, set(), {}
    threading.Thread(target=daemon, args=(f"{directory}/ingest", counts), daemon=True).start()
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener, joined, clients), daemon=True).start()
    with open(f"{directory}/source.yaml", "w") as file:
        file.write(f"kind: twitch\ningest: {directory}/ingest\ntwitch:\n  server: 127.0.0.1:"
                   f"{listener.getsockname()[1]}\n  tls: false\n  joinsPerTenSeconds: 2000\n"
                   f"  channels: [{', '.join(CHANNELS)}]\n")
    source = subprocess.Popen([f"{bin}/livehost-source", f"--config={directory}/source.yaml"],
                              stderr=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(0, {0}))
    while len(joined) < len(CHANNELS):
        time.sleep(0.05)
    before, idle = numbers(source.pid)
    text = ("@badge-info=subscriber/8;badges=subscriber/6;color=#0000FF;display-name=Somebody;emotes=;first-msg=0;"
            "flags=;id=%08x-0000-4000-8000-000000000000;mod=0;returning-chatter=0;room-id=1;subscriber=1;"
            "tmi-sent-ts=1700000000000;turbo=0;user-id=%d;user-type= :somebody!somebody@somebody.tmi.twitch.tv "
            "PRIVMSG %s :this is a message of a usual length, number %d\r\n")
    sent, beat, began = 0, 0.02, time.monotonic()
    while (elapsed := time.monotonic() - began) < seconds:
        due = int(elapsed * rate) - sent
        for client, channels in clients.items():
            share = due // len(clients)
            client.sendall("".join(
                text % (sent + number, number % 5_000, channels[number % len(channels)].decode(), number)
                for number in range(share)).encode())
            sent += share
        time.sleep(max(0, beat - (time.monotonic() - began - elapsed)))
    elapsed = time.monotonic() - began
    while counts["lines"] < sent and time.monotonic() - began < seconds + 30:
        time.sleep(0.02)
    behind = time.monotonic() - began - elapsed
    after, busy = numbers(source.pid)
    source.terminate()
    source.wait(10)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"channels {len(CHANNELS)}  connections {len(clients)}  sent {sent}  acknowledged {counts['lines']}  "
          f"rate {sent / elapsed:.0f}/s  last after {behind:.2f} s")
    print(f"processor {100 * (after - before) / elapsed:.1f} % of one core, "
          f"{used.ru_utime + used.ru_stime:.2f} s in all  "
          f"memory {busy['VmRSS']:.0f} MiB, at most {busy['VmHWM']:.0f} MiB, idle {idle['VmRSS']:.0f} MiB")
    sys.exit(0 if counts["lines"] == sent else 1)


if __name__ == "__main__":
    main()
