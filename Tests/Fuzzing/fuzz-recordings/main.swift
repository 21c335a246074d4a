import FuzzSupport

try fuzz(["recording": { try RecordingParser() }, "recovery": { try RecoveryParser() }])
