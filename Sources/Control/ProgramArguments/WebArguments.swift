package import ArgumentParser

/// The arguments for the people with personal links to the page. `livehostctl web people` checks
/// the arguments, and passes them unchanged to `livehost-web people`.
package struct WebPeopleArguments: ParsableArguments {
  package enum Action: String, Sendable, CaseIterable, ExpressibleByArgument {
    case list, add, revoke, rotate
  }

  package static let roles = ["viewer", "moderator", "host"]

  @Argument(help: "list, add, revoke or rotate.") package var action = Action.list
  @Argument(help: "Name of the person to add or revoke, or whose link to replace.")
  package var name: String?
  @Option(
    help: ArgumentHelp(
      "Role of the person: viewer, moderator or host. Required by add.", valueName: "role"),
    completion: .list(roles))
  package var role: String?
  @Option(
    help: ArgumentHelp(
      "Time at which the link becomes invalid, such as 7d, 2026-12-31 or '2026-12-31 20:00'; none "
        + "if it stays valid. Default: none.", valueName: "time"))
  package var expires: String?
  @Flag(help: "Also print the new link as a QR code.") package var qr = false
  @Option(
    help: ArgumentHelp(
      "Address with which the new link begins. Default: that of the running service, otherwise "
        + "http://127.0.0.1:8317.", valueName: "address"))
  package var url: String?
  @Option(
    help: ArgumentHelp(
      "File of the people. Default for root: /var/lib/livehost-web/people; for other users: "
        + "livehost/people in the user's state directory.", valueName: "file"),
    completion: .file())
  package var file: String?

  package init() {}

  package func validate() throws {
    guard action == .list || name != nil else {
      throw ValidationError("'\(action.rawValue)' requires the name of a person")
    }
    if action == .list, let name {
      throw ValidationError("'list' takes no name, but '\(name)' is given")
    }
    if let role, !Self.roles.contains(role) {
      throw ValidationError("--role must be viewer, moderator or host")
    }
    guard action != .add || role != nil else {
      throw ValidationError("'add' requires --role: viewer, moderator or host")
    }
    let makesLink = action == .add || action == .rotate
    guard makesLink || (role == nil && expires == nil && url == nil && !qr) else {
      throw ValidationError("--role, --expires, --url and --qr are only for add and rotate")
    }
    if let expires, expires != "none" {
      do {
        _ = try PointInTime(expires, forward: true)
      } catch {
        throw ValidationError("--expires: \(error)")
      }
    }
  }

  /// The time of expiry in milliseconds since 1970: `.some(nil)` for `none`, nil if the option is
  /// absent.
  package var expiry: Int?? {
    guard let expires else { return nil }
    // `validate` has checked the text.
    return .some((try? PointInTime(expires, forward: true))?.milliseconds)
  }
}

/// The arguments for printing the links of the service.
package struct WebLinkArguments: ParsableArguments {
  @Flag(help: "Also print the link of the page as a QR code.") package var qr = false
  @Option(
    help: ArgumentHelp("File to which the service wrote its links.", valueName: "file"),
    completion: .file())
  package var linkFile = "/run/livehost-web/link"

  package init() {}
}
