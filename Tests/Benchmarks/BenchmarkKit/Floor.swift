/// The baseline of the benchmarks: five children in a plain struct, and a nested switch, without a
/// library.
struct Floor {
  private enum Action {
    case chat(Child)
    case control(Child)
    case header(Child)
    case stats(Child)
    case recorder(Child)

    enum Child {
      case add(Int)
      case reset
    }
  }

  private struct Child {
    var count = 0
    mutating func reduce(_ action: Action.Child) {
      switch action {
      case .add(let amount): count &+= amount
      case .reset: count = 0
      }
    }
  }

  private var chat = Child()
  private var control = Child()
  private var header = Child()
  private var stats = Child()
  private var recorder = Child()

  init() {}

  mutating func step(_ index: Int) { reduce(Self.action(index)) }

  @inline(never)
  private static func action(_ index: Int) -> Action {
    switch index % 5 {
    case 0: .chat(.add(index))
    case 1: .control(.add(index))
    case 2: .header(.reset)
    case 3: .stats(.add(index))
    default: .recorder(.add(index))
    }
  }

  @inline(never)
  private mutating func reduce(_ action: Action) {
    switch action {
    case .chat(let action): chat.reduce(action)
    case .control(let action): control.reduce(action)
    case .header(let action): header.reduce(action)
    case .stats(let action): stats.reduce(action)
    case .recorder(let action): recorder.reduce(action)
    }
  }
}
