"""Finds the text that a mutation changes within a named declaration, and suggests repairs if it is not found.

White space is not compared, so a declaration may be moved to another file, indented or wrapped.
"""

import difflib
import functools
import re

import swift_declarations


class Unfit(Exception):
    """The reason that a mutation does not fit the sources, with a suggested repair."""


def pattern(find):
    """Returns a pattern for the text with any white space between its words and signs."""
    tokens = re.findall(r"\w+|[^\w\s]", find)
    parts = [r"(?<!\w)" if tokens[0][0].isalnum() else ""]
    for before, token in zip([""] + tokens, tokens):
        between = r"\s+" if re.match(r"\w", before) and re.match(r"\w", token) else r"\s*" if before else ""
        parts.append(between + re.escape(token))
    return re.compile("".join(parts) + (r"(?!\w)" if re.match(r"\w", tokens[-1]) else ""))


class Sources:
    """The Swift sources of a work tree."""

    def __init__(self, root):
        self.root = root
        self.texts = {path: path.read_text() for path in sorted((root / "Sources").rglob("*.swift"))}

    def text(self, path):
        return self.texts[path]

    @functools.lru_cache(maxsize=None)
    def declarations(self, path):
        return swift_declarations.declarations(self.texts[path])

    def all(self):
        """Returns all declarations with their files."""
        return [(path, found) for path in self.texts for found in self.declarations(path)]

    def position(self, path, offset):
        """Returns an offset as FILE:LINE, which editors can open."""
        return f"{path.relative_to(self.root)}:{self.texts[path].count(chr(10), 0, offset) + 1}"

    def meant(self, symbol, module):
        """Returns the declarations that a symbol names."""
        # Files that do not contain the name are not scanned.
        words = set(re.findall(r"\w+", symbol.partition("(")[0]))
        return [
            (path, found) for path, text in self.texts.items()
            if (not module or module in path.parts) and all(word in text for word in words)
            for found in self.declarations(path) if found.is_meant(symbol)]

    def place(self, symbol, find, module=""):
        """Returns the symbol's file, and the start and end of the text in it."""
        meant = self.meant(symbol, module)
        if not meant:
            raise Unfit(f"there is no symbol {symbol}" + self.nearest(symbol, find))
        if len({found.name for _, found in meant}) > 1:
            raise Unfit(
                f"{len(meant)} declarations are called {symbol}\n  repair: write which of them it is, with its "
                "labels, the types around it or `module`" + self.lines(meant))
        # Overloads that differ only in types are distinguished by the text.
        matches = [
            (path, match.start(), match.end()) for path, found in meant
            for match in pattern(find).finditer(self.texts[path], found.start, found.end)]
        if not matches:
            raise Unfit(f"{symbol} does not contain {find}" + self.closest(meant, find))
        if len(matches) > 1:
            places = "".join(f"\n    {self.position(path, start)}" for path, start, _ in matches)
            raise Unfit(
                f"{symbol} contains {find} {len(matches)} times\n  repair: lengthen `find` until one of these "
                f"remains{places}")
        return matches[0]

    def lines(self, found):
        """Returns a line for each declaration, with its file and line."""
        return "".join(f"\n    {declaration.name}  {self.position(path, declaration.start)}"
                       for path, declaration in found[:8])

    def containing(self, find):
        """Returns the declarations that contain the text."""
        expression = pattern(find)
        return [
            (path, declaration) for path, text in self.texts.items() if expression.search(text)
            for declaration in self.declarations(path)
            if expression.search(text, declaration.start, declaration.end)]

    def nearest(self, symbol, find):
        """Suggests declarations that contain the text, and declarations with the same or a similar name."""
        name = symbol.partition("(")[0].split(".")
        # Declarations in the named type are the most likely ones.
        holders = sorted(self.containing(find), key=lambda entry: entry[1].path[:-1][-1:] != tuple(name[:-1][-1:]))
        short = {".".join(found.path[-len(name):]): (path, found) for path, found in self.all()}
        namesakes = [(path, found) for path, found in self.all() if found.path[-1] == name[-1]] or [
            short[alike] for alike in difflib.get_close_matches(".".join(name), short, n=3, cutoff=0.7)]
        advice = "".join(f"\n  {title}{self.lines(found)}" for title, found in (
            ("its text is in", holders), ("of that name or a similar one there is", namesakes)) if 0 < len(found) <= 8)
        return "\n  repair: " + ("correct `symbol`" + advice if advice else "the code is gone; remove the mutation")

    def closest(self, meant, find):
        """Suggests the most similar line in the declarations, and other declarations that contain the text."""
        wanted, best = re.findall(r"\w+|[^\w\s]", find), (0, "", "")
        for path, declaration in meant:
            offset = declaration.start
            for line in self.texts[path][offset:declaration.end].splitlines(keepends=True):
                folded = re.sub(r"\s+", " ", line).strip()
                tokens = re.findall(r"\w+|[^\w\s]", line)
                blocks = difflib.SequenceMatcher(None, wanted, tokens, autojunk=False).get_matching_blocks()
                if (alike := sum(block.size for block in blocks)) > best[0]:
                    best = (alike, folded, self.position(path, offset))
                offset += len(line)
        advice = f"\n  closest there: {best[1]}\n    {best[2]}"
        holders = self.containing(find)
        if 0 < len(holders) <= 8:
            return "\n  repair: correct `symbol`; the text is in" + self.lines(holders) + advice
        return "\n  repair: correct `find`" + advice
