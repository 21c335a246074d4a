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
  /// The status of a message that a server sends instead of an answer; 503 if there are no
  /// responders.
  package var status: Int?
  /// The server's description of the status.
  package var description: String?

  /// The last token of the subject: in a reply, the one that the client chose.
  var token: String? {
    subject.lastIndex(of: ".").map { String(subject[subject.index(after: $0)...]) }
  }

  /// Whether this is a message of a stream, from a consumer.
  var isFromStream: Bool { reply?.hasPrefix("$JS.ACK.") == true }
}

/// Why no connection could be made.
package enum NatsError: Error, Equatable, Sendable {
  /// No server answers.
  case unreachable(String)
  /// A server does not admit this client.
  case refused(String)
  /// The library rejects the settings.
  case settings(String)
}

/// A connection to NATS servers, through libnats. It only carries messages in and out, and does not
/// interpret them.
///
/// A lost connection is made again automatically, without end. Callbacks come one at a time, on
/// threads of the library.
package final class NatsClient: Sendable {
  package struct Settings: Sendable {
    package var servers = ["nats://127.0.0.1:4222"]
    package var name = ""
    /// A file of credentials, as `nsc` creates it.
    package var credentials: String?
    package var user: String?
    package var password: String?
    /// A PEM file of authorities. If it is given, TLS is used.
    package var authorities: String?
    /// A PEM file of this client's certificate.
    package var certificate: String?
    /// A PEM file of the certificate's key.
    package var key: String?

    package init() {}
  }

  /// Callbacks to the owner of a client.
  package struct Events: Sendable {
    package var received: @Sendable (NatsMessage) -> Void
    package var disconnected: @Sendable () -> Void
    package var connected: @Sendable () -> Void
    /// The connection has ended for good, with this reason: servers that refuse a client twice are
    /// not asked again.
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
  /// The prefix of the subjects of replies to this client. A dot and a token of the client's choice
  /// follow.
  package let inbox: String

  /// Pointers of the library, which may be used on any thread.
  private struct Pointers: @unchecked Sendable {
    var connection: OpaquePointer?
    var subscription: OpaquePointer?

    /// Destroys the subscription and the connection.
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
    // The library may call back while the connection ends, so the handler is never released.
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
    // No message may be dropped. A slow reader limits itself by pulling less.
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
      // Nothing is buffered while disconnected: callers repeat requests that were not answered.
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

  /// Publishes a message, in the order of the calls. Returns immediately: the library waits for the
  /// network, and for locks that it holds while it connects. Messages that cannot be sent are
  /// dropped.
  ///
  /// - Parameter token: the token below ``inbox`` to which the answer is sent.
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

  /// Closes the connection once everything that was published is written.
  ///
  /// - Parameter closed: called afterwards.
  package func close(_ closed: @escaping @Sendable () -> Void = {}) {
    // Queued after the messages that are yet to be published, which need the connection.
    queue.async { [self] in
      let pointers = pointers.withLock { exchange(&$0, with: Pointers()) }
      if let connection = pointers.connection { natsConnection_FlushTimeout(connection, 1000) }
      pointers.destroy()
      closed()
    }
  }

  deinit { pointers.withLock { $0 }.destroy() }
}
