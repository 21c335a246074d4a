import Composable
import ComposableTesting

// The examples of features that also exist in TCA: stacks, elements, bindings and alerts.
extension CommentExamples {
  typealias SongScreen = Chat
  typealias AlbumScreen = Chat

  @Reducer enum Screens { case song(SongScreen); case album(AlbumScreen) }

  @Reducer
  struct Track {
    @ObservableState
    struct State: Equatable, Identifiable {
      var id = 0
      var title = ""
    }

    enum Action { case deleteTapped }

    var body: some ReducerOf<Self> { EmptyReducer() }
  }

  @Reducer
  struct Library {
    typealias Row = Track

    @ObservableState
    struct State {
      var rows: KeyedCollectionOf<Row.State> = []
      var name = ""
      var path = StackState<Screens.State>()
      var destination: Destination?
    }

    @ObservableState enum Destination { case settings(Track.State) }

    enum Action {
      case rows(ElementActionOf<Row>)
      case path(StackActionOf<Screens>)
      case binding(BindingAction<State>)
      case nameChanged
      case response(Result<String, any Error>)
    }

    let client: SongClient

    var body: some ReducerOf<Self> {
      BindingReducer(action: \.binding)
      Reduce { state, action in
        switch action {
        case .rows(.element(id: let id, action: .deleteTapped)): state.rows.remove(id: id)
        case .binding(\.name): return .send(.nameChanged)
        case .binding: return .none
        case .nameChanged:
          state.destination?.modify(\.settings) { $0.title = "Evening" }
          return .run { send in
            await send(.response(Result { try await client.next() }))
          }
        default: break
        }
        return .none
      }
      Reduce { _, _ in .none }.stack(\.path, action: \.path) {
        Screens.Features(song: SongScreen(), album: AlbumScreen())
      }
    }
  }

  @Reducer
  struct Stack {
    @ObservableState struct State { var path = StackState<Screen.State>() }
    enum Action {
      case path(StackActionOf<Screen>)
    }

    var body: some ReducerOf<Self> {
      Reduce { _, _ in .none }.stack(\.path, action: \.path) { Screen() }
    }
  }

  static func rename(_ store: Store<Library.State, Library.Action>) {
    store.send(.binding(.set(\.name, "Ada")))
  }

  static var question: AlertState<AlertAction> {
    AlertState {
      "Delete it?"
    } actions: {
      ButtonState(role: .destructive, action: .deleteConfirmed) { "Delete" }
      ButtonState(role: .cancel) { "Keep" }
    } message: {
      "It cannot be restored."
    }
  }
}
