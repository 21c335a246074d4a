import CNATS
import Dispatch
import Glibc
import Platform

/// A message as it came.
package struct NatsMessage: Sendable {
  package var subject: String
  package var reply: String?
  package var bytes: [UInt8]
  /// Of a message that a server sends in place of an answer; 503 if nobody answers.
  package var status: Int?
  /// What it says of the status.
  package var description: String?

  /// The last token of the subject: in a reply, the one that the client chose.
  var token: String? {
    subject.lastIndex(of: ".").map { String(subject[subject.index(after: $0)...]) }
  }

  /// Whether this is a message of a stream, from a consumer.
  var isFromStream: Bool { reply?.hasPrefix("$JS.ACK.") == true }
}

/// Why there is no connection.
package enum NatsError: Error, Equatable, Sendable {
  /// No server answers.
  case unreachable(String)
  /// A server does not let this client in.
  case refused(String)
  /// The settings make no sense to the library.
  case settings(String)
}

/// A connection to NATS servers, through libnats: messages in and out, and nothing of what they mean.
///
/// It connects again by itself, without end. Callbacks come on threads of the library, one after the other.
package final class NatsClient: Sendable {
  package struct Settings: Sendable {
    package var servers = ["nats://127.0.0.1:4222"]
    package var name = ""
    /// A file of credentials, as `nsc` makes it.
    package var credentials: String?
    package var user: String?
    package var password: String?
    /// A PEM file of authorities; TLS is used then.
    package var authorities: String?
    /// PEM files of the own certificate and its key.
    package var certificate: String?
    package var key: String?

    package init() {}
  }

  /// What the owner of a client is told.
  package struct Events: Sendable {
    package var received: @Sendable (NatsMessage) -> Void
    package var disconnected: @Sendable () -> Void
    package var connected: @Sendable () -> Void
    /// It connects no more, unless that was asked for: servers that refuse a client twice are not asked again.
    package var closed: @Sendable (String) -> Void

    package init(
      received: @escaping @Sendable (NatsMessage) -> Void,
      disconnected: @escaping @Sendable () -> Void, connected: @escaping @Sendable () -> Void,
      closed: @escaping @Sendable (String) -> Void = { _ in }
    ) {
      (self.received, self.disconnected, self.connected) = (received, disconnected, connected)
      self.closed = closed
    }
  }

  private final class Handler: Sendable {
    let events: Events

    init(_ events: Events) { self.events = events }

    static func of(_ closure: UnsafeMutableRawPointer?) -> Handler {
      Unmanaged<Handler>.fromOpaque(closure!).takeUnretainedValue()
    }
  }

  private let pointers: Guarded<Pointers>
  private let handler: Handler
  private let queue = DispatchQueue(label: "nats")
  /// What replies to this client are sent to, followed by a dot and a token of the client's choice.
  package let inbox: String

  /// Pointers of the library, which may be used from any thread.
  private struct Pointers: @unchecked Sendable {
    var connection: OpaquePointer?
    var subscription: OpaquePointer?

    /// Ends what they are of.
    func destroy() {
      natsSubscription_Destroy(subscription)
      natsConnection_Destroy(connection)
    }
  }

  /// Connects. Blocks until a server has answered, or none has.
  package init(_ settings: Settings, events: Events) throws(NatsError) {
    handler = Handler(events)
    var random = SystemRandomNumberGenerator()
    inbox = "_INBOX.\(String(random.next(), radix: 36))"
    let options = try Self.options(settings, handler)
    // The library may call back while it ends, so the handler stays.
    _ = Unmanaged.passRetained(handler)
    defer { natsOptions_Destroy(options) }
    var raw: OpaquePointer?
    let status = natsConnection_Connect(&raw, options)
    guard status == NATS_OK, let raw else { throw Self.failure(status, settings) }
    var subscription: OpaquePointer?
    let subscribed = natsConnection_Subscribe(
      &subscription, raw, "\(inbox).*",
      { _, _, message, closure in
        guard let message else { return }
        defer { natsMsg_Destroy(message) }
        Handler.of(closure).events.received(NatsClient.read(message))
      }, Unmanaged.passUnretained(handler).toOpaque())
    pointers = Guarded(Pointers(connection: raw, subscription: subscription))
    guard subscribed == NATS_OK else { throw Self.failure(subscribed, settings) }
    // A slow reader is held up by what it pulls, never by dropped messages.
    natsSubscription_SetPendingLimits(subscription, -1, -1)
  }

  private static func options(
    _ settings: Settings, _ handler: Handler
  ) throws(NatsError) -> OpaquePointer? {
    var options: OpaquePointer?
    natsOptions_Create(&options)
    let closure = Unmanaged.passUnretained(handler).toOpaque()
    // The library copies the names.
    let names = settings.servers.map { strdup($0) }
    defer { for name in names { free(name) } }
    var pointers: [UnsafePointer<CChar>?] = names.map { UnsafePointer($0) }
    var steps = [
      natsOptions_SetServers(options, &pointers, Int32(pointers.count)),
      natsOptions_SetName(options, settings.name),
      natsOptions_SetTimeout(options, 3000),
      natsOptions_SetMaxReconnect(options, -1),
      natsOptions_SetReconnectWait(options, 250),
      natsOptions_SetReconnectJitter(options, 250, 250),
      // What was not answered is sent again by who asked.
      natsOptions_SetReconnectBufSize(options, 0),
      natsOptions_SetPingInterval(options, 2000),
      natsOptions_SetMaxPingsOut(options, 2),
      natsOptions_SetWriteDeadline(options, 2000),
      natsOptions_SetDisconnectedCB(
        options, { _, closure in Handler.of(closure).events.disconnected() }, closure),
      natsOptions_SetReconnectedCB(
        options, { _, closure in Handler.of(closure).events.connected() }, closure),
      natsOptions_SetClosedCB(
        options,
        { connection, closure in
          var reason: UnsafePointer<CChar>?
          natsConnection_GetLastError(connection, &reason)
          Handler.of(closure).events.closed(reason.map { String(cString: $0) } ?? "")
        }, closure),
      // Else the library writes errors to the standard error.
      natsOptions_SetErrorHandler(options, { _, _, _, _ in }, nil),
    ]
    if let user = settings.user {
      steps.append(natsOptions_SetUserInfo(options, user, settings.password ?? ""))
    }
    if let file = settings.credentials {
      steps.append(natsOptions_SetUserCredentialsFromFiles(options, file, nil))
    }
    if let file = settings.authorities {
      steps.append(natsOptions_SetSecure(options, true))
      steps.append(natsOptions_LoadCATrustedCertificates(options, file))
    }
    if let certificate = settings.certificate, let key = settings.key {
      steps.append(natsOptions_LoadCertificatesChain(options, certificate, key))
    }
    guard let wrong = steps.first(where: { $0 != NATS_OK }) else { return options }
    natsOptions_Destroy(options)
    throw .settings(Self.text(wrong))
  }

  private static func failure(_ status: natsStatus, _ settings: Settings) -> NatsError {
    let servers = settings.servers.joined(separator: ", ")
    return switch status {
    case NATS_NOT_PERMITTED, NATS_CONNECTION_AUTH_FAILED:
      .refused("\(servers): \(text(status))")
    case NATS_INVALID_ARG, NATS_ILLEGAL_STATE: .settings(text(status))
    default: .unreachable("\(servers): \(text(status))")
    }
  }

  private static func text(_ status: natsStatus) -> String {
    let last = nats_GetLastError(nil).map { String(cString: $0) } ?? ""
    return last.isEmpty ? String(cString: natsStatus_GetText(status)) : last
  }

  private static func read(_ message: OpaquePointer) -> NatsMessage {
    let count = Int(natsMsg_GetDataLength(message))
    let bytes = natsMsg_GetData(message).map { data in
      Array(UnsafeRawBufferPointer(start: data, count: count))
    }
    func header(_ name: String) -> String? {
      var value: UnsafePointer<CChar>?
      natsMsgHeader_Get(message, name, &value)
      return value.map { String(cString: $0) }
    }
    let status = header("Status").flatMap { Int($0) }
    return NatsMessage(
      subject: String(cString: natsMsg_GetSubject(message)),
      reply: natsMsg_GetReply(message).map { String(cString: $0) }, bytes: bytes ?? [],
      status: status, description: status == nil ? nil : header("Description"))
  }

  /// Publishes a message, in the order of the calls. Returns at once: the library waits for locks that it holds
  /// while it connects, and for the network. What cannot be sent is dropped.
  ///
  /// - Parameter token: where the answer goes, below ``inbox``.
  package func publish(
    _ subject: String, token: String? = nil, headers: [(String, String)] = [], _ body: [UInt8]
  ) {
    queue.async { [self] in
      guard let connection = pointers.withLock({ $0 }).connection else { return }
      let reply = token.map { "\(inbox).\($0)" }
      var message: OpaquePointer?
      let created = body.withUnsafeBytes { bytes in
        natsMsg_Create(
          &message, subject, reply, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
          Int32(body.count))
      }
      guard created == NATS_OK else { return }
      defer { natsMsg_Destroy(message) }
      for (name, value) in headers { natsMsgHeader_Set(message, name, value) }
      natsConnection_PublishMsg(connection, message)
    }
  }

  /// How many bytes a message may have for the server that is connected.
  package var maximumPayload: Int {
    Int(natsConnection_GetMaxPayload(pointers.withLock { $0 }.connection))
  }

  /// Ends the connection, after what was published is written.
  ///
  /// - Parameter closed: called then.
  package func close(_ closed: @escaping @Sendable () -> Void = {}) {
    // Behind what is yet to be published, which needs the connection.
    queue.async { [self] in
      let pointers = pointers.withLock { exchange(&$0, with: Pointers()) }
      if let connection = pointers.connection { natsConnection_FlushTimeout(connection, 1000) }
      pointers.destroy()
      closed()
    }
  }

  deinit { pointers.withLock { $0 }.destroy() }
}
