extension TotalsReport {
  package init(_ counters: Counters, rejectedByReason: [String: Int] = [:]) {
    self.init(
      received: counters.received, applied: counters.applied, coalesced: counters.coalesced,
      rejected: counters.rejected, pending: counters.pending, rejectedByReason: rejectedByReason)
  }
}
