"""Counting the tests of Swift Testing. As a program it prints how many of a log were run, skipped, and failed."""
import pathlib
import re
import sys


def results(log):
    """How many tests were run according to a log, how many were skipped besides, and the lines about failed ones."""
    # It colours its lines wherever TERM is set, even in a pipe.
    log = re.sub("\x1b\\[[0-9;]*m", "", log)
    skipped = len(re.findall("^. Test .* skipped: ", log, re.MULTILINE))
    total = sum(map(int, re.findall(r"Test run with (\d+) tests?", log)))
    return max(0, total - skipped), skipped, re.findall("^. Test (?!run with).* failed after.*", log, re.MULTILINE)


def count(check, log):
    """Adds the tests that a log has to the checks; returns how many were run."""
    run, _, failed = results(log)
    check.passed += run - len(failed)
    for line in failed:
        # Not by an expression: it would take minutes for a line as long as some values are.
        check(line, False, "\n".join(text[:2_000] for text in log.split("\n") if "recorded an issue" in text))
    return run


if __name__ == "__main__":
    number, skipped_besides, lines = results(pathlib.Path(sys.argv[1]).read_text(errors="replace"))
    print(number, skipped_besides, len(lines))
