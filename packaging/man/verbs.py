"""Converts the options and verbs of a program to roff, from the program's own description
(`--experimental-dump-help`)."""
import json
import subprocess

from roff import bold, escape, italic, item, prose


def read(program):
    """Returns the description of a program's root command."""
    dump = subprocess.run([program, "--experimental-dump-help"], check=True, timeout=60, stdout=subprocess.PIPE)
    return json.loads(dump.stdout)["command"]


def verbs(command, path=()):
    """Yields the commands that are not groups, each with its path."""
    inner = [entry for entry in command.get("subcommands", [])
             if entry["commandName"] != "help" and entry.get("shouldDisplay", True)]
    if path and not inner:
        yield path, command
    for entry in inner:
        yield from verbs(entry, (*path, entry["commandName"]))


def arguments(command, is_positional=False, is_global=False):
    """Returns the positional arguments or the options. --help and --version are omitted, because
    each page describes them once."""
    return [argument for argument in command.get("arguments", [])
            if argument.get("shouldDisplay", True) and argument["valueName"] not in ("help", "version")
            and (argument["kind"] == "positional") == is_positional
            and (argument.get("sectionTitle") == "Global options") == is_global]


def options(command, is_global=False):
    return "".join(option(argument) for argument in arguments(command, is_global=is_global))


def names(argument):
    return [("-" if name["kind"] == "short" else "--") + name["name"] for name in argument["names"]]


def option(argument):
    tag = ", ".join(map(bold, names(argument)))
    if argument["kind"] == "option":
        tag += (bold("=") if names(argument)[0].startswith("--") else " ") + italic(argument["valueName"])
    return item(tag, described(argument))


def described(argument):
    text, values = argument.get("abstract", ""), argument.get("allValues", [])
    # Values already named in the text are not repeated.
    if any(value not in text for value in values):
        text += f" One of {', '.join(values)}."
    if (default := argument.get("defaultValue", "")) not in text:
        text += f" Default: {default}."
    return text


def synopsis(path, command):
    words = [bold(" ".join(path))]
    words += [escape("[") + short(argument) + escape("]") + repeated(argument) for argument in arguments(command)]
    for argument in arguments(command, is_positional=True):
        word = italic(argument["valueName"]) + repeated(argument)
        words.append(f"[{word}]" if argument["isOptional"] else word)
    return " ".join(words)


def short(argument):
    name = bold(names(argument)[-1])
    return f"{name} {italic(argument['valueName'])}" if argument["kind"] == "option" else name


def repeated(argument):
    return " ..." if argument["isRepeating"] else ""


def sections(root, without=""):
    """Returns each verb of a program with its arguments, except the verb `without`, which the
    page describes elsewhere."""
    output = []
    for path, command in verbs(root):
        if path[-1] != without:
            output += [f".SS {synopsis(path, command)}\n", prose(command.get("abstract", ""))]
            output += [item(italic(argument["valueName"]), described(argument))
                       for argument in arguments(command, is_positional=True) if argument.get("abstract")]
            output.append(options(command))
            if "discussion" in command:
                output.append(".PP\n" + prose(command["discussion"]))
    return "".join(output)
