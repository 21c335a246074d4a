// swift-tools-version: 6.2
import PackageDescription

// A package of somebody else that uses the state library. `outside.sh` copies it out of the tree and puts
// the project beside it.
let package = Package(
  name: "Show",
  dependencies: [.package(path: "../livehost", traits: [])],
  targets: [
    .target(name: "Show", dependencies: [.product(name: "Composable", package: "livehost")]),
    .testTarget(
      name: "ShowTests",
      dependencies: ["Show", .product(name: "ComposableTesting", package: "livehost")]),
  ],
  swiftLanguageModes: [.v6]
)
