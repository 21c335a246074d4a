import Gateway
import JSON
import LiveEvents
import RateLimiting
import TestSupport
import Testing

/// Nodes and the bucket of leases on virtual time, with the messages in flight between them. Each
/// message takes 1 to 60 ms. Messages from a node to the servers stay in order, and so do the
/// answers and the entries of the watch, separately.
private struct Network {
  private enum Message {
    case put(String, JSONValue?, expected: UInt64?, from: String, request: Int?)
    case answer(String, request: Int, sequence: UInt64?)
    case heard(String, key: String, JSONValue?, sequence: UInt64, written: Instant)
    case loaded(String, Partition)
  }

  private var random: SplitMix64
  private(set) var now = Instant.origin
  private var messages: [(due: Instant, number: Int, message: Message)] = []
  private var number = 0
  /// The time at which the last message of each channel arrives.
  private var last: [String: Instant] = [:]
  private var bucket = Bucket()
  private(set) var nodes: [String: LeaseKeeper] = [:]

  init(_ names: [String], seed: UInt64) {
    random = SplitMix64(seed: seed)
    for name in names {
      nodes[name] = LeaseKeeper(.init(node: name, instance: name, address: name))
      nodes[name]!.becameCurrent(at: now)
    }
  }

  func owners(_ partition: Partition) -> [String] {
    nodes.keys.sorted().filter { nodes[$0]!.partitions.contains(partition) }
  }

  var isWhole: Bool { Partition.all.allSatisfy { owners($0).count == 1 } }

  /// Runs until `isDone` is true. Returns how long that took, or `nil` if it exceeds the limit.
  mutating func run(atMost limit: Interval, until isDone: (Network) -> Bool) -> Interval? {
    let start = now
    while now - start < limit {
      now = now + .milliseconds(1)
      let milliseconds = (now - .origin).nanoseconds / 1_000_000
      for (index, name) in nodes.keys.sorted().enumerated()
      where milliseconds % 100 == index * 37 % 100 {
        perform(nodes[name]!.tick(at: now), of: name)
      }
      while let first = messages.first, first.due <= now {
        messages.removeFirst()
        deliver(first.message)
      }
      if isDone(self) { return now - start }
    }
    return nil
  }

  mutating func drain(_ name: String, _ reason: LeaseKeeper.DrainReason = .ending) {
    perform(nodes[name]!.drain(reason), of: name)
  }

  mutating func resume(_ name: String, _ reason: LeaseKeeper.DrainReason) {
    perform(nodes[name]!.resume(reason), of: name)
  }

  private mutating func send(_ message: Message, over way: String, within limit: Int64 = 60) {
    let due = now + .milliseconds(Int64.random(in: 1...limit, using: &random))
    let inOrder = max(due, last[way] ?? due)
    last[way] = inOrder
    number += 1
    let index = messages.firstIndex { $0.due > inOrder } ?? messages.count
    messages.insert((inOrder, number, message), at: index)
  }

  private mutating func deliver(_ message: Message) {
    switch message {
    case .put(let key, let value, let expected, let name, let request):
      let sequence = bucket.write(key, value, expected: expected, at: now)
      if let sequence {
        for node in nodes.keys.sorted() {
          send(
            .heard(node, key: key, value, sequence: sequence, written: now), over: "watch \(node)")
        }
      }
      if let request {
        send(.answer(name, request: request, sequence: sequence), over: "back \(name)")
      }
    case .answer(let name, let request, let sequence):
      perform(nodes[name]!.answered(request, sequence: sequence, at: now), of: name)
    case .heard(let name, let key, let value, let sequence, let written):
      perform(
        nodes[name]!.observed(
          key: key, value: value, sequence: sequence, written: Bucket.time(written), at: now),
        of: name)
    case .loaded(let name, let partition): nodes[name]!.mark(partition, isLoading: false)
    }
  }

  private mutating func perform(_ actions: [LeaseKeeper.Action], of name: String) {
    for action in actions {
      switch action {
      case .put(let key, let value, let expected, let request):
        send(
          .put(key, value, expected: expected, from: name, request: request), over: "to \(name)")
      case .delete(let key, let expected):
        send(
          .put(key, nil, expected: expected == 0 ? nil : expected, from: name, request: nil),
          over: "to \(name)")
      case .began(let partition, _):
        send(.loaded(name, partition), over: "loads \(name) \(partition)", within: 400)
      case .ended, .nameTaken: break
      }
    }
  }
}

@Suite(.timeLimit(.minutes(1)))
struct LeasesUnderWayTests {
  @Test(arguments: 1...60)
  func `the partitions of a node that drains at any moment have new owners within a second`(
    seed: UInt64
  ) throws {
    var network = Network(["a", "b", "c"], seed: seed)
    _ = try #require(network.run(atMost: .seconds(20)) { $0.isWhole })
    // At this moment, the nodes need not have their full shares yet.
    let moment = network.now + .milliseconds(Int64(seed) * 137)
    _ = network.run(atMost: .seconds(20)) { $0.now >= moment }
    if seed % 2 == 0 {
      // Another node is resumed at the moment of the drain.
      network.drain("c", .administrator)
      _ = network.run(atMost: .seconds(5)) { $0.isWhole }
      network.resume("c", .administrator)
      _ = network.run(atMost: .milliseconds(Int64(seed) * 40)) { _ in false }
    }
    network.drain("b")
    let time = try #require(network.run(atMost: .seconds(10)) { $0.isWhole })
    #expect(time <= .seconds(1))
    #expect(network.nodes["b"]!.partitions.isEmpty)
  }
}
