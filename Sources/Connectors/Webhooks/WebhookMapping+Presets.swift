import JSON
package import YAMLReader

/// Built-in mappings of widely used senders, based on their documentation.
extension WebhookMapping {
  /// The names of the built-in mappings, as written in configurations.
  package static let presets = tables.keys.sorted()

  /// Returns the mapping of a sender, or `nil` if there is none with this name.
  package static func preset(_ name: String) throws(ConfigurationError) -> WebhookMapping? {
    guard let table = tables[name] else { return nil }
    return try WebhookMapping(table, file: name)
  }

  package static func owncast() throws(ConfigurationError) -> WebhookMapping {
    try WebhookMapping(owncastTable, file: "owncast")
  }

  private static let tables = [
    "buy-me-a-coffee": buyMeACoffee, "ko-fi": koFi, "owncast": owncastTable, "patreon": patreon,
    "streamelements": streamElements, "streamlabs": streamlabs,
  ]

  /// Documented at https://owncast.online/thirdparty/webhooks. Event types unrelated to the stream
  /// are omitted.
  private static let owncastTable = """
    identifier: eventData.id
    time: eventData.timestamp
    events:
      - when: {type: CHAT, eventData.visible: "!false"}
        type: chat.message
        members:
          id: eventData.id
          user.id: eventData.user.id
          user.name: eventData.user.displayName
          user.badges: eventData.user.scopes
          text: html:eventData.body | eventData.rawBody
      - when: {type: VISIBILITY-UPDATE, eventData.visible: "!true"}
        each: eventData.ids
        type: chat.delete
        members: {id: each}
      - when: {type: STREAM_STARTED}
        type: stream
        members: {state: =live}
      - when: {type: STREAM_STOPPED}
        type: stream
        members: {state: =ended}
      - when:
          type: [STREAM_STARTED, STREAM_TITLE_UPDATED]
          "eventData.streamTitle | eventData.name": "!"
        type: title
        members: {title: eventData.streamTitle | eventData.name}
      - when: {type: FEDIVERSE_ENGAGEMENT_FOLLOW}
        type: follow
        members: {user.id: eventData.username, user.name: eventData.name | eventData.username}
    """

  /// Documented at https://ko-fi.com/manage/webhooks. Ko-fi sends a form whose field `data` is
  /// JSON; forwarders send only that JSON. Ko-fi requires that names and messages of private
  /// payments are not shown.
  private static let koFi = """
    wrapper: data
    identifier: data.message_id | data.kofi_transaction_id
    time: data.timestamp
    secret: data.verification_token
    events:
      - when: {data.type: Donation, data.is_public: "!false"}
        type: announcement
        members:
          user.name: data.from_name | =Someone
          text: "{data.amount} {data.currency}: {data.message} | {data.amount}: {data.message} |
            {data.amount} {data.currency} | {data.amount} | data.message | =a donation"
      - when: {data.type: ["!Donation", "!Subscription"], data.amount: "!",
          data.is_public: "!false"}
        type: announcement
        members:
          user.name: data.from_name | =Someone
          text: "{data.type} {data.amount} {data.currency}: {data.message} |
            {data.type} {data.amount} {data.currency} | {data.type} {data.amount}: {data.message} |
            {data.amount} {data.currency}: {data.message} | {data.amount} {data.currency} |
            {data.amount} | data.message"
      - when: {data.type: "!Subscription", data.amount: "!", data.is_public: "false"}
        type: announcement
        members:
          user.name: =Someone
          text: "{data.amount} {data.currency} | {data.amount}"
      - when: {data.type: Subscription, data.is_first_subscription_payment: "!false",
          data.is_public: "!false"}
        type: chat.notice
        members:
          kind: =subscribe
          count: =1
          user.name: data.from_name | =Someone
          text: data.message | data.tier_name
      - when: {data.type: Subscription, data.is_first_subscription_payment: "false",
          data.is_public: "!false"}
        type: chat.notice
        members:
          kind: =resubscribe
          count: =1
          user.name: data.from_name | =Someone
          text: data.message | data.tier_name
      - when: {data.type: Subscription, data.is_public: "false"}
        type: chat.notice
        members: {kind: =subscribe, count: =1, user.name: =Someone}
    """

