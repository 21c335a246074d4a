package import Hummingbird
import NIOCore

/// What handlers know of a request besides its text.
package struct WebContext: RequestContext {
  package var coreContext: CoreRequestContextStorage
  let channel: any Channel
  /// What its token gives the right to.
  var right: Right?

  package init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
  }
}
