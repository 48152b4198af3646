// SPDX-License-Identifier: LGPL-2.1-or-later

/// Which hosts installed applications claim, what their sites have said about that, and when they are to be asked.
///
/// A site is asked when a claim to it appears, and about once a day as long as there is one; if asking fails, once more
/// after an hour. Sites that are due about the same time are asked together, so that this wakes the machine once a day at
/// most. What a site has said counts until it says something else, for a week at most if it cannot be asked. Only the wall
/// clock counts, since days pass while the machine sleeps; all times are microseconds since the Unix epoch.
package struct SiteClaims: Sendable {
    /// A claim of an application.
    private struct Claim: Hashable, Sendable {
        let application: ApplicationID
        /// What its site has to approve of.
        let name: String
        let domain: DomainClaim
    }

    private var claims: [Claim] = []
    private var sites: [WebHost: Site] = [:]
    /// The site that is being asked.
    private var asking: WebHost?
    private var isEnabled: Bool

    /// How many claims of all applications together count, and to how many sites.
    package static let (maximumClaims, maximumSites) = (1024, 512)

    /// No claims yet. Nothing is asked while Handoff is not on, which `isEnabled` says.
    package init(isEnabled: Bool) { self.isEnabled = isEnabled }

    /// What is known of each site, to be kept.
    package var known: [WebHost: Site] { sites }

    /// These claims of installed applications count now, and no others: those of the first applications by id, if there
    /// are too many. What is known of other sites is forgotten.
    package mutating func setInstalled(_ applications: some Sequence<InstalledApplication>) {
        claims = []
        var names: [WebHost: Set<String>] = [:]
        for application in applications.sorted(by: { $0.applicationID < $1.applicationID }) {
            let name = "\(application.team ?? Team(application.applicationID)).\(application.applicationID)"
            for domain in application.declaration.domains.prefix(Quota.domains).compactMap(DomainClaim.init) {
                guard claims.count < Self.maximumClaims,
                    names[domain.host] != nil || names.count < Self.maximumSites
                else { continue }
                names[domain.host, default: []].insert(name)
                claims.append(Claim(application: application.applicationID, name: name, domain: domain))
            }
        }
        sites = names.reduce(into: [:]) { result, entry in
            var site = sites[entry.key] ?? Site()
            site.claim(by: entry.value)
            result[entry.key] = site
        }
    }

    /// What was known of sites when it was kept, for those of which nothing is known yet.
    package mutating func restore(_ known: [WebHost: Site]) {
        for (host, site) in sites where site.isUnknown {
            guard var former = known[host] else { continue }
            former.claim(by: site.claimed)
            sites[host] = former
        }
    }

    /// The user has switched Handoff on or off. What was being asked while it is switched off is to be given up.
    package mutating func setEnabled(_ isEnabled: Bool) {
        self.isEnabled = isEnabled
        if !isEnabled { asking = nil }
    }

    /// The applications to which the site of `host` has given its pages, as far as is known at `now`: first those that
    /// claim that host alone, then those that claim the fewest hosts besides, by id.
    package func claimants(of host: WebHost, at now: Int64) -> [ApplicationID] {
        let matching = claims.filter { claim in
            claim.domain.covers(host) && sites[claim.domain.host]?.approves(of: claim.name, at: now) == true
        }
        let sorted = matching.sorted {
            let (left, right) = ($0.domain, $1.domain)
            if left.isWildcard != right.isWildcard { return right.isWildcard }
            let (length, other) = (left.host.description.utf8.count, right.host.description.utf8.count)
            return length == other ? $0.application < $1.application : length > other
        }
        var seen: Set<ApplicationID> = []
        return sorted.map(\.application).filter { seen.insert($0).inserted }
    }

    // MARK: Asking

    /// The site that is to be asked now; nil if none is, or if one is being asked. Once one is due, so are those that would
    /// soon be.
    package mutating func begin(at now: Int64) -> WebHost? {
        guard isEnabled, asking == nil else { return nil }
        for host in sites.keys { sites[host]?.notice(now) }
        guard let dueTime = sites.values.map(\.dueTime).min(), dueTime <= now || isAskingTogether else {
            isAskingTogether = false
            return nil
        }
        isAskingTogether = true
        asking = sites.filter { $0.value.isWorthAsking(at: now) }.keys.min()
        if asking == nil { isAskingTogether = false }
        return asking
    }

    /// Whether a site was asked just now, so that others that are nearly due follow.
    private var isAskingTogether = false

    /// What came of asking `host`. Whatever else was asked meanwhile does not count.
    package mutating func answered(_ host: WebHost, _ answer: SiteAnswer, at now: Int64) {
        guard asking == host else { return }
        asking = nil
        sites[host]?.answered(answer, at: now)
    }

    /// When ``begin(at:)`` has something to do; nil if nothing is to be asked, or if something is being asked.
    package var nextTime: Int64? {
        guard isEnabled, asking == nil else { return nil }
        return sites.values.map(\.dueTime).min()
    }
}
