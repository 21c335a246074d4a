"""Directories and files of which several tests have use."""
import os
import pathlib
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
