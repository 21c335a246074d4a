import LiveEvents
import Recordings

/// Combines the steps of a recording or of the log into inputs of a room: finds out which events
/// are acts, and which belong to one batch.
struct StepAssembler {
  enum Input {
    case event(LiveEvent)
    /// An act of the host or the outcome of an effect, which does not count as a received event.
    case act(LiveEvent)
    case batch([LiveEvent], RecordedBatchPosition)
    case frame(flush: Bool)
    /// - Parameters:
    ///   - change: `nil` if a later version recorded the change. The other steps can still be
    ///     played.
    ///   - isCopied: whether the room that plays the change also copies it to its own log.
    case change(RoomChange?, text: String, isCopied: Bool)
  }

  private struct PartOfBatch {
    let position: RecordedBatchPosition
    var events: [LiveEvent] = []
  }

  /// Whether the next event is an act.
  private var isActNext = false
  /// The batch whose events follow.
  private var part: PartOfBatch?

  /// Adds a step. Returns the input that the step completes; `nil` inside a batch.
  ///
  /// If another kind of step follows before the batch is complete, a crash has cut the batch off.
  /// The batch is dropped, because it was never acknowledged.
  mutating func add(_ step: RecordedStep) -> Input? {
    switch step {
    case .event(let event, _): return add(event)
    case .frame(_, let flush):
      part = nil
      return .frame(flush: flush)
    case .change(let text, _):
      part = nil
      let change = RoomChange(text: text)
      if let change { isActNext = change.isAct == true }
      if let position = change?.position, position.events > 0 {
        part = PartOfBatch(position: position)
      }
      // This program did not write a change that looks like a mark of the log, and must not copy it
      // to the log.
      let isCopied = change?.isLocal != true && !isActNext && LogMark(step) == nil
      return .change(change, text: text, isCopied: isCopied)
    }
  }

  private mutating func add(_ event: LiveEvent) -> Input? {
    guard var part = exchange(&part, with: nil) else {
      return exchange(&isActNext, with: false) ? .act(event) : .event(event)
    }
    part.events.append(event)
    guard part.events.count >= part.position.events else {
      self.part = part
      return nil
    }
    return .batch(part.events, part.position)
  }
}
