#!/usr/bin/python3
"""A disk whose syncs never return, under a real daemon: `dead_disk.py BIN`, where BIN is the directory of the
programs. The state directory is on a FUSE file system of this script, which stops answering `fsync` for a while.
`status` must say so after ten seconds, the watchdog must not be fed meanwhile, a room that asks for no sync must go
on, nothing may be acknowledged, and once the disk answers everything must be well. Needs root, python3-fusepy, fuse3.
"""
import json, os, shutil, socket, subprocess, sys, tempfile, threading, time

binaries = sys.argv[1]
directory = tempfile.mkdtemp(prefix="livehost-disk-")
run, backing, state = (f"{directory}/{name}" for name in ("run", "backing", "state"))
LIMIT = 60
# The unit's interval, in seconds.
WATCHDOG = 30
passed = failed = 0


def check(what, holds, *details):
    global passed, failed
    print(f"{'ok' if holds else 'FAILED'}: {what}", *([] if holds else details), flush=True)
    passed, failed = passed + bool(holds), failed + (not holds)


def wait(condition):
    """The first true value of `condition`; its last one if it has none for LIMIT seconds."""
    end = time.monotonic() + LIMIT
    while not (value := condition()) and time.monotonic() < end:
        time.sleep(0.1)
    return value


def serve_disk():
    """Serves `backing` at `state` until it is unmounted. Each line of the input stops the syncs, or lets them go
    on."""
    from fusepy import FUSE, FuseOSError, Operations

    works = threading.Event()
    works.set()

    class Disk(Operations):
        def __call__(self, operation, path, *arguments):
            try:
                return super().__call__(operation, backing + path, *arguments)
            except OSError as error:
                raise FuseOSError(error.errno) from error

        def getattr(self, path, handle=None):
            found = os.lstat(path)
            return {key: getattr(found, key) for key in (
                "st_atime", "st_ctime", "st_gid", "st_mode", "st_mtime", "st_nlink", "st_size", "st_uid")}

        def statfs(self, path):
            found = os.statvfs(path)
            return {key: getattr(found, key) for key in ("f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_frsize")}

        def readdir(self, path, handle):
            return [".", "..", *os.listdir(path)]

        def open(self, path, flags):
            return os.open(path, flags & ~os.O_APPEND)

        def create(self, path, mode, info=None):
            return os.open(path, os.O_RDWR | os.O_CREAT, mode)

        def read(self, path, size, offset, handle):
            return os.pread(handle, size, offset)

        def write(self, path, data, offset, handle):
            return os.pwrite(handle, data, offset)

        def truncate(self, path, length, handle=None):
            os.truncate(path, length)

        def fsync(self, path, is_data_only, handle):
            works.wait()
            os.fsync(handle)

        def fsyncdir(self, path, is_data_only, handle):
            works.wait()

        def release(self, path, handle):
            os.close(handle)

        def rename(self, old, new):
            os.rename(old, backing + new)

        def link(self, new, old):
            os.link(backing + old, new)

        def symlink(self, new, target):
            os.symlink(target, new)

        def chmod(self, path, mode):
            os.chmod(path, mode)

        def chown(self, path, user, group):
            os.chown(path, user, group)

        def mkdir(self, path, mode):
            os.mkdir(path, mode)

        def utimens(self, path, times=None):
            os.utime(path, times)

        readlink, rmdir, unlink = (staticmethod(call) for call in (os.readlink, os.rmdir, os.unlink))

    def obey():
        for _ in sys.stdin:
            works.clear() if works.is_set() else works.set()

    # The main thread does not come back from the library.
    threading.Thread(target=obey, daemon=True).start()
    FUSE(Disk(), state, foreground=True)


def ctl(*arguments):
    return subprocess.run([f"{binaries}/livehostctl", "--socket", run, *arguments], capture_output=True, text=True,
                          timeout=LIMIT)


def status():
    return json.loads(ctl("status", "--json=short").stdout)


