// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// Each folder is one target. Targets are in the order in which an event passes them, and import
// only targets above them; `make lint` checks this.

// LIVEHOST_FUZZERS is set by Tests/Sanitizers/build.sh, which links libFuzzer. Coverage is counted
// only in the Swift code of this package. swiftc's own option would also link the main function of
// libFuzzer.
let isFuzzing = Context.environment["LIVEHOST_FUZZERS"] != nil
let coverage: [SwiftSetting] =
  isFuzzing ? [.unsafeFlags(["-Xfrontend", "-sanitize=fuzzer"])] : []

// Makes internals of modules visible to fuzzers, so that an input needs neither a file nor a
// thread.
let testable: [SwiftSetting] = isFuzzing ? [.unsafeFlags(["-enable-testing"])] : []

let settings: [SwiftSetting] =
  [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
  ] + coverage

// MARK: Packages

// The trait of everything except the state library, enabled by default. A package that depends on
// this one with `traits: []` does not fetch the packages that only the service needs.
let service = "Service"

func product(_ name: String, _ package: String) -> Target.Dependency {
  .product(name: name, package: package)
}

func serviceProduct(_ name: String, _ package: String) -> Target.Dependency {
  .product(name: name, package: package, condition: .when(traits: [service]))
}

let logging = serviceProduct("Logging", "swift-log")
let nio = [serviceProduct("NIOCore", "swift-nio"), serviceProduct("NIOPosix", "swift-nio")]
let tls = [serviceProduct("NIOSSL", "swift-nio-ssl"), serviceProduct("NIOTLS", "swift-nio")]
let webSocket = [
  serviceProduct("NIOHTTP1", "swift-nio"), serviceProduct("NIOWebSocket", "swift-nio"),
]
let lifecycle = serviceProduct("ServiceLifecycle", "swift-service-lifecycle")
let coreMetrics = serviceProduct("CoreMetrics", "swift-metrics")
let signals = serviceProduct("UnixSignals", "swift-service-lifecycle")
// The command line of programs that simulate their own screens. livehostctl also uses it.
let commandLine = "HangCommand"
let arguments = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: [commandLine]))
let yams = serviceProduct("Yams", "Yams")
let sqlite = serviceProduct("GRDB", "GRDB.swift")
let deques = serviceProduct("DequeModule", "swift-collections")
let macroSupport = [
  "SwiftSyntax", "SwiftSyntaxBuilder", "SwiftDiagnostics", "SwiftSyntaxMacros",
  "SwiftCompilerPlugin",
].map { product($0, "swift-syntax") }

// MARK: Rows

func module(
  _ folder: String, _ name: String, _ dependencies: [Target.Dependency] = [],
  exclude: [String] = [], extra: [SwiftSetting] = [], plugins: [Target.PluginUsage]? = nil
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Sources/\(folder)/\(name)", exclude: exclude,
    swiftSettings: settings + extra, plugins: plugins)
}

func program(_ path: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: String(path.split(separator: "/").last ?? ""), dependencies: dependencies, path: path,
    swiftSettings: settings)
}

func test(
  _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, path: "Tests/\(name)", exclude: exclude,
    swiftSettings: settings)
}

func library(_ name: String, module: String, install package: String) -> Target {
  .systemLibrary(
    name: name, path: "Sources/\(module)", pkgConfig: package,
    providers: [.apt(["\(package)-dev"])])
}

let children = [
  "ChatFeature", "HeaderFeature", "WaitingRoomFeature", "ControlFeature", "EncoderStatsFeature",
  "RecorderFeature", "PollFeature", "SourcesFeature", "ActivityFeature",
]
let childTargets = children.map { Target.Dependency.byName(name: $0) }
let featureKit: [Target.Dependency] = [
  "Composable", "RateLimiting", "ViewGraph", "Wording", "LiveEvents", "Throttling",
]

let system: [Target] = [
  .systemLibrary(name: "CSystemSupport", path: "Sources/System/CSystemSupport"),
  module("System", "Locking"),
  module("System", "SystemSupport", ["CSystemSupport", "Locking"]),
  module("System", "FileSystem", ["SystemSupport"]),
  library("CSystemd", module: "System/CSystemd", install: "libsystemd"),
  module("System", "Systemd", ["Locking", "CSystemd", "SystemSupport", logging]),
]

