extension WebhookMapping {
  /// The webhooks of Owncast. Its own event types that say nothing about the stream are left out.
  package static func owncast() throws -> WebhookMapping {
    try WebhookMapping(owncastTable, file: "the table of Owncast")
  }

  private static let owncastTable = """
    identifier: eventData.id
    time: eventData.timestamp
    events:
      - when: {type: CHAT, eventData.visible: true}
        type: chat.message
        members:
          id: eventData.id
          user.id: eventData.user.id
          user.name: eventData.user.displayName
          user.badges: eventData.user.scopes
          text: html:eventData.body | eventData.rawBody
      - when: {type: VISIBILITY-UPDATE, eventData.visible: false}
        each: eventData.ids
        type: chat.delete
        members: {id: each}
      - when: {type: STREAM_STARTED}
        type: stream
        members: {state: =live}
      - when: {type: STREAM_STOPPED}
        type: stream
        members: {state: =ended}
      - when: {type: [STREAM_STARTED, STREAM_TITLE_UPDATED]}
        type: title
        members: {title: eventData.streamTitle | eventData.name}
      - when: {type: FEDIVERSE_ENGAGEMENT_FOLLOW}
        type: follow
        members: {user.id: eventData.username, user.name: eventData.name | eventData.username}
    """
}
