"""Mounts that only the test sees."""
import contextlib
import ctypes
import os
import subprocess

CLONE_NEWNS = 0x20000
LIBC = ctypes.CDLL(None, use_errno=True)


def change(call, *arguments):
    if call(*arguments) != 0:
        raise OSError(ctypes.get_errno(), f"{call.__name__}: {os.strerror(ctypes.get_errno())}")


@contextlib.contextmanager
def own_mounts():
    """What this thread and those that it starts mount within the block, only they and their processes see. Raises
    OSError if that is not permitted."""
    directory, before = os.getcwd(), os.open("/proc/thread-self/ns/mnt", os.O_RDONLY)
    try:
        change(LIBC.unshare, CLONE_NEWNS)
        try:
            subprocess.run(["mount", "--make-rprivate", "/"], check=True)
            yield
        finally:
            change(LIBC.setns, before, CLONE_NEWNS)
            os.chdir(directory)
    finally:
        os.close(before)