let libraries: [Target] = [
  module("Libraries", "RateLimiting"),
  .macro(
    name: "ComposableMacros", dependencies: macroSupport,
    path: "Sources/Libraries/ComposableMacros",
    swiftSettings: settings),
  module("Libraries", "Composable", ["Locking", "ComposableMacros", "RateLimiting"]),
  module(
    "Libraries", "ComposableTesting",
    [
      "Locking",
      "Composable", product("CustomDump", "swift-custom-dump"),
      product("IssueReporting", "xctest-dynamic-overlay"),
      // Without this dependency, tests of a release build do not record reported issues.
      product("IssueReportingTestSupport", "xctest-dynamic-overlay"),
    ]),
  module("Libraries", "ViewGraph", ["Composable", "RateLimiting"]),
  module("Libraries", "Wording"),
  module("Libraries", "YAMLReader", ["RateLimiting", "Wording", yams]),
  module("Libraries", "Prometheus", ["Locking", "SystemSupport", coreMetrics]),
  module("Libraries", "JSON"),
  module(
    "Libraries", "HangSimulation",
    ["Locking", "Composable", "JSON", "RateLimiting", "ViewGraph", "Wording"]),
  module("Libraries", "UnixSockets", ["Locking", "CSystemSupport", "SystemSupport"] + nio),
  module(
    "Libraries", "HangTesting",
    [
      "HangSimulation", "ViewGraph", product("IssueReporting", "xctest-dynamic-overlay"),
      product("IssueReportingTestSupport", "xctest-dynamic-overlay"),
    ]),
  module(
    "Libraries", "HangCommand", ["HangSimulation", "JSON", "Wording", arguments]),
  module("Libraries", "VarlinkDescription"),
  module(
    "Libraries", "Varlink",
    ["Locking", "JSON", "SystemSupport", "UnixSockets", "VarlinkDescription"] + nio),
  program("Sources/Libraries/varlink-generate", ["VarlinkDescription"]),
  // Generates Swift types from the interface definitions (*.varlink) of a target.
  .plugin(
    name: "VarlinkTypes", capability: .buildTool(), dependencies: ["varlink-generate"],
    path: "Sources/Libraries/VarlinkTypes"),
]

// Small example programs that use only the state library.
let examples: [Target] = [
  program("Sources/Examples/TerminalCounter", ["Composable"]),
  module("Examples", "ChatModel", ["Composable"]),
  module(
    "Examples", "CheckoutScreen",
    ["Composable", "HangSimulation", "RateLimiting", "ViewGraph"]),
]

let events: [Target] = [module("Events", "LiveEvents", ["Locking"])]

let ingest: [Target] = [
  .target(
    name: "CSimdjson", path: "Sources/Ingest/CSimdjson",
    linkerSettings: [.linkedLibrary("simdjson")]),
  library("CZlib", module: "Ingest/CZlib", install: "zlib"),
  module("Ingest", "Compression", ["CZlib"]),
  module("Ingest", "WireFormats", ["JSON", "LiveEvents", "CSimdjson"]),
  module("Ingest", "ChatImport", ["JSON", "LiveEvents"]),
  module("Ingest", "BatchDelivery", ["JSON", "RateLimiting"]),
  module(
    "Ingest", "Ingest",
    ["Locking", "JSON", "LiveEvents", "SystemSupport", "UnixSockets", "WireFormats"] + nio),
]

let recordings: [Target] = [
  module(
    "Recordings", "Recordings",
    [
      "Locking",
      "JSON", "LiveEvents", "RateLimiting", "WireFormats", "Wording", "CZlib", "FileSystem",
      "SystemSupport", deques, sqlite,
    ], extra: testable),
  module("Recordings", "Analysis", ["Locking", "JSON", "LiveEvents", "SystemSupport", "Wording"]),
]

let features: [Target] =
  [module("Features", "Throttling", ["LiveEvents", "RateLimiting", "YAMLReader"])]
  + children.map {
    module("Features", $0, featureKit + ($0 == "ChatFeature" ? ["Analysis", deques] : []))
  }
  + [module("Features", "HostFeature", featureKit + childTargets)]

let screen: [Target] = [
  module("Screen", "HostScreen", featureKit + childTargets + ["HostFeature"])
]

