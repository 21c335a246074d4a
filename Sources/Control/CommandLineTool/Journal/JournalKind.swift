import ArgumentParser
package import Systemd

/// A kind of journal entry, an argument of the option `--kind`.
package struct JournalKind: Sendable, Hashable, ExpressibleByArgument {
  package let kind: JournalMessageID

  package init?(argument: String) {
    guard let kind = JournalMessageID(name: argument) else { return nil }
    self.kind = kind
  }

  package static var allValueStrings: [String] { JournalMessageID.allCases.map(\.name) }

  /// The message IDs of this kind: `hang` includes microhangs, as in `livehostctl hangs`.
  package var messages: [JournalMessageID] { kind == .hang ? [.hang, .microhang] : [kind] }
}
