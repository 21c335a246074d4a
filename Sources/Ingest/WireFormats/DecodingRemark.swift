/// Something about a line that is counted by name, whether the line is an event or rejected.
package enum DecodingRemark: Sendable, Hashable {
  /// A member or tag had no usable value and was ignored.
  case field(String)
  /// The line has an unknown kind of event. Platforms add kinds without notice.
  case kind(String)
}

extension [DecodingRemark] {
  /// The unknown kind of a line in quotation marks, as a fault names it; `nil` if there is none, or it is not a word.
  package var unknownKind: String? {
    for case .kind(let name) in self where name.isWord { return "'\(name)'" }
    return nil
  }
}

extension String {
  /// Whether it may be shown wherever text is.
  var isWord: Bool {
    utf8.count <= 40 && utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "'") }
  }
}

/// Memory for the remarks of a decoder, which those that read a line's parts share.
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
  /// Whether there are remarks to take.
  @inline(__always)
  package var hasRemarks: Bool { !remarks.remarks.pointee.isEmpty }

  /// Removes and returns the remarks about the line that was decoded last.
  package mutating func takeRemarks() -> [DecodingRemark] {
    defer { remarks.remarks.pointee = [] }
    return remarks.remarks.pointee
  }
}