let simulation: [Target] = [
  module(
    "Simulation", "Simulation",
    featureKit + childTargets + [
      "Locking", "Analysis", "Compression", "HangSimulation", "HostFeature", "HostScreen", "JSON",
      "SystemSupport",
      "WireFormats", "YAMLReader",
    ])
]

let control: [Target] = [
  module(
    "Control", "ControlInterface",
    [
      "Locking",
      "JSON", "LiveEvents", "SystemSupport", "Prometheus", "UnixSockets", "Varlink",
      "VarlinkDescription",
    ] + nio,
    plugins: ["VarlinkTypes"]),
  module("Control", "ProgramArguments", ["SystemSupport", arguments]),
  module(
    "Control", "TerminalScreen",
    ["Locking", "ControlInterface", "JSON", "LiveEvents", "SystemSupport", "Wording"]),
  module(
    "Control", "CommandLineTool",
    [
      "Locking",
      "BatchDelivery", "Compression", "ControlInterface", "JSON", "LiveEvents", "SystemSupport",
      "ChatImport", "Prometheus", "RateLimiting", "HangCommand", "HangSimulation",
      "ProgramArguments", "Simulation", "Systemd", "TerminalScreen", "UnixSockets",
      "Varlink", "WireFormats", "Wording", "YAMLReader", arguments,
    ] + nio),
]

let daemon: [Target] = [
  module(
    "Daemon", "Rooms",
    featureKit + childTargets + [
      "Analysis", "Compression", "ControlInterface", "FileSystem", "HostFeature", "HostScreen",
      "Ingest", "JSON", "Locking", "Recordings", "SystemSupport", "Systemd", "WireFormats", deques,
      logging,
    ] + nio),
  module(
    "Daemon", "LivehostDaemon",
    featureKit + [
      "Analysis", "ChatFeature", "ControlInterface", "HangSimulation", "HostFeature", "HostScreen",
      "Ingest", "JSON", "Locking", "Prometheus", "Recordings", "Rooms", "Simulation",
      "SystemSupport", "Systemd", "UnixSockets", "Varlink", "WireFormats", "YAMLReader",
      coreMetrics, lifecycle, logging, signals,
    ] + nio),
  program(
    "Sources/livehostd",
    [
      "LivehostDaemon", "Prometheus", "Rooms", "Systemd", "YAMLReader", arguments, logging,
      coreMetrics,
    ]),
  program("Sources/livehostctl", ["CommandLineTool"]),
]

// Connectors: programs that read from platforms and write to the daemon's ingest socket.
let sources: [Target] = [
  module(
    "Connectors", "LiveSources",
    [
      "BatchDelivery", "ControlInterface", "JSON", "LiveEvents", "SystemSupport", "RateLimiting",
      "Varlink",
    ] + nio + tls + webSocket),
  module(
    "Connectors", "TwitchChat",
    ["JSON", "LiveEvents", "LiveSources", "RateLimiting"] + nio),
  module(
    "Connectors", "TwitchEvents",
    ["JSON", "LiveEvents", "LiveSources", "ChatImport", "RateLimiting"] + nio),
  module(
    "Connectors", "ObsStudio",
    ["ControlInterface", "JSON", "LiveEvents", "LiveSources", "RateLimiting"] + nio),
  module(
    "Connectors", "MediaServers", ["JSON", "LiveEvents", "LiveSources", "RateLimiting"] + nio),
  module(
    "Connectors", "SocialStream",
    ["JSON", "LiveEvents", "LiveSources", "ChatImport", "RateLimiting"] + nio),
  module(
    "Connectors", "Webhooks",
    [
      "Compression", "JSON", "LiveEvents", "LiveSources", "ChatImport", "RateLimiting",
      "WireFormats", "Wording", "YAMLReader", serviceProduct("NIOHTTP1", "swift-nio"),
    ] + nio),
  module(
    "Connectors", "SourceTool",
    [
      "ControlInterface", "MediaServers", "JSON", "LiveEvents", "LiveSources", "ObsStudio",
      "SystemSupport", "RateLimiting", "ProgramArguments", "SocialStream", "TwitchChat",
      "TwitchEvents",
      "Webhooks", "Wording", "YAMLReader", arguments, signals,
    ] + nio),
  program("Sources/livehost-source", ["SourceTool"]),
]

