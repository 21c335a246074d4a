import Platform

/// What a live screen shows, and how it reacts to keys.
package protocol ScreenModel: Sendable {
  /// The updates that it shows.
  associatedtype News: Sendable

  mutating func update(_ news: News)
  /// - Returns: Whether the screen stays.
  mutating func press(_ key: Key) -> Bool
  func picture(columns: Int, rows: Int) -> CellGrid
}

/// What came in for a screen since it looked last. The newest news of each source stay, so that a
/// screen on a slow line shows what is, not what was.
package final class ScreenInbox<News: Sendable>: Sendable {
  package struct Content: Sendable {
    /// By number of the source.
    package var news: [Int: News] = [:]
    package var inputs: [Terminal.Input] = []
    /// How the source of the news ended.
    package var end: Result<Void, any Error>?
  }

  private let content = Guarded(Content())
  /// Yields when something came in.
  let wakes: AsyncStream<Void>
  private let wake: AsyncStream<Void>.Continuation

  package init() {
    (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  package func post(_ news: News, from source: Int = 0) { change { $0.news[source] = news } }
  func post(_ input: Terminal.Input) { change { $0.inputs.append(input) } }
  func end(_ result: Result<Void, any Error>) { change { $0.end = $0.end ?? result } }

  func take() -> Content {
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

/// Shows a model on a terminal until the host has seen enough.
struct LiveScreen<Model: ScreenModel> {
  let console: Console
  let terminal: Terminal
  var model: Model

  init(_ model: Model, _ console: Console, _ terminal: Terminal) {
    self.model = model
    self.console = console
    self.terminal = terminal
  }

  /// - Parameter source: Posts news; when it returns or throws, so does this.
  /// - Throws: What `source` throws, `CancellationError` if the task is cancelled, or
  ///   ``OutputClosed``.
  mutating func run(
    _ source: @escaping @Sendable (ScreenInbox<Model.News>) async throws -> Void
  ) async throws {
    let inbox = ScreenInbox<Model.News>()
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

  private mutating func show(_ inbox: ScreenInbox<Model.News>) async throws {
    var painter = ScreenPainter(usesColor: console.usesColor)
    var keys = KeyParser()
    try draw(&painter)
    for await _ in inbox.wakes {
      let content = inbox.take()
      for (_, news) in content.news.sorted(by: { $0.key < $1.key }) { model.update(news) }
      for input in content.inputs {
        switch input {
        case .typed(let bytes):
          for key in keys.keys(bytes) where !model.press(key) { return }
        case .resized, .resumed: painter.forget()
        }
      }
      try draw(&painter)
      if let end = content.end { return try end.get() }
    }
    try Task.checkCancellation()
  }

  private func draw(_ painter: inout ScreenPainter) throws {
    let size = console.size()
    let picture = model.picture(columns: size.columns, rows: size.rows)
    let bytes = painter.bytes(for: console.usesUnicode ? picture : picture.inASCII)
    if !bytes.isEmpty { try terminal.write(bytes) }
  }
}
