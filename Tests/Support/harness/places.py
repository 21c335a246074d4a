"""Directories and files of which several tests have use."""
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[3]
# What is fetched once and kept: programs and systems of others.
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "livehost"
# A recording with 5,000 lines of chat, for the room `examplehost`.
BURST = ROOT / "config/recordings/chat-burst.irc.gz"
