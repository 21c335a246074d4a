"""Namespaces of the kernel: mounts and networks that only a part of a test sees."""
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
    """Puts this thread, and what it starts within the block, into a namespace of a kind, `mnt` or `net`: that of a
    descriptor that an earlier block had, or a new one."""
    path = f"/proc/thread-self/ns/{kind}"
    with open(path) as outside:
        change("unshare", FLAGS[kind]) if namespace is None else change("setns", namespace, FLAGS[kind])
        try:
            yield namespace or os.open(path, os.O_RDONLY)
        finally:
            change("setns", outside.fileno(), FLAGS[kind])


@contextlib.contextmanager
def own_mounts():
    """What this thread and those that it starts mount within the block, only they and their processes see."""
    directory = os.getcwd()
    with inside("mnt") as namespace:
        # The mounts end with the processes that see them.
        os.close(namespace)
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        yield
    os.chdir(directory)