// The web page, which is a client of the control socket.
let web: [Target] = [
  .target(
    name: "WebService",
    dependencies: [
      "ControlInterface", "CZlib", "FileSystem", "HangSimulation", "JSON", "LiveSources", "Locking",
      "RateLimiting", "SystemSupport", "Simulation", "Varlink",
      lifecycle, logging, signals,
      serviceProduct("Hummingbird", "hummingbird"),
      serviceProduct("HummingbirdCore", "hummingbird"),
      serviceProduct("HummingbirdTLS", "hummingbird"),
      serviceProduct("HTTPTypes", "swift-http-types"),
    ] + nio + tls, path: "Sources/Web/WebService",
    resources: [
      .embedInCode("Page/app.js"), .embedInCode("Page/hangs.js"), .embedInCode("Page/index.html"),
      .embedInCode("Page/nodes.js"), .embedInCode("Page/overlay.html"),
      .embedInCode("Page/overlay.js"), .embedInCode("Page/rooms.js"),
      .embedInCode("Page/simulate.js"), .embedInCode("Page/stream.js"),
      .embedInCode("Page/style.css"), .embedInCode("Page/tree.js"),
    ], swiftSettings: settings),
  program(
    "Sources/livehost-web",
    [
      "ControlInterface", "JSON", "ProgramArguments", "SystemSupport", "Systemd", "UnixSockets",
      "WebService", "Wording", arguments, logging,
    ]),
]

// Relays of rooms to other machines, and clusters of machines on NATS.
let gateway: [Target] = [
  library("CNATS", module: "Gateway/CNATS", install: "libnats"),
  module(
    "Gateway", "Gateway",
    [
      "BatchDelivery", "CNATS", "ControlInterface", "Ingest", "JSON", "LiveEvents", "LiveSources",
      "Locking", "Prometheus", "RateLimiting", "SystemSupport", "UnixSockets", "Varlink",
      "VarlinkDescription", "WireFormats",
    ] + nio + tls),
  module(
    "Gateway", "GatewayTool",
    [
      "ControlInterface", "Gateway", "Ingest", "JSON", "LiveSources", "ProgramArguments",
      "RateLimiting", "Systemd", "UnixSockets", "Varlink", "YAMLReader", arguments, signals,
    ] + nio),
  program("Sources/livehost-gateway", ["GatewayTool"]),
]

let benchmarks: [Target] = [
  .target(
    name: "BenchmarkKit", path: "Tests/Benchmarks/BenchmarkKit", swiftSettings: settings),
  .target(name: "CAllocationCounter", path: "Tests/Benchmarks/CAllocationCounter"),
  .target(
    name: "BenchmarkChildren", dependencies: ["Composable"],
    path: "Tests/Benchmarks/BenchmarkChildren", swiftSettings: settings),
  .target(
    name: "BenchmarkHost", dependencies: ["Composable", "BenchmarkChildren"],
    path: "Tests/Benchmarks/BenchmarkHost", swiftSettings: settings),
  .target(
    name: "ComposableBenchmarks",
    dependencies: [
      "Composable", "BenchmarkKit", "BenchmarkChildren", "BenchmarkHost", "CAllocationCounter",
    ],
    path: "Tests/Benchmarks/ComposableBenchmarks", swiftSettings: settings),
  .target(
    name: "HangDetection",
    dependencies: ["Composable", "HangSimulation", "RateLimiting", "ViewGraph"],
    path: "Tests/Benchmarks/HangDetection", exclude: ["README.md"], swiftSettings: settings),
  program("Tests/Benchmarks/hang-detection", ["HangDetection"]),
  program(
    "Tests/Benchmarks/livehost-bench",
    [
      "Locking",
      "Analysis", "BenchmarkKit", "Composable", "ComposableBenchmarks", "ControlInterface",
      "HostFeature", "HostScreen", "RateLimiting", "Recordings", "TestSupport", "ViewGraph",
      "WireFormats", "Ingest", "JSON", "LiveEvents", "LivehostDaemon", "HangDetection",
      "HangSimulation", "Rooms", "SystemSupport",
      "Simulation",
      "UnixSockets", "Varlink", logging,
    ]
      + nio),
]

