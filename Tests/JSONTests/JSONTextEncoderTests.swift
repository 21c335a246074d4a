import Foundation
import JSON
import Testing

@Suite struct JSONTextEncoderTests {
  private enum Shape: Codable, Equatable {
    case point
    case circle(radius: Double)
    indirect case group([Shape], name: String)
  }

  private struct Everything: Codable, Equatable {
    var text = "a \"b\"\n\u{7F} 😀"
    var number = -7
    var large = UInt64.max
    var least = Int64.min
    var small = Float(0.1)
    var fraction = 1e-7
    var whole = 3.0
    var flag = true
    var missing: Int?
    var present: Int? = 1
    var list = [[1, 2], [], [3]]
    var optionals: [String?] = ["x", nil]
    var numbers: [Int: String] = [1: "one", 2: "two"]
    var names = ["a \"key\"": [true], "": []]
    var shapes: [Shape] = [.point, .circle(radius: 0.5), .group([.group([], name: "g")], name: "")]
    var nothing = Nothing()
    var nothings = [Nothing(), Nothing()]
    var bytes: [UInt8] = [0, 255]
    var range = 1..<5
    var data = Data([0, 1, 2, 254])
    var packed = [Data(), Data([255])]
  }

  private struct Nothing: Codable, Equatable {}

  private func text(_ value: some Encodable) throws -> String {
    String(decoding: try JSONWriter.text(of: value), as: UTF8.self)
  }

  @Test func `encoded values are decoded unchanged, also by Foundation's decoder`() throws {
    let value = Everything()
    let bytes = try JSONWriter.text(of: value)
    #expect(try JSONDecoder().decode(Everything.self, from: Data(bytes)) == value)
    // The texts are equal except for the order of members and the notation of numbers.
    let theirs =
      try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) as? NSDictionary
    let ours = try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary
    #expect(ours != nil && ours == theirs)
  }

  @Test
  func `members are written in the order of encoding, and open containers are closed`()
    throws
  {
    #expect(
      try text(Shape.group([.point, .circle(radius: 2)], name: "n"))
        == #"{"group":{"_0":[{"point":{}},{"circle":{"radius":2.0}}],"name":"n"}}"#)
    #expect(try text([Nothing]()) == "[]")
    #expect(try text(Nothing()) == "{}")
    #expect(try text(1) == "1")
    #expect(try text("x" as String?) == #""x""#)
    #expect(try text(nil as String?) == "null")
    #expect(
      try text(["k": JSONValue.object(["a": .array([.null, .integer(1)])])])
        == #"{"k":{"a":[null,1]}}"#)
  }

  /// A type that nests two containers of its encoder and encodes some containers by hand.
  private struct ByHand: Encodable {
    enum Key: String, CodingKey { case a, list, inner, b, c }
    var isEmpty = false

    func encode(to encoder: any Encoder) throws {
      var outer = encoder.container(keyedBy: Key.self)
      try outer.encode(1, forKey: .a)
      var list = outer.nestedUnkeyedContainer(forKey: .list)
      try list.encode("x")
      try list.encodeNil()
      var object = list.nestedContainer(keyedBy: Key.self)
      if !isEmpty { try object.encode(2, forKey: .c) }
      var last = list.nestedUnkeyedContainer()
      if !isEmpty { try last.encode(true) }
      #expect(list.count == 4)
      try outer.encodeNil(forKey: .inner)
      var again = encoder.container(keyedBy: Key.self)
      try again.encode(3, forKey: .b)
      try Nothing().encode(to: outer.superEncoder(forKey: .c))
    }
  }

  @Test func `nested containers are encoded, and several containers of one value are combined`()
    throws
  {
    #expect(
      try text([ByHand(), ByHand(isEmpty: true)])
        == #"[{"a":1,"list":["x",null,{"c":2},[true]],"inner":null,"b":3,"c":{}},"#
        + #"{"a":1,"list":["x",null,{},[]],"inner":null,"b":3,"c":{}}]"#)
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity])
  func `values that JSON cannot represent are rejected`(_ number: Double) {
    #expect(throws: EncodingError.self) { try JSONWriter.text(of: ["n": number]) }
    #expect(throws: EncodingError.self) { try JSONWriter.text(of: [Float(number)]) }
  }
}
