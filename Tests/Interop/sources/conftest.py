"""Fixtures for the tests of sources: one daemon for each file, and sources."""
import functools

import pytest
from sources_support import Host, Source

from harness.programs import Daemon, running


@pytest.fixture(scope="module")
def daemon(programs, tmp_path_factory):
    daemon = Host(programs, tmp_path_factory.mktemp("livehostd"))
    yield daemon
    assert daemon.stop() == 0


@pytest.fixture
def start_source(daemon):
    """Returns a function that starts livehostctl with arguments; see Source."""
    return functools.partial(Source, daemon)


@pytest.fixture(autouse=True)
def end_programs():
    """Ends the programs that a test has started, except the daemon."""
    yield
    for program in [program for program in running if not isinstance(program, Daemon)]:
        program.kill()
