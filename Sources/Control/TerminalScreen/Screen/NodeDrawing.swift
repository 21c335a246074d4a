package import ControlInterface

/// Draws any tree of screen nodes as lines of text, without knowing any part of the screen.
/// Untrusted text is sanitized here.
package struct NodeDrawing: Sendable {
  /// The form in which content is drawn.
  package enum Form: Sendable {
    /// Uses the rows of a large screen.
    case full
    /// Uses as few rows as possible.
    case compact
    /// Uses plain text, in which words replace styles.
    case plain
  }

  private let columns: Int
  private let form: Form

  package init(columns: Int, form: Form = .full) {
    // Output to a pipe has no maximum width. The limit keeps sums of columns from overflowing.
    self.columns = min(columns, 1_000_000)
    self.form = form
  }

  /// Returns the lines of a node. Only single words and tables may exceed the width.
  package func lines(_ node: ScreenNode) -> [StyledLine] {
    let lines = content(node)
    guard form != .plain, let identity = node.actIdentity else { return lines }
    // If a node draws no text that could be selected, the labels of its host actions are drawn
    // instead.
    let shown =
      lines.isEmpty
      ? StyledLine.flow(node.ownActs.map { label($0) }, width: columns) : lines
    return shown.map { $0.targeting(identity) }
  }

  private func label(_ act: ScreenAct) -> StyledLine {
    StyledLine("[\(TerminalText.sanitized(act.label))]", .faint)
  }

  private func content(_ node: ScreenNode) -> [StyledLine] {
    switch node.kind {
    case .empty, .child: []
    case .text: item(node).wrapped(width: columns)
    case .badge, .sparkline: [item(node)]
    case .gauge: gauges([node])
    case .row: StyledLine.flow((node.parts ?? []).map { part($0) }, width: columns)
    case .column: stack(node.parts ?? [])
    case .list: stack(node.parts ?? [], isList: true, hasRowActs: !node.rowActs.isEmpty)
    case .table: table(node)
    case .panel:
      [StyledLine(TerminalText.sanitized(node.text ?? ""), .strong)] + stack(node.parts ?? [])
    }
  }

  /// Returns the lines of a list's row, whose parts are joined into a sentence.
  package func sentence(_ row: ScreenNode) -> [StyledLine] {
    guard row.kind == .row else { return lines(row) }
    return joined((row.parts ?? []).map(item)).wrapped(width: columns)
  }

  func selectable(_ row: ScreenNode) -> [StyledLine] {
    sentence(row).map { line in row.id.map { line.targeting(ScreenNode.rowIdentity($0)) } ?? line }
  }

  /// Returns the lines of several nodes, one below the other. Consecutive gauges are aligned.
  private func stack(
    _ nodes: [ScreenNode], isList: Bool = false, hasRowActs: Bool = false
  ) -> [StyledLine] {
    var lines: [StyledLine] = []
    var rest = nodes[...]
    while let node = rest.first {
      if node.kind == .gauge {
        let group = rest.prefix { $0.kind == .gauge }
        lines += gauges(Array(group))
        rest = rest.dropFirst(group.count)
      } else {
        lines += hasRowActs ? selectable(node) : isList ? sentence(node) : self.lines(node)
        rest = rest.dropFirst()
      }
    }
    return lines
  }

  private func joined(_ items: [StyledLine]) -> StyledLine {
    var line = StyledLine()
    for item in items where !item.parts.isEmpty {
      if !line.parts.isEmpty { line.append(" ") }
      line = line + item
    }
    return line
  }

  // MARK: Items

  private static let widestSparkline = 24

  private func item(_ node: ScreenNode) -> StyledLine {
    item(node, sparkline: Self.widestSparkline)
  }

  /// Returns a part of a row or a table. A sparkline occupies its full width even without samples,
  /// so that samples that arrive later do not shift the nodes after it to another line.
  private func part(_ node: ScreenNode, sparkline width: Int = widestSparkline) -> StyledLine {
    let line = item(node, sparkline: width)
    guard node.kind == .sparkline, form == .full else { return line }
    return line + StyledLine(String(repeating: " ", count: max(0, width - line.width)))
  }

  private func item(_ node: ScreenNode, sparkline width: Int) -> StyledLine {
    let line = plainItem(node, sparkline: width)
    guard form != .plain, let identity = node.actIdentity else { return line }
    return line.targeting(identity)
  }

  private func plainItem(_ node: ScreenNode, sparkline width: Int) -> StyledLine {
    let text = TerminalText.sanitized(node.text ?? "")
    switch node.kind {
    case .text where node.emphasis == .person: return person(node, text)
    case .text:
      if let marks = node.marks { return marked(node, marks) }
      return text.isEmpty ? StyledLine() : StyledLine(text, style(node, text))
    case .badge:
      if form == .plain { return StyledLine("[\(text)]") }
      var style = style(node, text)
      style.isReversed = true
      return StyledLine(" \(text) ", style)
    case .gauge: return short(node)
    case .sparkline:
      return StyledLine(Sparkline.text(node.samples ?? [], width: width), TextStyle(.cyan))
    case .empty, .child: return StyledLine()
    case .row, .column, .list, .table, .panel: return joined((node.parts ?? []).map(item))
    }
  }

  private func style(_ node: ScreenNode, _ text: String) -> TextStyle {
    switch node.emphasis ?? .normal {
    case .normal: .plain
    case .strong: .strong
    case .faint: .faint
    case .good: .good
    case .warning: .warning
    case .bad: .bad
    case .active: TextStyle(.red, strong: true)
    case .person: Self.person(text)
    }
  }

  /// Returns a text with highlighted ranges. Ranges outside the text are ignored, because they come
  /// from untrusted input.
  private func marked(_ node: ScreenNode, _ marks: [Int]) -> StyledLine {
    let scalars = Array((node.text ?? "").unicodeScalars)
    let style = style(node, "")
    var line = StyledLine()
    var end = 0
    func append(upTo next: Int, _ style: TextStyle) {
      guard end < next else { return }
      var piece = String.UnicodeScalarView()
      piece.append(contentsOf: scalars[end..<next])
      line.append(TerminalText.sanitized(String(piece)), style)
      end = next
    }
    for index in stride(from: 0, to: marks.count - 1, by: 2)
    where marks[index] >= end && marks[index] < marks[index + 1]
      && marks[index + 1] <= scalars.count
    {
      append(upTo: marks[index], style)
      append(upTo: marks[index + 1], Self.mark)
    }
    append(upTo: scalars.count, style)
    return line
  }

  private static let mark = TextStyle(.magenta)

  /// Returns a person's name, preceded by the person's standing (such as moderator) and followed by
  /// the remark about the name.
  private func person(_ node: ScreenNode, _ text: String) -> StyledLine {
    var style = Self.person(text)
    if let shade = node.color.flatMap({ TextStyle.Shade($0) }) { style.shade = shade.readable }
    var line = StyledLine()
    // A name may itself begin with text in brackets, so a real standing is distinguished by
    // reversed colours.
    if let standing = node.standing {
      line.append("[\(TerminalText.sanitized(standing))]", form == .plain ? .plain : .reversed)
      line.append(" ")
    }
    line.append(text, style)
    if let remark = node.detail { line.append(" " + TerminalText.sanitized(remark), style) }
    return line
  }

  /// Returns the style of a name; a colon at the end of the name does not change the style. The
  /// same name always has the same style, which is never red, because red marks errors.
  private static func person(_ name: String) -> TextStyle {
    var hash: UInt32 = 2_166_136_261
    for byte in name.hasSuffix(":") ? name.utf8.dropLast() : name.utf8[...] {
      hash = (hash ^ UInt32(byte)) &* 16_777_619
    }
    let colors = TextStyle.Color.allCases.filter { $0 != .red }
    var style = TextStyle(colors[Int(hash % UInt32(colors.count))], strong: true)
    style.shade = shades[Int(hash >> 8) % shades.count]
    return style
  }

  /// Hues from orange to pink, with a lightness that is readable on black and on white.
  private static let shades: [TextStyle.Shade] = [
    (0xC7, 0x7D, 0x0A), (0xA8, 0x8A, 0x00), (0x86, 0x95, 0x0A), (0x5C, 0x9E, 0x2E),
    (0x1F, 0xA3, 0x52), (0x00, 0xA2, 0x7A), (0x00, 0x9F, 0x99), (0x00, 0x9A, 0xB5),
    (0x1E, 0x92, 0xCC), (0x4F, 0x87, 0xDE), (0x76, 0x7B, 0xE5), (0x96, 0x70, 0xE0),
    (0xB1, 0x66, 0xD0), (0xC6, 0x5F, 0xB9), (0xD3, 0x5C, 0x9E),
  ].map { TextStyle.Shade(red: $0.0, green: $0.1, blue: $0.2) }

  // MARK: Gauges

  private static let widestBar = 24
  private static let shortestBar = 5
  /// The width in columns at which a label is cut, unless a third of all columns is more.
  private static let widestLabel = 16

  private func short(_ gauge: ScreenNode) -> StyledLine {
    let detail = TerminalText.sanitized(gauge.detail ?? "")
    let line = StyledLine([
      (TerminalText.sanitized(gauge.text ?? "") + " ", .faint), (detail, style(gauge, detail)),
    ])
    return gauge.actIdentity.map { line.targeting($0) } ?? line
  }

  private func gauges(_ nodes: [ScreenNode]) -> [StyledLine] {
    if form == .compact { return StyledLine.flow(nodes.map(short), width: columns) }
    let labels = nodes.map { TerminalText.sanitized($0.text ?? "") }
    let details = nodes.map { Self.detail($0) }
    let labelWidth = min(
      max(Self.widestLabel, columns / 3), labels.map(TerminalText.width).max() ?? 0)
    let numberWidth = details.map { TerminalText.width($0.number) }.max() ?? 0
    let restWidth = details.map { TerminalText.width($0.rest) }.max() ?? 0
    let barWidth = min(Self.widestBar, columns - labelWidth - numberWidth - restWidth - 2)
    return nodes.indices.map { index in
      let (number, rest) = details[index]
      let style = style(nodes[index], number)
      var line = StyledLine(TerminalText.padded(labels[index], width: labelWidth) + " ")
      if barWidth >= Self.shortestBar {
        line = line + Self.bar(nodes[index].value ?? 0, width: barWidth, style)
        line.append(" ")
      }
      line.append(Self.right(number, numberWidth) + rest, style)
      return nodes[index].actIdentity.map { line.targeting($0) } ?? line
    }
  }

  /// Splits the detail of a gauge into a number, which is drawn aligned with others, and the rest.
  private static func detail(_ gauge: ScreenNode) -> (number: String, rest: String) {
    let text = TerminalText.sanitized(gauge.detail ?? "")
    let number = text.prefix { $0 != " " }
    return (String(number), String(text.dropFirst(number.count)))
  }

  package static func bar(_ share: Double, width: Int, _ style: TextStyle = .plain) -> StyledLine {
    // The comparison with 0 is false for NaN, which is therefore drawn as 0.
    let share = share > 0 ? min(share, 1) : 0
    let filled = Int((share * Double(width)).rounded())
    return StyledLine([
      (String(repeating: "\u{2588}", count: filled), style),
      (String(repeating: "\u{2591}", count: width - filled), .faint),
    ])
  }

  private static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - TerminalText.width(text))) + text
  }

  // MARK: Tables

  private static let gap = 2

  private func table(_ node: ScreenNode) -> [StyledLine] {
    let columns = node.columns ?? []
    let rows = (node.parts ?? []).map { row in
      let cells = (row.parts ?? []).map { part($0, sparkline: 12) }
      return columns.indices.map { $0 < cells.count ? cells[$0] : StyledLine() }
    }
    if form == .compact {
      let needed = columns.indices.filter { columns[$0].optional != true }
      return StyledLine.flow(
        rows.map { row in joined(needed.map { row[$0] }) }, width: self.columns)
    }
    let titles = columns.map { StyledLine(TerminalText.sanitized($0.title), .faint) }
    let hasTitles = titles.contains { $0.width > 0 }
    let all = (hasTitles ? [titles] : []) + rows
    let widths = columns.indices.map { column in all.map { $0[column].width }.max() ?? 0 }
    let shown = fitting(columns, widths)
    return all.map { row in
      var line = StyledLine()
      for column in shown {
        if line.width > 0 { line.append(String(repeating: " ", count: Self.gap)) }
        let space = String(repeating: " ", count: max(0, widths[column] - row[column].width))
        switch columns[column].alignment {
        case .left: line = line + row[column] + StyledLine(column == shown.last ? "" : space)
        case .right: line = line + StyledLine(space) + row[column]
        }
      }
      return line
    }
  }

  /// Returns the columns to show. Drops optional columns, starting with the last one, until the
  /// remaining columns fit.
  private func fitting(_ columns: [ScreenColumn], _ widths: [Int]) -> [Int] {
    var shown = columns.indices.filter { widths[$0] > 0 }
    func width() -> Int { shown.reduce(-Self.gap) { $0 + widths[$1] + Self.gap } }
    while width() > self.columns,
      let last = shown.lastIndex(where: { columns[$0].optional == true })
    {
      shown.remove(at: last)
    }
    return shown
  }
}

