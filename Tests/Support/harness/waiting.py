"""Waiting for a condition, with a deadline."""
import time

# The deadline for anything that a test waits for, in seconds. Far above what a slow machine needs.
PATIENCE = 60


def wait_for(condition, what, limit=PATIENCE, pause=0.02):
    """Returns the first true value of `condition()`, which is called again until then.

    Raises TimeoutError with `what` after `limit` seconds; `what` is a text or a function that returns one.
    """
    end = time.monotonic() + limit
    while not (value := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"after {limit} s: {what() if callable(what) else what}")
        time.sleep(pause)
    return value
