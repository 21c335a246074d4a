extension WebhookMapping {
  /// Documented at https://studio.buymeacoffee.com/webhooks/docs. Also accepts deliveries of the
  /// first version, whose data is in `response`. A hidden note is not shown, because it is meant
  /// only for the creator.
  static let buyMeACoffee = """
    signature: header:x-signature-sha256
    identifier: event_id | data.transaction_id
    time: data.created_at | created
    events:
      - when:
          type: &paid [donation.created, extra_purchase.created, commission_order.created,
            wishlist_payment.created, recurring_donation.started]
          data.note_hidden: "!true"
        type: announcement
        members:
          user.id: data.supporter_id
          user.name: &name data.supporter_name | =Someone
          text: "{data.amount} {data.currency}: {data.support_note} |
            {data.amount}: {data.support_note} |
            {data.amount} {data.currency}: {data.note} | {data.amount} {data.currency} |
            {data.amount} | data.support_note | data.note | data.message | =a donation"
      - when:
          type: *paid
          data.note_hidden: "true"
        type: announcement
        members:
          user.id: data.supporter_id
          user.name: *name
          text: "{data.amount} {data.currency} | {data.amount} | =a donation"
      - when:
          type: ["!donation.created", "!extra_purchase.created", "!commission_order.created",
            "!wishlist_payment.created", "!recurring_donation.started",
            "!recurring_donation.updated", "!recurring_donation.cancelled", "!donation.refunded",
            "!extra_purchase.refunded",
            "!extra_purchase.updated", "!commission_order.refunded", "!commission_order.updated",
            "!wishlist_payment.refunded", "!wishlist.updated", "!membership.started",
            "!membership.updated", "!membership.cancelled"]
          data.amount: "!"
          data.refunded: "!true"
          data.note_hidden: "!true"
        type: announcement
        members:
          user.id: data.supporter_id
          user.name: *name
          text: "{data.amount} {data.currency}: {data.support_note} |
            {data.amount}: {data.support_note} | {data.amount} {data.currency} | {data.amount} |
            data.support_note"
      - when: {"response.total_amount | response.number_of_coffees": "!"}
        type: announcement
        members:
          user.name: response.supporter_name | =Someone
          text: "{response.total_amount}: {response.support_note} | {response.total_amount} |
            {response.number_of_coffees} coffees"
      - when: {type: membership.started, data.note_hidden: "!true"}
        type: chat.notice
        members:
          kind: =subscribe
          count: =1
          user.id: data.supporter_id
          user.name: *name
          text: data.support_note | data.membership_level_name
      - when: {type: membership.started, data.note_hidden: "true"}
        type: chat.notice
        members:
          kind: =subscribe
          count: =1
          user.id: data.supporter_id
          user.name: *name
          text: data.membership_level_name
    """

  /// Documented at https://docs.patreon.com/#webhooks. The creator's note about a member is never
  /// shown.
  static let patreon = """
    identifier: "{header:x-patreon-event}/{data.id}/{data.attributes.last_charge_date} |
      {header:x-patreon-event}/{data.id}"
    time: data.attributes.pledge_relationship_start | data.attributes.created_at
    events:
      - when: {header:x-patreon-event: [members:pledge:create, pledges:create]}
        type: chat.notice
        members:
          kind: =subscribe
          count: =1
          user.id: data.relationships.user.data.id | data.relationships.patron.data.id | data.id
          user.name: &name data.attributes.full_name |
            included[id=data.relationships.user.data.id].attributes.full_name |
            included[id=data.relationships.patron.data.id].attributes.full_name | =Someone
      - when: {header:x-patreon-event: members:create}
        type: follow
        members:
          user.id: data.relationships.user.data.id | data.id
          user.name: *name
    """
}
