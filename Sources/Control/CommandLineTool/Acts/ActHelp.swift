import ArgumentParser

/// Help texts that several act verbs share.
enum ActHelp {
  static let message: ArgumentHelp =
    "Identifier of the message; 'show ROOM chat --json=pretty' lists the identifiers."
  static let person: ArgumentHelp =
    "Identifier of the person, or @ and the name of a person with a message in the room."
  static let reason = ArgumentHelp("Reason, for the platform's records.", valueName: "text")

  /// Returns the discussion of an act verb: an explanation, examples, and a description of the
  /// outcome and of the JSON output.
  static func discussion(_ explanation: String? = nil, _ examples: String...) -> String {
    let first =
      explanation.map { explanation in
        examples.isEmpty
          ? explanation + " " : explanation + "\n" + examples.map { "  \($0)\n" }.joined()
      } ?? ""
    return first + """
      Needs a connected source that can do this ('livehostctl connect'). Waits for the outcome, and \
      fails if the platform refuses or does not answer. Some platforms do not confirm acts; the \
      output then begins with 'sent'.

      JSON: an object with room, act, outcome and, if known, platform and reason. The outcome is \
      confirmed, sent or refused.
      """
  }
}
