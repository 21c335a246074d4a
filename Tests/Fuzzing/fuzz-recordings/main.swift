import FuzzSupport

try fuzz([
  "recording": { RecordingParser() },
  "recovery": { try RecoveryParser() },
  "chainedrecording": { ChainedRecordingParser() },
  "chainedrecovery": { try ChainedRecoveryParser() },
  "log": { LogParser() },
])
