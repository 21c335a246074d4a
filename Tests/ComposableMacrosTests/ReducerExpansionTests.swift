import Testing

struct ReducerExpansionTests {
  @Test func `the action of a reducer gets paths, and a reducer without a body is called directly`()
  {
    let expansion = Expansion(
      """
      @Reducer
      struct Feature {
        enum Action {
          case tapped
          case loaded(name: String, size: Int)
        }
        func reduce(into state: inout State, action: Action) -> Effect<Action> { .none }
      }
      """)
    #expect(expansion.messages == [])
    #expect(
      expansion.text == """
        struct Feature {
          enum Action {
            case tapped
            case loaded(name: String, size: Int)
            struct Cases: Sendable {
              var tapped: Composable.CasePath<Action, Void> {
                Composable.CasePath(tag: 0, name: "tapped", embed: { _ in
                    .tapped
                  }, extract: { root in
                    if case .tapped = root {
                      ()
                    } else {
                      nil
                    }
                  })
              }
              var loaded: Composable.CasePath<Action, (name: String, size: Int)> {
                Composable.CasePath(tag: 1, name: "loaded", embed: { value in
                    .loaded(name: value.0, size: value.1)
                  }, extract: { root in
                    if case .loaded(let v0, let v1) = root {
                      (v0, v1)
                    } else {
                      nil
                    }
                  })
              }
            }
            struct CaseLenses: Sendable {
              var tapped: Case_tapped {
                Case_tapped()
              }
              struct Case_tapped: Composable.CaseLens {
                typealias Root = Action
                typealias Value = Void
                static var tag: Int {
                  0
                }
                @inline(__always) static func embed(_ value: Value) -> Root {
                  .tapped
                }
                @inline(__always) static func extract(_ root: Root) -> Value? {
                  if case .tapped = root {
                    ()
                  } else {
                    nil
                  }
                }
              }
              var loaded: Case_loaded {
                Case_loaded()
              }
              struct Case_loaded: Composable.CaseLens {
                typealias Root = Action
                typealias Value = (name: String, size: Int)
                static var tag: Int {
                  1
                }
                @inline(__always) static func embed(_ value: Value) -> Root {
                  .loaded(name: value.0, size: value.1)
                }
                @inline(__always) static func extract(_ root: Root) -> Value? {
                  if case .loaded(let v0, let v1) = root {
                    (v0, v1)
                  } else {
                    nil
                  }
                }
              }
            }
            static var _$cases: Cases {
              Cases()
            }
            static var _$caseNames: [String] {
              ["tapped", "loaded"]
            }
            var _$tag: Int {
              switch self {
              case .tapped:
                0
              case .loaded:
                1
              }
            }
          }
          func reduce(into state: inout State, action: Action) -> Effect<Action> { .none }
        }
        extension Feature.Action: Composable.CasePathable {
        }
        extension Feature: Composable.Reducer {
          typealias Prepared = Composable.CountingReducer<Feature>
        }
        """)
  }

  @Test func `a reducer with a body becomes one function`() {
    let expansion = Expansion(
      """
      @Reducer
      public struct Parent {
        public var body: some ReducerOf<Self> { EmptyReducer() }
      }
      """)
    #expect(expansion.messages == [])
    #expect(
      expansion.text == """
        public struct Parent {
          @Composable.ReducerBuilder<State, Action>
          public var body: some ReducerOf<Self> { EmptyReducer() }
        }
        extension Parent: Composable.Reducer {
          public typealias Prepared = Composable.ReducerSteps<State, Action>
        }
        """)
  }

  @Test func `an enum of features gets a state, an action and a combined reducer`() {
    let expansion = Expansion(
      """
      @Reducer
      public enum Destination {
        case add(AddSong)
        case edit(Songs.Edit)
      }
      """)
    #expect(expansion.messages == [])
    for line in [
      "case add(AddSong.State)", "case edit(Songs.Edit.State)", "case add(AddSong.Action)",
      "public struct Features: Composable.Reducer {", "public var edit: Songs.Edit",
      "public init(add: AddSong, edit: Songs.Edit) {",
      "Composable.EmptyReducer<State, Action>().ifCaseLet(\\.add, action: \\.add) {",
    ] { #expect(expansion.text.contains(line), "\(line)") }
    #expect(!expansion.text.contains("extension Destination: Composable.Reducer"))
  }

  @Test func `an alert in an enum of features needs no reducer`() {
    let expansion = Expansion(
      """
      @Reducer
      enum Destination {
        case alert(AlertState<Answer>)
        case edit(Edit)
      }
      """)
    #expect(expansion.messages == [])
    for line in [
      "case alert(AlertState<Answer>)", "case alert(Answer)", "var alert: Composable.Alert<Answer>",
      "init(alert: Composable.Alert<Answer> = Composable.Alert(), edit: Edit) {",
      "extension Destination: Composable.FeatureTypes {",
    ] { #expect(expansion.text.contains(line), "\(line)") }
  }

  @Test func `a feature that declares its types conforms to FeatureTypes`() {
    let expansion = Expansion(
      """
      @Reducer
      struct Feature {
        @ObservableState struct State {}
        typealias Action = Never
        func reduce(into state: inout State, action: Action) -> Effect<Action> { .none }
      }
      """)
    #expect(
      expansion.text.contains("extension Feature: Composable.Reducer, Composable.FeatureTypes {"))
  }
}
