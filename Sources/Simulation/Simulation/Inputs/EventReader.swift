import JSON
import LiveEvents
import WireFormats
import Wording
import YAMLReader

/// Reads an event in a scenario, with the members of the native format.
struct EventReader {
  func payload(_ node: YAMLNode) throws(ConfigurationError) -> LiveEvent.Payload {
    guard case .mapping = node.content else {
      throw node.problem("expected an event such as {type: stream, state: live}")
    }
    var json = JSONWriter()
    append(node, to: &json)
    var decoder = LineDecoder()
    let slab = ByteSlab(json.bytes)
    let line = ByteSlab.Slice(offset: 0, count: slab.count)
    switch decoder.decode(slab, line: line, arrival: 0) {
    case .event(let event, _): return event.payload
    case .rejected(let reason, _):
      throw node.problem(
        "is not an event: \(reason.explanation(decoder.fault(of: line, in: slab)))")
    case .control, .blank: throw node.problem("is a control line, not an event")
    }
  }

  /// Appends the node as JSON. Unquoted values that look like numbers, Booleans or null become such
  /// JSON values.
  private func append(_ node: YAMLNode, to json: inout JSONWriter) {
    switch node.content {
    case .mapping(let entries):
      json.appendObject { json in
        for entry in entries {
          json.name(text: entry.name)
          append(entry.value, to: &json)
        }
      }
    case .list(let elements):
      json.appendArray { json in for element in elements { append(element, to: &json) } }
    case .scalar(let text, let isPlain):
      if isPlain, isJSONLiteral(text) { json.appendJSON(text) } else { json.append(text) }
    }
  }

  private func isJSONLiteral(_ text: String) -> Bool {
    if ["true", "false", "null"].contains(text) { return true }
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    guard Quantity.decimal(digits, times: 1) != nil else { return false }
    // JSON does not allow leading zeros.
    return !(digits.hasPrefix("0") && digits.count > 1 && !digits.hasPrefix("0."))
  }
}
