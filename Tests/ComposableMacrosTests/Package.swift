// swift-tools-version: 6.2
import PackageDescription

// The tests of the macros are a package of their own: where a test target imports the code of a macro, SwiftPM
// builds all tests of the package, and all that they import, a second time for the compiler's own use.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .treatAllWarnings(as: .error),
]

func syntax(_ names: String...) -> [Target.Dependency] {
  names.map { .product(name: $0, package: "swift-syntax") }
}

let package = Package(
  name: "ComposableMacrosTests",
  dependencies: [.package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1")],
  targets: [
    // Without the file that makes a program of it.
    .target(
      name: "ComposableMacros",
      dependencies: syntax(
        "SwiftDiagnostics", "SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros"),
      path: "Macros", exclude: ["Plugin.swift"], swiftSettings: settings),
    .testTarget(
      name: "ComposableMacrosTests",
      dependencies: ["ComposableMacros"]
        + syntax(
          "SwiftDiagnostics", "SwiftParser", "SwiftSyntax", "SwiftSyntaxMacroExpansion",
          "SwiftSyntaxMacros"),
      path: ".", exclude: ["Macros"], swiftSettings: settings),
  ])
