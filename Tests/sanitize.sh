#!/usr/bin/env bash
# Runs the state library's tests under the thread and the address sanitizer: `sanitize.sh [thread]
# [address]`. Builds them in a separate package in a temporary directory, without optimisation.
#
# Limits: tests of memory and tests that need optimisation are skipped, and listed. Leaks are not detected,
# since the test runner and a test that never starts its effect have some; the tests of memory cover them.
# Exclusivity is unchecked where the sources say so. The libraries of the toolchain are not instrumented,
# but their calls of the C library are seen. The thread sanitizer does not see the standard library's
# `Mutex`, which waits by a system call, so the mailbox gets a lock of the C library here
# (SANITIZED_LOCKS). Nothing is suppressed. LIVEHOST_FUZZ sets how many random programs are run.
# MACRO_TOOL is a built macro plugin; without it the plugin is built too, which takes minutes.
set -uo pipefail
sources=$(cd "$(dirname "$0")/.." && pwd)
package=$(mktemp -d)
trap 'rm -rf "$package"' EXIT
passed=0 failed=0 skipped=0

ln -s "$sources" "$package/sources"
cat >"$package/Package.swift" <<'SWIFT'
// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

let macroTool = Context.environment["MACRO_TOOL"] ?? ""
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .define("SANITIZED_LOCKS"),
]
let users: [SwiftSetting] =
  settings
  + (macroTool.isEmpty
    ? [] : [.unsafeFlags(["-load-plugin-executable", "\(macroTool)#ComposableMacros"])])
let kit = "sources/Sources/Kit/"
let macros: [Target] =
  macroTool.isEmpty
  ? [
    .macro(
      name: "ComposableMacros",
      dependencies: [
        "SwiftSyntax", "SwiftSyntaxBuilder", "SwiftDiagnostics", "SwiftSyntaxMacros",
        "SwiftCompilerPlugin",
      ].map { .product(name: $0, package: "swift-syntax") },
      path: kit + "ComposableMacros", swiftSettings: settings)
  ] : []
let package = Package(
  name: "sanitized",
  dependencies: [
    .package(url: "https://github.com/pointfreeco/swift-custom-dump", from: "1.7.3"),
    .package(url: "https://github.com/pointfreeco/xctest-dynamic-overlay", from: "1.13.1"),
  ]
    + (macroTool.isEmpty
      ? [.package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1")] : []),
  targets: macros + [
    .target(name: "RateLimiting", path: kit + "RateLimiting", swiftSettings: settings),
    .target(
      name: "Composable",
      dependencies: ["RateLimiting"] + (macroTool.isEmpty ? ["ComposableMacros"] : []),
      path: kit + "Composable", swiftSettings: users),
    .target(
      name: "ComposableTesting",
      dependencies: [
        "Composable", .product(name: "CustomDump", package: "swift-custom-dump"),
        .product(name: "IssueReporting", package: "xctest-dynamic-overlay"),
        .product(name: "IssueReportingTestSupport", package: "xctest-dynamic-overlay"),
      ], path: kit + "ComposableTesting", swiftSettings: users),
    .target(
      name: "TestSupport", dependencies: ["RateLimiting"], path: "sources/Tests/TestSupport",
      swiftSettings: settings),
    .target(
      name: "CAllocationCounter", path: "sources/Tests/Benchmarks/CAllocationCounter"),
    .testTarget(
      name: "ComposableTests",
      dependencies: ["Composable", "ComposableTesting", "CAllocationCounter", "TestSupport"],
      path: "sources/Tests/ComposableTests", swiftSettings: users),
  ],
  swiftLanguageModes: [.v6]
)
SWIFT

run() { # thread or address
  local log=$package/$1.log total bad reports without
  echo "== $1 sanitizer: building"
  if ! swift build --package-path "$package" --scratch-path "$package/build-$1" \
    -j "${JOBS:-1}" --sanitize="$1" --build-tests >"$log" 2>&1; then
    tail -n 30 "$log"
    failed=$((failed + 1))
    return
  fi
  echo "== $1 sanitizer: testing"
  ASAN_OPTIONS=detect_leaks=0 swift test --package-path "$package" --scratch-path "$package/build-$1" --skip-build \
    --no-parallel --sanitize="$1" >"$log" 2>&1
  local status=$?
  total=$(sed -nE 's/.*Test run with ([0-9]+) tests.*/\1/p' "$log" | tail -n 1)
  bad=$(grep -E '^. Test .* failed after' "$log" | grep -cv 'Test run with')
  reports=$(grep -cE '(WARNING|ERROR): (Thread|Address|Leak)Sanitizer' "$log")
  grep -E -A 20 '(WARNING|ERROR): (Thread|Address|Leak)Sanitizer' "$log" | head -n 60
  without=$(grep -cE '^. Test .* skipped: "' "$log")
  grep -E '^. Test .* skipped: "|^✘' "$log"
  if [ "$status" -ne 0 ] && [ $((bad + reports)) -eq 0 ]; then
    tail -n 20 "$log"
    bad=1
  fi
  total=$((${total:-0} - without))
  echo "$1 sanitizer: $total tests, $bad failed, $without skipped, $reports reports"
  failed=$((failed + bad + reports))
  skipped=$((skipped + without))
  passed=$((passed + (total > bad ? total - bad : 0)))
}

for sanitizer in "${@:-thread address}"; do for name in $sanitizer; do run "$name"; done; done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
