/// Writes JSON with members in a fixed order and numbers as they are given, so that the same report gives
/// the same bytes.
struct JSONText {
  private(set) var text = ""
  private var isFirst = true

  static func append(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\t": text += "\\t"
      case "\r": text += "\\r"
      default:
        if scalar.value < 0x20 {
          let digits = String(scalar.value, radix: 16)
          text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        } else {
          text.unicodeScalars.append(scalar)
        }
      }
    }
    text += "\""
  }

  private mutating func begin(_ name: String?) {
    if !isFirst { text += "," }
    isFirst = false
    guard let name else { return }
    Self.append(name, to: &text)
    text += ":"
  }

  /// A number or another value that is JSON already.
  mutating func raw(_ name: String? = nil, _ value: String) {
    begin(name)
    text += value
  }

  mutating func integer(_ name: String? = nil, _ value: Int) { raw(name, String(value)) }

  /// Nanoseconds as milliseconds.
  mutating func milliseconds(_ name: String? = nil, _ nanoseconds: Int64) {
    raw(name, FixedPoint.milliseconds(nanoseconds))
  }

  mutating func string(_ name: String? = nil, _ value: String) {
    begin(name)
    Self.append(value, to: &text)
  }

  mutating func object(_ name: String? = nil, _ body: (inout JSONText) -> Void) {
    enclosed(name, "{", "}", body)
  }

  mutating func array(_ name: String? = nil, _ body: (inout JSONText) -> Void) {
    enclosed(name, "[", "]", body)
  }

  private mutating func enclosed(
    _ name: String?, _ open: String, _ close: String, _ body: (inout JSONText) -> Void
  ) {
    begin(name)
    text += open
    isFirst = true
    body(&self)
    isFirst = false
    text += close
  }
}
