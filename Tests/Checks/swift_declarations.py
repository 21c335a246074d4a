"""Finds the declarations of Swift sources: functions, properties, initializers, subscripts and cases with their extent.

Comments and strings are blanked first, so that the rest needs to look at words and brackets only. Bodies are passed
over: what is declared inside of a function belongs to the function.
"""

import dataclasses
import re

OPENING = re.compile(r'//|/\*|(#*)("""|")|(#+)/')
BRACKET = re.compile(r"[][(){}]")
WORD = re.compile(r"`?[\w$]+`?")
ATTRIBUTE = re.compile(r"@[\w.]+")
OPERATOR = re.compile(r"[-/=+!*%<>&|^~?.]+(?=[\s(<])")
MODIFIERS = set(
    "public private fileprivate internal open package static class final override mutating nonmutating nonisolated "
    "lazy weak unowned required convenience indirect optional dynamic consuming borrowing distributed prefix postfix "
    "infix".split())
TYPES = set("struct class enum actor protocol extension".split())
# What a line begins or ends with that is not the beginning or end of a declaration.
GOES_ON = re.compile(r"[{.?:=&|<>+*/%^,-]|(where|throws|rethrows|async|else|as|is)\b")
WAITS = re.compile(r"([=,:&|+*/%<-]|->| [?>]|\b(where|in|as|is|try|await|return))\s*$")


@dataclasses.dataclass(frozen=True)
class Declaration:
    """A member of a type or a global function or property; `path` are the types around it and its name."""

    path: tuple
    labels: str
    start: int
    end: int

    @property
    def name(self):
        return ".".join(self.path) + self.labels

    def is_meant(self, symbol):
        """Whether the symbol names this: by the end of its path, with or without the labels."""
        types, separator, labels = symbol.partition("(")
        parts = tuple(types.split("."))
        return self.path[-len(parts):] == parts and (not separator or "(" + labels == self.labels)


def end_of_comment(text, position):
    """Where the comment ends that begins with /* at the position; they may be nested."""
    depth = 0
    for mark in re.compile(r"/\*|\*/").finditer(text, position):
        depth += 1 if mark[0] == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(text)


def end_of_interpolation(text, position):
    """Where what stands in \\( and ) ends, from behind the opening parenthesis."""
    depth = 1
    pattern = re.compile(OPENING.pattern + r"|[()]")
    while depth and (mark := pattern.search(text, position)):
        position = mark.end()
        if mark[0] in "()":
            depth += 1 if mark[0] == "(" else -1
        else:
            position = end_of_literal(text, mark)
    return position


def end_of_literal(text, opening):
    """Where the comment, string or regular expression ends that was opened."""
    if opening[0] == "//":
        end = text.find("\n", opening.end())
        return len(text) if end < 0 else end
    if opening[0] == "/*":
        return end_of_comment(text, opening.start())
    if opening[3]:
        end = text.find("/" + opening[3], opening.end())
        return len(text) if end < 0 else end + 1 + len(opening[3])
    hashes, quote = opening[1], opening[2]
    mark_pattern = re.compile(rf"\\{hashes}(\(|.)|{quote}{hashes}" + ("" if len(quote) > 1 else r"|\n"), re.DOTALL)
    position = opening.end()
    while mark := mark_pattern.search(text, position):
        position = mark.end()
        if mark[1] == "(":
            position = end_of_interpolation(text, position)
        elif mark[1] is None:
            return position
    return len(text)


def blanked(text):
    """The text with blanks for its comments and quotes for all of its strings, at the same offsets."""
    parts, position = [], 0
    while opening := OPENING.search(text, position):
        end = end_of_literal(text, opening)
        parts.append(text[position:opening.start()])
        literal = text[opening.start():end]
        parts.append(re.sub(r"[^\n]", " ", literal) if opening[0][:2] in ("//", "/*") else '"' * len(literal))
        position = end
    return "".join(parts) + text[position:]


