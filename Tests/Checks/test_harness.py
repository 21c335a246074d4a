"""Tests the harness: its reports of failures, and its directories."""
import pytest

from harness.programs import Program


def test_a_program_that_does_not_end_is_killed_and_described(tmp_path):
    script = "trap '' TERM; echo begun; while :; do sleep 0.01; done"
    program = Program(["sh", "-c", script], tmp_path / "log")
    program.wait_for(lambda: "begun" in program.log_tail(), "its output")
    with pytest.raises(TimeoutError, match=r"(?s)0.1 s after SIGTERM: sh \(\d+\): \{'[RSD] in .*begun"):
        program.stop(limit=0.1)
    assert program.process.returncode == -9


def test_threads_of_a_test_share_one_base_directory(tmp_path_factory):
    # getbasetemp() would create the directory, so only this private attribute shows whether it exists.
    assert tmp_path_factory._basetemp is not None
