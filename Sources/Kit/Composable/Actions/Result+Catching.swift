extension Result where Failure == any Error {
  /// The outcome of asynchronous work, as an action takes it.
  ///
  ///     await send(.response(Result { try await client.next() }))
  ///
  /// A cancellation is a failure as well; what a cancelled effect sends is dropped.
  public init(
    catching body: () async throws -> Success, isolation: isolated (any Actor)? = #isolation
  ) async {
    do {
      self = .success(try await body())
    } catch {
      self = .failure(error)
    }
  }
}
