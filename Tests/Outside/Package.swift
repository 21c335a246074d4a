// swift-tools-version: 6.2
import PackageDescription

// An external package that uses the state library and the simulator. `Tests/test_packages.py`
// copies this package to another directory and puts the project beside it.
let package = Package(
  name: "Show",
  dependencies: [.package(path: "../livehost", traits: ["HangCommand"])],
  targets: [
    .target(name: "Show", dependencies: [.product(name: "Composable", package: "livehost")]),
    .target(
      name: "BoxOffice",
      dependencies: [
        .product(name: "Composable", package: "livehost"),
        .product(name: "HangSimulation", package: "livehost"),
      ]),
    .executableTarget(
      name: "box-office",
      dependencies: [
        "BoxOffice", .product(name: "HangCommand", package: "livehost"),
        .product(name: "HangSimulation", package: "livehost"),
      ]),
    .testTarget(name: "BoxOfficeTests", dependencies: ["BoxOffice"]),
    .testTarget(
      name: "ShowTests",
      dependencies: ["Show", .product(name: "ComposableTesting", package: "livehost")]),
  ],
  swiftLanguageModes: [.v6]
)
