// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import DBus
internal import Glibc
internal import HandoffStarting
internal import MainLoop
internal import Platform

/// Gives sandboxed applications access to single documents, through `org.freedesktop.portal.Documents`.
@MainLoop
struct DocumentPortal {
    private static let name: BusName = "org.freedesktop.portal.Documents"
    private static let path: ObjectPath = "/org/freedesktop/portal/documents"
    private static let interface: InterfaceName = "org.freedesktop.portal.Documents"
    /// A document that the portal knows already keeps its number, and access lasts beyond the session.
    private static let flags: UInt32 = 1 | 2
    private static let permissions = ["read", "write"]
    private static let patience = Duration.seconds(5)

    let bus: Bus
    let looks: FileLooks

    /// Lets `application` read and write the file at `file`.
    /// - Returns: the path of the file as the application sees it.
    /// - Throws: if there is no portal, or it refuses.
    func share(_ file: String, with application: String) async throws -> String {
        let opened = try await looks.find(.portal) { OpenedFile(file) }
        guard let opened else { throw DBusError(.failed, "The document is not there any more.") }
        let portal = try await owner()
        let reply = try await RemoteObject(bus.connection, portal, Self.path).call(
            Self.interface, "AddFull", output: "asa{sv}", timeout: Self.patience
        ) { (writer) throws(DBusError) in
            try writer.array(of: Signature("h")) { (writer) throws(DBusError) in
                try writer.write(opened.descriptor)
            }
            try writer.write(Self.flags)
            try writer.write(application)
            try writer.write(Self.permissions)
        }
        var reader = MessageReader(reply)
        let (ids, more) = (try reader.read([String].self), try reader.read([String: Value].self))
        guard let id = ids.first, Self.isPart(id), let mount = Self.path(more["mountpoint"]),
            let name = file.split(separator: "/").last
        else { throw DBusError(.failed, "The portal's answer cannot be understood.") }
        return "\(mount)/\(id)/\(name)"
    }

    /// The portal, which is started if it does not run. Who is in a sandbox itself is none, and is to see no document.
    private func owner() async throws -> BusName {
        guard let owner = try await bus.identifiedOwner(starting: Self.name, timeout: Self.patience),
            owner.sandbox == nil,
            let name = owner.name
        else { throw DBusError(.failed, "The owner of the portal's bus name runs in a sandbox.") }
        return name
    }

    private static func isPart(_ id: String) -> Bool {
        !id.isEmpty && !id.contains("/") && !id.hasPrefix(".")
    }

    /// The absolute path in a byte array that ends with a zero byte.
    private static func path(_ value: Value?) -> String? {
        guard case .bytes(let bytes)? = value else { return nil }
        let text = String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
        return text.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}

/// A regular file that is named by a descriptor, and not open for reading or writing.
private final class OpenedFile: Sendable {
    let descriptor: FileDescriptor

    /// The file at `path`; nil if there is none, or something else, such as a link that could have been put there to have
    /// another file shared.
    init?(_ path: String) {
        // The portal refuses what was opened with O_NOFOLLOW, since that could be a link itself.
        let number = FoundFile.find(Array(path.utf8) + [0], in: AT_FDCWD, .none)
        guard number >= 0 else { return nil }
        descriptor = FileDescriptor(owning: number)
        var status = stat()
        guard let identity = FileIdentity(of: number), identity == FileIdentity(path, in: AT_FDCWD),
            fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG
        else { return nil }
    }
}
