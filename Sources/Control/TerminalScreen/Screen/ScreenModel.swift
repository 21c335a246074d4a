import Locking
import SystemSupport

/// The content of a live screen, and its reactions to keys.
package protocol ScreenModel: Sendable {
  associatedtype Update: Sendable
  /// The type of the requests that the screen sends to the source of its updates.
  associatedtype Request: Sendable = Never

  mutating func apply(_ update: Update)
  /// Sets the size; called before keys and pictures.
  mutating func resize(columns: Int, rows: Int)
  /// Applies a key. Returns whether the screen stays open.
  mutating func press(_ key: Key) -> Bool
  /// Returns and removes the requests made since the last call.
  mutating func removeRequests() -> [Request]
  func picture(columns: Int, rows: Int) -> CellGrid
}

extension ScreenModel {
  package mutating func resize(columns: Int, rows: Int) {}
  package mutating func removeRequests() -> [Request] { [] }
}

/// The updates and inputs that a screen has not processed yet. Only the newest update of each
/// source is kept, so that a screen on a slow connection shows the current state.
package final class ScreenInbox<Update: Sendable, Request: Sendable>: Sendable {
  package struct Content: Sendable {
    /// The updates and the numbers of their sources, in order of arrival. The order matters because
    /// the outcome of one call replaces the outcome of another on the screen.
    package fileprivate(set) var updates: [(source: Int, update: Update)] = []
    package var inputs: [Terminal.Input] = []
    /// The result with which the source of the updates ended.
    package var end: Result<Void, any Error>?
  }

  private let content = Guarded(Content())
  /// Yields when an update or an input arrives.
  let wakes: AsyncStream<Void>
  private let wake: AsyncStream<Void>.Continuation
  package let requests: AsyncStream<Request>
  private let request: AsyncStream<Request>.Continuation

  package init() {
    (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    (requests, request) = AsyncStream.makeStream()
  }

  package func post(_ update: Update, from source: Int = 0) {
    change {
      $0.updates.removeAll { $0.source == source }
      $0.updates.append((source, update))
    }
  }
  func ask(_ request: Request) { self.request.yield(request) }
  func post(_ input: Terminal.Input) { change { $0.inputs.append(input) } }
  package func end(_ result: Result<Void, any Error>) { change { $0.end = $0.end ?? result } }

  /// Returns and removes what arrived since the last call.
  package func removeAll() -> Content {
    content.withLock { content in
      defer { content = Content(end: content.end) }
      return content
    }
  }

  private func change(_ body: (inout Content) -> Void) {
    content.withLock { body(&$0) }
    wake.yield()
  }
}

/// Shows a model on a terminal until the user leaves.
package struct LiveScreen<Model: ScreenModel> {
  package var model: Model
  private let console: Console
  private let terminal: Terminal

  package init(model: Model, console: Console, terminal: Terminal) {
    self.model = model
    self.console = console
    self.terminal = terminal
  }

  /// Shows the screen until the user leaves, or until `source`, which posts updates, returns or
  /// throws.
  ///
  /// - Throws: The errors of `source` and of the terminal, or `CancellationError` if the task is
  ///   cancelled.
  package mutating func run(
    _ source: @escaping @Sendable (ScreenInbox<Model.Update, Model.Request>) async throws -> Void
  ) async throws {
    let inbox = ScreenInbox<Model.Update, Model.Request>()
    let inputs = terminal.begin()
    defer { terminal.end() }
    let feeding = Task {
      do {
        try await source(inbox)
        inbox.end(.success(()))
      } catch { inbox.end(.failure(error)) }
    }
    let listening = Task { for await input in inputs { inbox.post(input) } }
    defer {
      feeding.cancel()
      listening.cancel()
    }
    try await show(inbox)
  }

  private mutating func show(
    _ inbox: ScreenInbox<Model.Update, Model.Request>
  ) async throws {
    var painter = ScreenPainter(console.palette)
    var keys = KeyParser()
    try draw(&painter)
    for await _ in inbox.wakes {
      let content = inbox.removeAll()
      let size = console.size()
      model.resize(columns: size.columns, rows: size.rows)
      for (_, update) in content.updates { model.apply(update) }
      for input in content.inputs {
        switch input {
        case .typed(let bytes):
          for key in keys.keys(bytes) where !model.press(key) { return }
        case .resized, .resumed: painter.forget()
        }
      }
      for request in model.removeRequests() { inbox.ask(request) }
      try draw(&painter)
      if let end = content.end { return try end.get() }
    }
    try Task.checkCancellation()
  }

  private func draw(_ painter: inout ScreenPainter) throws {
    let size = console.size()
    let picture = model.picture(columns: size.columns, rows: size.rows)
    let bytes = painter.bytes(for: console.usesUnicode ? picture : picture.ascii)
    if !bytes.isEmpty { try terminal.write(bytes) }
  }
}