class Scanner:
    """Walks through the declarations of a file."""

    def __init__(self, text):
        self.code = blanked(text)
        self.declarations = []
        self.closings = {}
        stack = []
        for bracket in BRACKET.finditer(self.code):
            if bracket[0] in "([{":
                stack.append(bracket.start())
            elif stack:
                self.closings[stack.pop()] = bracket.start()
        self.scan(0, len(self.code), ())

    def behind(self, opening):
        """The position behind the bracket that closes the one at the position."""
        return self.closings.get(opening, len(self.code) - 1) + 1

    def skip_blanks(self, position):
        while position < len(self.code) and self.code[position] in " \t\n;":
            position += 1
        return position

    def behind_generics(self, position):
        """The position behind <...> and blanks, if there are any."""
        position = self.skip_blanks(position)
        if self.code[position:position + 1] == "<":
            depth = 0
            for mark in re.compile(r"->|[<>]").finditer(self.code, position):
                depth += {"<": 1, ">": -1}.get(mark[0], 0)
                if depth == 0:
                    return self.skip_blanks(mark.end())
        return position

    def end_of_declaration(self, position, has_body):
        """Where it ends: behind its body, or with a line that neither waits for the next one nor is continued."""
        code = self.code
        pattern = re.compile(r"[][(){};\n]")
        while mark := pattern.search(code, position):
            position = mark.end()
            if mark[0] in "([{":
                position = self.behind(mark.start())
                if has_body and mark[0] == "{":
                    return position
            elif mark[0] != "\n":
                return mark.start()
            else:
                line = code[code.rfind("\n", 0, mark.start()) + 1:mark.start()]
                following = re.compile(r"\s*").match(code, position).end()
                if not GOES_ON.match(code, following) and not WAITS.search(line):
                    return mark.start()
        return len(code)

    def labels(self, opening):
        """The labels of parameters as Swift writes them, `(_:to:)`."""
        end, position, labels = self.behind(opening) - 1, opening + 1, []
        while (position := self.skip_blanks(position)) < end:
            start, colon = position, None
            while position < end and self.code[position] != ",":
                if self.code[position] == ":" and colon is None:
                    colon = position
                position = self.behind(position) if self.code[position] in "([{" else position + 1
            words = [] if colon is None else WORD.findall(re.sub(r"@\w+", "", self.code[start:colon]))
            labels.append((words or ["_"])[0].strip("`") + ":")
            position += 1
        return f"({''.join(labels)})"

    def add(self, path, name, labels, start, end):
        self.declarations.append(Declaration((*path, name.strip("`")), labels, start, end))

    def scan(self, position, end, path):
        """Notes what is declared between two positions, inside of the types of the path."""
        while (position := self.skip_blanks(position)) < end:
            position = max(self.declaration(position, path), position + 1)

    def declaration(self, start, path):
        """Notes the declaration that begins here; returns where it ends."""
        code, position = self.code, start
        if code[start] == "#":
            if code.startswith(("#if", "#else", "#endif"), start):
                return code.find("\n", start) if "\n" in code[start:] else len(code)
            return self.end_of_declaration(start, has_body=False)
        while True:
            position = self.skip_blanks(position)
            if attribute := ATTRIBUTE.match(code, position):
                position = attribute.end()
            else:
                word = WORD.match(code, position)
                following = word and WORD.match(code, self.skip_blanks(word.end()))
                is_class = word and word[0] == "class" and following and following[0] not in (
                    MODIFIERS | {"func", "var", "let", "subscript"})
                if not word or word[0] not in MODIFIERS or is_class:
                    break
                position = word.end()
            if code[position:position + 1] == "(":
                position = self.behind(position)
        return self.named(start, word, path) if word else self.end_of_declaration(start, has_body=False)

    def named(self, start, word, path):
        """Notes what the keyword declares; returns where it ends."""
        code, keyword, position = self.code, word[0], self.skip_blanks(word.end())
        if keyword in TYPES:
            name = re.compile(r"[\w.`]*").match(code, position)[0].replace("`", "")
            body = code.find("{", position)
            if body < 0:
                return len(code)
            self.scan(body + 1, self.behind(body) - 1, (*path, *filter(None, name.split("."))))
            return self.behind(body)
        if keyword in ("func", "init", "subscript"):
            name, position = keyword, word.end()
            if keyword == "func":
                found = WORD.match(code, self.skip_blanks(position)) or OPERATOR.match(code, self.skip_blanks(position))
                if not found:
                    return self.end_of_declaration(position, has_body=True)
                name, position = found[0], found.end()
            elif code[position:position + 1] in ("?", "!"):
                position += 1
            position = self.behind_generics(position)
            labels = self.labels(position)
            end = self.end_of_declaration(self.behind(position), has_body=True)
            self.add(path, name, labels, start, end)
            return end
        if keyword == "deinit":
            end = self.end_of_declaration(position, has_body=True)
            self.add(path, "deinit", "", start, end)
            return end
        end = self.end_of_declaration(position, has_body=False)
        if keyword in ("let", "var"):
            if code[position] == "(":
                names = WORD.findall(code, position, self.behind(position))
            else:
                names = WORD.findall(code, position, end)[:1] + self.further(r",\s*(`?[\w$]+`?)\s*[:=]", position, end)
            for name in names:
                self.add(path, name, "", start, end)
        elif keyword == "case":
            for name in self.further(r"(?:^|,)\s*(`?[\w$]+`?)", position, end):
                found = re.compile(rf"{re.escape(name)}\s*(\()?").search(code, position)
                self.add(path, name, self.labels(found.end() - 1) if found[1] else "", start, end)
        return end

    def further(self, pattern, start, end):
        """What the pattern finds outside of brackets."""
        parts, position = [], start
        while position < end:
            if self.code[position] in "([{":
                parts.append(" " if self.code[position] == "(" else "")
                position = self.behind(position)
            else:
                parts.append(self.code[position])
                position += 1
        return re.findall(pattern, "".join(parts))


def declarations(text):
    """The declarations of a Swift source, in its order."""
    return Scanner(text).declarations
