#!/usr/bin/env python3
"""Makes the completion of livehostctl for bash and zsh: the hand-written scripts beside this file, in
which a line `@name@` stands for a table of verbs, options and values that comes from the program."""
import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import command_dump  # noqa: E402

# What an argument is, by the name of its value; the scripts know how to complete each.
KINDS = {
    "room": "room", "view": "view", "path": "file", "file": "file", "recording": "recording",
    "recording|room": "recording|room", "task": "task", "control": "control", "scenario": "file", "a": "file", "b": "file", "dir": "directory", "device": "device",
}


def kind(argument):
    """A word for the scripts: a kind, or `=` and the values."""
    if argument.values:
        return "=" + " ".join(argument.values)
    return KINDS.get(argument.value_name.lower(), "none")


def named(argument):
    """Names as they are written; `--json` takes its value after `=` only."""
    return [name + "=" if name == "--json" else name for name in argument.names]


def table(root):
    """The cases of a `case` statement: of each verb its subcommands, options and positionals."""
    lines = []
    common = ["--help", *(name for argument in root.subcommands[0].global_options
                          for name in named(argument))]
    for command in root.all():
        names = [name for argument in command.options for name in named(argument)] + common
        if not command.path:
            names.append("--version")
        words = [command.name for command in command.subcommands]
        kinds = [kind(argument) + ("..." if argument.is_repeating else "")
                 for argument in command.positionals]
        lines += [
            f"    {quoted(' '.join(command.path))})",
            f"      verbs={quoted(' '.join(words))}",
            f"      options={quoted(' '.join(names))}",
            f"      positionals=({' '.join(map(quoted, kinds))})",
            "      ;;",
        ]
    return "\n".join(lines)


def values(root):
    """The cases of a `case` statement: what the value of each option is."""
    kinds = {}
    for command in root.all():
        for argument in command.options + command.global_options:
            for name in argument.names if argument.takes_value else []:
                # A name that means different things at different verbs is rare: then anything goes.
                found = kinds.setdefault(name, kind(argument))
                if found != kind(argument):
                    kinds[name] = "none"
    return "\n".join(f"    {name}) value={quoted(found)} ;;" for name, found in sorted(kinds.items()))


def descriptions(root):
    """One `verb:what it does` for each verb, as zsh's _describe takes them."""
    return "\n".join("    " + quoted(f"{command.name}:{command.abstract.rstrip('.')}")
                     for command in root.subcommands)


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, type=Path)
    parser.add_argument("--output", required=True, type=Path)
    options = parser.parse_args()
    root = command_dump.read(options.programs / "livehostctl")
    parts = {"@verbs@": table(root), "@values@": values(root), "@descriptions@": descriptions(root)}
    options.output.mkdir(parents=True, exist_ok=True)
    for source, target in (("bash.in", "livehostctl"), ("zsh.in", "_livehostctl")):
        lines = (HERE / source).read_text(encoding="utf-8").split("\n")
        text = "\n".join(parts.get(line.strip(), line) for line in lines)
        (options.output / target).write_text(text, encoding="utf-8")


main()
