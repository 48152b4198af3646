// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import MainLoop

/// Takes what the device at the other end of a link says about the link itself.
@MainLoop
final class LinkObject: LinkServer {
    private weak var link: Link?

    init(_ link: Link) { self.link = link }

    func hello(version: UInt32, about: [String: Value], _ call: MethodCall) throws {
        guard let link else { return }
        do {
            try link.hear(LinkHello(about), version: version)
        } catch {
            call.afterReply { [weak link] in link?.closeWhenSent("its Hello was refused: \(error)") }
            throw error
        }
        call.afterReply { [weak link] in link?.tellHello() }
    }

    func unpair(_ call: MethodCall) throws {
        link?.forgetTrust()
        call.afterReply { [weak link] in link?.unpaired() }
    }

    func ping(_ call: MethodCall) throws {}

    func introduce(devices: [Introduction.Said], _ call: MethodCall) throws {
        try Introduction.check(count: devices.count)
        let list = try devices.map { said throws(HandoffFailure) in try Introduction(said) }
        try link?.introduced(list)
    }

    func retract(ids: [[UInt8]], _ call: MethodCall) throws {
        try Introduction.check(count: ids.count)
        let devices = try ids.map { id throws(HandoffFailure) in try Introduction.device(id) }
        try link?.retracted(devices)
    }

    func openStream(continuation: String, token: [UInt8], _ call: MethodCall) async throws -> [UInt8] {
        guard let link else { throw Peer.notPaired("This device") }
        return try await link.openStream(
            .application, try ContinuationID(checking: continuation), token, call
        )
        .token
    }

    func openDocument(continuation: String, token: [UInt8], _ call: MethodCall) async throws
        -> LinkOpenDocumentReply
    {
        guard let link else { throw Peer.notPaired("This device") }
        let agreed = try await link.openStream(
            .document, try ContinuationID(checking: continuation), token, call)
        return LinkOpenDocumentReply(acceptedToken: agreed.token, about: agreed.about?.about ?? [:])
    }
}
