import BoxOffice

@main struct Main {
  static func main() async throws {
    print(
      try await simulate(seed: CommandLine.arguments.dropFirst().first.flatMap(UInt64.init) ?? 0))
  }
}
