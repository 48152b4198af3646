// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore

/// What a sandboxed application may claim when it registers: nothing that its desktop entry does not say.
enum SandboxClaims {
    /// - Parameters:
    ///   - entry: its desktop entry.
    ///   - isKnown: whether all desktop entries have been read.
    /// - Throws: `AccessDenied` if `caller` is sandboxed and claims more than it may; `ConnectionUnavailable` if that cannot
    ///   be told yet.
    static func check(
        _ caller: Caller, _ id: ApplicationID, _ team: Team?, _ declaration: Declaration,
        _ entry: InstalledApplication?, isKnown: Bool = true
    ) throws(HandoffFailure) {
        guard let sandbox = caller.sandbox else { return }
        guard isOwn(id, sandbox) else {
            throw HandoffFailure(
                .accessDenied, "A sandboxed application may only register its own id, which \(id) is not.")
        }
        if let team, !team.isClaimable(by: id) {
            throw HandoffFailure(
                .accessDenied,
                "\(id) may not claim the team \(team). From a sandbox, use the id or a prefix of it of at least"
                    + " three labels.")
        }
        if let claim = undeclared(declaration, in: entry?.declaration ?? Declaration()) {
            guard isKnown || entry != nil else {
                throw HandoffFailure(
                    .connectionUnavailable,
                    "Whether \(id) may declare \(PeerText.message(claim)) from a sandbox is not known: its desktop entry"
                        + " has not been read, since a file system does not answer. Register again later.")
            }
            throw HandoffFailure(
                .accessDenied,
                "\(id) may not declare \(PeerText.message(claim)) from a sandbox. Declare it in its desktop entry"
                    + " instead.")
        }
    }

    /// Whether `id` is the application that this sandbox is for.
    static func isOwn(_ id: ApplicationID, _ sandbox: Sandbox) -> Bool { sandbox.package?.owns(id) ?? false }

    /// The first thing of `declaration` that `entry` does not say as well.
    private static func undeclared(_ declaration: Declaration, in entry: Declaration) -> String? {
        if let type = declaration.activityTypes.first(where: { !entry.types.contains($0) }) {
            return type.description
        }
        // An entry that declares a MIME type also declares the activity type that it maps to.
        if let document = declaration.documentTypes.first(where: { entry.documentTypes[$0.key] != $0.value })
        {
            return document.key
        }
        return declaration.domains.first { !entry.domains.contains($0) }
    }
}

extension Sandbox {
    /// The package that runs in it; nil if that is not known.
    var package: SandboxPackage? {
        switch self {
        case .flatpak(let application): .flatpak(application)
        case .snap(let name): .snap(name)
        case .unknown: nil
        }
    }
}
