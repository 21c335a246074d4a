package import LiveEvents

/// What a rejected line had wrong, for people.
extension LineDecoder {
  /// What a line was rejected for, such as `'user.id' of chat.message`; `nil` if no member of it was at fault. Reads
  /// the line once more, so that lines that are not rejected are not slower for it.
  ///
  /// - Complexity: O(length).
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
    // A line may need one of several members; then the one that was read last is there.
    case .missingMember where has(member): return name(of: .type)
    case .missingMember, .invalidValue:
      return "'\(member.path)'" + (member == .type ? "" : name(of: .type).map { " of \($0)" } ?? "")
    default: return nil
    }
  }

  /// The value of a member if it is a word, which may be shown wherever text is.
  func name(of member: NativeMember) -> String? {
    (try? text(member).description).flatMap { $0.isWord ? $0 : nil }
  }
}

extension NativeMember {
  /// Where it stands in its line.
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