/// Draws samples over time as one line of block characters. If there are more samples than columns,
/// groups of samples are averaged.
enum Sparkline {
  static let levels: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
  /// Returns the samples as a line. The blocks from lowest to highest span at least a tenth of the
  /// largest sample, so that samples that hardly differ form a level line.
  static func text(_ samples: [Double], width: Int) -> String {
    let samples = downsampled(samples.filter(\.isFinite), into: width)
    guard let least = samples.min(), let most = samples.max() else { return "" }
    let range = max(most - least, abs(most) / 10)
    guard range > 0, range.isFinite else {
      return String(repeating: levels[0], count: samples.count)
    }
    let bottom = (most + least - range) / 2
    let steps = Double(levels.count - 1)
    return String(
      samples.map { sample in
        levels[Int(min(max((sample - bottom) / range, 0), 1) * steps + 0.5)]
      })
  }

  /// Returns the average of each group of consecutive samples. All groups have the same size;
  /// grouping starts at the newest sample.
  private static func downsampled(_ samples: [Double], into width: Int) -> [Double] {
    let size = (samples.count + width - 1) / width
    guard size > 1 else { return samples }
    var groups: [Double] = []
    var end = samples.count
    while end > 0 {
      let group = samples[max(0, end - size)..<end]
      groups.append(group.reduce(0, +) / Double(group.count))
      end -= size
    }
    return groups.reversed()
  }
}
