import ArgumentParser
import ControlInterface
import JSON
import LiveEvents
import TerminalScreen
import Wording

struct SetVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "set", abstract: "Set a slider or a switch.",
    discussion: """
      Setting a slider does not interrupt a drag; the slider's final value is the one at the end \
      of the drag. The switch endStream asks for confirmation: set it on again to end the stream, \
      or off to cancel. If a controller handles the room's requests, such as a program that drives \
      OBS, waits for the controller's answer, and fails if the controller refuses. For example:
        livehostctl set main zoom 25%
        livehostctl set main camera on
      JSON: an object with room, control, value or on, and with outcome if there was a request.
      """)

  @OptionGroup(title: "Global options") var global: GlobalOptions
  @Argument(help: "Name of the room.") var room: RoomName
  @Argument(help: "Name of the slider or switch.", completion: .controls) var control: String
  @Argument(
    help: "From 0 to 1, or a percentage, for a slider; on, off or toggle for a switch.")
  var value: ControlValue
  @Flag(help: "Create the control even if its name resembles another control's.") var new = false

  /// Throws ``Failure`` if the control does not exist and its name resembles an existing control's
  /// name.
  private func check(_ client: ControlClient) async throws {
    guard !new, control != "endStream" else { return }
    let controls = try await client.getRoom(room.description, feature: .control).features.control
    let known = controls.map { Array($0.values.keys) + $0.switches.keys } ?? []
    guard !known.contains(control), let near = Spelling.misspelled(control, among: known) else {
      return
    }
    throw Failure(
      .failed,
      "the room '\(room)' has no control '\(TerminalText.sanitized(control))'; did you mean "
        + "'\(TerminalText.sanitized(near))'? --new creates it")
  }

  func run(_ context: Context) async throws {
    var reply: [JSONName: JSONValue] = [
      "room": .string(room.description), "control": .string(control),
    ]
    let set: SetControlReply
    switch value {
    case .slider(let value):
      set = try await context.withDaemon {
        try await check($0)
        return try await $0.setControl(room: room.description, control: control, value: value)
      }
      reply["value"] = set.value.map(JSONValue.number)
    case .switch(let on):
      set = try await context.withDaemon {
        try await check($0)
        return try await $0.setControl(room: room.description, control: control, on: on)
      }
      reply["on"] = set.on.map(JSONValue.bool) ?? .null
    }
    if let outcome = set.outcome { reply["outcome"] = .string(outcome.rawValue) }
    if set.outcome == .refused {
      let reason = set.reason ?? "refused"
      reply["reason"] = .string(reason)
      throw Failure(
        .failed,
        "\(TerminalText.sanitized(control)) was not set: \(TerminalText.sanitized(reason))",
        details: reply)
    }
    try context.print(.object(reply)) { [] }
  }
}

/// The value of a slider or the position of a switch, as an argument.
enum ControlValue: ExpressibleByArgument {
  case slider(Double)
  /// The new position of a switch; `nil` toggles it.
  case `switch`(Bool?)

  init?(argument: String) {
    switch argument {
    case "on": self = .switch(true)
    case "off": self = .switch(false)
    case "toggle": self = .switch(nil)
    default:
      // Users may also enter a percentage, because screens show values as percentages.
      let isPercentage = argument.last == "%"
      guard let number = Double(isPercentage ? argument.dropLast() : argument[...]) else {
        return nil
      }
      let value = isPercentage ? number / 100 : number
      guard value >= 0, value <= 1 else { return nil }
      self = .slider(value)
    }
  }
}
