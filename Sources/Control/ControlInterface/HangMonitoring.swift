import JSON
import NIOCore
import Varlink

/// Implements `MonitorHangs`: sends the stored hangs, then each new one.
struct HangMonitoring {
  let feed: HangFeed

  /// Sends the replies that contain hangs, except the last reply, which it returns. For a call
  /// without `more`, this is the only reply. For a call with `more`, it is an empty reply that is
  /// sent when the daemon stops.
  func run(wantsMore: Bool, _ replies: ReplyStream) async throws -> ByteBuffer {
    let known = feed.hangs()
    let first = try reply(known)
    if !wantsMore { return first }
    try await replies.send(parameters: first)
    var last = known.last?.number ?? 0
    while true {
      try await replies.waitUntilWritable()
      let new = try await feed.next(after: last)
      guard let newest = new.last else { return try reply([]) }
      last = newest.number
      try await replies.send(parameters: reply(new))
    }
  }

  private func reply(_ hangs: [HangReport]) throws -> ByteBuffer {
    try JSONValue(encoding: HangsReply(hangs: hangs)).buffer()
  }
}
