/// Unexpected values that JSON members have in practice.
public enum OddValues {
  /// The values as JSON text. Some of the values are invalid JSON that programs nevertheless write.
  public static let json = [
    "null", #""""#, #"" ""#, #""abc""#, "-1", "0", "1e308", "-1e308", "1e400", "NaN", #""NaN""#,
    "Infinity",
    "99999999999999999999999", "0.1", "true", "false", "[]", "[1]", #"["a","b"]"#, "{}",
    #"{"a":1}"#,
    #"{"a":{"b":[{"c":null}]}}"#,
    String(repeating: "[", count: 200) + String(repeating: "]", count: 200),
    #""\u0000\u0001\u001b[31m""#, #""\ud800""#, #""a\udc00b""#, #""\u202e\u2066x""#,
    "\"" + String(repeating: "long ", count: 4_000) + "\"",
    "\"e" + String(repeating: "\u{301}", count: 400) + "\"", #""<b>x</b> & <img>""#,
    #""2026-11-24T20:00:00Z""#,
  ]
}
