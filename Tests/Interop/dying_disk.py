#!/usr/bin/python3
"""Mounts a disk whose syncs can hang: `dying_disk.py BACKING STATE LOCK` serves the directory BACKING at STATE until
the program ends. While another process has locked the file LOCK, no sync returns. Needs python3-fusepy."""
import fcntl
import os
import sys

from fusepy import FUSE, FuseOSError, Operations

BACKING, STATE, LOCK = sys.argv[1:]


def fields(found, prefix):
    return {name: getattr(found, name) for name in dir(found) if name.startswith(prefix)}


class Disk(Operations):
    def __call__(self, operation, path, *arguments):
        try:
            return super().__call__(operation, BACKING + path, *arguments)
        except OSError as error:
            raise FuseOSError(error.errno) from error

    def fsync(self, path, is_data_only, handle):
        self.fsyncdir(path, is_data_only, handle)
        os.fsync(handle)

    def fsyncdir(self, path, is_data_only, handle):
        with open(LOCK) as lock:
            fcntl.flock(lock, fcntl.LOCK_SH)

    chmod, chown, mkdir, readlink, rmdir, unlink, utimens = (
        os.chmod, os.chown, os.mkdir, os.readlink, os.rmdir, os.unlink, os.utime)
    getattr = staticmethod(lambda path, handle=None: fields(os.lstat(path), "st_"))
    statfs = staticmethod(lambda path: fields(os.statvfs(path), "f_"))
    readdir = staticmethod(lambda path, handle: [".", "..", *os.listdir(path)])
    open = staticmethod(lambda path, flags: os.open(path, flags & ~os.O_APPEND))
    create = staticmethod(lambda path, mode, info=None: os.open(path, os.O_RDWR | os.O_CREAT, mode))
    read = staticmethod(lambda path, size, offset, handle: os.pread(handle, size, offset))
    write = staticmethod(lambda path, data, offset, handle: os.pwrite(handle, data, offset))
    truncate = staticmethod(lambda path, length, handle=None: os.truncate(path, length))
    release = staticmethod(lambda path, handle: os.close(handle))
    rename = staticmethod(lambda old, new: os.rename(old, BACKING + new))
    link = staticmethod(lambda new, old: os.link(BACKING + old, new))
    symlink = staticmethod(lambda new, target: os.symlink(target, new))


FUSE(Disk(), STATE, foreground=True)
