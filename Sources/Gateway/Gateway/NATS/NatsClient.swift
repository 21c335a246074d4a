import CNATS
import Dispatch
import Glibc
import Locking
import SystemSupport

/// A message that was received.
package struct NatsMessage: Sendable {
  package var subject: String
  package var reply: String?
  package var bytes: [UInt8]
  /// The status that a server sends instead of an answer, such as 503 if nobody subscribes to the
  /// request's subject.
  package var status: Int?
  package var description: String?

  /// The last token of the subject. In a reply, this is the token that the client chose for the
  /// request.
  var token: String? {
    subject.lastIndex(of: ".").map { String(subject[subject.index(after: $0)...]) }
  }

  /// Whether a consumer has delivered this message from a stream.
  var isFromStream: Bool { reply?.hasPrefix("$JS.ACK.") == true }
}

/// The reason why connecting to the servers failed.
package enum NatsError: Error, Equatable, Sendable {
  /// No server answered.
  case unreachable(String)
  /// A server refuses this client's connection; the associated value is the reason.
  case refused(String)
  /// The library rejects the settings.
  case settings(String)
}

/// A connection to NATS servers through libnats. It transports messages without interpreting them.
///
/// A lost connection is renewed automatically, without a limit on attempts. Callbacks are made one
/// at a time, on threads of the library.
package final class NatsClient: Sendable {
  package struct Settings: Sendable {
    package var servers = ["nats://127.0.0.1:4222"]
    package var name = ""
    /// The path of a credentials file, as `nsc` creates it.
    package var credentials: String?
    package var user: String?
    package var password: String?
    /// The path of a PEM file that contains the trusted authorities. Setting it enables TLS.
    package var authorities: String?
    /// The path of a PEM file with this client's certificate.
    package var certificate: String?
    /// The path of a PEM file with the certificate's private key.
    package var key: String?

    package init() {}
  }

  package struct Events: Sendable {
    package var received: @Sendable (NatsMessage) -> Void
    package var disconnected: @Sendable () -> Void
    package var connected: @Sendable () -> Void
    /// Called when the connection has ended for good, with the reason. A server that has refused
    /// the client twice is not tried again.
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
  /// The prefix of the subjects of replies to this client, followed by a dot and a token that the
  /// client chooses.
  package let inbox: String

  /// The library's pointers, which may be used on any thread.
  private struct Pointers: @unchecked Sendable {
    var connection: OpaquePointer?
    var subscription: OpaquePointer?

    func destroy() {
      natsSubscription_Destroy(subscription)
      natsConnection_Destroy(connection)
    }
  }

  /// Connects. Blocks until a server has answered or every server has failed.
  package init(_ settings: Settings, events: Events) throws(NatsError) {
    handler = Handler(events)
    var random = SystemRandomNumberGenerator()
    inbox = "_INBOX.\(String(random.next(), radix: 36))"
    let options = try Self.options(settings, handler)
    // The library may still call the handler while the connection is being destroyed, so the
    // handler is never released.
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
    // The library must not drop messages. Its queue cannot grow without limit, because a slow
    // reader pulls fewer messages.
    natsSubscription_SetPendingLimits(subscription, -1, -1)
  }

  private static func options(
    _ settings: Settings, _ handler: Handler
  ) throws(NatsError) -> OpaquePointer? {
    var options: OpaquePointer?
    natsOptions_Create(&options)
    let closure = Unmanaged.passUnretained(handler).toOpaque()
    // The library copies the settings' strings, so they can be freed here.
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
      // Messages are not buffered while the connection is lost, because callers repeat unanswered
      // requests.
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
      // Without a handler the library writes errors to standard error.
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

  /// Publishes messages in the order of the calls; answers are sent to `token` below ``inbox``.
  /// Returns without waiting. The library's own function would block for the network, and for locks
  /// while it connects. Messages that cannot be sent are dropped.
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

  /// The maximum size of a message in bytes, as the connected server reports it.
  package var maximumPayload: Int {
    Int(natsConnection_GetMaxPayload(pointers.withLock { $0 }.connection))
  }

  /// Closes the connection once all published messages are written, and then calls `closed`.
  package func close(_ closed: @escaping @Sendable () -> Void = {}) {
    // The queue runs this after the messages of earlier calls of `publish`, which need the open
    // connection.
    queue.async { [self] in
      let pointers = pointers.withLock { exchange(&$0, with: Pointers()) }
      if let connection = pointers.connection { natsConnection_FlushTimeout(connection, 1000) }
      pointers.destroy()
      closed()
    }
  }

  deinit { pointers.withLock { $0 }.destroy() }
}
