// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore

/// What a sandboxed application may claim when it registers: nothing that its desktop entry does not say.
enum SandboxClaims {
    /// - Throws: `AccessDenied` if `caller` is sandboxed and claims more than it may.
    static func check(
        _ caller: Caller, _ id: ApplicationID, _ team: Team?, _ declaration: Declaration
    ) throws(HandoffFailure) {
        guard let sandbox = caller.sandbox else { return }
        guard case .flatpak(let application) = sandbox, application == id.description else {
            throw HandoffFailure(
                .accessDenied, "A sandboxed application may only register its own id, which \(id) is not.")
        }
        if let team, !team.isClaimable(by: id) {
            throw HandoffFailure(
                .accessDenied,
                "\(id) may not claim the team \(team). From a sandbox, use the id or a prefix of it of at least"
                    + " three labels.")
        }
        // What a MIME type maps to is declared by that too.
        if let claim = declaration.types.first?.description ?? declaration.domains.first {
            throw HandoffFailure(
                .accessDenied,
                "\(id) may not declare \(PeerText.message(claim)) from a sandbox. Declare it in its desktop entry"
                    + " instead.")
        }
    }
}
