// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import HandoffCore
internal import Platform

/// The configuration of Syncthing, as far as it says which folders are kept alike: `config.xml`.
///
/// A folder is called by its id, which is the same on all devices: `syncthing:abcde-fghij`.
final class SyncthingConfiguration {
    private let home: String
    /// How many elements have begun and not ended.
    private var depth = 0
    /// Syncthing needs five. GLib's parser takes hundreds of bytes for each.
    private static let maximumDepth = 32
    private var folders: [SharedFolder] = []

    private init(home: String) { self.home = home }

    /// The folders that `bytes` name; those before the place where they stop being well-formed.
    /// - Parameter home: the folder that `~` stands for.
    static func folders(_ bytes: [UInt8], home: String) -> [SharedFolder] {
        let configuration = SyncthingConfiguration(home: home)
        configuration.read(bytes)
        return configuration.folders
    }

    /// GLib's parser knows no entities but the five of XML, so a small file never becomes a large one.
    private func read(_ bytes: [UInt8]) {
        var parser = GMarkupParser()
        parser.start_element = { _, name, names, values, data, error in
            SyncthingConfiguration.with(data) { configuration in
                configuration.began(name, names, values)
                guard configuration.depth > SyncthingConfiguration.maximumDepth else { return }
                g_set_error_literal(
                    error, g_markup_error_quark(), gint(G_MARKUP_ERROR_INVALID_CONTENT.rawValue),
                    "it is nested too deeply")
            }
        }
        parser.end_element = { _, _, data, _ in SyncthingConfiguration.with(data) { $0.depth -= 1 } }
        withUnsafePointer(to: &parser) { parser in
            let data = Unmanaged.passUnretained(self).toOpaque()
            let flags = GMarkupParseFlags(rawValue: 0)
            guard let context = g_markup_parse_context_new(parser, flags, data, nil) else { return }
            defer { g_markup_parse_context_free(context) }
            var error: UnsafeMutablePointer<GError>?
            defer { g_clear_error(&error) }
            let isRead = bytes.withUnsafeBytes { buffer in
                g_markup_parse_context_parse(
                    context, buffer.bindMemory(to: CChar.self).baseAddress, buffer.count, &error) != 0
            }
            if !isRead {
                let reason =
                    error.flatMap { $0.pointee.message }.map { String(cString: $0) } ?? "unknown reason"
                brokerLog.debug("Syncthing's configuration is malformed: \(PeerText.message(reason))")
            }
        }
    }

    private static func with(_ data: UnsafeMutableRawPointer?, _ body: (SyncthingConfiguration) -> Void) {
        guard let data else { return }
        body(Unmanaged<SyncthingConfiguration>.fromOpaque(data).takeUnretainedValue())
    }

    private typealias Strings = UnsafeMutablePointer<UnsafePointer<CChar>?>?

    private func began(_ name: UnsafePointer<CChar>?, _ names: Strings, _ values: Strings) {
        depth += 1
        // Deeper down there are patterns for folders that do not exist yet.
        guard depth == 2, let name, String(cString: name) == "folder", let names, let values,
            folders.count < SharedFolders.maximumCount
        else { return }
        var (attributes, index): ([String: String], Int) = ([:], 0)
        while let name = names[index], let value = values[index] {
            attributes[String(cString: name)] = String(cString: value)
            index += 1
        }
        add(attributes)
    }

    private func add(_ attributes: [String: String]) {
        // In a folder of this type everything is encrypted for somebody else.
        guard let id = attributes["id"], !id.isEmpty, var path = attributes["path"],
            attributes["type"] != "receiveencrypted"
        else { return }
        if path == "~" || path.hasPrefix("~/") { path = home + path.dropFirst() }
        do {
            folders.append(try SharedFolder("syncthing:\(id)", at: path))
        } catch {
            brokerLog.debug("A folder of Syncthing is ignored: \(error.message)")
        }
    }
}
