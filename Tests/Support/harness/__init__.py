"""What the Python tests share: starting programs, calling them, waiting, and reporting checks."""
