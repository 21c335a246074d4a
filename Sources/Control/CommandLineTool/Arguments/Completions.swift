import ArgumentParser
import ControlInterface
import LiveEvents
import Varlink

/// The candidates that a shell offers for an argument. Most candidates are requested from the
/// running daemon when the user presses the completion key.
extension CompletionKind {
  static let rooms = asking { client, _ in try await client.listRooms().rooms.map(\.room) }

  static let recordings = asking { client, _ in
    try await client.listRecordings(room: nil).recordings.map(\.recording)
  }

  static let recordingsAndRooms = asking { client, _ in
    try await client.listRecordings(room: nil).recordings.map(\.recording)
      + client.listRooms().rooms.map(\.room)
  }

  static let tasks = asking { client, _ in try await client.listTasks().tasks.map(\.task) }

  static let views = asking { client, room in
    try await client.getRoom(room ?? "").views.keys.sorted()
  }

  static let controls = asking { client, room in
    let control = try await client.getRoom(room ?? "", feature: .control).features.control
    return control.map { Array($0.values.keys) + $0.switches.keys }?.sorted() ?? []
  }

  static let waitingPeople = asking { client, room in
    let features = try await client.getRoom(room ?? "", feature: .waitingRoom).features
    return features.waitingRoom?.people?.map(\.id) ?? []
  }

  static let notices = asking { client, room in
    let chat = try await client.getRoom(room ?? "", feature: .chat).features.chat
    return chat?.noticeQueue?.map { "\($0.number)" } ?? []
  }

  static let messages = asking { client, room in
    let chat = try await client.getRoom(room ?? "", feature: .chat).features.chat
    return chat?.messages.reversed().map(\.id) ?? []
  }

  static let people = asking { client, room in
    let chat = try await client.getRoom(room ?? "", feature: .chat).features.chat
    return KnownPeople(chat).people.map { "@\($0.user.name)" }
  }

  static let activity = asking { client, room in
    let activity = try await client.getRoom(room ?? "", feature: .activity).features.activity
    return activity?.rows.map { "\($0.number)" } ?? []
  }

  /// The names of the device profiles in the installed package or in the source tree.
  static let devices = shellCommand(
    "ls /usr/share/livehost/devices config/devices 2>/dev/null | sed -n 's/[.]yaml$//p'")

  /// Offers the candidates that `names` returns for the room on the command line. Offers nothing if
  /// the daemon does not answer, because a shell cannot show an error during completion.
  ///
  /// Viewers choose some of these names, and shells evaluate candidates: bash's `compgen -W` runs
  /// `$(...)`. Candidates with special characters are therefore not offered.
  private static func asking(
    _ names: @escaping @Sendable (ControlClient, _ room: String?) async throws -> [String]
  ) -> CompletionKind {
    custom { words, index, _ in
      let words = CompletedWords(words.prefix(index))
      let environment = ProcessEnvironment.current()
      let candidates = SocketPaths.candidates(option: words.socket, environment)
      for sockets in candidates {
        guard let client = try? await ControlClient.connect(path: sockets.control) else { continue }
        let timeout = Task {
          try await environment.sleep(.seconds(2))
          await client.client.close()
        }
        defer { timeout.cancel() }
        let found = try? await names(client, words.room)
        await client.client.close()
        return CompletionCandidates.safe(found ?? [])
      }
      return []
    }
  }
}

/// The candidates for a word that is being completed.
package enum CompletionCandidates {
  /// Returns the candidates that no shell evaluates and that no verb reads as an option, without
  /// duplicates. Names may contain spaces, which shells quote.
  package static func safe(_ names: [String]) -> [String] {
    var seen: Set<String> = []
    return names.filter { name in
      name.split(separator: " ", omittingEmptySubsequences: false)
        .allSatisfy { ShellWord.isPlain(String($0)) } && seen.insert(name).inserted
    }
  }
}

/// The words before the word that is being completed.
package struct CompletedWords {
  package var socket: String?
  /// The first argument after the verb. Every verb whose candidates depend on a room has the room
  /// here.
  package var room: String?

  /// - Parameter words: the words of the command line, beginning with the program's name. bash
  ///   passes `--option=value` as three words.
  package init(_ words: some Sequence<String>) {
    var joined: [String] = []
    for word in words {
      if word == "=", let option = joined.popLast() {
        joined.append(option + "=")
      } else if let last = joined.last, last.hasPrefix("--"), last.hasSuffix("=") {
        joined[joined.count - 1] += word
      } else {
        joined.append(word)
      }
    }
    guard let arranged = try? ArrangedArguments(Array(joined.dropFirst())) else { return }
    room = arranged.positionals.first
    let options = arranged.options
    if let index = options.firstIndex(of: "--socket"), index + 1 < options.count {
      socket = options[index + 1]
    } else if let option = options.first(where: { $0.hasPrefix("--socket=") }) {
      socket = String(option.dropFirst(9))
    } else if options.contains("--gateway") {
      socket = SocketPaths.gateway
    }
  }
}

extension CompletionShell {
  /// The script that enables this shell to complete `livehostctl` commands.
  var script: String {
    let generated = Livehostctl.completionScript(for: self)
    return switch self {
    // bash passes `--option=value` as three words and `@name` as two. The parser's script expects
    // at most two words for an option and one word for a name.
    case .bash:
      generated.replacing("#!/bin/bash\n", with: "# bash completion of livehostctl(1)\n").replacing(
        #"local -r prev="${3}""#,
        with: #"""
          local prev="${3}"
              [[ "${prev}" = '=' ]] && prev="${COMP_WORDS[COMP_CWORD - 2]}"
          """#
      ).replacing(
        #"local -a unparsed_words=("${COMP_WORDS[@]:1:${COMP_CWORD}}")"#,
        with: #"""
          local -a unparsed_words=()
              local -i completed_word
              for ((completed_word = 1; completed_word <= COMP_CWORD; completed_word++)); do
                  case "${COMP_WORDS[completed_word]}" in
                  '=') ;;
                  '@') ((completed_word == COMP_CWORD)) && unparsed_words+=('@') ;;
                  *) unparsed_words+=("${COMP_WORDS[completed_word]}") ;;
                  esac
              done
          """#)
    // In zsh, `=-` after an option's name means that the value must follow an equals sign.
    case .zsh: generated.replacing("'--json[", with: "'--json=-[")
    default: generated
    }
  }
}
