import Testing
import VarlinkDescription

/// Tests the Swift source that is generated from a definition.
@Suite struct GeneratedSourceTests {
  private static let names = """
    namespace Ftl       # the name of the interface and its text
    errors FtlError
    client FtlClient
    """

  private func source(_ members: String, _ names: String = "") throws -> String {
    let definition = "# Jumps.\ninterface org.example.ftl\n\n" + members
    return try GeneratedSource(
      of: InterfaceDescription(parsing: definition),
      named: SwiftNames(parsing: Self.names + "\n" + names)
    ).text
  }

  @Test func `a generated structure has comments, and default values for optional members`() throws
  {
    let text = try source(
      """
      # A place to be.
      type Coordinate (
        # East.
        longitude: float,
        # Names it has.
        names: []string,
        # Up.
        height: ?int
      )
      """)
    #expect(
      text.contains(
        """
        /// A place to be.
        public struct Coordinate: Codable, Sendable, Equatable {
          /// East.
          public var longitude: Double
          /// Names it has.
          public var names: [String]
          /// Up.
          public var height: Int?

          public init(
            longitude: Double,
            names: [String] = [],
            height: Int? = nil
          ) {
            self.longitude = longitude
            self.names = names
            self.height = height
          }
        }
        """))
  }

  @Test func `an enumeration becomes a Swift enum of strings, with keywords in backticks`() throws {
    let text = try source("type Way (\n  # On.\n  continue,\n  back\n)")
    #expect(
      text.contains(
        """
        public enum Way: String, Codable, Sendable, CaseIterable {
          /// On.
          case `continue`
          case back
        }
        """))
  }

  @Test func `a generated type can get another name or default values, or already exist`() throws {
    let text = try source(
      """
      type Size (width: int, name: string)
      type Box (size: Size, mode: Mode)
      type Mode (on, off)
      """, "access package\ntype Size Extent zero\ntype Mode Switch Panel")
    #expect(text.contains("package import Panel\n"))
    #expect(text.contains("package init(\n    width: Int = 0,\n    name: String = \"\"\n  )"))
    #expect(text.contains("package init(\n    size: Extent = .init(),\n    mode: Switch\n  )"))
    #expect(!text.contains("enum Switch"))
  }

  @Test func `a generated call has the parameters of its method`() throws {
    let text = try source(
      """
      # Goes there.
      # [Requires privileges]
      method Jump(to: string, speed: ?float) -> (seconds: int)
      method StopDrive(drive: string) -> ()
      # [Supports 'more' flag]
      method Watch() -> (left: int, total: int)
      """, "reply Watch Progress")
    #expect(text.contains("privilegedMethods: Set<String> = [\n    \"Jump\",\n  ]"))
    #expect(
      text.contains(
        """
          /// Goes there.
          public func jump(
            to: String,
            speed: Double? = nil
          ) async throws(VarlinkClientError) -> JumpReply {
            try await client.call("org.example.ftl.Jump", JumpParameters(to: to, speed: speed))
          }
        """))
    #expect(text.contains("public func stopDrive(\n    _ drive: String\n  ) async throws"))
    #expect(text.contains(") throws(VarlinkClientError) -> ReplySequence<Progress> {"))
  }

  @Test func `the only associated value of a generated error has no label`() throws {
    let text = try source(
      "error Lost ()\nerror Far (by: int)\nerror Shut (gate: string, code: ?int)")
    for line in [
      "case lost\n", "case far(Int)\n", "case shut(gate: String, code: Int?)\n",
      "case \"org.example.ftl.Lost\": self = .lost\n",
      "self = .far(Int(clamping: members[\"by\"]?.integerValue ?? 0))\n",
    ] {
      #expect(text.contains(line), "\(line)")
    }
  }

  @Test func `the generated source contains the definition, byte for byte`() throws {
    let text = try source("error Lost ()\n\n# \\(not Swift)\nerror Far ()\n")
    #expect(
      text.contains("    error Lost ()\n\n    # \\(not Swift)\n    error Far ()\n\n    \"\"\"#"))
  }

  @Test(
    arguments: [
      ("type A (b: (c: int))", "", "b: an anonymous type; give it a name in the definition"),
      ("type A (b: int)", "type B C", "type B: not in the definition"),
      ("method M(a: int) -> ()", "reply N R", "reply N: not in the definition"),
      (
        "method M() -> (a: int)\nmethod N() -> (b: int)", "reply M R\nreply N R",
        "R: two structures with different members have this name"
      ),
      ("error E (a: float)", "", "a: errors can have strings, integers and Booleans"),
      ("error E ()", "type", "line 4: not an entry: 'type'"),
    ]) func `a definition that cannot be generated is rejected with the reason`(
      members: String, names: String, message: String
    )
  {
    let error = #expect(throws: GenerationError.self) { try source(members, names) }
    #expect(error?.description == message)
  }
}
