import Composable
import ComposableTesting
import Foundation
import Testing
import ViewGraph

/// The feature that the article `ComingFromTCA` ports, after all steps of the article.
enum ChatRoom {
  struct Message: Codable, Equatable, Identifiable, Sendable {
    var id: Int
    var author: String
    var text: String
  }

  struct Preferences: Codable, Equatable, Sendable {
    var isMuted = false
  }

  struct ChatClient: DependencyValue {
    var search: @Sendable (String) async throws -> [Message]
    var delete: @Sendable (Int) async throws -> Void
    var messages: @Sendable () -> AsyncStream<Message>

    static var live: ChatClient {
      ChatClient(
        search: { _ in [] }, delete: { _ in }, messages: { AsyncStream { $0.finish() } })
    }
  }

  struct Today: DependencyValue {
    var now: @Sendable () -> Date

    static var live: Today { Today { Date() } }
  }

  @Reducer
  struct MessageRow {
    @ObservableState
    struct State: Equatable, Identifiable {
      var message: Message
      var isPinned = false
      var id: Int { message.id }
    }

    enum Action {
      case pinTapped
      case deleteTapped
    }

    var body: some ReducerOf<Self> {
      Reduce { state, action in
        switch action {
        case .pinTapped:
          state.isPinned.toggle()
          return .none
        case .deleteTapped:
          return .none
        }
      }
    }
  }

  @Reducer
  struct Composer {
    @ObservableState
    struct State: Equatable {
      var draft = Draft()
      var isSending = false
      var preferences = Preferences()
    }

    struct Draft: Equatable {
      var text = ""
      var mentions: [String] = []
    }

    enum Action {
      case binding(BindingAction<State>)
      case sendTapped
      case cancelTapped
      case muteTapped
      case preferences(SharedAction<Preferences>)
    }

    let preferences: Shared<Preferences>

    var body: some ReducerOf<Self> {
      BindingReducer(action: \.binding)
      Reduce { state, action in
        switch action {
        case .binding(\.draft.text):
          state.draft.mentions = state.draft.text.split(separator: " ")
            .filter { $0.hasPrefix("@") }.map(String.init)
          return .none
        case .binding, .preferences:
          return .none
        case .muteTapped:
          state.preferences.isMuted.toggle()
          return .none
        case .sendTapped:
          state.isSending = true
          return .none
        case .cancelTapped:
          return .dismiss
        }
      }
      .sharing(\.preferences, with: preferences, action: \.preferences)
    }
  }

  @Reducer
  struct Detail {
    @ObservableState
    struct State: Equatable {
      var message: Message
      var seconds = 0
    }

    enum Action {
      case task
      case ticked
      case profileTapped
      case closeTapped
    }

    let dependencies: Dependencies

    var body: some ReducerOf<Self> {
      Reduce { state, action in
        switch action {
        case .task:
          return .timer(every: .seconds(1), clock: dependencies.clock) { _ in .ticked }
        case .ticked:
          state.seconds += 1
          return .none
        case .profileTapped:
          return .none
        case .closeTapped:
          return .dismiss
        }
      }
    }
  }

  @Reducer
  struct Profile {
    @ObservableState
    struct State: Equatable {
      var name: String
    }

    enum Action {
      case blockTapped
    }

    var body: some ReducerOf<Self> {
      EmptyReducer()
    }
  }

  @Reducer
  struct Chat {
    @Reducer
    enum Destination {
      case alert(AlertState<Alert>)
      case composer(Composer)

      @CasePathable
      enum Alert: Equatable {
        case deleteConfirmed(id: Int)
      }
    }

    @Reducer
    enum Path {
      case detail(Detail)
      case profile(Profile)
    }

    @ObservableState
    struct State: Equatable {
      var rows: KeyedCollectionOf<MessageRow.State> = []
      var query = ""
      var isSearching = false
      var problem: String?
      var path = StackState<Path.State>()
      var destination: Destination.State?
      var preferences = Preferences()
    }

    enum Action {
      case task
      case composeTapped
      case muteTapped
      case messageReceived(Message)
      case searchResponse(Result<[Message], any Error>)
      case deleteResponse(Result<Void, any Error>)
      case rowsMoved(IndexSet, Int)
      case rowTapped(id: Int)
      case binding(BindingAction<State>)
      case rows(ElementActionOf<MessageRow>)
      case path(StackActionOf<Path>)
      case destination(PresentationAction<Destination.Action>)
      case preferences(SharedAction<Preferences>)
    }