let tests: [Target] =
  [
    .target(
      name: "TestSupport", dependencies: ["RateLimiting"], path: "Tests/TestSupport",
      swiftSettings: settings),
    .target(
      name: "SimulatedDisk",
      dependencies: ["Locking", "FileSystem", "SystemSupport", "TestSupport"],
      path: "Tests/SimulatedDisk", swiftSettings: settings),
    .target(
      name: "ControlTestSupport",
      dependencies: ["ControlInterface", "JSON", "LiveEvents", "Prometheus", "Varlink"],
      path: "Tests/ControlTestSupport", swiftSettings: settings),
    .target(
      name: "TerminalTestSupport", dependencies: ["TerminalScreen"],
      path: "Tests/TerminalTestSupport", swiftSettings: settings),
    .target(
      name: "SocketTestSupport", dependencies: ["UnixSockets"], path: "Tests/SocketTestSupport",
      swiftSettings: settings),
    .target(
      name: "SourceTestSupport",
      dependencies: ["JSON", "LiveSources", "RateLimiting", "TestSupport"] + nio + tls,
      path: "Tests/SourceTestSupport", swiftSettings: settings),
    .target(
      name: "CSimulatedMachine", path: "Tests/DaemonSimulation/CSimulatedMachine",
      linkerSettings: [.linkedLibrary("dl")]),
    program(
      "Tests/DaemonSimulation/livehost-vopr",
      [
        "CSimulatedMachine", "ControlInterface", "FileSystem", "HostFeature", "Ingest",
        "Throttling",
        "JSON", "LiveEvents", "LivehostDaemon", "SystemSupport", "RateLimiting", "Recordings",
        "Rooms", "SimulatedDisk", "Systemd", "TestSupport", "Varlink", arguments, logging,
      ] + nio),
    test("SystemSupportTests", ["Locking", "SystemSupport"]),
    test("SimulatedDiskTests", ["FileSystem", "SystemSupport", "SimulatedDisk", "TestSupport"]),
    test(
      "SystemdTests",
      ["SystemSupport", "Systemd", "UnixSockets", logging, "SocketTestSupport", "TestSupport"]),
    test("RateLimitingTests", ["RateLimiting", "TestSupport"]),
    test(
      "ComposableTests",
      [
        "Composable", "ComposableTesting", "CAllocationCounter", "TestSupport", "ViewGraph",
        product("IssueReporting", "xctest-dynamic-overlay"),
      ]),
    test("TerminalCounterTests", ["ComposableTesting", "TerminalCounter"]),
    test("ChatModelTests", ["ChatModel", "Composable", "ComposableTesting"]),
    test(
      "HangSimulationTests",
      [
        "CheckoutScreen", "Composable", "HangCommand", "HangDetection", "HangSimulation",
        "HangTesting", "JSON", "RateLimiting", "ViewGraph",
      ]),
    test("ViewGraphTests", ["Composable", "ComposableTesting", "ViewGraph"]),
    test("WordingTests", ["Wording"]),
    test("YAMLReaderTests", ["RateLimiting", "YAMLReader"]),
    test("PrometheusTests", ["Prometheus", coreMetrics]),
    test("JSONTests", ["JSON"]),
    test("UnixSocketsTests", ["UnixSockets", "TestSupport"] + nio),
    test(
      "VarlinkTests",
      ["JSON", "Varlink", "VarlinkDescription", "UnixSockets", "SocketTestSupport", "TestSupport"]
        + nio),
    test("VarlinkGenerationTests", ["VarlinkDescription"]),
    test("LiveEventsTests", ["LiveEvents"]),
    test(
      "WebServiceTests",
      [
        "ControlInterface", "JSON", "Locking", "RateLimiting", "SystemSupport", "TestSupport",
        "Varlink", "WebService",
      ] + nio),
    test(
      "GatewayTests",
      [
        "Locking",
        "ControlInterface", "ControlTestSupport", "Gateway", "GatewayTool", "JSON", "LiveEvents",
        "RateLimiting", "SystemSupport", "TestSupport", "UnixSockets", "Varlink", "WireFormats",
        "YAMLReader",
      ] + nio),
    test("CompressionTests", ["Compression"]),
    test(
      "ChatImportTests",
      ["JSON", "LiveEvents", "ChatImport", "TestSupport", "WireFormats"]
    ),
    test("WireFormatsTests", ["LiveEvents", "WireFormats", "Compression", "TestSupport"]),
    test(
      "IngestTests",
      [
        "LiveEvents", "WireFormats", "Ingest", "UnixSockets",
        serviceProduct("NIOEmbedded", "swift-nio"), "SocketTestSupport", "TestSupport",
      ]
        + nio),
    test(
      "RecordingsTests",
      [
        "FileSystem", "LiveEvents", "SystemSupport", "RateLimiting", "Recordings", "SimulatedDisk",
        "TestSupport", "WireFormats",
      ]),
    test(
      "LiveSourcesTests",
      [
        "BatchDelivery", "ControlInterface", "JSON", "LiveEvents", "LiveSources", "RateLimiting",
        "SourceTestSupport", "TestSupport", "UnixSockets", "Varlink",
      ] + nio + webSocket),
    test(
      "TwitchChatTests",
      [
        "JSON", "LiveEvents", "LiveSources", "RateLimiting", "SourceTestSupport", "TestSupport",
        "TwitchChat",
      ] + nio + tls
    ),
    test(
      "TwitchEventsTests",
      [
        "JSON", "LiveEvents", "LiveSources", "ChatImport", "RateLimiting",
        "SourceTestSupport", "TestSupport", "TwitchEvents",
      ]),
    test(
      "ObsStudioTests",
      [
        "JSON", "LiveEvents", "LiveSources", "ObsStudio", "RateLimiting", "SourceTestSupport",
        "TestSupport",
      ]),
    test(
      "SocialStreamTests",
      ["JSON", "LiveEvents", "LiveSources", "RateLimiting", "SocialStream", "TestSupport"]),
    test(
      "WebhooksTests",
      [
        "JSON", "LiveEvents", "LiveSources", "RateLimiting", "SourceTestSupport", "TestSupport",
        "Webhooks", "WireFormats", "YAMLReader", serviceProduct("NIOHTTP1", "swift-nio"),
      ] + nio),
    test(
      "MediaServersTests",
      ["MediaServers", "LiveEvents", "LiveSources", "RateLimiting", "TestSupport"]),
    test(
      "SourceToolTests",
      [
        "JSON", "LiveEvents", "LiveSources", "MediaServers", "ObsStudio", "RateLimiting",
        "SourceTool", "TwitchEvents", "Webhooks", "YAMLReader", "TestSupport",
      ]),
    test("AnalysisTests", ["Analysis", "JSON", "LiveEvents", "TestSupport"]),
    test(
      "HostFeatureTests",
      featureKit + childTargets + ["HostFeature", "ComposableTesting", "TestSupport"]),
    test(
      "HostScreenTests",
      featureKit + childTargets + ["HostFeature", "HostScreen", "ComposableTesting", "TestSupport"]),
    test(
      "SimulationTests",
      [
        "ChatFeature", "Composable", "ControlFeature", "HangSimulation", "HostFeature",
        "HostScreen", "LiveEvents", "RecorderFeature", "Simulation", "ViewGraph", "WireFormats",
        "YAMLReader",
      ]),
    test(
      "ControlInterfaceTests",
      [
        "ControlInterface", "ControlTestSupport", "JSON", "LiveEvents", "Prometheus",
        "TestSupport", "UnixSockets", "Varlink", "VarlinkDescription", "SocketTestSupport",
      ] + nio),
    test(
      "TerminalScreenTests",
      featureKit + childTargets + [
        "ComposableTesting", "ControlInterface", "ControlTestSupport", "HostFeature", "JSON",
        "Rooms", "TerminalScreen", "TerminalTestSupport",
      ], exclude: ["Screens"]),
    test(
      "CommandLineToolTests",
      [
        "CommandLineTool", "ControlInterface", "ControlTestSupport", "JSON", "LiveEvents",
        "ProgramArguments", "Systemd", "TerminalScreen", "TerminalTestSupport", "TestSupport",
        "UnixSockets", "Varlink", "Wording",
      ] + nio, exclude: ["Golden"]),
    test(
      "LivehostDaemonTests",
      featureKit + childTargets + [
        "Analysis", "CAllocationCounter", "ComposableTesting", "HostFeature", "HostScreen",
        "LivehostDaemon", "Ingest", "Rooms", "WireFormats", "Recordings", "ControlInterface",
        "FileSystem", "JSON", "SystemSupport", "Prometheus", "SimulatedDisk", "Systemd", "Varlink",
        "Compression", "TestSupport",
        "UnixSockets", "YAMLReader", lifecycle, logging,
        serviceProduct("NIOEmbedded", "swift-nio"),
      ] + nio),
    test(
      "EndToEndTests",
      [
        "Composable", "ControlInterface", "HostFeature", "HostScreen", "Throttling", "JSON",
        "LiveEvents",
        "LivehostDaemon", "HangSimulation", "RateLimiting", "Rooms", "Simulation", "Varlink",
        "ViewGraph", "TestSupport",
        "UnixSockets", "WireFormats", "YAMLReader", "livehostd", "livehostctl",
        "SocketTestSupport",
      ] + nio),
    .executableTarget(
      name: "ScriptedTwitch", dependencies: ["SourceTestSupport"] + nio,
      path: "Tests/Interop/ScriptedTwitch", swiftSettings: settings),
    .executableTarget(
      name: "CertificationService", dependencies: ["JSON", "UnixSockets", "Varlink"] + nio,
      path: "Tests/Interop/CertificationService", swiftSettings: settings),
  ]
  + children.map {
    test(
      "\($0)Tests",
      featureKit + [.byName(name: $0), "ComposableTesting", "TestSupport"]
        + ($0 == "ChatFeature" ? ["Analysis"] : []))
  }

