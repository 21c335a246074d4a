import Glibc

/// The account of the user who runs the program.
enum UserAccount {
  /// Returns the name of the account, which the screen shows as the author of an act; nil if the
  /// system has no name for the account.
  static func name(_ environment: ProcessEnvironment) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16 * 1024) { buffer in
      guard let start = buffer.baseAddress else { return nil }
      var account = passwd()
      var found: UnsafeMutablePointer<passwd>?
      getpwuid_r(environment.userID, &account, start, buffer.count, &found)
      return found == nil ? nil : String(cString: account.pw_name)
    }
  }
}
