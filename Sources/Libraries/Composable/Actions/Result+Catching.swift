extension Result where Failure == any Error {
  /// Makes a result from asynchronous work, to be sent as an action.
  ///
  ///     await send(.response(Result { try await client.next() }))
  ///
  /// A cancellation also becomes a failure, but the store drops all actions of a cancelled effect.
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
