// SPDX-License-Identifier: LGPL-2.1-or-later
internal import CGio
internal import HandoffCore
internal import MainLoop
internal import Platform

/// Who this device is: a key and the certificate whose hash is the device's id, in one PEM file.
struct Identity: Sendable {
    /// The certificate with its key.
    let certificate: Certificate
    /// This device.
    let device: DeviceID

    /// The name of the file in the state folder.
    static let fileName = "identity.pem"
    private static let maximumSize = 1 << 16
    private static let risk =
        "Whoever has read the key can pass for this device. If somebody may have done so, unpair this device on its peers,"
        + " remove the file with the list of peers, and pair again."

    /// The identity in `folder`; nil if there is none.
    /// - Throws: if it is damaged.
    @MainLoop
    static func load(from folder: StateFolder) throws -> Identity? {
        guard let bytes = try folder.read(fileName, maximumSize: maximumSize, risk: risk) else { return nil }
        return try Identity(pem: String(decoding: bytes, as: UTF8.self))
    }

    /// The identity in `folder`, which is locked; made now if there is none.
    /// - Throws: ``StartFailure`` if the identity is damaged, or if it is gone but the trust store is there.
    ///   Then what is left of both is set aside.
    @MainLoop
    static func loadOrMake(in folder: StateFolder) throws -> Identity {
        let path = folder.file(fileName)
        do {
            if let identity = try load(from: folder) { return identity }
        } catch let error as KeyFileError where !error.isDamage {
            throw StartFailure(error.description)
        } catch let error as UnsafeFile {
            throw StartFailure(error.description)
        } catch {
            let aside = try StateFolder.setAside(path) ?? path
            // The list of peers is of no use without the key, by which they know this device.
            let trust = try StateFolder.setAside(folder.file(TrustStore.fileName))
            throw StartFailure(
                "The key of this device, \(path), is damaged (\(error)). It was kept as \(aside)"
                    + (trust.map { ", and the list of peers as \($0)" } ?? "")
                    + ". Restore it from a backup, or start again for a new identity, and pair again.")
        }
        if let trust = try StateFolder.setAside(folder.file(TrustStore.fileName)) {
            throw StartFailure(
                "The key of this device, \(path), is gone, but its list of peers is there; that was kept as \(trust)."
                    + " Restore both from a backup, or start again for a new identity, and pair again.")
        }
        let pem = try KeyMaker.makeIdentity()
        let identity = try Identity(pem: pem)
        try SmallFile.write(Array(pem.utf8), to: path)
        bridgeLog.message("This device is now \(identity.device); its key is in \(path).")
        return identity
    }

    init(pem: String) throws {
        try KeyMaker.check(pem)
        certificate = try Certificate(pem: pem)
        guard let device = certificate.device else { throw StartFailure("The certificate cannot be read.") }
        self.device = device
    }
}
