// Duplicate events are recognised by hashes of their identifiers, so that untrusted strings are
// never compared.

extension LiveEvent {
  /// The hash of the event's identifier, which is unique in its room. `nil` without an identifier.
  package var identifierHash: UInt64? {
    switch payload {
    case .chat(.message(let message)): message.id.stableHash
    case .chat(.notice(let notice)): notice.id?.stableHash
    case .activity(.follow(_, let id)): id?.stableHash
    case .activity(.redemption(let redemption)): redemption.id?.stableHash
    case .activity(.announcement(let announcement)): announcement.id?.stableHash
    case .activity, .chat, .control, .header, .liveRoomStats, .poll, .recorder, .source,
      .waitingRoom, .stream:
      nil
    }
  }
}

extension Text {
  /// A hash of the text's bytes that is the same in every process. Takes O(length), eight bytes per
  /// step.
  package var stableHash: UInt64 {
    withUTF8 { utf8 in
      let bytes = UnsafeRawBufferPointer(utf8)
      var hash = Self.mix(UInt64(bytes.count), 0x9E37_79B9_7F4A_7C15)
      var offset = 0
      while offset + 8 <= bytes.count {
        let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        hash = Self.mix(hash ^ UInt64(littleEndian: word), 0xA076_1D64_78BD_642F)
        offset += 8
      }
      var last: UInt64 = 0
      while offset < bytes.count {
        last = last << 8 | UInt64(bytes[offset])
        offset += 1
      }
      return Self.mix(hash ^ last, 0xE703_7ED1_A0B4_28DB)
    }
  }

  /// Combines both halves of the product, so that each bit of `word` affects each bit of the
  /// result.
  @inline(__always)
  private static func mix(_ word: UInt64, _ factor: UInt64) -> UInt64 {
    let product = (word ^ factor).multipliedFullWidth(by: factor)
    return product.high ^ product.low
  }
}
