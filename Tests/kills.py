#!/usr/bin/env python3
"""Kills a daemon at random moments: `kills.py BIN [ROUNDS [SEED]]`, where BIN is the directory of the
programs. After each kill every acknowledged event must be in the room and, in every other round, in its
recording, once and in order."""
import json, os, random, shutil, signal, subprocess, sys, tempfile, threading, time

sys.dont_write_bytecode = True
sys.path.insert(0, f"{os.path.dirname(os.path.abspath(__file__))}/System")
from feed import feed

binaries, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20
seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
random.seed(seed)
print(f"kills: {rounds} rounds, seed {seed}", flush=True)
directory = tempfile.mkdtemp(prefix="livehost-kills-")
run, state = f"{directory}/run", f"{directory}/state"


def ctl(*arguments):
    return subprocess.run([f"{binaries}/livehostctl", "--socket", run, *arguments],
                          capture_output=True, text=True)


def start():
    daemon = subprocess.Popen([f"{binaries}/livehostd", "--runtime-dir", run, "--state-dir", state],
                              stderr=subprocess.DEVNULL)
    while ctl("status").returncode != 0:
        if daemon.poll() is not None:
            sys.exit("the daemon did not start")
        # It reports being ready to a service manager only.
        time.sleep(0.01)
    return daemon


passed = failed = total_acknowledged = 0
for round in range(rounds):
    daemon = start()
    ctl("open", "main")
    records = round % 2 == 0
    if records:
        name = json.loads(ctl("record", "start", "main", "--json=short").stdout)["recording"]
    acknowledged = [0]
    feeder = threading.Thread(target=feed, args=(f"{run}/ingest", acknowledged.append))
    feeder.start()
    # The kill comes at a random moment.
    time.sleep(random.random() * 1.5)
    daemon.send_signal(signal.SIGKILL)
    daemon.wait()
    feeder.join()
    daemon = start()
    shown = json.loads(ctl("show", "main", "--json=short").stdout)
    chat = shown["features"].get("chat") or {"total": 0, "messages": []}
    total = chat["total"]
    problems = []
    if records:
        listed = {entry["recording"]: entry for entry in
                  json.loads(ctl("record", "list", "--json=short").stdout)}
        export = ctl("record", "export", name)
        numbers = [int(json.loads(line)["id"]) for line in export.stdout.splitlines()]
        if listed.get(name, {}).get("state") != "recording":
            problems.append(f"listed as {listed.get(name)}, but it should be recording")
        if listed.get(name, {}).get("events") != len(numbers):
            problems.append(f"{len(numbers)} events, listed as {listed.get(name)}")
        if numbers != list(range(total)):
            problems.append("events are missing, repeated or out of order")
        if export.returncode != 0:
            problems.append(export.stderr.strip())
    newest = [int(message["id"]) for message in chat["messages"]]
    if newest != list(range(total - len(newest), total)):
        problems.append(f"the room has {total} messages, the newest of them {newest}")
    if shown["counters"]["received"] != total:
        problems.append(f"the room has {total} messages, and counts {shown['counters']}")
    if total < acknowledged[-1]:
        problems.append(f"{acknowledged[-1]} acknowledged, {total} there")
    ctl("close", "main")
    # Thousands of recordings would fill the disk; one in which something is wrong is kept.
    if records and not problems:
        deletion = ctl("record", "delete", name)
        if deletion.returncode != 0:
            problems.append(deletion.stderr.strip())
    print(f"round {round + 1}: {acknowledged[-1]} acknowledged, {total} {'recorded' if records else 'logged'}"
          + "".join(f"; FAILED: {problem}" for problem in problems), flush=True)
    total_acknowledged += acknowledged[-1]
    failed += bool(problems)
    passed += not problems
    daemon.send_signal(signal.SIGTERM)
    daemon.wait()
# Without events in any round nothing was tested.
if total_acknowledged == 0:
    print("FAILED: nothing was ever acknowledged")
    failed += 1
if failed == 0:
    shutil.rmtree(directory)
else:
    print(f"kept: {directory}")
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
