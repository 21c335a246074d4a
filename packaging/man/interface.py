"""Converts a Varlink interface file to roff."""
import re
from roff import bold, italic, item, prose


def parts(text):
    """Returns the parts of a page by name."""
    head, _, body = text.partition("\ninterface ")
    found = {"interface-description": prose(uncommented(head.split("\n")))}
    for comment, kind, name, members in declarations(body):
        part = f"interface-{kind}s"
        found[part] = found.get(part, "") + section(comment, kind, name, members)
    return found


def declarations(text):
    """Yields the comment, kind, name and members of each declaration. An empty line ends a
    declaration."""
    for declaration in re.split(r"\n\n+", text.partition("\n")[2].strip()):
        found = re.fullmatch(r"((?:#.*\n)*)(method|type|error) (\w+)(.*)", declaration, re.DOTALL)
        if not found or found[2] == "method" and "->" not in found[4]:
            raise SystemExit(f"interface.py: cannot parse the declaration '{declaration}'")
        yield uncommented(found[1].splitlines()), found[2], found[3], found[4]


def uncommented(lines):
    return "\n".join(re.sub(r"^# ?", "", line) for line in lines)


def section(comment, kind, name, body):
    output = f".SS {name}\n" + prose(comment)
    if kind != "method":
        return output + members(body)
    parameters, _, reply = body.partition("->")
    return output + labelled("Parameters:", parameters) + labelled("Reply:", reply)


def labelled(label, body):
    found = members(body)
    return f".PP\n{label}\n{found}" if found else ""


def members(body):
    """Returns each member with its type and comment; members of an enumeration have no type."""
    output, comment = "", []
    for line in body.split("\n"):
        line = line.strip().rstrip(",")
        if line.startswith("#"):
            comment.append(line.lstrip("# "))
        elif member := re.fullmatch(r"(\w+)(?:: (\S+))?", line):
            tag = bold(member[1]) + (f" ({italic(member[2])})" if member[2] else "")
            output += item(tag, " ".join(comment))
            comment = []
    return output
