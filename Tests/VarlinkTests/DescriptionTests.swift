import JSON
import Testing
import Varlink
import VarlinkDescription

@Suite struct DescriptionTests {
  @Test func `members, types and documentation of an interface are parsed`() throws {
    let description = try InterfaceDescription(
      parsing: """
        # First line.
        #  Second, indented.
        interface org.example.a-b.c

        # A type.
        type Thing (
          # A field.
          kind: (one, two), many: []string, map: [string]Thing, maybe: ?[]int,
          inner: (x: float, raw: object)
        )
        # Does it.
        method Do(thing: ?Thing) -> ()
        error Broken ()
        """)
    #expect(description.name == "org.example.a-b.c")
    #expect(description.documentation == "First line.\n Second, indented.")
    #expect(description.typeNames == ["Thing"])
    #expect(description.methodNames == ["Do"])
    #expect(description.errorNames == ["Broken"])
    #expect(description.member("Do")?.documentation == "Does it.")
    guard case .method(let input, let output)? = description.member("Do")?.kind else {
      Issue.record("no method")
      return
    }
    #expect(input.map(\.name) == ["thing"] && output.isEmpty)
    #expect(input.first?.type == .nullable(.named("Thing")))
    guard case .type(.structure(let fields))? = description.member("Thing")?.kind else {
      Issue.record("no structure")
      return
    }
    #expect(fields.map(\.name) == ["kind", "many", "map", "maybe", "inner"])
    #expect(fields[0].documentation == "A field.")
    #expect(fields[3].type == .nullable(.array(.int)))
    #expect(description.systemdViolations == [])
  }

  static let refused = [
    "", "interface", "interface nodot", "interface -a.b", "interface a..b", "interface 1a.b",
    "method A() -> ()", "interface a.b\nmethod a() -> ()", "interface a.b\nmethod A() ->",
    "interface a.b\nmethod A() -> () extra", "interface a.b\nmethod A()",
    "interface a.b\nmethod A(x: int,) -> ()", "interface a.b\nmethod A(x) -> ()",
    "interface a.b\ntype A (x: int, y)", "interface a.b\ntype A (x, y: int)",
    "interface a.b\ntype A (x-y, z)", "interface a.b\ntype A (_x: int)",
    "interface a.b\ntype A (x_: int)", "interface a.b\ntype A (x__y: int)",
    "interface a.b\ntype A (x: int, x: int)", "interface a.b\ntype A (x: B)",
    "interface a.b\ntype A (x: ??int)", "interface a.b\ntype A (x: integer)",
    "interface a.b\ntype A (x: int)\nerror A ()", "interface a.b\nerror E\nmethod A() -> ()",
    "interface a.b\nmethod M() -> ()\ntype A (x: M)", "interface a.b\ntype A (x: [int]string)",
    "interface a.b\ntype A " + String(repeating: "(x: ", count: 100),
  ]

  @Test(arguments: refused)
  func `an interface description that violates the grammar is rejected`(text: String) {
    #expect(throws: DescriptionError.self) { try InterfaceDescription(parsing: text) }
  }

  static let refusedBySystemd = [
    "type A (x: [string]())", "type A (x: []?int)", "type A (x: ?[]?[string]int)",
    "type A (x: any)", "type A ()", "type A (x: ())", "type A (x: [][]int)",
    "method A(x: int # after\n) -> ()", "method A() # before\n -> ()",
  ]

  @Test(arguments: refusedBySystemd)
  func `constructs that only systemd rejects are reported`(member: String) throws {
    let description = try InterfaceDescription(parsing: "interface a.b\n" + member)
    #expect(!description.systemdViolations.isEmpty)
  }

  @Test func `an error in an interface description contains its position`() {
    let error = #expect(throws: DescriptionError.self) {
      try InterfaceDescription(parsing: "interface a.b\n\ntype A(x: Nowhere)")
    }
    #expect(error?.description == "3:11: no type is named 'Nowhere'")
  }

  @Test func `parameters are checked against their declaration`() throws {
    let description = try InterfaceDescription(
      parsing: """
        interface a.b
        type Kind (one, two)
        method M(
          flag: bool, number: int, real: float, text: string, raw: object, kind: Kind,
          list: []int, map: [string](x: int), maybe: ?string
        ) -> ()
        """)
    guard case .method(let input, _)? = description.member("M")?.kind else {
      Issue.record("M not found")
      return
    }
    let good: [JSONName: JSONValue] = [
      "flag": true, "number": 1, "real": 1, "text": "", "raw": [:], "kind": "one", "list": [1],
      "map": ["k": ["x": 1]],
    ]
    #expect(description.mismatch(of: good, against: input) == nil)
    let changes: [(String, JSONValue?)] = [
      ("flag", 1), ("number", 1.5), ("real", "1"), ("text", nil), ("text", .null), ("raw", []),
      ("kind", "three"), ("list", ["a"]), ("list", [.null]), ("map", ["k": ["x": 1, "y": 2]]),
      ("maybe", 1), ("stranger", 1),
    ]
    for (name, value) in changes {
      var parameters = good
      parameters[JSONName(name)] = value
      #expect(description.mismatch(of: parameters, against: input) == name)
    }
    for value in [JSONValue.null, "x"] {
      var parameters = good
      parameters["maybe"] = value
      #expect(description.mismatch(of: parameters, against: input) == nil)
    }
  }
}
