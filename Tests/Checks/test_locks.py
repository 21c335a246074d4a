"""Checks that no function that can suspend contains inlined code of `Mutex`.

The compiler (6.3.1) may inline `Mutex.withLock` into an asynchronous function and keep the thread's number across a
suspension. The lock is then released under the number of another thread. `Guarded.withLock` is never inlined. This
test reads the compiled programs: the name of a function's part after a suspension ends with `TQ` or `TY` and a
number, and inlined code of `Mutex` calls `_MutexHandle`. Functions of other packages are ignored.
"""
import json
import re
import subprocess

from harness.places import ROOT

PROGRAMS = ["livehostd", "livehost-source", "livehost-web", "livehost-gateway", "livehostctl"]
FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
AFTER_SUSPENSION = re.compile(r"T[QY]\d*_$")
MUTEX = "_MutexHandle"


def locking_functions(program):
    """Returns the names of the functions that contain code of `Mutex`."""
    code = subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", program], stdout=subprocess.PIPE, text=True)
    found, name = set(), ""
    for line in code.stdout:
        if line.endswith(">:\n"):
            name = FUNCTION.match(line)[1]
        elif MUTEX in line and MUTEX not in name:
            found.add(name)
    if code.wait():
        raise OSError(f"objdump cannot read {program}")
    return found


def own_modules():
    description = subprocess.run(["swift", "package", "describe", "--type", "json"], cwd=ROOT, check=True,
                                 capture_output=True, text=True).stdout
    return {target["name"] for target in json.loads(description)["targets"]}


def test_no_lock_is_inlined_into_a_function_that_can_suspend(check, programs):
    # A mangled name begins with `$s`, and the length and name of the function's module.
    own = re.compile(rf"\d+({'|'.join(sorted(own_modules()))})[A-Z0-9]")
    for program in PROGRAMS:
        names = locking_functions(programs / program)
        check(f"{program} has locks", names)
        found = sorted(name for name in names if AFTER_SUSPENSION.search(name) and own.search(name))
        check(f"{program}: no lock is inlined into a function that can suspend; use Guarded", not found, "\n".join(found))
