/// The mapping of StreamElements.
extension WebhookMapping {
  // Shared texts are Swift constants, because YAML readers limit aliases as protection against
  // exponential expansion.
  private static let supporterID =
    "data.data.providerId | data.providerId | event.providerId | providerId"
  private static let supporter =
    "data.data.displayName | data.displayName | event.displayName "
    + "| data.data.username | data.username | data.donation.user.username | event.name | name | =Someone"

  /// Documented at https://docs.streamelements.com/websockets. Accepts activities, whether or not a
  /// topic notification encloses them, and events in the form for overlays, whether or not a member
  /// `event` encloses them.
  static let streamElements = """
    identifier: data.activityId | activityId | data.data._id | data._id | event._id | _id | id
    time: createdAt | data.createdAt | event.createdAt | ts
    events:
      - when:
          "data.type | type | event.type | topic":
            ["!follow", "!follower", "!subscriber", "!sponsor", "!cheer", "!raid", "!host",
              "!communityGiftPurchase", "!redemption"]
          "data.data.amount | data.donation.amount | data.amount | event.amount | amount": "!"
          "data.data.currency | data.donation.currency | data.currency | event.currency | currency": "!"
        type: announcement
        members:
          user.id: \(supporterID)
          user.name: \(supporter)
          text: "{data.data.amount} {data.data.currency}: {data.data.message} |
            {data.donation.amount} {data.donation.currency}: {data.donation.message} |
            {data.amount} {data.currency}: {data.message} | {event.amount} {event.currency}:
            {event.message} | {amount} {currency}: {message} | {data.data.amount}
            {data.data.currency} | {data.donation.amount} {data.donation.currency} |
            {data.amount} {data.currency} | {event.amount} {event.currency} | {amount}
            {currency} |
            data.data.message | data.donation.message | data.message | event.message | message"
      - when:
          "data.type | type | event.type | topic": &tips
            [tip, superchat, charityCampaignDonation, channel.tips]
          "data.data.currency | data.donation.currency | data.currency | event.currency | currency": ""
        type: announcement
        members:
          user.id: \(supporterID)
          user.name: \(supporter)
          text: "{data.data.amount}: {data.data.message} | {data.donation.amount}:
            {data.donation.message} | {data.amount}: {data.message} | {event.amount}:
            {event.message} | {amount}: {message} | {data.data.amount} | {data.donation.amount}
            | {data.amount} | {event.amount} | {amount} |
            data.data.message | data.donation.message | data.message | event.message | message |
            =a donation"
      - when:
          "data.type | type | event.type | topic": *tips
          "data.data.amount | data.donation.amount | data.amount | event.amount | amount": ""
          "data.data.currency | data.donation.currency | data.currency | event.currency | currency": "!"
        type: announcement
        members:
          user.id: \(supporterID)
          user.name: \(supporter)
          text: data.data.message | data.donation.message | data.message | event.message | message |
            =a donation
      - when: {"data.type | type | event.type": [follow, follower]}
        type: follow
        members: {user.id: \(supporterID), user.name: \(supporter)}
      - when: {"data.type | type | event.type": cheer}
        type: chat.notice
        members:
          kind: =cheer
          user.id: \(supporterID)
          user.name: \(supporter)
          count: &count data.data.amount | data.amount | event.amount | amount | =0
          text: &words data.data.message | data.message | event.message | message
      - when: {"data.type | type | event.type": [raid, host]}
        type: chat.notice
        members: {kind: =raid, user.id: \(supporterID), user.name: \(supporter), count: *count, text: *words}
      - when: {"data.type | type | event.type": communityGiftPurchase}
        type: chat.notice
        members:
          kind: =giftBomb
          user.id: \(supporterID)
          user.name: data.data.sender | data.sender | event.sender | sender | data.data.displayName |
            data.displayName | event.displayName | data.data.username | data.username |
            data.donation.user.username | event.name | name | =Someone
          count: data.data.amount | data.amount | event.amount | amount | =1
      - when: {"data.type | type | event.type": redemption}
        type: redemption
        members:
          user.id: \(supporterID)
          user.name: \(supporter)
          title: data.data.redemption | data.redemption | event.redemption | data.item.name | =a
            reward
          cost: data.data.amount | data.amount | event.amount | amount
          text: *words
      - when:
          "data.type | type | event.type": [subscriber, sponsor]
          "data.data.gifted | data.gifted | event.gifted | gifted": "true"
        type: chat.notice
        members:
          kind: =gift
          user.name: data.data.sender | data.sender | event.sender | sender | =Someone
          count: =1
          text: *words
      - when:
          "data.type | type | event.type": [subscriber, sponsor]
          "data.data.gifted | data.gifted | event.gifted | gifted": "!true"
          "data.data.amount | data.amount | event.amount | amount": ["", "0", "1"]
        type: chat.notice
        members: {kind: =subscribe, user.id: \(supporterID), user.name: \(supporter), count: =1, text: *words}
      - when:
          "data.type | type | event.type": [subscriber, sponsor]
          "data.data.gifted | data.gifted | event.gifted | gifted": "!true"
          "data.data.amount | data.amount | event.amount | amount": ["!", "!0", "!1"]
        type: chat.notice
        members: {kind: =resubscribe, user.id: \(supporterID), user.name: \(supporter), count: data.data.amount | data.amount | event.amount | amount | =1,
          text: *words}
    """
}
