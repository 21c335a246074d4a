/// An effect that runs.
///
/// It goes with what the effect posts, so that the store need not look it up. Any thread may hold it; only
/// the store looks inside, on its lane.
@usableFromInline
class RunningEffect: @unchecked Sendable {
  @usableFromInline final let name: String
  /// Identifiers by which it can be cancelled.
  final let marks: [EffectMark]
  /// The sequence that waits for its end. Set for a task when it is made, since that reads it on any thread.
  @exclusivity(unchecked) @usableFromInline final var sequence: EffectSequence?
  /// The limiter that it wakes.
  @exclusivity(unchecked) final var limiter: (any Limiter)?
  /// The tracked send that it follows from; 0 if that is not tracked.
  @exclusivity(unchecked) @usableFromInline final var origin: UInt64
  /// The child that started it; `nil` once it has ended or was cancelled.
  @exclusivity(unchecked) @usableFromInline final var scope: EffectScope?
  /// Whether it was cancelled and its task has not returned yet: what it still sends is dropped in
  /// silence.
  @exclusivity(unchecked) @usableFromInline final var isCancelled = false
  @exclusivity(unchecked) final var task: Task<Void, Never>?
  /// Tells the order in which effects were started.
  @exclusivity(unchecked) final var number: UInt64 = 0
  /// Its position in the scope's list, for removal in O(1).
  @exclusivity(unchecked) final var position = 0

  @usableFromInline
  init(
    name: String, marks: [EffectMark], scope: EffectScope, sequence: EffectSequence?,
    origin: UInt64,
    limiter: (any Limiter)? = nil
  ) {
    self.name = name
    self.marks = marks
    self.sequence = sequence
    self.scope = scope
    self.origin = origin
    self.limiter = limiter
  }

  /// The name; of an effect without one, the line that made it, too.
  var description: String { name }
}

/// A task that runs, with the way to its store: one object for all that the task holds.
@usableFromInline
final class RunningTask<Action: Sendable>: RunningEffect, @unchecked Sendable {
  @usableFromInline let run: RunEffect<Action>
  @usableFromInline let mailbox: Mailbox<Action>

  @inlinable
  init(
    _ run: RunEffect<Action>, scope: EffectScope, sequence: EffectSequence?, origin: UInt64,
    mailbox: Mailbox<Action>
  ) {
    self.run = run
    self.mailbox = mailbox
    super.init(
      name: run.name, marks: run.marks, scope: scope, sequence: sequence, origin: origin)
  }

  override var description: String {
    run.place.map { "\(name) (\($0.fileID):\($0.line))" } ?? name
  }

  // `nonsending`, so that nothing asks for the executor anew after the operation has returned.
  @inlinable
  nonisolated(nonsending) func perform() async {
    do {
      try await run.operation(send)
    } catch let error as CancellationError {
      // No failure, but what follows in a sequence must not begin.
      if sequence != nil { mailbox.post(.failed(error, effect: self)) }
    } catch {
      if let handler = run.handler {
        await handler(error, send)
      } else {
        mailbox.post(.failed(error, effect: self))
      }
    }
    mailbox.post(.finished(effect: self))
  }

  @inlinable var send: Send<Action> {
    Send<Action>(
      postOne: { self.mailbox.post(.action($0, effect: self)) },
      postAll: { self.mailbox.post(.actions($0, effect: self)) })
  }
}
