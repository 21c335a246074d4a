"""Tests the macros of the state library, and a package of another project that uses the library. Most of the time is
spent compiling swift-syntax for that package, unless there is a prebuilt one."""
import json
import os
import re
import shlex
import shutil
import subprocess
import xml.dom.minidom

from harness import swift
from harness.places import ROOT

# The build omits debug information.
BUILD = ["swift", "build", "--build-tests", "-debug-info-format", "none", "-j", os.environ.get("JOBS", os.cpu_count())]
LIMIT = 900
# Runs of the package's program: the name of a check, the expected status, the arguments, and the name and the pattern
# of a check of the output.
FINDINGS = [
    ("an unknown device is refused", 64, "simulate --device phon",
     "the error suggests a similar device", "did you mean 'phone'"),
    ("a threshold with an unknown view is refused", 78, "simulate --threshold 'view(QueueVew).mean < 2ms'",
     "the error suggests a similar view", "did you mean 'QueueView'"),
    ("two variants are compared seed by seed", 0, "compare --seeds 20 --device phone",
     "the comparison reports a difference", "longest .* more than noise"),
    ("the slowdown at which the screen hangs is searched", 0,
     "sweep --find device.slowdown --where 'hangs > 0' --device phone --variant fewer",
     "the output names the slowdown, or reports that there is none", "is true at [0-9.]+ x|is not true"),
    ("the load at which the screen hangs is searched", 0,
     "sweep --find load --where 'turns.over(250ms) > 0' --device phone --variant fewer",
     "the output names the load, or reports that there is none", "is true at [0-9.]+ x the load|is not true"),
    ("settings change the plan", 0, "simulate --set load=2 --set duration=5s --set costs.view=1ms --device phone",
     "the report contains the settings", "with load=2 duration=5s costs.view=1ms"),
    ("--check-determinism repeats a run", 0, "simulate --check-determinism --device phone",
     "the repeated run has the same digest", "digest"),
    ("costs are measured on this machine", 0, "simulate --costs measured --repeats 2 --device phone",
     "measured costs are shown next to the assumed ones", "default, assumed +measured, 2 times"),
    ("--check-determinism is refused for measured costs", 64, "simulate --costs measured --check-determinism",
     "the error names the option to remove", "remove --check-determinism"),
    ("an unknown setting is refused", 64, "simulate --set laod=2",
     "the error suggests a similar setting", "unknown key 'laod'; did you mean 'load'"),
    ("a threshold relative to the first variant is missed", 99,
     "simulate --device phone --threshold 'longest > base * 2 for fewer'",
     "the report names the figures of both variants", "and .* in the base"),
    ("a variant can be simulated alone", 0, "simulate --variant default --device phone",
     "the threshold of another variant is reported as skipped",
     "- p95.hangs. < 1 for fewer: skipped, no run of fewer was selected"),
    ("a Markdown report goes to standard output", 0, "simulate --device phone --markdown -",
     "the Markdown report begins with its heading", "^## box office"),
]


