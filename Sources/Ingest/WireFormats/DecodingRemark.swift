/// A peculiarity of a line, counted by name whether the line is accepted or rejected.
package enum DecodingRemark: Sendable, Hashable {
  /// A member or tag was ignored because its value is unusable.
  case field(String)
  /// The line has an unknown kind of event, since platforms add kinds without notice.
  case kind(String)
}

extension [DecodingRemark] {
  /// The unknown event kind among the remarks, in quotation marks for an error message. `nil` if
  /// there is none, or if its name is not safe to show.
  package var unknownKind: String? {
    for case .kind(let name) in self where name.isWord { return "'\(name)'" }
    return nil
  }
}

extension String {
  /// Whether the string is safe to show in any text: at most 40 printable ASCII characters, none of
  /// which is a space or a single quote.
  var isWord: Bool {
    utf8.count <= 40 && utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "'") }
  }
}

/// Storage for a decoder's remarks, shared by the parsers of a line's parts.
struct RemarkStorage: ~Copyable {
  let remarks: UnsafeMutablePointer<[DecodingRemark]>

  init() {
    remarks = .allocate(capacity: 1)
    remarks.initialize(to: [])
  }

  deinit {
    remarks.deinitialize(count: 1)
    remarks.deallocate()
  }
}

extension LineDecoder {
  @inline(__always)
  package var hasRemarks: Bool { !remarks.remarks.pointee.isEmpty }

  /// Removes and returns the remarks about the most recently decoded line.
  package mutating func removeRemarks() -> [DecodingRemark] {
    defer { remarks.remarks.pointee = [] }
    return remarks.remarks.pointee
  }
}
