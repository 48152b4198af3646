// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces
internal import HandoffSession
internal import Platform

extension ContinuationRunner {
    /// If the application answers that it does not implement `member`, another connection of the application
    /// takes the place of this one, if there is a better one.
    func handsOver(_ member: Recipients.Member, of name: BusName?, _ error: DBusError) -> Bool {
        guard error.saysThatMemberIsMissing, let applicationID, let name, name == registered?.name,
            machine.isAwaiting(member)
        else {
            return false
        }
        recipients.lacks(member, name.text)
        guard let best = recipients.best(of: connections(of: applicationID)), best != name.text,
            let registration = owner.applications.registration(of: best)
        else { return false }
        do {
            let ended = try owner.handedOver(id, to: best)
            try use(registration)
            owner.perform(ended)
        } catch {
            brokerLog.debug(
                "continuation \(id): \(best) cannot take it: \(DBusError.converting(error).message)")
            return false
        }
        brokerLog.debug("continuation \(id): \(name) has no \(member), so it goes to \(best).")
        export()
        perform(
            machine.handedOver(
                recipients.isLacking(.willContinue, best) ? .deliver : .ask, at: owner.tools.clock.instant))
        return true
    }
}
