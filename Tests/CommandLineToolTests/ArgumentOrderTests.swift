import CommandLineTool
import JSON
import Testing

@Suite struct ArgumentOrderTests {
  private func arranged(_ line: String) throws -> [String] {
    try ArgumentOrder.arranged(line.split(separator: " ").map(String.init))
  }

  @Test(arguments: [
    ("show main", "show main"),
    ("--json=short show main", "show --json=short main"),
    ("--socket /x show main", "show --socket /x main"),
    ("--socket=/x -j show main chat", "show --socket=/x -j main chat"),
    ("--speed max ingest file --room r", "ingest --speed max --room r file"),
    ("--room show ingest -", "ingest --room show -"),
    ("-n 3 journal", "journal -n 3"),
    ("--device a simulate x.yaml --device b", "simulate --device a --device b x.yaml"),
    ("-j record start main", "record start -j main"),
    ("activity main", "activity list main"), ("-j activity main", "activity list -j main"),
    ("activity list list", "activity list list"), ("activity pin main 3", "activity pin main 3"),
    ("activity --help", "activity --help"), ("activity", "activity"),
    ("record -j start main", "record start -j main"),
    ("show -- --json", "show -- --json"),
    ("", "status"),
    ("--json=pretty", "status --json=pretty"),
    ("--help", "--help"),
    ("--help show", "show --help"),
    ("help record start", "help record start"),
    ("--version", "--version"),
    (
      "---completion show -- positional@0 2 0 livehostctl show",
      "---completion show -- positional@0 2 0 livehostctl show"
    ),
  ])
  func `arguments are rearranged: the verb first, then its options, then its values`(
    line: String, expected: String
  ) throws {
    #expect(try arranged(line).joined(separator: " ") == expected)
  }

  @Test(arguments: [
    ("connect twitch ada", "-- ada"),
    ("--socket /x -j connect --room r twitch ada bob", "--room r -- ada bob"),
    (
      "connect webhook --json=short --listen 127.0.0.1:1 --allow-remote --socket=/x",
      "--listen 127.0.0.1:1 --allow-remote"
    ),
    ("relay --gateway --listen=/x --no-pager --acting", "--listen=/x --acting"),
  ])
  func `the arguments that are passed on to another program omit the global options`(
    line: String, expected: String
  ) throws {
    let words = try ArrangedArguments(line.split(separator: " ").map(String.init))
    #expect(words.withoutGlobalOptions.joined(separator: " ") == expected)
  }

  @Test(arguments: [
    ("capacity main -3 -j", "capacity -j -- main -3"),
    ("ingest f --speed -1", "ingest --speed=-1 f"),
    ("hangs --since -1h", "hangs --since=-1h"),
    ("ingest f --speed --room r", "ingest --speed --room f r"),
  ])
  func `negative numbers are parsed as values, not as options`(line: String, expected: String)
    throws
  {
    #expect(try arranged(line).joined(separator: " ") == expected)
  }

  @Test(arguments: ["show --json short", "--json", "show --json"])
  func `the mode of --json is accepted only after an equals sign`(line: String) {
    #expect(throws: Failure(.usage, "--json takes its value after '=', as in --json=short")) {
      try arranged(line)
    }
  }

  @Test(arguments: [
    ("--json=short --json=pretty", "--json"), ("ingest --room a f --room=b", "--room"),
    ("--socket a status --socket b", "--socket"),
  ])
  func `an option given twice is refused`(line: String, name: String) {
    #expect(throws: Failure(.usage, "\(name) is given twice")) { try arranged(line) }
  }

  @Test(arguments: [
    ("shwo main", "did you mean 'show'?\nSee 'livehostctl --help'."),
    ("help shwo", "did you mean 'show'?"),
    ("record strat main", "did you mean 'start'?\nSee 'livehostctl record --help'."),
  ])
  func `an unknown verb is refused with a suggestion`(line: String, message: String) {
    let failure = #expect(throws: Failure.self) { try arranged(line) }
    #expect(failure?.status == .usage)
    #expect(failure?.message.contains(message) == true)
  }

  @Test func `no suggestion is made for a word that resembles no verb`() {
    let failure = #expect(throws: Failure.self) { try arranged("frobnicate") }
    #expect(failure?.message.contains("did you mean") == false)
  }

  @Test(arguments: [
    ("livehostctl show ", "", ""), ("livehostctl show main ", "main", ""),
    ("livehostctl --socket /x why main", "main", "/x"),
    ("livehostctl --socket=/x -j why main", "main", "/x"),
    ("livehostctl --socket = /x --json = short why main", "main", "/x"),
  ])
  func `completion uses the room and the socket that were typed before the cursor`(
    line: String, room: String, socket: String
  ) {
    let words = CompletedWords(line.split(separator: " ").map(String.init))
    #expect(words.room ?? "" == room)
    #expect(words.socket ?? "" == socket)
  }
}

@Suite struct CompletionTests {
  @Test func `the bash completion script joins an option and its value after =`() async {
    let script = await run(["completion", "bash"])
    #expect(script.status == .done)
    #expect(script.output.contains(#"[[ "${prev}" = '=' ]]"#))
    #expect(script.output.contains("completed_word"))
  }

  @Test func `the zsh completion script accepts a mode of --json only after an equals sign`() async
  {
    let script = await run(["completion", "zsh"])
    #expect(script.output.contains("'--json=-["))
  }

  @Test
  func `the JSON output of the completion verb contains the script and the name of its shell`()
    async throws
  {
    let value = try JSONValue(parsing: await run(["completion", "fish", "--json=short"]).output)
    #expect(value["shell"] == "fish")
    #expect(value["script"]?.stringValue?.contains("livehostctl") == true)
  }

  @Test func `completion offers nothing without a daemon`() async {
    let line = "---completion show -- positional@0 4 0 livehostctl --socket /nonexistent show"
    let run = await run(line.split(separator: " ").map(String.init) + [""])
    #expect(run.status == .done)
    let offered = run.output.filter { !$0.isWhitespace }
    #expect(offered == "")
    #expect(run.diagnostics.isEmpty)
  }
}
