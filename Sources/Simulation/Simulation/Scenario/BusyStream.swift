extension Scenario {
  /// Returns a scenario that lasts four minutes and is used to measure the screen. Every part of
  /// the host's screen has content, and the chat is occasionally busy.
  package static func busyStream() throws -> Scenario {
    let device = "costs: {action: 0ms}"
    let files = ScenarioFiles(
      read: { $0.hasSuffix("devices/here.yaml") ? Array(device.utf8) : nil }, list: { _ in [] })
    return try Scenario(text, SimulationOptions(path: "busy-stream.yaml", files: files))
  }

  private static let text = """
    name: busy stream
    duration: 4m
    devices: [here]
    events:
      - {event: {type: stream, state: waiting}, at: 0s}
      - {generate: waiting.join, stages: [{rate: 4/s, for: 20s}]}
      - {event: {type: stream, state: live}, at: 20s}
      - {event: {type: recorder.state, state: recording}, at: 25s}
      - {generate: recorder.progress, arrival: even, from: 26s, rate: 2/s}
      - generate: chat.message
        from: 1s
        people: 500
        stages: [{rate: 2/s, for: 30s}, {rate: 30/s, for: 60s}, {rate: 400/s, for: 30s}, {rate: 20/s, for: 110s}]
      - {generate: chat.notice, kind: giftBomb, size: 50, arrival: even, from: 30s, stages: [{rate: 3/m, for: 200s}]}
      - {generate: chat.delete, from: 30s, rate: 10/m}
      - {generate: chat.timeout, from: 30s, rate: 4/m}
      - {generate: viewers, arrival: even, from: 20s, rate: 1/s}
      - {generate: stats, arrival: even, from: 20s, rate: 1/s}
      - {generate: reaction, from: 20s, rate: 5/s}
      - {generate: meter, arrival: even, rate: 10/s}
      - {generate: slider, from: 2s, rate: 10/m}
      - {generate: tap, from: 2s, rate: 10/m}
      - {generate: title, arrival: even, from: 20s, rate: 2/m}
    """
}
