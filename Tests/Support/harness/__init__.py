"""The shared library of the Python tests: starts and calls programs, waits, and reports checks."""