def count(room):
    """How many messages a room has taken."""
    return json.loads(ctl("show", room, "--json=short").stdout)["counters"]["applied"]


def message(room, number):
    return (b'{"type":"chat.message","room":"%s","id":"%d","user":{"id":"u","name":"n"},"text":"t"}\n'
            % (room.encode(), number))


if len(sys.argv) == 4:
    backing, state = sys.argv[2:]
    serve_disk()
    sys.exit()

for path in (backing, state):
    os.mkdir(path)
disk = subprocess.Popen([sys.executable, __file__, binaries, backing, state], stdin=subprocess.PIPE)
if not wait(lambda: os.path.ismount(state) or disk.poll() is not None) or disk.poll() is not None:
    sys.exit("dead-disk.py: the file system is not mounted: is /dev/fuse there?")
notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notifications.bind(f"{directory}/notify")
notifications.setblocking(False)


def fed():
    """How often the watchdog was fed since the last call."""
    times = 0
    try:
        while True:
            times += b"WATCHDOG=1" in notifications.recv(4096).split(b"\n")
    except BlockingIOError:
        return times


daemon = subprocess.Popen(
    [f"{binaries}/livehostd", "--runtime-dir", run, "--state-dir", state], stderr=subprocess.DEVNULL,
    env={**os.environ, "NOTIFY_SOCKET": f"{directory}/notify", "WATCHDOG_USEC": str(WATCHDOG * 1_000_000)})
try:
    check("a daemon starts on the file system", wait(lambda: ctl("status").returncode == 0))
    for room in ("main", "other"):
        ctl("open", room)
    ctl("record", "start", "main")
    sender = socket.socket(socket.AF_UNIX)
    sender.connect(f"{run}/ingest")
    sender.settimeout(LIMIT)
    sender.sendall(message("main", 1) + b'{"type":"sync","token":"first"}\n')
    check("it acknowledges what is on disk", b'"first"' in sender.recv(4096))
    check("it is well", status()["health"] == "ok", status())
    disk.stdin.write(b"\n")
    disk.stdin.flush()
    begun = time.monotonic()
    sender.sendall(message("main", 2) + b'{"type":"sync","token":"second"}\n')
    problems = wait(lambda: status().get("problems"))
    took = time.monotonic() - begun
    check("a disk whose syncs do not return is told", status()["health"] == "degraded" and any(
        "waits for the disk" in problem["text"] and problem["since"] for problem in problems), problems)
    print(f"  after {took:.1f} s: {problems}", flush=True)
    check("within ten seconds and a look", took < 20, took)
    fed()
    before = count("other")
    other = socket.socket(socket.AF_UNIX)
    other.connect(f"{run}/ingest")
    other.sendall(b"".join(message("other", number) for number in range(1000)))
    check("another room goes on", wait(lambda: count("other") == before + 1000), count("other"))
    time.sleep(max(0, begun + WATCHDOG - time.monotonic()))
    check("the watchdog is not fed for its interval", fed() == 0)
    sender.settimeout(0.1)
    try:
        answer = sender.recv(4096)
    except TimeoutError:
        answer = None
    check("nothing is acknowledged", answer is None, answer)
    disk.stdin.write(b"\n")
    disk.stdin.flush()
    sender.settimeout(LIMIT)
    check("once the disk answers, it acknowledges", b'"second"' in sender.recv(4096))
    check("it is well again", wait(lambda: status()["health"] == "ok"), status())
    check("the watchdog is fed", wait(fed))
    check("the recording holds both", '"events":2' in ctl("record", "stop", "main", "--json=short").stdout.replace(" ", ""))
    daemon.terminate()
    check("it ends when it is asked to", daemon.wait(LIMIT) == 0)
finally:
    if daemon.poll() is None:
        daemon.kill()
    # Whoever waits for the disk gets an error when it goes.
    disk.kill()
    daemon.wait()
    subprocess.run(["umount", "--lazy", state], check=False)
    shutil.rmtree(directory, ignore_errors=True)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
