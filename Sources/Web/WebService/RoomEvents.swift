import HTTPTypes
import Hummingbird
import JSON
import Locking
import NIOCore
import ServiceLifecycle
import Varlink

/// Streams a room's states as server-sent events
/// (https://html.spec.whatwg.org/multipage/server-sent-events.html): `state` with the complete
/// state, then `patch` with merge patches (RFC 7396), and `alive` when nothing has changed for a
/// while.
struct RoomEvents: Sendable {
  let rooms: WatchedRooms
  let control: AccessControl
  let limits: WebServer.Limits
  let streams: StreamCounts

  func respond(to request: Request, _ context: WebContext) async throws -> Response {
    let room = try context.parameters.require("room")
    let query = request.uri.queryParameters
    let rate = try rate(query["rate"].map(String.init))
    guard let form = WatchedForm(rawValue: query["of"].map(String.init) ?? "room") else {
      return Reply.error(.badRequest, "of", "of= must be room or screen")
    }
    guard streams.begin(maximum: limits.streams) else {
      return Reply.error(
        .serviceUnavailable, "streams", "\(limits.streams) streams are open already")
    }
    // The head of the response is sent only when there is a state. Until then, the response's
    // status can still report that the room is unknown.
    return await withCheckedContinuation { continuation in
      let head = Guarded<CheckedContinuation<Response, Never>?>(continuation)
      let answer: @Sendable (Response) -> Void = { response in
        head.withLock { exchange(&$0, with: nil) }?.resume(returning: response)
      }
      let (ended, end) = AsyncStream.makeStream(of: Void.self)
      Task {
        do {
          try await rooms.watch(room, as: form) { state in
            answer(
              self.response(request, context, state, interval: .seconds(1 / rate)) { end.finish() })
            for await _ in ended {}
          }
        } catch let error as VarlinkClientError {
          answer(Reply.error(error))
        } catch {
          answer(Reply.error(.internalServerError, "internal", "\(error)"))
        }
        streams.end()
      }
    }
  }

  private func rate(_ text: String?) throws -> Double {
    guard let text else { return limits.rate }
    guard let rate = Double(text), rate > 0, rate.isFinite else {
      throw HTTPError(.badRequest, message: "rate= must be a number of events per second")
    }
    return min(max(rate, 0.1), limits.rate)
  }

  private func response(
    _ request: Request, _ context: WebContext, _ state: RoomState, interval: Duration,
    onEnd: @escaping @Sendable () -> Void
  ) -> Response {
    let body = ResponseBody { writer in
      defer { onEnd() }
      let (number, signals) = state.subscribe()
      defer { state.unsubscribe(number) }
      // With these limits, a write does not complete before the browser reads, so that slow
      // browsers are noticed.
      let channel = context.channel
      _ = try? await channel.setOption(
        .writeBufferWaterMark, value: .init(low: 32 << 10, high: 64 << 10)
      ).get()
      // During a shutdown, streams must end first, because the program waits until all of them have
      // ended.
      try await withGracefulShutdownHandler {
        try await request.body.consumeWithInboundCloseHandler { _ in
          var last: RoomState.Version?
          var sentAt = ContinuousClock.now
          for await _ in signals {
            // The stream of a person ends when the person's link is revoked, replaced or expired.
            guard control.isValid(context.access) else { break }
            guard let text = next(of: state, &last, idle: .now - sentAt) else { continue }
            let deadline = channel.eventLoop.scheduleTask(in: TimeAmount(limits.writeTimeout)) {
              streams.countSlow()
              channel.close(promise: nil)
            }
            try await writer.write(text)
            deadline.cancel()
            sentAt = .now
            try await Task.sleep(for: interval)
          }
        } onInboundClosed: {
          state.unsubscribe(number)
        }
      } onGracefulShutdown: {
        state.unsubscribe(number)
      }
      try await writer.finish(nil)
    }
    return Response(
      status: .ok,
      headers: [
        .contentType: "text/event-stream", .cacheControl: "no-store",
        // `X-Accel-Buffering` prevents proxies from buffering events.
        HTTPField.Name("X-Accel-Buffering")!: "no",
      ], body: body)
  }

  /// Returns the next event; `nil` if there is nothing to send.
  private func next(
    of state: RoomState, _ last: inout RoomState.Version?, idle: Duration
  ) -> ByteBuffer? {
    guard let newest = state.newest else { return nil }
    defer { last = newest }
    guard let old = last else {
      return event("state", newest, state, ByteBuffer(bytes: newest.value.serialized()))
    }
    if newest.sequence == old.sequence {
      return idle >= limits.alive ? ByteBuffer(string: "event: alive\ndata: {}\n\n") : nil
    }
    return event("patch", newest, state, state.patch(from: old, to: newest))
  }

  private func event(
    _ name: StaticString, _ version: RoomState.Version, _ state: RoomState, _ data: ByteBuffer
  ) -> ByteBuffer {
    var text = ByteBuffer()
    text.reserveCapacity(data.readableBytes + 64)
    text.writeString("event: \(name)\nid: \(state.instance)-\(version.sequence)\ndata: ")
    text.writeImmutableBuffer(data)
    text.writeStaticString("\n\n")
    return text
  }
}
