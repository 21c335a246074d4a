"""Compares a room's report with the report of an earlier version."""

# Members that change with time; see README.md.
CHANGING = {"rate", "recent", "durationMs", "recorder"}


def differences(expected, found, path):
    """Yields the differences between an expected value and the output of `livehostctl show --json`. Every expected
    member must exist with the same value. New members are allowed, and null equals an absent member."""
    if isinstance(expected, dict):
        found = found if isinstance(found, dict) else {}
        if expected.get("dragging"):
            return  # A drag without events ends after some seconds.
        for name, value in expected.items():
            if name not in CHANGING:
                yield from differences(value, found.get(name), f"{path}.{name}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for index, (value, other) in enumerate(zip(expected, found)):
            yield from differences(value, other, f"{path}[{index}]")
    elif expected != found:
        yield f"{path}: {found!r}, expected {expected!r}"
