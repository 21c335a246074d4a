"""Checks the compiler that the Makefile exports as SWIFT_EXEC, and that builds of other packages therefore use, too."""
import os
import pathlib
import subprocess

import pytest

WRAPPER = pathlib.Path(__file__).parents[2] / "packaging/swiftc"
TOOL = "/build/Modules-tool/SwiftSyntax.swiftmodule"


@pytest.mark.parametrize("arguments, added", [
    (["-emit-module", "-emit-module-path", TOOL, "-O"], ["-Onone"]),
    (["-emit-module", "-emit-module-path", "/build/Modules/Composable.swiftmodule", "-O"], []),
    (["-modulewrap", TOOL, "-o", "/build/SwiftSyntax.swiftmodule.o"], []),
    (["-print-target-info"], []),
], ids=["a build tool is compiled without optimisation", "a module of a program is optimised",
        "wrapping a build tool's module has no optimisation", "other calls are unchanged"])
def test_only_compiling_a_build_tool_gets_another_argument(tmp_path, arguments, added):
    compiler = tmp_path / "swiftc"
    compiler.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n")
    compiler.chmod(0o755)
    seen = subprocess.run([WRAPPER, *arguments], env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
                          text=True, stdout=subprocess.PIPE, check=True, timeout=60).stdout.splitlines()
    assert seen == arguments + added