def count_tests(check, command, folder, **options):
    """Runs built tests, and checks that all tests in a folder were run."""
    log = subprocess.run(command, timeout=LIMIT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    written = sum(path.read_text().count("@Test") for path in folder.glob("*.swift"))
    check.equal(f"all tests in {folder.name} were run", swift.count(check, log.stdout), written)


def test_the_macros_expand_as_expected(check, programs, tmp_path):
    """Tests expansions, refusals and suggested remedies of the macros.

    A test target that imports a macro's code would make SwiftPM compile swift-syntax again. The tests are therefore
    linked here with the objects that were built for the macros, which are next to the programs."""
    folder, main, program = ROOT / "Tests/ComposableMacrosTests", tmp_path / "Main.swift", tmp_path / "macro-tests"
    main.write_text("import Testing\n\n@main struct Main {\n"
                    "  static func main() async { await __swiftPMEntryPoint() as Never }\n}")
    # All files except the main file of the macro program.
    objects = [path for name in ("ComposableMacros", "Swift*", "_Swift*")
               for path in programs.glob(f"{name}-tool.build/*.o") if path.name != "Plugin.swift.o"]
    shims = programs.parents[1] / "checkouts/swift-syntax/Sources/_SwiftSyntaxCShims/include/module.modulemap"
    features = [option for name in ("ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault")
                for option in ("-enable-upcoming-feature", name)]
    check.runs("the tests of the macros build", [
        "swiftc", "-parse-as-library", "-swift-version", "6", "-warnings-as-errors", *features,
        "-I", programs / "Modules-tool", "-Xcc", f"-fmodule-map-file={shims}", main, *folder.glob("*.swift"), *objects,
        "-o", program], limit=LIMIT)
    count_tests(check, [program, "--testing-library", "swift-testing"], folder)


def test_a_package_outside_can_use_the_products(check, tmp_path):
    """Builds and tests a package that depends on this one by path, as in GettingStarted.md, and runs its simulator."""
    (tmp_path / "livehost").symlink_to(ROOT)
    package = shutil.copytree(ROOT / "Tests/Outside", tmp_path / "Show")
    article = (ROOT / "Sources/Libraries/Composable/Composable.docc/GettingStarted.md").read_text()
    manifest = package / "Package.swift"
    whole, resolve = manifest.read_text(), ["swift", "package", "resolve"]
    needed = ["swift-custom-dump", "swift-syntax", "xctest-dynamic-overlay"]

    def fetched():
        return sorted(os.listdir(package / ".build/checkouts"))

    manifest.write_text(whole.replace('traits: ["HangCommand"]', "traits: []"))
    check.runs("the package is resolved", resolve, cwd=package, limit=LIMIT)
    check.equal("only the dependencies of the state library are fetched", fetched(), needed)
    check.contains("GettingStarted.md shows this dependency on the library", article,
                   re.search(r"\.package\(path:.*?\)", manifest.read_text())[0])
    manifest.write_text(whole)
    check.runs("the package with the command line for simulations is resolved", resolve, cwd=package, limit=LIMIT)
    check.equal("the command line for simulations needs one more dependency", fetched(), ["swift-argument-parser", *needed])
    check.contains("GettingStarted.md shows how to enable the command line for simulations", article, 'traits: ["HangCommand"]')
    log = check.runs("the package builds", BUILD, cwd=package, limit=LIMIT)
    check("the package builds without warnings", "warning:" not in log, log)
    for tests in "ShowTests", "BoxOfficeTests":
        count_tests(check, ["swift", "test", "--skip-build", "--filter", tests], package / "Tests" / tests, cwd=package)

    # The package's program, three lines of code, simulates its screen.
    office = package / ".build/debug/box-office"

    def simulation(name, seed):
        """Returns all outputs of a simulation: text, JSON, page, trace and files for CI."""
        folder = tmp_path / name
        folder.mkdir()
        options = [option for kind in ("html", "trace", "junit", "markdown") for option in (f"--{kind}", folder / kind)]
        runs = [subprocess.run([office, "simulate", "--seed", seed, *more], stdout=subprocess.PIPE)
                for more in (options, ["--json"])]
        check.equal(name, [run.returncode for run in runs], [0, 0])
        files = {path.name: path.read_bytes() for path in folder.iterdir()}
        return {"text": runs[0].stdout, "json": runs[1].stdout, **files}

    def status(name, expected, arguments, **options):
        return check.runs(name, [office, *shlex.split(arguments)], status=expected, **options)

    one = simulation("the package's program simulates its screen", "7")
    two = simulation("the package's program simulates its screen again", "7")
    check("two processes give the same output, byte for byte", one == two, "they differ")
    three = simulation("the package's program simulates its screen with another seed", "8")
    check("another seed gives another result", one["json"] != three["json"], "it is the same")
    failures = tmp_path / "failed"
    with check.attempt("the JUnit report is well-formed XML"):
        xml.dom.minidom.parseString(one["junit"])
    check.equal("the JUnit report has a test for each threshold", one["junit"].count(b"<testcase"), 2)
    status("an invalid threshold is a usage error", 64,
           "simulate --threshold 'longest < 1ms & <' --threshold 'longest < 1ms' --device phone")
    text = status("a missed threshold has its own exit code", 99, f"simulate --threshold 'longest < 1ms' --device phone --junit '{failures}'",
                  stderr=subprocess.DEVNULL)
    check.equal("the report begins with the verdict", text.split("\n")[0], "1 of 3 thresholds not met")
    with check.attempt("the JUnit report of a failure is well-formed XML"):
        xml.dom.minidom.parse(str(failures))
    check("the failure names the value and the run", re.search('failure message="[0-9.]*ms in phone, default"', failures.read_text()),
          failures.read_text())
    check("a file contains no colours", "\033" not in text, text)
    for name, expected, arguments, next_name, pattern in FINDINGS:
        text = status(name, expected, arguments)
        check(next_name, re.search(pattern, text), f"expected {pattern!r} in {text!r}")
    first, second = (status(name, 0, f"sweep --seeds 20 --workers {workers} --device phone", stderr=subprocess.DEVNULL)
                     for name, workers in (("a sweep runs with one worker", 1), ("a sweep runs with four workers", 4)))
    check.equal("the result of a sweep does not depend on the number of workers", first, second)
    baseline(check, tmp_path, status)
    shutil.rmtree(package / ".build")


def baseline(check, folder, status):
    """Makes a device with costs from a trace, and compares sweeps on it with a base report."""
    trace, device = folder / "trace.csv", folder / "mine.json"
    trace.write_text("\ufeffname,milliseconds\n" + "QueueView,3\n" * 20)
    text = status("a trace is calibrated", 0, f"calibrate '{trace}' --like phone --output '{device}'")
    check("the number of measured costs is printed", "1 of " in text, text)
    reports = {}
    for name, more in ("base", ""), ("slower", "--set costs.appearance=200ms"):
        reports[name] = folder / f"{name}.json"
        reports[name].write_text(status(
            f"a sweep writes the report '{name}'", 0, f"sweep --seeds 20 --device '{device}' --variant fewer --json {more}",
            stderr=subprocess.DEVNULL))
    measured = folder / "measured.json"
    measured.write_text(status(
        "a sweep measures costs in addition to the assumed ones", 0,
        f"sweep --seeds 20 --device '{device}' --variant fewer --json --costs measured", stderr=subprocess.DEVNULL))
    longest = json.loads(measured.read_text())["runs"][0]["metrics"]["longest"]
    check("the report contains the figures of this machine", len(longest["measured"]) == 3, longest)
    reports["measured"] = measured
    text = status("the calibrated device is simulated", 0, f"simulate --device '{device}'", stderr=subprocess.DEVNULL)
    check("the report counts the measured cost", re.search("1 of [0-9]+ costs measured", text), text)
    for name, expected in ("base", 0), ("slower", 99), ("measured", 0):
        text = status(f"the report '{name}' is compared with the base by a threshold", expected,
                      f"compare '{reports['base']}' '{reports[name]}' --threshold 'longest <= base * 1.1'",
                      stderr=subprocess.DEVNULL)
        check(f"the comparison of '{name}' begins with the verdict", re.match("The threshold is met|1 of 1 threshold not met", text), text)
    status("a table that is given as a report is refused", 65, f"compare '{trace}' '{reports['base']}'")
