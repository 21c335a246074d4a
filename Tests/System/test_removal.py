"""Stopping, removing, reinstalling and purging the package livehost; and the results of lintian."""
import re

from debian import STATE, UNITS
from test_installed import complete

# Files that systemd, dpkg and shadow keep for any package or user. Policy requires keeping the
# group's state.
KEPT_BY_OTHERS = re.compile(r"/var/lib/dpkg/|/var/cache/ldconfig/|/etc/(passwd|group|shadow|gshadow|subuid|subgid)-$|"
                            r"/var/lib/private$|/var/lib/systemd/")
PROGRAMS = ("/run/livehost", "/usr/bin/livehostd", "/usr/lib/livehost", "/lib/systemd/system/livehostd.service")
CONFIGURATION = "/etc/livehost/livehostd.yaml"


def test_removal_keeps_configuration_and_purge_removes_it(check, debian):
    kept = debian.path(f"{STATE}/kept")
    with check.attempt("completion prints nothing while the service is stopped"):
        debian.systemctl("stop", *UNITS)
        offered = [complete(debian, words) for words in ("show ", "why main ")]
        debian.systemctl("start", *UNITS)
        assert offered == ["", ""], offered
    with check.attempt("removal stops everything and removes sockets and programs, but keeps configuration and state"):
        with open(debian.path(CONFIGURATION), "a") as file:
            file.write("# kept\n")
        # A file that a purge must remove.
        kept.write_text("data\n")
        debian.dpkg("-r", "livehost")
        debian.assert_ended("livehostd")
        left = [path for path in PROGRAMS if debian.path(path).exists()]
        assert not left, f"{left} is still there"
        assert debian.path(CONFIGURATION).exists() and kept.exists(), "configuration or state is gone"
    with check.attempt("reinstalling keeps the administrator's configuration"):
        debian.install("livehost")
        debian.assert_enabled()
        assert "\n# kept\n" in debian.path(CONFIGURATION).read_text(), "the configuration was replaced"
        assert kept.exists(), "the state is gone"
        debian.ctl("status", user="visitor")
    with check.attempt("purging leaves only what policy requires"):
        debian.dpkg("-P", "livehost")
        left = sorted(path for path in debian.files() - debian.before if not KEPT_BY_OTHERS.match(path))
        assert not left, f"unexpected: {left}"


def test_lintian_finds_no_problem(check, lintian):
    with check.attempt("lintian reports no error and no warning"):
        assert lintian.wait(300) == 0, lintian.log_tail(100)