    enum CancelID { case search, messages }

    let dependencies: Dependencies
    let preferences: Shared<Preferences>

    var body: some ReducerOf<Self> {
      BindingReducer(action: \.binding)
      Reduce { state, action in
        let chat = dependencies[ChatClient.self]
        switch action {
        case .task:
          return .run { send in
            for await message in chat.messages() { send(.messageReceived(message)) }
          }
          .cancellable(id: CancelID.messages, cancelInFlight: true)

        case .messageReceived(let message):
          guard !state.preferences.isMuted else { return .none }
          state.rows.insert(MessageRow.State(message: message), at: 0)
          if state.rows.count > 100 { state.rows.removeLast() }
          return .none

        case .binding(\.query):
          guard !state.query.isEmpty else {
            state.isSearching = false
            return .cancel(id: CancelID.search)
          }
          state.isSearching = true
          return .run { [query = state.query] send in
            await send(.searchResponse(Result { try await chat.search(query) }))
          }
          .debounce(id: CancelID.search, for: .milliseconds(300), clock: dependencies.clock)

        case .searchResponse(.success(let messages)):
          state.isSearching = false
          state.rows = KeyedCollection(
            uniqueElements: messages.map { MessageRow.State(message: $0) })
          return .none

        case .searchResponse(.failure(let error)):
          state.isSearching = false
          state.problem = "\(error)"
          return .none

        case .rowsMoved(let source, let destination):
          state.rows.move(fromOffsets: source, toOffset: destination)
          return .none

        case .rowTapped(let id):
          guard let row = state.rows[id: id] else { return .none }
          state.path.append(.detail(Detail.State(message: row.message)))
          return .none

        case .rows(.element(let id, .deleteTapped)):
          state.destination = .alert(.deletion(of: id))
          return .none

        case .composeTapped:
          state.destination = .composer(Composer.State(preferences: state.preferences))
          return .none

        case .muteTapped:
          preferences.change(&state.preferences) { $0.isMuted.toggle() }
          return .none

        case .destination(.presented(.alert(.deleteConfirmed(let id)))):
          state.rows.remove(id: id)
          return .run { send in
            await send(.deleteResponse(Result { try await chat.delete(id) }))
          }

        case .deleteResponse(.failure(let error)):
          state.problem = "\(error)"
          return .none

        case .destination(.presented(.composer(.sendTapped))):
          guard let composer = state.destination?.composer else { return .none }
          state.rows.updateOrAppend(
            MessageRow.State(
              message: Message(id: state.rows.count, author: "me", text: composer.draft.text)))
          state.destination = nil
          return .none

        case .path(.element(let id, .detail(.profileTapped))):
          guard let detail = state.path[id: id]?.detail else { return .none }
          state.path.append(.profile(Profile.State(name: detail.message.author)))
          return .none

        case .path(.element(let id, .profile(.blockTapped))):
          state.path.pop(from: id)
          return .none

        case .deleteResponse, .rows, .path, .destination, .binding, .preferences:
          return .none
        }
      }
      .forEach(\.rows, action: \.rows) { MessageRow() }
      .stack(\.path, action: \.path) {
        Path.Features(detail: Detail(dependencies: dependencies), profile: Profile())
      }
      .presents(\.destination, action: \.destination) {
        Destination.Features(composer: Composer(preferences: preferences))
      }
      .sharing(\.preferences, with: preferences, action: \.preferences)
    }
  }

  struct ChatView: View {
    static let name = "ChatView"

    func body(_ state: Observed<Chat.State>, _ context: ViewContext) -> ViewNode {
      .column(
        [
          .text(state.isSearching ? "searching" : "\(state.rows.count) messages"),
          context.child(ComposerView(), state, \.destination, case: \.composer),
        ]
          + context.each(
            state, \.path, CaseView(DetailView(), case: \.detail),
            CaseView(ProfileView(), case: \.profile)))
    }
  }

  struct ComposerView: View {
    static let name = "ComposerView"

    func body(_ state: Observed<Composer.State>, _ context: ViewContext) -> ViewNode {
      .text("draft: \(state.draft.text)")
    }
  }

  struct DetailView: View {
    static let name = "DetailView"

    func body(_ state: Observed<Detail.State>, _ context: ViewContext) -> ViewNode {
      .text("\(state.message.text), \(state.seconds) s")
    }
  }

  struct ProfileView: View {
    static let name = "ProfileView"

