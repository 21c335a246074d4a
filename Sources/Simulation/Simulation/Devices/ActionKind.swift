import ChatFeature
import ControlFeature
import HeaderFeature
import HostFeature
import LiveRoomStatsFeature
import RecorderFeature
import WaitingRoomFeature

/// The kinds of actions that reach the root reducer, by the names that evaluations give as causes.
package enum ActionKind: Int, CaseIterable, Sendable {
  case chatMessages, chatMessageDeleted, chatCleared, chatTimedOut, chatNotice, chatModesChanged
  case chatTicked, chatReading
  case controlSliderBegan, controlSliderMoved, controlSliderReleased, controlTapped
  case controlMeterRead, controlSet, controlTicked, controlDelegate
  case headerTitleChanged, headerViewersChanged, headerReacted, headerStreamChanged
  case headerConnectionChanged, headerTicked
  case liveRoomStatsWindowClosed, liveRoomStatsTicked, liveRoomStatsDelegate
  case recorderStateChanged, recorderProgressed, recorderOwnStateChanged, recorderOwnProgressed
  case recorderDelegate
  case waitingRoomChanged, waitingRoomAdmitNextTapped, waitingRoomAdmitAllTapped
  case waitingRoomAdmitPersonTapped
  case waitingRoomCapacityChanged, waitingRoomScheduled, waitingRoomTicked, waitingRoomDelegate
  case endConfirmation
  case stream, roomClosed, historyLimited, ticked

  /// Such as `chat.messages`.
  package var name: String { Self.names[rawValue] }

  static let names: [String] = allCases.map(\.spelled)

  /// The children's names, longest first where one begins another.
  private static let children = [
    "liveRoomStats", "waitingRoom", "recorder", "control", "header", "chat",
  ]

  private var spelled: String {
    let text = String(describing: self)
    for child in Self.children where text.hasPrefix(child) && text.count > child.count {
      let rest = text.dropFirst(child.count)
      return "\(child).\(rest.prefix(1).lowercased())\(rest.dropFirst())"
    }
    return text
  }

  /// The kind of an action, and how many elements it carries beyond itself.
  static func of(_ action: HostFeature.Action) -> (kind: ActionKind, elements: Int) {
    switch action {
    case .chat(.messages(let batch)): (.chatMessages, batch.count)
    case .chat(.messageDeleted): (.chatMessageDeleted, 0)
    case .chat(.cleared): (.chatCleared, 0)
    case .chat(.timedOut): (.chatTimedOut, 0)
    case .chat(.notice): (.chatNotice, 0)
    case .chat(.modesChanged): (.chatModesChanged, 0)
    case .chat(.ticked): (.chatTicked, 0)
    case .chat(.reading): (.chatReading, 0)
    case .control(.sliderBegan): (.controlSliderBegan, 0)
    case .control(.sliderMoved): (.controlSliderMoved, 0)
    case .control(.sliderReleased): (.controlSliderReleased, 0)
    case .control(.tapped): (.controlTapped, 0)
    case .control(.meterRead): (.controlMeterRead, 0)
    case .control(.set): (.controlSet, 0)
    case .control(.ticked): (.controlTicked, 0)
    case .control(.delegate): (.controlDelegate, 0)
    case .header(.titleChanged): (.headerTitleChanged, 0)
    case .header(.viewersChanged): (.headerViewersChanged, 0)
    case .header(.reacted): (.headerReacted, 0)
    case .header(.streamChanged): (.headerStreamChanged, 0)
    case .header(.connectionChanged): (.headerConnectionChanged, 0)
    case .header(.ticked): (.headerTicked, 0)
    case .liveRoomStats(.windowClosed): (.liveRoomStatsWindowClosed, 0)
    case .liveRoomStats(.ticked): (.liveRoomStatsTicked, 0)
    case .liveRoomStats(.delegate): (.liveRoomStatsDelegate, 0)
    case .recorder(.stateChanged): (.recorderStateChanged, 0)
    case .recorder(.progressed): (.recorderProgressed, 0)
    case .recorder(.ownStateChanged): (.recorderOwnStateChanged, 0)
    case .recorder(.ownProgressed): (.recorderOwnProgressed, 0)
    case .recorder(.delegate): (.recorderDelegate, 0)
    case .waitingRoom(.changed(let changes)): (.waitingRoomChanged, changes.count)
    case .waitingRoom(.admitNextTapped): (.waitingRoomAdmitNextTapped, 0)
    case .waitingRoom(.admitAllTapped): (.waitingRoomAdmitAllTapped, 0)
    case .waitingRoom(.admitPersonTapped): (.waitingRoomAdmitPersonTapped, 0)
    case .waitingRoom(.capacityChanged): (.waitingRoomCapacityChanged, 0)
    case .waitingRoom(.scheduled): (.waitingRoomScheduled, 0)
    case .waitingRoom(.ticked): (.waitingRoomTicked, 0)
    case .waitingRoom(.delegate): (.waitingRoomDelegate, 0)
    case .endConfirmation: (.endConfirmation, 0)
    case .stream: (.stream, 0)
    case .roomClosed: (.roomClosed, 0)
    case .historyLimited: (.historyLimited, 0)
    case .ticked: (.ticked, 0)
    }
  }
}
