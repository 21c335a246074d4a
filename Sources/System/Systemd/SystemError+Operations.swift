package import SystemSupport

extension SystemError.Operation {
  package static let notify = Self("notify")
  package static let notifyBarrier = Self("notify barrier")
  package static let readWatchdogInterval = Self("read watchdog interval")
  package static let takeDescriptors = Self("take passed descriptors")
  package static let openJournal = Self("open journal")
  package static let matchJournal = Self("match journal entries")
  package static let seekJournal = Self("seek journal")
  package static let readJournal = Self("read journal")
  package static let waitForJournal = Self("wait for journal")
}
