"""Tests that the runner counts passed, failed and skipped tests, however a phase ends."""
import importlib.util
import pathlib

import pytest

SPECIFICATION = importlib.util.spec_from_file_location("run", pathlib.Path(__file__).parents[1] / "run.py")
run = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(run)


@pytest.fixture
def phase(monkeypatch, tmp_path):
    """Runs a shell script as a phase."""
    monkeypatch.setattr(run, "LOGS", tmp_path)

    def start(script, **options):
        phase = run.Phase("example", command=["sh", "-c", script], **{"minutes": 1, **options})
        phase.run()
        return phase
    return start


def counts(phase):
    return phase.passed, phase.failed, phase.skipped


@pytest.mark.parametrize("script, expected", [
    ("echo 1 passed, 0 failed; echo 3 passed, 0 failed, 1 skipped", (3, 0, 1)),
    ("echo 3 passed, 2 failed; exit 1", (3, 2, 0)),
    ("echo 3 passed, 0 failed; exit 3", (3, 1, 0)),
], ids=["the last count is used", "failures are counted", "an exit status without counted failures is a failure"])
def test_the_last_count_that_a_script_prints_is_its_result(phase, script, expected):
    assert counts(phase(script)) == expected


def test_a_script_that_prints_no_count_has_failed(phase, capsys):
    assert counts(phase("exit 0")) == (0, 1, 0)
    assert "FAILED: example ended with status 0 and without a count" in capsys.readouterr().out


def test_a_script_that_exceeds_its_time_limit_has_failed(phase, capsys):
    assert counts(phase("sleep 60", minutes=0.01)) == (0, 1, 0)
    assert "FAILED: example did not end within" in capsys.readouterr().out


def test_processes_left_behind_by_a_script_are_ended(phase, tmp_path):
    phase(f"sleep 60 & echo $! >{tmp_path}/pid; echo 1 passed, 0 failed")
    pid = (tmp_path / "pid").read_text().strip()
    status = pathlib.Path(f"/proc/{pid}/status")
    assert not status.exists() or "zombie" in status.read_text()


SWIFT = """echo '◇ Test "it waits" started.'
echo '✔ Test "one" passed after 1.500 seconds.'
echo '✔ Test "it works with two, with 3 of them" with 2 test cases passed after 0.250 seconds.'
echo '✘ Test "two" failed after 0.100 seconds with 1 issue.'
echo '➜ Test "three" skipped: "it says why"'
echo '✔ Test run with 4 tests in 1 suite passed after 1 seconds.'
"""


def test_skipped_tests_are_subtracted_from_the_total_of_swift_testing(phase, capsys):
    assert counts(phase(SWIFT, is_swift=True)) == (2, 1, 1)
    assert 'skipped: "it says why"' in capsys.readouterr().out


def test_durations_of_swift_tests_are_recorded(phase):
    assert list(phase(SWIFT, is_swift=True).tests()) == [
        (1.5, 'example: "one"'), (0.25, 'example: "it works with two, with 3 of them"'), (0.1, 'example: "two"')]


def test_a_time_out_names_the_swift_test_that_did_not_end(phase, capsys):
    assert counts(phase("echo '◇ Test \"it waits\" started.'; exit 1", is_swift=True)) == (0, 1, 0)
    assert "the last test begun: ◇ Test \"it waits\"" in capsys.readouterr().out


def main(monkeypatch, tmp_path, capsys, script, require_all, *arguments):
    """Runs the runner with one phase. Returns its status and its output lines."""
    monkeypatch.setattr(run, "LOGS", tmp_path)
    monkeypatch.setattr(run, "ALONE", [])
    monkeypatch.setattr(run, "PAIRED", [])
    monkeypatch.setattr(run, "SCRIPTS", [run.Phase("example", 1, ["sh", "-c", script])])
    monkeypatch.setattr(run, "build", lambda: 0)
    monkeypatch.setattr(run.sys, "argv", ["run.py", *arguments])
    monkeypatch.setenv("LIVEHOST_REQUIRE_ALL", require_all)
    return run.main(), capsys.readouterr().out.splitlines()


def test_a_skipped_test_is_a_failure_where_everything_is_required(monkeypatch, tmp_path, capsys):
    script = "echo 'SKIPPED: it says why'; echo 1 passed, 0 failed, 1 skipped"
    status, lines = main(monkeypatch, tmp_path, capsys, script, "1")
    assert (status, lines[-1]) == (1, "1 passed, 1 failed")
    status, lines = main(monkeypatch, tmp_path, capsys, script, "0")
    assert (status, lines[-1]) == (0, "1 passed, 0 failed, 1 skipped")


def test_style_checks_run_beside_everything_else(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(run, "LINT", run.Phase("lint", 1, ["sh", "-c", "echo 12 passed, 0 failed"]))
    status, lines = main(monkeypatch, tmp_path, capsys, "echo 1 passed, 0 failed", "0", "lint")
    assert (status, lines[-1]) == (0, "13 passed, 0 failed")
    assert all(any(line.endswith(f"  {name}") for line in lines) for name in ("lint", "example"))


def test_failures_are_printed_again_at_the_end(monkeypatch, tmp_path, capsys):
    status, lines = main(monkeypatch, tmp_path, capsys, "echo 'FAILED: a check'; echo 1 passed, 1 failed; exit 1", "0")
    assert (status, lines[-2:]) == (1, ["example: FAILED: a check", "1 passed, 1 failed"])


def test_an_unknown_phase_is_an_error_that_names_it(monkeypatch, capsys):
    monkeypatch.setattr(run.sys, "argv", ["run.py", "nonsense"])
    assert run.main() == 64
    assert "there is no phase 'nonsense'" in capsys.readouterr().err


@pytest.mark.parametrize("tool, expected", [("ComposableMacros-tool", (3, 0, 0)), ("nothing", (2, 0, 1))])
def test_real_swift_tests_are_counted(phase, programs, tool, expected, capsys):
    """Runs three tests, one of which is skipped without the macros."""
    done = phase(
        f"exec {programs}/livehostPackageTests.xctest --testing-library swift-testing"
        " --filter 'ComposableTests.TypeCheckTests|WordingTests'",
        is_swift=True, minutes=20, environment={"MACRO_TOOL": str(programs / tool), "TERM": "xterm"})
    assert counts(done) == expected
    assert ('skipped: "needs swiftc' in capsys.readouterr().out) == bool(done.skipped)
