"""Directories and files of which several tests have use."""
import fcntl
import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
# What is fetched once and kept: programs and systems of others.
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "livehost"
# A recording with 5,000 lines of chat, for the room `examplehost`.
BURST = ROOT / "config/recordings/chat-burst.irc.gz"


def unpacked(name, *packages):
    """A directory with the files of Debian packages, which are unpacked rather than installed, since a package would
    start its service. None if they cannot be downloaded."""
    directory = ROOT / ".build" / name
    downloads = directory / "packages"
    if not (downloads / "complete").exists():
        downloads.mkdir(parents=True, exist_ok=True)
        command = (f"apt-get download {' '.join(packages)} && "
                   "for package in *.deb; do dpkg -x $package .. || exit; done; touch complete")
        if subprocess.run(command, shell=True, cwd=downloads, capture_output=True).returncode:
            return None
    return directory


def debian_mirror():
    """The mirror of Debian packages: LIVEHOST_DEBIAN_MIRROR, or the one in this machine's configuration of apt."""
    rows = ""
    # The origin is known only once the lists of packages have been fetched.
    for origin in (["Origin: Debian"], []):
        rows += subprocess.run(["apt-get", "indextargets", "--format", "$(RELEASE) $(COMPONENT) $(REPO_URI)",
                                "Created-By: Packages", *origin], capture_output=True, text=True).stdout
    found = re.search(r"^[^-/ ]+ main (https?:.*)", rows, re.MULTILINE)
    return os.environ.get("LIVEHOST_DEBIAN_MIRROR") or found and found[1]


def debian_root(root, suite, program, packages):
    """Makes a Debian root with these packages by debootstrap, unless it has the program already. Returns why that
    failed, or None. It is made under another name and renamed, so that a root is complete."""
    root.parent.mkdir(parents=True, exist_ok=True)
    new, log = f"{root}.new", pathlib.Path(f"{root}.log")
    with open(f"{root}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (root / program).exists():
            return None
        if not shutil.which("debootstrap"):
            return "debootstrap is not installed"
        if not (mirror := debian_mirror()):
            return "apt is not configured with a mirror; set LIVEHOST_DEBIAN_MIRROR"
        shutil.rmtree(new, ignore_errors=True)
        command = ["debootstrap", "--variant=minbase", f"--include={packages}", suite, new, mirror]
        if subprocess.run(command, stdout=log.open("w"), stderr=subprocess.STDOUT, timeout=900).returncode:
            return f"debootstrap failed (log: {log}): {log.read_text()[-300:]}"
        shutil.rmtree(root, ignore_errors=True)
        os.rename(new, root)
