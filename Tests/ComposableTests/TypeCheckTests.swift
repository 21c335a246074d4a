import Foundation
import Testing

/// What a chain of children costs the compiler, counted in steps of its solver, which are the same on
/// every machine.
struct TypeCheckTests {
  @Test(.enabled(if: Compiler.isThere, "needs swiftc, the modules beside the tests and the macros"))
  func `the cost of a chain grows with its length, not by powers of it`() throws {
    let compiler = try #require(Compiler())
    let (ten, twenty) = (try compiler.steps(children: 10), try compiler.steps(children: 20))
    #expect(ten > 0)
    #expect(twenty < 3 * ten, "\(ten) steps for 10 children, \(twenty) for 20")
  }
}

/// Type-checks a feature and counts.
private struct Compiler {
  private let modules: URL
  private let macros: URL

  static var isThere: Bool { Compiler() != nil }

  init?() {
    let environment = ProcessInfo.processInfo.environment
    let products = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
      .deletingLastPathComponent()
    let bundle = Bundle.main.bundleURL.resolvingSymlinksInPath()
    let folders = [products, bundle, bundle.deletingLastPathComponent()]
    let files = FileManager.default
    guard
      let folder = folders.first(where: {
        files.fileExists(atPath: $0.appending(path: "Modules/Composable.swiftmodule").path)
      })
    else { return nil }
    modules = folder.appending(path: "Modules")
    macros =
      environment["MACRO_TOOL"].map { URL(filePath: $0) }
      ?? folder.appending(path: "ComposableMacros-tool")
    guard files.isExecutableFile(atPath: macros.path) else { return nil }
  }

  /// The scopes that the solver opened for a composition with this many children of all forms.
  func steps(children: Int) throws -> Int {
    let folder = URL.temporaryDirectory.appending(path: "type-check-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let source = folder.appending(path: "Chain.swift")
    try Self.source(children).write(to: source, atomically: true, encoding: .utf8)
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "swiftc", "-typecheck", "-swift-version", "6", "-I", modules.path,
      "-load-plugin-executable", "\(macros.path)#ComposableMacros", "-stats-output-dir",
      folder.path, source.path,
    ]
    // The compiler leaves directories and caches behind.
    process.environment = ProcessInfo.processInfo.environment
      .merging(["TMPDIR": folder.path, "HOME": folder.path]) { $1 }
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    let statistics = try #require(names.first { $0.hasPrefix("stats-") && $0.contains("Chain") })
    let data = try Data(contentsOf: folder.appending(path: statistics))
    let values = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    return (values["Sema.NumConstraintScopes"] as? NSNumber)?.intValue ?? 0
  }

  private static func source(_ count: Int) -> String {
    func rows(_ row: (Int) -> String) -> String {
      (0..<count).map { "    " + row($0) }.joined(separator: "\n")
    }
    let fields = rows { index in
      switch index % 4 {
      case 0, 1: "var c\(index): Leaf.State?"
      case 2: "var c\(index) = KeyedCollection<Int, Leaf.State>()"
      default: "var c\(index): Phase = Phase.idle"
      }
    }
    let cases = rows { index in
      switch index % 4 {
      case 1: "case c\(index)(PresentationAction<Leaf.Action>)"
      case 2: "case c\(index)(ElementAction<Int, Leaf.Action>)"
      default: "case c\(index)(Leaf.Action)"
      }
    }
    let chain = rows { index in
      let child = "\\.c\(index), action: \\.c\(index)) { Leaf() }"
      return
        switch index % 4
      {
      case 0: ".ifLet(\(child)"
      case 1: ".presents(\(child)"
      case 2: ".forEach(\(child)"
      default: ".ifCaseLet(\\.c\(index), case: \\.live, action: \\.c\(index)) { Leaf() }"
      }
    }
    return """
      import Composable
      @Reducer struct Leaf {
        @ObservableState struct State: Equatable, Sendable { var count = 0 }
        enum Action: Sendable { case counted }
        func reduce(into state: inout State, action: Action) -> Effect<Action> { .none }
      }
      @ObservableState enum Phase: Equatable, Sendable { case idle; case live(Leaf.State) }
      @Reducer struct Host {
        @ObservableState struct State: Equatable, Sendable {
      \(fields)
        }
        enum Action: Sendable {
          case began
      \(cases)
        }
        var body: some ReducerOf<Self> {
          Reduce { _, _ in .none }
      \(chain)
        }
      }
      """
  }
}
