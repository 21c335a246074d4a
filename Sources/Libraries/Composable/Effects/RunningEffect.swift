/// A running effect. Every message that the effect posts contains this object, so the store needs
/// no look-up. Any thread may hold a reference; only the store reads the properties, on its lane.
@usableFromInline
class RunningEffect: @unchecked Sendable {
  @usableFromInline final let name: String
  /// The identifiers that cancel the effect.
  final let marks: [EffectMark]
  /// The sequence that waits for the effect to end. A task's sequence is set in the initializer,
  /// because the task reads it on any thread.
  @exclusivity(unchecked) @usableFromInline final var sequence: EffectSequence?
  /// The limiter that the effect wakes.
  @exclusivity(unchecked) final var limiter: (any Limiter)?
  /// The tracked send that started the effect, or 0 if the send is not tracked.
  @exclusivity(unchecked) @usableFromInline final var origin: UInt64
  /// The scope of the child that started the effect; `nil` after its end or cancellation.
  @exclusivity(unchecked) @usableFromInline final var scope: EffectScope?
  /// Whether the effect was cancelled and its task has not returned yet. Actions that a cancelled
  /// effect still sends are dropped silently.
  @exclusivity(unchecked) @usableFromInline final var isCancelled = false
  @exclusivity(unchecked) final var task: Task<Void, Never>?
  /// The position in the order in which effects were started.
  @exclusivity(unchecked) final var number: UInt64 = 0
  /// The position in the scope's list, for removal in O(1).
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

  /// The name, followed by the source location if the effect has no name.
  var description: String { name }
}

/// A running task and its mailbox: everything that the task needs, in one object.
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
    run.location.map { "\(name) (\($0.fileID):\($0.line))" } ?? name
  }

  // `nonsending` avoids another look-up of the executor after the operation has returned.
  @inlinable
  nonisolated(nonsending) func perform() async {
    do {
      try await run.operation(send)
    } catch let error as CancellationError {
      // A cancellation is not a failure, but the following parts of a sequence must not begin.
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
