"""Kernel namespaces: mounts and networks that only a part of a test can see."""
import contextlib
import ctypes
import os
import subprocess

LIBRARY = ctypes.CDLL(None, use_errno=True)
FLAGS = {"mnt": 0x0002_0000, "net": 0x4000_0000}


def change(name, *arguments):
    """Calls unshare or setns, which `os` has from Python 3.12 on. Raises OSError if that is not permitted."""
    if getattr(LIBRARY, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


@contextlib.contextmanager
def inside(kind, namespace=None):
    """Moves this thread, and everything that it starts within the block, into a namespace of a kind, `mnt` or `net`.
    The namespace is new unless a descriptor from an earlier block is given."""
    path = f"/proc/thread-self/ns/{kind}"
    with open(path) as outside:
        change("unshare", FLAGS[kind]) if namespace is None else change("setns", namespace, FLAGS[kind])
        try:
            yield namespace or os.open(path, os.O_RDONLY)
        finally:
            change("setns", outside.fileno(), FLAGS[kind])


@contextlib.contextmanager
def own_mounts():
    """Makes mounts within the block visible only to this thread, its new threads and their processes."""
    directory = os.getcwd()
    with inside("mnt") as namespace:
        # The kernel removes the mounts when the last process in the namespace ends.
        os.close(namespace)
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        yield
    os.chdir(directory)
