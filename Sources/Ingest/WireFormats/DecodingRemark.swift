/// What is to be counted about lines, by name, beside whether they are events or rejected.
package enum DecodingRemark: Sendable, Hashable {
  /// A member or tag had no usable value, and the event did without it.
  case field(String)
  /// A kind of event is not known here. Platforms add kinds without notice.
  case kind(String)
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
