import JSON
import LiveEvents

extension HeaderEvent: NativeEvent {
  enum NativeType: String, CaseIterable { case reaction, viewers, title, category }

  var nativeType: NativeType {
    switch self {
    case .reaction: .reaction
    case .viewers: .viewers
    case .title: .title
    case .category: .category
    }
  }

  init(_ type: NativeType, from line: borrowing NativeMembers) throws(RejectionReason) {
    self =
      switch type {
      case .reaction:
        .reaction(
          kind: try line.name(.kind), count: try line.integer(.count, in: EventLimits.count))
      case .viewers: .viewers(count: try line.integer(.count, in: EventLimits.count))
      case .title: .title(try line.text(.title).cut(to: EventLimits.titleLength))
      case .category: .category(try line.text(.title).cut(to: EventLimits.nameLength))
      }
  }

  func write(to object: inout JSONWriter) {
    switch self {
    case .reaction(let kind, let count):
      object.add("kind", kind)
      object.add("count", count)
    case .viewers(let count): object.add("count", count)
    case .title(let title), .category(let title): object.add("title", title)
    }
  }
}
