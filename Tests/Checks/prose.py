#!/usr/bin/env python3
"""Prints a random sample of the project's sentences: `prose.py [--seed N] [--count N] [--under PATH]`.

A person who does not know the project reads and explains each sentence. A sentence that must be read twice, or is
explained wrongly, fails and is rewritten. At most one of thirty may fail. Equal seeds and sources give equal samples.
Documents, comments, messages and names of tests each contribute a quarter.
"""

import argparse
import random
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"])")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
# Matches strings that are code or markup.
CODE = re.compile(r"[{}<>=]|\\n")
TEST_NAME = re.compile(r"func `([^`]+)`\(|^\s*def (test_\w+)\(", re.MULTILINE)
MARKUP = re.compile(r"^(\s*[#|>]|\s{4}|!\[|```|\.[A-Z\\])")
# Examples in Markdown and in manual pages.
EXAMPLE = re.compile(r"```.*?```|^\.(?:nf|EX)$.*?^\.(?:fi|EE)$", re.DOTALL | re.MULTILINE)
ITEM = re.compile(r"^\s*(?:[-*]|\d+\.) ")


def sentences(text, first_line):
    """Returns the sentences of a paragraph, each with the first line of the paragraph."""
    text = " ".join(text.split())
    return [(first_line, part) for part in SENTENCE.split(text) if len(part.split()) >= 5]


def paragraphs(lines):
    """Joins consecutive lines, up to an empty line."""
    start, parts = 0, []
    for number, line in enumerate([*lines, ""], 1):
        if line.strip():
            start = start if parts else number
            parts.append(line)
        elif parts:
            yield start, " ".join(parts)
            parts = []


def of_document(text):
    lines = []
    for line in EXAMPLE.sub(lambda code: "\n" * code[0].count("\n"), text).splitlines():
        lines += ["", ITEM.sub("", line)] if ITEM.match(line) else ["" if MARKUP.match(line) else line]
    return [found for start, part in paragraphs(lines) for found in sentences(part, start)]


def of_comments(text, marker):
    lines = []
    for line in text.splitlines():
        match = re.match(rf"\s*{marker}+ ?(.*)", line)
        lines.append(match[1] if match else "")
    return [found for start, part in paragraphs(lines) for found in sentences(part, start)]


def of_messages(text):
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith("//"):
            texts = (match[1] for match in STRING.finditer(line) if not CODE.search(match[1]))
            found += [(number, text) for text in texts if len(text.split()) >= 5]
    return found


def of_test_names(text):
    return [
        (text.count("\n", 0, match.start()) + 1, match[1] or match[2].replace("_", " "))
        for match in TEST_NAME.finditer(text)
    ]


def collected(root, under):
    """Returns all sentences by kind, each as (file, line, text)."""
    kinds = {"document": [], "comment": [], "message": [], "test": []}
    files = subprocess.run(
        ["git", "ls-files", "--", under], cwd=root, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    for name in files:
        path = root / name
        if path.suffix not in (".swift", ".py", ".sh", ".md", ".in", ".yaml") or "Corpus/" in name:
            continue
        text = path.read_text(errors="replace")

        def add(kind, found):
            kinds[kind] += [(name, line, sentence) for line, sentence in found]

        if path.suffix in (".md", ".in"):
            add("document", of_document(text))
        elif path.suffix == ".swift":
            add("comment", of_comments(text, "/"))
            add("message", of_messages(text) if name.startswith("Sources/") else [])
        else:
            add("comment", of_comments(text, "#"))
        if name.startswith("Tests/"):
            add("test", of_test_names(text))
    return kinds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, default=1, help="equal seeds draw equal sentences (1)")
    parser.add_argument("--count", type=int, default=30, help="number of sentences (30)")
    parser.add_argument("--under", default=".", help="only files below this path")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout of another project, as a control")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    pools = [pool for pool in collected(options.root, options.under).values() if pool]
    if not pools:
        parser.error(f"no sentences under {options.under}")
    drawn = []
    for number in range(options.count):
        drawn.append(chance.choice(pools[number % len(pools)]))
    for number, (name, line, sentence) in enumerate(drawn, 1):
        print(f"{number:3}. {sentence}\n     {name}:{line}")


if __name__ == "__main__":
    main()
