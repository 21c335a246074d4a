import Dispatch

/// Calls an asynchronous function from a thread of no executor.
func wait<Value: Sendable>(
  _ body: @escaping @Sendable () async throws -> Value
) throws -> Value {
  let done = DispatchSemaphore(value: 0)
  nonisolated(unsafe) var result: Result<Value, any Error>?
  Task.detached {
    do { result = .success(try await body()) } catch { result = .failure(error) }
    done.signal()
  }
  done.wait()
  guard let result else { fatalError("the task has ended") }
  return try result.get()
}
