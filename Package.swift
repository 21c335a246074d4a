// swift-tools-version: 6.2
import CompilerPluginSupport
import Foundation
import PackageDescription

let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]
let only = ProcessInfo.processInfo.environment["LIVEHOST_TESTS"]?.split(separator: ",").map(String.init)
func exists(_ p: String) -> Bool {
  let dir = Context.packageDirectory + "/" + p
  let files = (try? FileManager.default.subpathsOfDirectory(atPath: dir)) ?? []
  return files.contains { $0.hasSuffix(".swift") || $0.hasSuffix(".cpp") || $0.hasSuffix(".modulemap") }
}
func module(_ folder: String, _ name: String, _ deps: [Target.Dependency], exclude: [String] = []) -> [Target] {
  guard exists("Sources/\(folder)/\(name)") else { return [] }
  return [.target(name: name, dependencies: deps, path: "Sources/\(folder)/\(name)", exclude: exclude, swiftSettings: settings)]
}
func test(_ name: String, _ deps: [Target.Dependency], exclude: [String] = []) -> [Target] {
  guard exists("Tests/\(name)"), only == nil || only!.contains(name) else { return [] }
  return [.testTarget(name: name, dependencies: deps, path: "Tests/\(name)", exclude: exclude, swiftSettings: settings)]
}
let featureDeps: [Target.Dependency] = ["Composable", "RateLimiting", "ViewGraph", "LiveEvents", "Intake"]
let children = ["ChatFeature", "HeaderFeature", "WaitingRoomFeature", "ControlFeature", "LiveRoomStatsFeature", "RecorderFeature"]
let kit: [Target] = [
  module("Kit", "RateLimiting", []),
  test("RateLimitingTests", ["RateLimiting"]),
  [.macro(name: "ComposableMacros", dependencies: [
      .product(name: "SwiftSyntax", package: "swift-syntax"),
      .product(name: "SwiftSyntaxBuilder", package: "swift-syntax"),
      .product(name: "SwiftDiagnostics", package: "swift-syntax"),
      .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
      .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
    ], path: "Sources/Kit/ComposableMacros", swiftSettings: settings)],
  module("Kit", "Composable", ["ComposableMacros"]),
  module("Kit", "ComposableTesting", ["Composable", .product(name: "CustomDump", package: "swift-custom-dump"), .product(name: "IssueReporting", package: "xctest-dynamic-overlay")]),
  module("Kit", "ViewGraph", ["Composable"]),
  test("ComposableTests", ["Composable", "ComposableTesting"]),
  test("ViewGraphTests", ["Composable", "ComposableTesting", "ViewGraph"]),
].flatMap { $0 }
let features: [Target] = [
  module("Events", "LiveEvents", []),
  module("Features", "Intake", ["LiveEvents", "RateLimiting"]),
  children.flatMap { module("Features", $0, featureDeps) },
  children.flatMap { test("\($0)Tests", featureDeps + [.byName(name: $0), "ComposableTesting"]) },
  module("Features", "HostFeature", featureDeps + children.map { .byName(name: $0) }),
  test("HostFeatureTests", featureDeps + children.map { .byName(name: $0) } + ["HostFeature", "ComposableTesting"]),
].flatMap { $0 }
let nio: [Target.Dependency] = [.product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio")]
func cxx(_ folder: String, _ name: String) -> [Target] {
  guard exists("Sources/\(folder)/\(name)") else { return [] }
  return [.target(name: name, path: "Sources/\(folder)/\(name)", cxxSettings: [.unsafeFlags(["-O2"], .when(configuration: .release))], linkerSettings: [.linkedLibrary("simdjson")])]
}
let io: [Target] = [
  [.systemLibrary(name: "CSystemd", path: "Sources/System/CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])])],
  module("System", "Systemd", ["CSystemd", .product(name: "Logging", package: "swift-log")]),
  test("SystemdTests", ["Systemd", .product(name: "Logging", package: "swift-log")]),
  [.systemLibrary(name: "CZlib", path: "Sources/Ingest/CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])])],
  module("Ingest", "Compression", ["CZlib"]),
  cxx("Ingest", "CSimdjson"),
  module("Ingest", "WireFormats", ["LiveEvents", "CSimdjson"]),
  module("Ingest", "Ingest", ["LiveEvents", "WireFormats"] + nio),
  module("Kit", "Varlink", nio),
  module("Control", "ControlInterface", ["Varlink"] + nio, exclude: ["io.livehost.Control.varlink"]),
  module("Simulation", "Simulation", ["LiveEvents", "WireFormats"]),
  module("Daemon", "LivehostDaemon", ["Composable", "RateLimiting", "ViewGraph", "LiveEvents", "WireFormats", "Ingest", "Intake", "HostFeature", "Varlink", "ControlInterface", "Systemd", "Yams", .product(name: "Logging", package: "swift-log"), .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")] + children.map { .byName(name: $0) } + nio),
  [.executableTarget(name: "livehostd", dependencies: ["LivehostDaemon", "Systemd", .product(name: "ArgumentParser", package: "swift-argument-parser"), .product(name: "Logging", package: "swift-log"), .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"), .product(name: "UnixSignals", package: "swift-service-lifecycle")], swiftSettings: settings)],
].flatMap { $0 }
let programs: [Target] = [
  .executableTarget(name: "Warm", dependencies: ["Composable"], swiftSettings: settings)
]
let targets = kit + features + io + programs
let package = Package(
  name: "livehost",
  dependencies: [
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/pointfreeco/swift-custom-dump", from: "1.7.3"),
    .package(url: "https://github.com/pointfreeco/xctest-dynamic-overlay", from: "1.13.1"),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
  ],
  targets: targets,
  swiftLanguageModes: [.v6]
)
