import Foundation
import JSON
import LiveEvents
import Wording
package import YAMLReader

extension WebhookMapping {
  /// Reads a mapping file.
  package init(file: String) throws(ConfigurationError) {
    let text: String
    do {
      text = try String(contentsOfFile: file, encoding: .utf8)
    } catch {
      throw ConfigurationError(
        file: file,
        message: "cannot be read: \(error.localizedDescription); name a mapping file, see "
          + "livehost-source(8), or a sender: \(Self.presets.joined(separator: ", "))")
    }
    try self.init(text, file: file)
  }

  /// Parses the text of a mapping file.
  package init(_ text: String, file: String) throws(ConfigurationError) {
    self.init()
    let example = "events: [{type: viewers, members: {count: data.viewers}}]"
    guard let root = try YAMLNode(parsing: text, file: file) else {
      throw ConfigurationError(file: file, message: "is empty; write \(example)")
    }
    let mapping = try YAMLMapping(
      root, known: ["identifier", "time", "secret", "signature", "wrapper", "reply", "events"],
      example: example)
    identifier = try mapping["identifier"].map(Self.value)
    time = try mapping["time"].map(Self.value)
    secret = try mapping["secret"].map(Self.value)
    for node in [mapping["identifier"], mapping["time"], mapping["secret"]] {
      guard let node, try Self.value(node).usesElement else { continue }
      throw node.problem("'each' exists only in rules; write the whole path")
    }
    if let node = mapping["signature"] {
      guard case .header(let name)? = try Self.value(node).alternatives.first?.origin else {
        throw node.problem("write header:NAME, the header with the signature of the body")
      }
      signature = name
    }
    wrapper = try mapping["wrapper"]?.text()
    reply = mapping["reply"]?.scalar ?? ""
    let events = try mapping.required("events")
    let elements = try events.list()
    guard !elements.isEmpty else { throw events.problem("is empty; add a rule such as \(example)") }
    let check = NativeLineCheck()
    for element in elements {
      let rule = try Rule(element, file: file)
      if let secret, rule.reads(secret) {
        throw element.problem("the value at 'secret' may not become part of an event")
      }
      try rule.validate(hasIdentifier: identifier != nil, at: element, check)
      rules.append(rule)
    }
  }

  fileprivate static func value(_ node: YAMLNode) throws(ConfigurationError) -> DeliveredValue {
    let text = try node.text()
    do {
      return try DeliveredValue(text)
    } catch {
      throw node.problem(error.text)
    }
  }
}

extension WebhookMapping.Rule {
  fileprivate init(_ node: YAMLNode, file: String) throws(ConfigurationError) {
    let mapping = try YAMLMapping(
      node, known: ["when", "each", "type", "members"],
      example: "type: viewers, members: {count: data.viewers}")
    let typeNode = try mapping.required("type")
    type = try typeNode.text()
    location = typeNode.problem("").locationText
    guard MappedMember.types.contains(type) else {
      throw typeNode.problem(
        "unknown event type '\(type)'\(Spelling.hint(for: type, among: MappedMember.types))")
    }
    if let node = mapping["each"] {
      let text = try node.text()
      do {
        each = try DeliveredValue.path(text[...])
      } catch {
        throw node.problem(error.text)
      }
    }
    if let node = mapping["when"] {
      for (name, value) in try YAMLMapping(node, known: nil, example: "kind: chat").entries {
        let source: DeliveredValue
        do {
          source = try DeliveredValue(name)
        } catch {
          throw value.keyProblem(error.text)
        }
        guard !source.usesElement else {
          throw value.keyProblem("'each' is only for members; write the path from the body's root")
        }
        var texts: [String] = []
        for element in try value.list(orOne: true) {
          guard let text = element.scalar else { throw element.problem("expected a single value") }
          texts.append(text)
        }
        conditions.append((source, texts))
      }
    }
    guard let node = mapping["members"] else { return }
    for (name, value) in try YAMLMapping(node, known: nil, example: "count: data.viewers").entries {
      guard let kind = MappedMember.all[name] else {
        let names = MappedMember.all.keys.sorted()
        throw value.keyProblem("no event has this member" + Spelling.hint(for: name, among: names))
      }
      let source = try WebhookMapping.value(value)
      guard each != nil || !source.usesElement else {
        throw value.problem("a member can use 'each' only if the rule has an 'each' list")
      }
      members.append((MappedMember(name: name, kind: kind), source))
    }
  }

  /// Checks a sample event of the rule, so that missing members are reported before the first
  /// delivery.
  fileprivate func validate(
    hasIdentifier: Bool, at node: YAMLNode, _ check: NativeLineCheck
  ) throws(ConfigurationError) {
    var sample = self
    sample.members = members.map { member, value in
      (member, value.literal == nil ? Self.sample(of: member, for: type) : value)
    }
    var event = MappedEvent(
      rule: sample, delivery: WebhookDelivery(body: .object([:])), element: nil)
    let line = event.line(time: nil, identifier: hasIdentifier ? "1" : nil)
    if let unusable = event.unusable.first { throw node.problem(event.fault(unusable).text) }
    guard let (reason, text) = check.rejection(of: line) else { return }
    throw node.problem(
      text
        + (reason == .missingMember
          ? "; add it to 'members'" : "; write another text after the '='"))
  }

  /// Returns whether a member would reveal the secret or a value that contains it.
  fileprivate func reads(_ secret: DeliveredValue) -> Bool {
    members.contains { _, source in
      source.origins.contains { origin in
        secret.origins.contains { secret in
          guard case .body(let path) = origin, case .body(let hidden) = secret else {
            return origin == secret
          }
          return hidden.starts(with: path)
        }
      }
    }
  }

  /// Returns a sample value that the type accepts.
  private static func sample(of member: MappedMember, for type: String) -> DeliveredValue {
    let words = [
      "chat.notice kind": "subscribe", "stream state": "live", "recorder.state state": "idle",
      "prediction state": "open", "slider phase": "begin", "hypeTrain phase": "begin",
      "room": "main",
    ]
    let text: String
    switch member.kind {
    case .text: text = words["\(type) \(member.name)"] ?? words[member.name] ?? "text"
    case .integer: text = member.name == "winner" ? "0" : "1"
    case .number, .time, .boolean, .integers, .numbers, .texts: text = "1"
    }
    return DeliveredValue(literal: text)
  }
}

extension DeliveredValue {
  fileprivate init(literal: String) {
    alternatives = [Alternative(origin: .literal(literal))]
  }
}

extension ConfigurationError {
  /// The location as `FILE:LINE`, without the directory, which senders need not know.
  fileprivate var locationText: String {
    let name = file.split(separator: "/").last.map(String.init) ?? file
    return line.map { "\(name):\($0)" } ?? name
  }
}