// The programs of Tests/Fuzzing/fuzz.sh. They are small because libFuzzer examines all coverage
// counters of a program after each input.
let fuzzers: [Target] =
  isFuzzing
  ? [
    .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzzing/CLibFuzzer"),
    .target(
      name: "FuzzSupport", dependencies: ["CLibFuzzer"], path: "Tests/Fuzzing/FuzzSupport",
      swiftSettings: settings),
    program(
      "Tests/Fuzzing/fuzz-lines",
      ["FuzzSupport", "LiveEvents", "ChatImport", "WireFormats"]),
    program(
      "Tests/Fuzzing/fuzz-sources",
      [
        "FuzzSupport", "JSON", "LiveEvents", "LiveSources", "ObsStudio", "ChatImport",
        "RateLimiting", "SocialStream", "TwitchChat", "TwitchEvents", "Webhooks", "WireFormats",
        "YAMLReader",
      ]),
    program(
      "Tests/Fuzzing/fuzz-messages",
      ["ControlInterface", "FuzzSupport", "Varlink", "VarlinkDescription"] + nio),
    program(
      "Tests/Fuzzing/fuzz-recordings",
      [
        "FileSystem", "FuzzSupport", "LiveEvents", "RateLimiting", "Recordings", "SimulatedDisk",
        "WireFormats",
      ]),
    program(
      "Tests/Fuzzing/fuzz-host",
      [
        "Composable", "FuzzSupport", "HangSimulation", "HostScreen", "LiveEvents", "LivehostDaemon",
        "RateLimiting",
        "Rooms", "Simulation", "ViewGraph", "YAMLReader",
      ]),
  ]
  : []

