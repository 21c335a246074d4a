package import LiveEvents

/// Describes why a line was rejected, for error messages.
extension LineDecoder {
  /// Returns the name that caused a rejection, such as `'user.id' of chat.message`, or `nil` if no
  /// member caused it. Decodes the line a second time, so that accepted lines bear no cost. Takes
  /// O(length).
  package mutating func fault(of line: ByteSlab.Slice, in slab: ByteSlab) -> String? {
    guard line.count <= Self.maximumLineLength else { return nil }
    return slab.withBytes(of: line) { bytes in
      guard let start = bytes.baseAddress,
        let (format, skipped) = WireFormat.recognise(start, count: bytes.count), format == .native,
        let tokens = try? indexer.index(start + skipped, count: bytes.count - skipped),
        members.read(tokens) != nil
      else { return nil }
      let read = NativeMembers(members, of: slab, at: Int(line.offset) + skipped, tokens)
      guard case .rejected(let reason, _) = decodeMembers(read, arrival: 0) else { return nil }
      return read.fault(reason)
    }
  }
}

extension NativeMembers {
  fileprivate func fault(_ reason: RejectionReason) -> String? {
    let member = lastRead.pointee
    switch reason {
    case .unknownType: return name(of: .type).map { "'\($0)'" }
    // Some types require one of several members. If all are missing, the member that was read last
    // may be a different member that is present.
    case .missingMember where has(member): return name(of: .type)
    case .missingMember, .invalidValue:
      return "'\(member.path)'" + (member == .type ? "" : name(of: .type).map { " of \($0)" } ?? "")
    default: return nil
    }
  }

  /// Returns the value of a member if it is a word that is safe to show in any text.
  func name(of member: NativeMember) -> String? {
    (try? text(member).description).flatMap { $0.isWord ? $0 : nil }
  }
}

extension NativeMember {
  /// The path of the member within its line.
  var path: String {
    switch self {
    case .userID: "user.id"
    case .userName: "user.name"
    case .userBadges: "user.badges"
    case .userColor: "user.color"
    default: "\(self)"
    }
  }
}