    func body(_ state: Observed<Profile.State>, _ context: ViewContext) -> ViewNode {
      .text("about \(state.name)")
    }
  }
}

extension AlertState<ChatRoom.Chat.Destination.Alert> {
  fileprivate static func deletion(of id: Int) -> Self {
    AlertState {
      "Delete the message?"
    } actions: {
      ButtonState(role: .destructive, action: .deleteConfirmed(id: id)) { "Delete" }
      ButtonState(role: .cancel) { "Keep" }
    }
  }
}

struct ComingFromTCATests {
  typealias Message = ChatRoom.Message
  typealias Chat = ChatRoom.Chat
  typealias Preferences = ChatRoom.Preferences
  typealias MessageRow = ChatRoom.MessageRow
  typealias Detail = ChatRoom.Detail
  typealias Profile = ChatRoom.Profile
  typealias Composer = ChatRoom.Composer

  private let clock = TestClock()
  private let preferences = Shared(Preferences())

  private func makeStore(
    rows: KeyedCollectionOf<MessageRow.State> = [], _ client: ChatRoom.ChatClient = .live
  ) -> TestStoreOf<Chat> {
    TestStore(initialState: Chat.State(rows: rows), clock: clock) {
      Chat(dependencies: .test(clock: clock).overriding(client), preferences: preferences)
    }
  }

  private func row(_ id: Int, _ text: String) -> MessageRow.State {
    MessageRow.State(message: Message(id: id, author: "Ada", text: text))
  }

  @Test func `a search starts after a pause in typing`() async {
    var client = ChatRoom.ChatClient.live
    client.search = { [Message(id: 1, author: "Ada", text: $0.uppercased())] }
    let store = makeStore(client)
    await store.send(\.binding.query, "h") {
      $0.query = "h"
      $0.isSearching = true
    }
    clock.advance(by: .milliseconds(200))
    await store.send(\.binding.query, "hi") { $0.query = "hi" }
    clock.advance(by: .milliseconds(300))
    await store.receive(\.searchResponse.success) {
      $0.isSearching = false
      $0.rows = [MessageRow.State(message: Message(id: 1, author: "Ada", text: "HI"))]
    }
    await store.send(\.binding.query, "") { $0.query = "" }
    await store.finish()
  }

  @Test func `a failed search shows its problem`() async {
    struct Offline: Error {}
    var client = ChatRoom.ChatClient.live
    client.search = { _ in throw Offline() }
    let store = makeStore(client)
    await store.send(\.binding.query, "h") {
      $0.query = "h"
      $0.isSearching = true
    }
    clock.advance(by: .milliseconds(300))
    await store.receive(\.searchResponse.failure) {
      $0.isSearching = false
      $0.problem = "Offline()"
    }
    await store.finish()
  }

  @Test func `new messages are inserted first, and rows can be pinned and moved`() async {
    var client = ChatRoom.ChatClient.live
    client.messages = {
      AsyncStream {
        $0.yield(Message(id: 2, author: "Ada", text: "b"))
        $0.finish()
      }
    }
    let store = makeStore(rows: [row(1, "a")], client)
    await store.send(.task)
    await store.receive(\.messageReceived) { [new = row(2, "b")] in $0.rows.insert(new, at: 0) }
    await store.send(\.rows[id: 2].pinTapped) { $0.rows[0].isPinned = true }
    await store.send(.rowsMoved([0], 2)) { $0.rows.move(fromOffsets: [0], toOffset: 2) }
    #expect(store.state.rows.ids == [1, 2])
    await store.finish()
  }

  @Test func `a message is deleted after the user confirms`() async {
    let store = makeStore(rows: [row(1, "a")])
    await store.send(\.rows[id: 1].deleteTapped) { $0.destination = .alert(.deletion(of: 1)) }
    await store.send(\.destination.presented.alert.deleteConfirmed, 1) { $0.rows = [] }
    await store.receive(\.destination.dismiss) { $0.destination = nil }
    await store.receive(\.deleteResponse.success)
    await store.finish()
  }

  @Test func `a failed deletion shows its problem`() async {
    struct Offline: Error {}
    var client = ChatRoom.ChatClient.live
    client.delete = { _ in throw Offline() }
    let store = makeStore(rows: [row(1, "a")], client)
    await store.send(\.rows[id: 1].deleteTapped) { $0.destination = .alert(.deletion(of: 1)) }
    await store.send(\.destination.presented.alert.deleteConfirmed, 1) { $0.rows = [] }
    await store.receive(\.destination.dismiss) { $0.destination = nil }
    await store.receive(\.deleteResponse.failure) { $0.problem = "Offline()" }
    await store.finish()
  }