let package = Package(
  name: "livehost",
  products: [
    .library(name: "Composable", targets: ["Composable"]),
    .library(name: "ComposableTesting", targets: ["ComposableTesting"]),
    .library(name: "HangSimulation", targets: ["HangSimulation", "RateLimiting", "ViewGraph"]),
    .library(name: "HangTesting", targets: ["HangTesting"]),
    .library(name: "HangCommand", targets: ["HangCommand"]),
    .executable(name: "livehostd", targets: ["livehostd"]),
    .executable(name: "livehostctl", targets: ["livehostctl"]),
    .executable(name: "livehost-source", targets: ["livehost-source"]),
    .executable(name: "livehost-web", targets: ["livehost-web"]),
    .executable(name: "livehost-gateway", targets: ["livehost-gateway"]),
  ],
  traits: [
    .trait(name: commandLine, description: "Command lines for simulations, with ArgumentParser."),
    .trait(
      name: service, description: "The daemon, its command line and the simulator.",
      enabledTraits: [commandLine]),
    .default(enabledTraits: [service]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/pointfreeco/swift-custom-dump", from: "1.7.3"),
    .package(url: "https://github.com/pointfreeco/xctest-dynamic-overlay", from: "1.13.1"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
  ],
  targets: system + libraries + examples + events + ingest + recordings + features + screen
    + simulation
    + control + daemon + sources + web + gateway + benchmarks + tests + fuzzers,
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx20
)
