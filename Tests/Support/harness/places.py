"""Directories and files that several tests share."""
import fcntl
import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
# A cache of downloaded third-party programs and operating-system images.
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "livehost"
# A recording with 5,000 lines of chat, for the room `examplehost`.
BURST = ROOT / "config/recordings/chat-burst.irc.gz"


def unpacked(name, *packages):
    """Returns a directory with the files of Debian packages, or None if they cannot be downloaded. The packages are
    unpacked but not installed, since an installed package would start its service."""
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
    """Returns the mirror of Debian packages: LIVEHOST_DEBIAN_MIRROR, or the mirror in this machine's apt configuration."""
    rows = ""
    # The origin is known only after the package lists were fetched.
    for origin in (["Origin: Debian"], []):
        rows += subprocess.run(["apt-get", "indextargets", "--format", "$(RELEASE) $(COMPONENT) $(REPO_URI)",
                                "Created-By: Packages", *origin], capture_output=True, text=True).stdout
    found = re.search(r"^[^-/ ]+ main (https?:.*)", rows, re.MULTILINE)
    return os.environ.get("LIVEHOST_DEBIAN_MIRROR") or found and found[1]


def debian_root(root, suite, program, packages):
    """Creates a Debian root with these packages with debootstrap, unless the root already has the program. Returns
    the reason of a failure, or None. The root is created under another name and renamed when complete."""
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
