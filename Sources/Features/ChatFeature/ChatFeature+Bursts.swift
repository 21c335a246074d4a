import Analysis
import Composable
import LiveEvents

extension ChatFeature.State {
  /// Starts the analysis of the chat with the next message.
  package mutating func beginAnalysis() {
    waves = Bursts(through: total)
    folded = messages
    bookkeeping.analysis = BurstBookkeeping()
  }

  package var isAnalysing: Bool { bookkeeping.analysis?.underWay != nil }

  /// Whether there are current bursts of duplicates, which expire even without further messages.
  package var hasBursts: Bool { waves?.current.isEmpty == false }
}

extension ChatFeature {
  private struct AnalysisID: Hashable {}

  /// Restarts the analysis, or ends it.
  func setAnalysis(_ isWanted: Bool, in state: inout State) -> Effect<Action> {
    state.waves = nil
    state.folded = nil
    state.highlights = nil
    state.bookkeeping.analysis = nil
    state.bookkeeping.hiddenWords = nil
    if isWanted { state.beginAnalysis() }
    return .cancel(id: AnalysisID())
  }

  /// Passes the messages of a batch to the analysis.
  func analyse(
    _ batch: [TimedMessage], numberedFrom first: Int, without hidden: [Int], in state: inout State
  ) -> Effect<Action> {
    let left = state.bookkeeping.analysis?.add(batch, numberedFrom: first, without: hidden)
    guard let left else { return .none }
    if left > 0 { state.waves?.unanalysed += left }
    return beginRun(&state)
  }

  private func beginRun(_ state: inout State) -> Effect<Action> {
    endSilentBursts(&state)
    return state.bookkeeping.analysis?.begin() == true ? search(state) : .none
  }

  func endSilentBursts(_ state: inout State) {
    guard var bursts = state.waves, !bursts.current.isEmpty else { return }
    let now = state.bookkeeping.pace.now
    state.bookkeeping.analysis?.endSilent(&bursts, at: now)
    state.waves = bursts
  }

  /// Restarts the run that was in progress.
  func resumeRun(_ state: State) -> Effect<Action> {
    .merge(.cancel(id: AnalysisID()), search(state))
  }

  private func search(_ state: State) -> Effect<Action> {
    guard let analysis = state.bookkeeping.analysis, let batch = analysis.underWay,
      let bursts = state.waves
    else { return .none }
    let search = BurstSearch(
      run: analysis.run, batch: batch,
      waves: bursts.current.map { BurstSearch.Wave(number: $0.number, sample: $0.sample) },
      newest: bursts.newest)
    let client = dependencies[ChatAnalysis.self]
    return .run(name: "ChatFeature.analysis") { send in
      send(.analysed(try await client.search(search)))
    } catch: { _, send in
      send(.analysed(ChatFindings(run: search.run, unanalysed: search.batch.count)))
    }
    .cancellable(id: AnalysisID())
  }

  /// Applies the findings of a run of the analysis, and begins the next run.
  func apply(_ findings: ChatFindings, in state: inout State) -> Effect<Action> {
    guard var bursts = state.waves, let batch = state.bookkeeping.analysis?.underWay,
      findings.run == state.bookkeeping.analysis?.run
    else { return .none }
    let joined = state.bookkeeping.analysis?.end(findings, &bursts) ?? []
    fold(batch, joined, &bursts, in: &state)
    addHighlights(findings.highlights, in: &state)
    state.waves = bursts
    return beginRun(&state)
  }

  /// Adds to ``folded`` those messages of a batch that belong to no burst of duplicates. Removes
  /// from it messages that have joined a burst since they were added.
  private func fold(
    _ batch: MessageBatch, _ joined: Set<Int>, _ bursts: inout Bursts, in state: inout State
  ) {
    guard let analysis = state.bookkeeping.analysis else { return }
    if !joined.isEmpty, let remaining = state.folded?.removing(.ordinals(joined)) {
      state.folded = remaining
    }
    let last =
      analysis.pending.isEmpty ? state.total : analysis.window.ordinal(of: batch.end - 1) ?? 0
    let (messages, window, through) = (state.messages, analysis.window, bursts.through)
    var next = batch.first
    state.folded?.append(messages, after: through, through: last) { ordinal in
      while next < batch.end, window.ordinal(of: next) ?? 0 < ordinal { next += 1 }
      // A message that was not analysed belongs to no burst of duplicates.
      return window.ordinal(of: next) != ordinal || !window.isInBurst(next)
    }
    bursts.through = max(through, last)
  }
}
