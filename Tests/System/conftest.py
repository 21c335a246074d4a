"""The packages of livehost, and a booted Debian 12 in which `livehost` is installed."""
import os
import pathlib
import re
import shutil
import sys
import tempfile
import zlib

import pytest

from debian import Debian, execute
from harness.places import CACHE, ROOT, debian_root
from harness.programs import Program

sys.path.append(str(ROOT / "Tests/Compatibility"))
TOOLS = ("systemd-nspawn", "nsenter", "unshare", "setpriv", "mount", "pgrep", "curl", "dpkg-buildpackage", "dh",
         "lintian", "patchelf")
# Packages that tests need in addition to the dependencies of the livehost packages.
WANTED = {"systemd", "systemd-sysv", "dbus", "man-db", "bash-completion", "zsh"}


@pytest.fixture(scope="session")
def packages(programs):
    """The directory of the new packages, and the directory of a package of version 0.1.0."""
    if os.getuid() != 0:
        pytest.skip("not root")
    if missing := [tool for tool in TOOLS if not shutil.which(tool)]:
        pytest.skip(f"{', '.join(missing)} is not installed (packaging/dependencies.sh deb test)")
    with tempfile.TemporaryDirectory(prefix="livehost-packages-") as directory:
        directory = pathlib.Path(directory)
        # A fast compression suffices, because only the contents are tested.
        execute("env", "LIVEHOST_COMPRESSION=-Zgzip -z1", ROOT / "packaging/build-deb.sh", programs, directory,
                limit=1800)
        old = directory / "old_0.1.0.deb"
        if given := os.environ.get("LIVEHOST_OLD_PACKAGE"):
            shutil.copy(given, old)
        else:
            unpacked = directory / "old"
            execute("dpkg-deb", "-R", *directory.glob("livehost_*.deb"), unpacked)
            execute("sed", "-i", "s/^Version: .*/Version: 0.1.0/", unpacked / "DEBIAN/control")
            execute("dpkg-deb", "--root-owner-group", "-Znone", "-b", unpacked, old)
            shutil.rmtree(unpacked)
        yield directory


@pytest.fixture(scope="session")
def lintian(packages):
    """Runs lintian on the packages, concurrently with the other tests."""
    return Program(["nice", "lintian", "--allow-root", "--tag-display-limit", "0", "--fail-on", "error,warning",
                    *packages.glob("livehost_*.changes")], packages / "lintian.log")


@pytest.fixture(scope="session")
def root(packages):
    """A Debian root with all dependencies of the packages. Each set of dependencies has its own
    root."""
    names = set(WANTED)
    for package in packages.glob("livehost*.deb"):
        # Only the first of several alternatives is needed, without its version.
        names.update(re.findall(r"(?:^|, )([^ ,]+)", execute("dpkg-deb", "-f", package, "Depends").strip()))
    include = ",".join(sorted(names - {"livehost"}))
    path = pathlib.Path(os.environ.get("LIVEHOST_ROOT_CACHE") or CACHE) / f"bookworm-{zlib.crc32(include.encode()):08x}"
    if reason := debian_root(path, "bookworm", "lib/systemd/systemd", include):
        pytest.skip(reason)
    return path


@pytest.fixture(scope="session")
def debian(root, packages, lintian, tmp_path_factory):
    """A booted Debian with the users `visitor` and `host` and the package `livehost`."""
    try:
        debian = Debian(root, packages, tmp_path_factory.mktemp("debian"))
    except ChildProcessError as error:
        pytest.skip(f"systemd-nspawn cannot boot a container here: {error}")
    for user in "visitor", "host":
        debian.run("useradd", "--create-home", user)
    debian.before = debian.files()
    debian.install("livehost")
    yield debian
    debian.kill()
