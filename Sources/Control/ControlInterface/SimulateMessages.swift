public import JSON

/// The parameters of `Simulate`: a scenario with all files that it names, since the daemon reads none.
public struct SimulateRequest: Codable, Sendable, Equatable {
  public struct File: Codable, Sendable, Equatable {
    public var path: String
    /// Its bytes in base 64.
    public var contents: String

    public init(path: String, contents: String) {
      self.path = path
      self.contents = contents
    }
  }

  /// Where the scenario came from; names it in errors, and ``files`` are looked for around it.
  public var path: String
  public var scenario: String
  public var files: [File]
  /// Devices instead of the scenario's; empty leaves these.
  public var devices: [String] = []
  /// The variants to run; empty runs all.
  public var variants: [String] = []
  /// Instead of the scenario's.
  public var seed: Int?
  /// As given to `--set`.
  public var settings: [String] = []
  /// Beside those of the scenario.
  public var thresholds: [String] = []
  /// Whether the reply has a page with charts.
  public var wantsPage = false
  /// Whether the reply has a trace.
  public var wantsTrace = false

  public init(path: String, scenario: String, files: [File]) {
    self.path = path
    self.scenario = scenario
    self.files = files
  }
}

/// A reply of `Simulate`: progress, and at last the report.
public struct SimulateReply: Codable, Sendable, Equatable {
  /// The share done; 100 in the last reply.
  public var percent: Int
  /// The report, in the form of `livehostctl simulate --json`.
  public var report: JSONValue?
  /// The same as lines for people.
  public var lines: [String]?
  /// Thresholds that were not met, as lines for people.
  public var missed: [String]?
  public var page: String?
  /// A part of the trace: the parts of all replies, put together, are the trace.
  public var trace: String?

  public init(percent: Int) { self.percent = percent }

  /// Takes the trace out, as replies of their own.
  mutating func takeTraceParts() -> [SimulateReply] {
    guard let scalars = trace?.unicodeScalars else { return [] }
    trace = nil
    var parts: [SimulateReply] = []
    var rest = scalars[...]
    while !rest.isEmpty {
      var part = SimulateReply(percent: percent)
      part.trace = String(rest.prefix(Self.partLength))
      parts.append(part)
      rest = rest.dropFirst(Self.partLength)
    }
    return parts
  }

  /// Characters of a trace in one reply.
  private static let partLength = 500_000
}
