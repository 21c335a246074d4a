#!/usr/bin/env python3
"""Creates the manual pages from the hand-written pages in this directory. Replaces each `@name@`
by a part generated from the programs, the default configuration, the interface file or an
example."""
import argparse
import datetime
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

import configuration  # noqa: E402
import interface  # noqa: E402
import roff  # noqa: E402
import verbs  # noqa: E402


def output_of(*command):
    return subprocess.run(command, check=True, timeout=60, text=True,
                          stdout=subprocess.PIPE).stdout


def page_date():
    """Returns the date of the change log when a package is built, so that builds are
    reproducible; otherwise today."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    day = (datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
           if seconds else datetime.datetime.now())
    return day.strftime("%Y-%m-%d")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, type=Path)
    parser.add_argument("--output", required=True, type=Path)
    options = parser.parse_args()
    daemon, client = options.programs / "livehostd", verbs.read(options.programs / "livehostctl")
    text = (ROOT / "Sources/Control/ControlInterface/io.livehost.Control.varlink").read_text()
    parts = {
        "date": page_date(),
        "version": output_of(daemon, "--version").strip(),
        "daemon-options": verbs.options(verbs.read(daemon)),
        "global-options": verbs.options(client["subcommands"][0], is_global=True),
        "verbs": verbs.sections(client),
        "configuration-keys": configuration.keys(output_of(daemon, "--print-default-config")),
        "web-options": verbs.options(
            dict(verbs.verbs(verbs.read(options.programs / "livehost-web")))["run",]),
        "example-source": roff.escape((HERE.parent / "examples/source.py").read_text()),
        **interface.parts(text),
    }
    for name in "source", "gateway":
        program = options.programs / f"livehost-{name}"
        root = verbs.read(program)
        parts |= {
            f"{name}-options": verbs.options(dict(verbs.verbs(root))["run",]),
            f"{name}-verbs": verbs.sections(root, without="run"),
            f"{name}-keys": configuration.keys(output_of(program, "--print-default-config")),
        }

    options.output.mkdir(parents=True, exist_ok=True)
    for source in sorted(HERE.glob("*.in")):
        page = re.sub(r"@([a-z-]+)@", lambda match: parts[match[1]].rstrip("\n"), source.read_text(encoding="utf-8"))
        (options.output / source.stem).write_text(page, encoding="utf-8")


main()
