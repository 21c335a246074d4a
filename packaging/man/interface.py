"""A Varlink interface file as roff."""
import re
from roff import bold, italic, item, prose


def parts(text):
    """The parts of a page by name."""
    head, _, body = text.partition("\ninterface ")
    found = {"method": [], "type": [], "error": []}
    for comment, kind, name, members in declarations(body):
        found[kind].append(section(comment, kind, name, members))
    return {
        "interface-description": prose(uncommented(head.split("\n"))),
        "interface-methods": "".join(found["method"]),
        "interface-types": "".join(found["type"]),
        "interface-errors": "".join(found["error"]),
    }


def declarations(text):
    """Comment, kind, name and the rest of each declaration."""
    comment, body, start = [], [], None
    for line in text.split("\n")[1:]:
        if start is None:
            if line.startswith("#"):
                comment.append(line)
            elif start := re.match(r"(method|type|error) (\w+)", line):
                line = line[start.end():]
            elif not line.strip():
                comment = []
            else:
                raise SystemExit(f"interface.py: cannot parse the line '{line}'")
        if start is not None:
            body.append(line)
            code = "".join(part for part in body if not part.strip().startswith("#"))
            if code.count("(") == code.count(")") and (start[1] != "method" or "->" in code):
                yield uncommented(comment), start[1], start[2], "\n".join(body)
                comment, body, start = [], [], None
    if start is not None:
        raise SystemExit(f"interface.py: {start[2]} has no end")


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
    """Each member with its type and meaning; members of an enumeration have no type."""
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
