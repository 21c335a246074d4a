"""Waiting for a condition, with a deadline."""
import time

# The default deadline of a wait in seconds, far above the needs of a slow machine.
PATIENCE = 60


def wait_for(condition, what, limit=PATIENCE, pause=0.02):
    """Calls `condition()` repeatedly and returns its first true value.

    Raises TimeoutError with `what` after `limit` seconds; `what` is a text or a function that returns one.
    """
    end = time.monotonic() + limit
    while not (value := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"after {limit} s: {what() if callable(what) else what}")
        time.sleep(pause)
    return value
