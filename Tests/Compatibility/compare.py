"""Compares a room with what an earlier version said about it."""

# Members that change with time; see README.md.
CHANGING = {"rate", "recent", "durationMs", "recorder"}


def differences(expected, found, path):
    """How a value of `livehostctl show --json` differs from one of a file of `expected/`: every member of the
    expected one must be there with the same value; new members may be added, and null equals an absent member."""
    if isinstance(expected, dict):
        found = found if isinstance(found, dict) else {}
        if expected.get("dragging"):
            return  # A drag is given up after some seconds without an event.
        for name, value in expected.items():
            if name not in CHANGING:
                yield from differences(value, found.get(name), f"{path}.{name}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, (value, other) in enumerate(zip(expected, found)):
            yield from differences(value, other, f"{path}[{index}]")
    elif expected != found:
        yield f"{path}: {found!r}, expected {expected!r}"
