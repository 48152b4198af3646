// SPDX-License-Identifier: LGPL-2.1-or-later
package import DBus
package import HandoffCore

/// Stands in for a broker where there is none: everything is accepted, and nothing happens.
@MainActor
package final class BusBackend: HandoffBackend {
    package var receiver: (any HandoffBackendReceiver)?
    package init() {}
    package func start(_ declaration: ApplicationDeclaration) { receiver?.standingChanged(.absent) }
    package func stop() {}
    package func create(_ number: ActivityNumber, type: String, properties: [String: Value]) {}
    package func update(_ number: ActivityNumber, _ properties: [String: Value]) {}
    package func becomeCurrent(_ number: ActivityNumber) {}
    package func resignCurrent(_ number: ActivityNumber) {}
    package func invalidate(_ number: ActivityNumber) {}
    package func openStream(_ number: ContinuationNumber) async throws(HandoffFailure) -> CInt {
        throw HandoffFailure(.notSupported, "There is no broker.")
    }
    package func release(_ number: ContinuationNumber) {}
}
