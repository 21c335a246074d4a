extension PageFiles {
  /// The files of the folder Page, which are compiled into the program.
  static let embedded: [String: [UInt8]] = [
    "app.js": PackageResources.app_js, "hangs.js": PackageResources.hangs_js,
    "index.html": PackageResources.index_html, "nodes.js": PackageResources.nodes_js,
    "overlay.html": PackageResources.overlay_html, "overlay.js": PackageResources.overlay_js,
    "rooms.js": PackageResources.rooms_js, "simulate.js": PackageResources.simulate_js,
    "stream.js": PackageResources.stream_js, "style.css": PackageResources.style_css,
    "tree.js": PackageResources.tree_js,
  ]
}
