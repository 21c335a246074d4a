"""The macros of the state library, and a package of somebody else that uses the library. Most of the time goes into
swift-syntax, which that package compiles where there is no prebuilt one."""
import json
import os
import re
import shlex
import shutil
import subprocess
import xml.dom.minidom

from harness import swift
from harness.places import ROOT

# Debug information is not needed.
BUILD = ["swift", "build", "--build-tests", "-debug-info-format", "none", "-j", os.environ.get("JOBS", os.cpu_count())]
LIMIT = 900
# Runs of a program: a check, the expected status, the arguments, and a check and a pattern of the
# output.
FINDINGS = [
    ("names of devices are checked, with suggestions", 64, "simulate --device phon",
     "of which the message tells", "did you mean 'phone'"),
    ("names of views, too", 78, "simulate --threshold 'view(QueueVew).mean < 2ms'",
     "of which the message tells as well", "did you mean 'QueueView'"),
    ("a comparison by pairs", 0, "compare --seeds 20 --device phone",
     "finds the difference", "longest .* more than noise"),
    ("the slowdown is found at which it hangs", 0,
     "sweep --find device.slowdown --where 'hangs > 0' --device phone --variant fewer",
     "or that there is none", "holds at [0-9.]+ x|does not hold"),
    ("the load is found too", 0,
     "sweep --find load --where 'turns.over(250ms) > 0' --device phone --variant fewer",
     "or that there is none", "the load on|does not hold"),
    ("settings change the plan", 0, "simulate --set load=2 --set duration=5s --set costs.view=1ms --device phone",
     "and are in the report", "with load=2 duration=5s costs.view=1ms"),
    ("a run is compared with itself", 0, "simulate --check-determinism --device phone", "and is the same", "digest"),
    ("costs are measured on this machine", 0, "simulate --costs measured --repeats 2 --device phone",
     "and are beside the assumed ones", "default, assumed +measured, 2 times"),
    ("two runs that are measured are not compared", 64, "simulate --costs measured --check-determinism",
     "and it says what to leave out", "remove --check-determinism"),
    ("settings are checked, with suggestions", 64, "simulate --set laod=2",
     "of which the message tells", "unknown key 'laod'; did you mean 'load'"),
    ("a gate against the first variant", 99, "simulate --device phone --threshold 'longest > base * 2 for fewer'",
     "names both figures", "and .* in the base"),
    ("a threshold of a variant that was not chosen", 0, "simulate --variant default --device phone",
     "is skipped, visibly", "- p95.hangs. < 1 for fewer: skipped, no run of fewer was chosen"),
    ("Markdown goes to standard output alone", 0, "simulate --device phone --markdown -", "as it is", "^## box office"),
]


def count_tests(check, command, folder, **options):
    """Runs built tests, and checks that all tests in a folder were run."""
    log = subprocess.run(command, timeout=LIMIT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    written = sum(path.read_text().count("@Test") for path in folder.glob("*.swift"))
    check.equal("all its tests were run", swift.count(check, log.stdout), written)


def test_the_macros_expand_as_expected(check, programs, tmp_path):
    """What the macros expand to, what they refuse, and the remedies that they name. A test target that imports the code
    of a macro would have SwiftPM compile swift-syntax once more, so that the compiler links the tests with the objects
    that are there for the macros. They are next to the programs."""
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
    """A package that depends on the library's products by path, as GettingStarted.md shows it, fetches only what it needs; it
    builds, its tests pass, and its program simulates its screen."""
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

    # Three lines of code make a program that simulates the package's screen.
    office = package / ".build/debug/box-office"

    def simulation(name, seed):
        """The text, the JSON, the page, the trace and the files for CI."""
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
    status("a threshold that is not met has an exit code", 64,
           "simulate --threshold 'longest < 1ms & <' --threshold 'longest < 1ms' --device phone")
    text = status("of its own", 99, f"simulate --threshold 'longest < 1ms' --device phone --junit '{failures}'",
                  stderr=subprocess.DEVNULL)
    check.equal("the verdict is first", text.split("\n")[0], "1 of 3 thresholds not met")
    with check.attempt("the JUnit report of a failure is well-formed XML"):
        xml.dom.minidom.parse(str(failures))
    check("the failure names the value and the run", re.search('failure message="[0-9.]*ms in phone, default"', failures.read_text()),
          failures.read_text())
    check("a file contains no colours", "\033" not in text, text)
    for name, expected, arguments, next_name, pattern in FINDINGS:
        text = status(name, expected, arguments)
        check(next_name, re.search(pattern, text), f"expected {pattern!r} in {text!r}")
    first, second = (status(name, 0, f"sweep --seeds 20 --workers {workers} --device phone", stderr=subprocess.DEVNULL)
                     for name, workers in (("a sweep", 1), ("and again with four workers", 4)))
    check.equal("gives the same", first, second)
    baseline(check, tmp_path, status)
    shutil.rmtree(package / ".build")


def baseline(check, folder, status):
    """Costs from a trace make a device in a file; its sweep is the base of a gate."""
    trace, device = folder / "trace.csv", folder / "mine.json"
    trace.write_text("\ufeffname,milliseconds\n" + "QueueView,3\n" * 20)
    text = status("costs are found in a trace", 0, f"calibrate '{trace}' --like phone --output '{device}'")
    check("and counted", "1 of " in text, text)
    reports = {}
    for name, more in ("base", ""), ("slower", "--set costs.appearance=200ms"):
        reports[name] = folder / f"{name}.json"
        reports[name].write_text(status(
            f"the {name} report", 0, f"sweep --seeds 20 --device '{device}' --variant fewer --json {more}",
            stderr=subprocess.DEVNULL))
    measured = folder / "measured.json"
    measured.write_text(status(
        "a sweep with measured costs beside the assumed ones", 0,
        f"sweep --seeds 20 --device '{device}' --variant fewer --json --costs measured", stderr=subprocess.DEVNULL))
    longest = json.loads(measured.read_text())["runs"][0]["metrics"]["longest"]
    check("has the figures of this machine", len(longest["measured"]) == 3, longest)
    reports["measured"] = measured
    text = status("the device is simulated", 0, f"simulate --device '{device}'", stderr=subprocess.DEVNULL)
    check("with a measured cost", re.search("1 of [0-9]+ costs measured", text), text)
    for name, expected in ("base", 0), ("slower", 99), ("measured", 0):
        text = status(f"a gate against the base: {name}", expected,
                      f"compare '{reports['base']}' '{reports[name]}' --threshold 'longest <= base * 1.1'",
                      stderr=subprocess.DEVNULL)
        check("the verdict is first", re.match("The threshold is met|1 of 1 threshold not met", text), text)
    status("a table is refused as a report", 65, f"compare '{trace}' '{reports['base']}'")
