"""Finds the declarations of Swift sources: functions, properties, initializers, subscripts and cases.

The sources are formatted by `swift format`, so indentation shows where a declaration ends. Declarations inside a
function are part of the function.
"""

import dataclasses
import functools
import re

MODIFIER = (
    r"(?:public|private|fileprivate|internal|open|package|static|final|override|(?:non)?mutating|nonisolated|lazy|weak|"
    r"unowned|required|convenience|indirect|optional|dynamic|consuming|borrowing|distributed|prefix|postfix|infix|"
    r"class(?=\s+(?:func|var|subscript)))(?:\(\w+\))?\s+")
ATTRIBUTE = r"@[\w.]+(?:\((?:[^()]|\([^()]*\))*\))?\s+"
HEAD = re.compile(
    rf"(?P<indent>[ ]*)(?P<start>)(?:{ATTRIBUTE}|{MODIFIER})*"
    r"(?:(?P<type>struct|class|enum|actor|protocol|extension)\s+(?P<name>[\w.`]+)"
    r"|(?P<call>func\s+(?P<function>`?[\w$]+`?|[-/=+!*%<>&|^~?.]+(?=[\s(<]))|init[?!]?(?=[<(])|subscript(?=[<(])|deinit\b)"
    r"|(?P<value>let|var|case)\s+)")
LINE = re.compile("^" + HEAD.pattern, re.MULTILINE)
# Matches operators of comparisons and shifts, which are surrounded by spaces.
BRACKET_OR_COMMA = re.compile(r"->| [<>]+=? |[][(){}<>,]")
STRING = re.compile(r'"""[^"]*"""|"(?:\\.|[^"\\\n])*"')


@dataclasses.dataclass(frozen=True)
class Declaration:
    """A member of a type, or a global function or property. `path` contains the enclosing types and the name."""

    path: tuple
    labels: str
    start: int
    end: int

    @property
    def name(self):
        return ".".join(self.path) + self.labels

    def is_meant(self, symbol):
        """Returns whether the symbol is the end of the path, with or without labels."""
        types, separator, labels = symbol.partition("(")
        parts = tuple(types.split("."))
        return self.path[-len(parts):] == parts and (not separator or "(" + labels == self.labels)


@functools.cache
def extent(indent):
    """Returns a pattern for the rest of a line and its continuation lines, which are indented more, or begin with a
    closing bracket or an operator."""
    return re.compile(rf'.*(?:\n(?:[ ]*(?=\n)|[ ]{{{indent + 1},}}.*|[ ]{{{indent}}}(?:[])}}>{{.?:]|->|where\b|""").*))*')


def parts(text):
    """Returns the parts of a text between commas outside brackets."""
    found, depth, start = [], 0, 0
    for mark in BRACKET_OR_COMMA.finditer(text):
        if mark[0] == "," and depth == 0:
            found.append(text[start:mark.start()])
            start = mark.end()
        depth += (mark[0] in "([{<") - (mark[0] in ")]}>")
    return [*found, text[start:]]


def labels(text):
    """Returns the labels of the parameter list at the start of a text, after generics, in the form `(_:to:)`."""
    depth, opening = 0, None
    for mark in BRACKET_OR_COMMA.finditer(text):
        if mark[0] == "(" and depth == 0:
            opening = mark.end()
        depth += (mark[0] in "([{<") - (mark[0] in ")]}>")
        if depth == 0 and opening is not None:
            parameters = parts(re.sub(r"@\w+|//.*", "", text[opening:mark.start()]))
            words = [re.match(r"\s*`?(\w+)`?[^:]*:", part) for part in parameters if part.strip()]
            return f"({''.join((word[1] if word else '_') + ':' for word in words)})"
    return ""


def members(keyword, text):
    """Returns the names that `let`, `var` or `case` declares, with their labels."""
    tuple_of_names = re.match(r"\(([\w, ]+)\)", text)
    for part in tuple_of_names[1].split(",") if tuple_of_names else parts(text):
        if found := re.match(r"\s*`?([\w$]+)`?\s*(\(|[:={]|$)", part):
            yield found[1], labels(part[found.end() - 1:]) if keyword == "case" and found[2] == "(" else ""


def scan(text, position, end, path):
    """Yields the declarations between two positions, which are members of the types in `path`."""
    # The first member may be on the line of the opening brace.
    while head := HEAD.match(text, position, end) or LINE.search(text, position, end):
        start, indent = head.start("start"), len(head["indent"])
        position = min(end, extent(indent).match(text, head.end()).end())
        blank = STRING.sub('""', text[head.end():position])
        if head["type"]:
            body = text.find("{", head.end()) + 1
            types = head["name"].replace("`", "").split(".")
            yield from scan(text, body, max(body, text.rindex("}", body, position)), (*path, *types))
        elif head["call"]:
            name = (head["function"] or re.match(r"\w+", head["call"])[0]).strip("`")
            yield Declaration((*path, name), "" if name == "deinit" else labels(blank), start, position)
        else:
            for name, its_labels in members(head["value"], blank):
                yield Declaration((*path, name), its_labels, start, position)


def declarations(text):
    """Returns the declarations of a Swift source, in order."""
    return list(scan(text, 0, len(text), ()))
