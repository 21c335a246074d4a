"""Counts the tests in a log of Swift Testing. As a program, prints the numbers of run, skipped and failed tests."""
import pathlib
import re
import sys


def results(log):
    """Returns the number of run tests in a log, the number of skipped tests, and the lines about failed tests."""
    # Swift Testing colours its lines whenever TERM is set, even in a pipe.
    log = re.sub("\x1b\\[[0-9;]*m", "", log)
    skipped = len(re.findall("^. Test .* skipped: ", log, re.MULTILINE))
    total = sum(map(int, re.findall(r"Test run with (\d+) tests?", log)))
    return max(0, total - skipped), skipped, re.findall("^. Test (?!run with).* failed after.*", log, re.MULTILINE)


def count(check, log):
    """Adds the tests in a log to the checks, and returns the number of run tests."""
    run, _, failed = results(log)
    check.passed += run - len(failed)
    for line in failed:
        # A regular expression would need minutes for lines with long values.
        check(line, False, "\n".join(text[:2_000] for text in log.split("\n") if "recorded an issue" in text))
    return run


if __name__ == "__main__":
    number, skipped_besides, lines = results(pathlib.Path(sys.argv[1]).read_text(errors="replace"))
    print(number, skipped_besides, len(lines))
