/// The newest evaluations of each kind of view.
///
/// A bounded ring per name. Not `Sendable`: belongs to the lane of its graph.
public struct EvaluationLog {
  private var rings: [String: Ring] = [:]
  private let capacity: Int

  /// - Parameter capacity: how many evaluations of one kind of view are kept.
  public init(capacity: Int = 64) {
    precondition(capacity > 0)
    self.capacity = capacity
  }

  /// Adds a record; the oldest of its view goes if there are too many. O(1).
  public mutating func add(_ record: EvaluationRecord) {
    rings[record.name, default: Ring()].add(record, capacity)
  }

  /// The records of the views of this name, oldest first.
  public func records(of view: String) -> [EvaluationRecord] { rings[view]?.ordered ?? [] }

  private struct Ring {
    var records: [EvaluationRecord] = []
    /// Index of the oldest record once the ring is full.
    var oldest = 0

    mutating func add(_ record: EvaluationRecord, _ capacity: Int) {
      if records.count < capacity {
        records.append(record)
      } else {
        records[oldest] = record
        oldest = (oldest + 1) % capacity
      }
    }

    var ordered: [EvaluationRecord] { Array(records[oldest...] + records[..<oldest]) }
  }
}