  @Test func `a draft is edited, and then sent or cancelled`() async {
    let store = makeStore()
    await store.send(.composeTapped) { $0.destination = .composer(Composer.State()) }
    await store.send(\.destination.presented.composer.cancelTapped)
    await store.receive(\.destination.dismiss) { $0.destination = nil }
    await store.send(.composeTapped) { $0.destination = .composer(Composer.State()) }
    await store.send(\.destination.presented.composer.binding, .set(\.draft.text, "hi @ada")) {
      $0.destination?.modify(\.composer) {
        $0.draft.text = "hi @ada"
        $0.draft.mentions = ["@ada"]
      }
    }
    await store.send(\.destination.presented.composer.sendTapped) {
      $0.destination = nil
      $0.rows = [
        MessageRow.State(message: Message(id: 0, author: "me", text: "hi @ada"))
      ]
    }
    await store.finish()
  }

  @Test func `screens are pushed and popped, and popping a screen ends its timer`() async {
    let store = makeStore(rows: [row(1, "a")])
    let message = Message(id: 1, author: "Ada", text: "a")
    await store.send(.rowTapped(id: 1)) { $0.path = [.detail(Detail.State(message: message))] }
    await store.send(\.path[id: 0].detail.task)
    clock.advance(by: .seconds(1))
    await store.receive(\.path[id: 0].detail.ticked) {
      $0.path[id: 0]?.modify(\.detail) { $0.seconds = 1 }
    }
    await store.send(\.path[id: 0].detail.profileTapped) {
      $0.path.append(.profile(Profile.State(name: "Ada")))
    }
    await store.send(\.path[id: 1].profile.blockTapped) { $0.path.pop(from: 1) }
    await store.send(\.path.popFrom, 0) { $0.path = [] }
    clock.advance(by: .seconds(5))
    await store.finish()
  }

  @Test func `a screen that dismisses itself is popped by an action`() async {
    let store = makeStore(rows: [row(1, "a")])
    let message = Message(id: 1, author: "Ada", text: "a")
    await store.send(.rowTapped(id: 1)) { $0.path = [.detail(Detail.State(message: message))] }
    await store.send(\.path[id: 0].detail.closeTapped)
    await store.receive(\.path.popFrom, 0) { $0.path = [] }
    await store.finish()
  }

  @Test func `muting in the composer changes the preference in both the parent and the child`()
    async
  {
    let store = makeStore()
    await store.send(.composeTapped) { $0.destination = .composer(Composer.State()) }
    await store.send(\.destination.presented.composer.muteTapped) {
      $0.preferences.isMuted = true
      $0.destination?.modify(\.composer) { $0.preferences.isMuted = true }
    }
    #expect(preferences.value.isMuted)
    await store.finish()
  }

  @Test func `muting changes the shared value`() async {
    let store = makeStore()
    await store.send(.muteTapped) { $0.preferences.isMuted = true }
    #expect(preferences.value.isMuted)
    await store.send(.messageReceived(Message(id: 1, author: "Ada", text: "a")))
    await store.finish()
  }

  @Test func `each screen is shown by its view`() {
    let store = Store(
      initialState: Chat.State(rows: [row(1, "a")]), lane: DirectLane(), notification: .batched
    ) {
      Chat(
        dependencies: .test(clock: clock).overriding(ChatRoom.ChatClient.live),
        preferences: preferences)
    }
    let graph = ViewGraph(
      ChatRoom.ChatView(), place: store.place, clock: { 0 }, read: { store.state })
    func lines() -> [String] {
      store.deliverChanges()
      graph.evaluateFrame()
      guard case .column(let nodes) = graph.screen() else { return [] }
      return nodes.compactMap { if case .text(let text, _) = $0 { text } else { nil } }
    }
    #expect(lines() == ["1 messages"])
    store.send(.rowTapped(id: 1))
    store.send(.path(.element(id: 0, action: .detail(.profileTapped))))
    store.send(.composeTapped)
    #expect(lines() == ["1 messages", "draft: ", "a, 0 s", "about Ada"])
    store.send(.path(.popFrom(id: 0)))
    store.send(.destination(.dismiss))
    #expect(lines() == ["1 messages"])
  }
}
