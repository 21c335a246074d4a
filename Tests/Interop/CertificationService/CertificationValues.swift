import JSON

/// The values that the certification prescribes. Each method's parameters are the previous result.
extension CertificationService {
  private static let four: JSONValue = [
    "bool": false, "int": 2, "float": .number(.pi), "string": "a lot of string",
  ]
  private static let map: JSONValue = ["foo": "Foo", "bar": "Bar"]
  private static let set: JSONValue = ["one": [:], "two": [:], "three": [:]]
  private static let mytype: JSONValue = [
    "object": ["method": "org.varlink.certification.Test09", "parameters": ["map": map]],
    "enum": "two", "struct": ["first": 1, "second": "2"], "array": ["one", "two", "three"],
    "dictionary": map, "stringset": set,
    "interface": [
      "foo": [.null, ["foo": "foo", "bar": "bar"], .null, ["one": "foo", "two": "bar"]],
      "anon": ["foo": true, "bar": false],
    ],
  ]

  /// The replies of the methods, except Start and Test10.
  static let replies: [String: JSONValue] = [
    "Test01": ["bool": true], "Test02": ["int": 1], "Test03": ["float": 1.0],
    "Test04": ["string": "ping"], "Test05": four, "Test06": ["struct": four],
    "Test07": ["map": map], "Test08": ["set": set], "Test09": ["mytype": mytype], "Test11": [:],
    "End": ["all_ok": true],
  ]

  /// The expected parameters of the methods, in addition to `client_id`.
  static let wanted: [String: [JSONName: JSONValue]] = [
    "Test02": ["bool": true], "Test03": ["int": 1], "Test04": ["float": 1.0],
    "Test05": ["string": "ping"], "Test06": four.objectValue ?? [:], "Test07": ["struct": four],
    "Test08": ["map": map], "Test09": ["set": set], "Test10": ["mytype": mytype],
    "Test11": ["last_more_replies": .array((1...10).map { .string("Reply number \($0)") })],
  ]
}