  /// Documented at https://dev.streamlabs.com/docs/socket-api. The deliveries come from another
  /// program, which forwards the events of this socket.
  private static let streamlabs = """
    identifier: event_id | message[0]._id | message[0].event_id | message._id
    events:
      - when: {type: donation}
        each: message
        type: announcement
        members:
          id: each._id | each.id
          user.id: each.from_user_id
          user.name: each.name | each.from | =Someone
          text: "{each.formatted_amount}: {each.message} | {each.formattedAmount}: {each.message} |
            {each.amount} {each.currency}: {each.message} | {each.amount}: {each.message} |
            {each.formatted_amount} | {each.formattedAmount} | {each.amount} {each.currency} |
            {each.amount} |
            each.message | =a donation"
      - when:
          type: ["!donation", "!superchat", "!bits", "!raid", "!host", "!subscription", "!resub",
            "!subMysteryGift", "!membershipGift", "!follow", "!redemption",
            "!loyalty_store_redemption", "!stars"]
          "message[0].formatted_amount | message[0].formattedAmount | message.formatted_amount | message[0].currency | message.currency": "!"
        each: message
        type: announcement
        members:
          id: each._id | each.id
          user.name: each.name | each.from | =Someone
          text: "{each.formatted_amount}: {each.message} | {each.formattedAmount}: {each.message} |
            {each.formatted_amount}: {each.comment} | {each.formattedAmount}: {each.comment} |
            {each.formatted_amount} | {each.formattedAmount} |
            {each.amount} {each.currency}: {each.message} |
            {each.amount} {each.currency}: {each.comment} | {each.amount} {each.currency} |
            each.message | each.comment | =a payment"
      - when: {type: stars}
        each: message
        type: announcement
        members:
          id: each._id | each.id
          user.name: each.name | each.from | =Someone
          text: "{each.amount} stars: {each.message} | {each.amount} stars | each.message | =stars"
      - when: {type: superchat}
        each: message
        type: announcement
        members:
          id: each._id | each.id
          user.id: each.channelId
          user.name: each.name | =Someone
          text: "{each.displayString}: {each.comment} | {each.displayString} |
            {each.amount} {each.currency}: {each.comment} | {each.amount} {each.currency} |
              each.comment |
            =a Super Chat"
      - when: {type: bits}
        each: message
        type: chat.notice
        members:
          id: each._id | each.id
          kind: =cheer
          user.name: each.display_name | each.name | =Someone
          count: each.amount | =0
          text: each.message
      - when: {type: [raid, host]}
        each: message
        type: chat.notice
        members:
          id: each._id | each.id
          kind: =raid
          user.name: each.display_name | each.name | =Someone
          count: each.raiders | each.viewers | =0
      - when: {type: [subscription, resub], "message[0].gifter | message.gifter": "!"}
        each: message
        type: chat.notice
        members:
          id: each._id | each.id
          kind: =gift
          user.name: each.gifter_display_name | each.gifter
          count: =1
          text: each.message
      - when: {type: subscription, "message[0].gifter | message.gifter": "",
          "message[0].months | message.months": ["", "0", "1"]}
        each: message
        type: chat.notice
        members:
          id: each._id | each.id
          kind: =subscribe
          user.name: each.display_name | each.name | =Someone
          count: =1
          text: each.message
      - when: {type: [subscription, resub], "message[0].gifter | message.gifter": "",
          "message[0].months | message.months": ["!", "!0", "!1"]}
        each: message
        type: chat.notice
        members:
          id: each._id | each.id
          kind: =resubscribe
          user.name: each.display_name | each.name | =Someone
          count: each.months | =1
          text: each.message
      - when: {type: resub, "message[0].gifter | message.gifter": "",
          "message[0].months | message.months": ["", "0", "1"]}
        each: message
        type: chat.notice
        members:
          id: each._id | each.id
          kind: =resubscribe
          user.name: each.display_name | each.name | =Someone
          count: =1
          text: each.message
      - when: {type: [subMysteryGift, membershipGift]}
        each: message
        type: chat.notice
        members:
          id: each._id | each.id
          kind: =giftBomb
          user.name: each.gifter_display_name | each.gifter | each.name | =Someone
          count: each.amount | each.giftMembershipsCount | =1
      - when: {type: follow}
        each: message
        type: follow
        members: {id: each._id | each.id, user.id: each.id, user.name: each.name | =Someone}
      - when: {type: [redemption, loyalty_store_redemption]}
        each: message
        type: redemption
        members:
          id: each._id | each.id
          user.name: each.from | each.name | =Someone
          title: each.product | =a reward
          text: each.message
      - when:
          type: merch
          "message[0].formatted_amount | message[0].formattedAmount | message.formatted_amount | message[0].currency | message.currency": ""
        each: message
        type: announcement
        members:
          id: each._id | each.id
          user.name: each.from | each.name | =Someone
          text: "{each.product}: {each.message} | each.product | each.message | =merchandise"
    """
}
