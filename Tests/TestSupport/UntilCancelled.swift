/// Suspends the task until it is cancelled.
public func untilCancelled() async throws {
  let (waits, continuation) = AsyncStream.makeStream(of: Void.self)
  for await _ in waits {}
  continuation.finish()
  try Task.checkCancellation()
}
