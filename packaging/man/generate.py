#!/usr/bin/env python3
"""Makes the manual pages from the hand-written pages beside this file, replacing each `@name@` by a part
generated from the programs, the default configuration, the interface file or an example."""
import argparse
import datetime
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import command_dump  # noqa: E402
import configuration  # noqa: E402
import interface  # noqa: E402
import roff  # noqa: E402
import verbs  # noqa: E402


def output_of(*command):
    return subprocess.run(command, check=True, timeout=60, text=True,
                          stdout=subprocess.PIPE).stdout


def page_date():
    """The date of the change log when a package is built, so that builds are reproducible."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    day = (datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
           if seconds else datetime.datetime.now())
    return day.strftime("%Y-%m-%d")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, type=Path)
    parser.add_argument("--output", required=True, type=Path)
    options = parser.parse_args()
    daemon, client = options.programs / "livehostd", options.programs / "livehostctl"
    source, web = options.programs / "livehost-source", options.programs / "livehost-web"
    gateway = options.programs / "livehost-gateway"
    client_commands, source_commands = command_dump.read(client), command_dump.read(source)
    gateway_commands = command_dump.read(gateway)
    gateway_run = next(entry for entry in gateway_commands.subcommands if entry.name == "run")
    source_run = next(entry for entry in source_commands.subcommands if entry.name == "run")
    text = (ROOT / "Sources/Control/ControlInterface/io.livehost.Control.varlink").read_text()
    parts = {
        "date": page_date(),
        "version": output_of(daemon, "--version").strip(),
        "daemon-options": verbs.options(command_dump.read(daemon).options),
        "global-options": verbs.options(client_commands.subcommands[0].global_options),
        "verbs": verbs.sections(client_commands),
        "configuration-keys": configuration.keys(output_of(daemon, "--print-default-config")),
        "source-options": verbs.options(source_run.options),
        "source-verbs": verbs.sections(source_commands, without=["run"]),
        "source-keys": configuration.keys(output_of(source, "--print-default-config")),
        "gateway-options": verbs.options(gateway_run.options),
        "gateway-verbs": verbs.sections(gateway_commands, without=["run"]),
        "gateway-keys": configuration.keys(output_of(gateway, "--print-default-config")),
        "web-options": verbs.options(command_dump.read(web).options),
        "example-source": roff.escape((HERE.parent / "examples/source.py").read_text()),
        **interface.parts(text),
    }

    def part(match):
        return parts[match.group(1)].rstrip("\n")

    options.output.mkdir(parents=True, exist_ok=True)
    for source in sorted(HERE.glob("*.in")):
        page = re.sub(r"@([a-z-]+)@", part, source.read_text(encoding="utf-8"))
        (options.output / source.stem).write_text(page, encoding="utf-8")


main()
