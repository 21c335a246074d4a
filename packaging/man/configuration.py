"""Converts the keys of the commented default configuration file to roff."""
import re
from roff import bold, item


def keys(text):
    output, group, meaning = [], "", []
    for line in text.splitlines()[1:]:
        line = line.removeprefix("#")
        if not line.strip():
            continue
        if comment := re.match(r"\s*# ?(.*)", line):
            meaning.append(comment.group(1))
        elif heading := re.fullmatch(r"(\w+):", line):
            group, meaning = heading.group(1) + ".", []
        elif entry := re.fullmatch(r"( *)(\w+): (.*)", line):
            path = (group if entry.group(1) else "") + entry.group(2)
            output.append(item(bold(path), f"{' '.join(meaning)} Default: {entry.group(3)}"))
            meaning = []
        else:
            raise SystemExit(f"configuration.py: cannot parse the line '{line}'")
    if not output:
        raise SystemExit("configuration.py: the default configuration has no keys")
    return "".join(output)
