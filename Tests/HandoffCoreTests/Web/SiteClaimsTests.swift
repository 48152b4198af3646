// SPDX-License-Identifier: LGPL-2.1-or-later

import HandoffCore
import Testing

/// An application with claims.
func claimant(_ name: String, team: String? = "com.example", _ domains: String...) throws
    -> InstalledApplication
{
    InstalledApplication(
        try Example.application(name), team: try team.map { try Team($0) },
        declaration: Declaration(domains: domains))
}

/// Times by the wall clock, from an arbitrary beginning.
func hours(_ hours: Int64) -> Int64 { (500_000 + hours) * 3600 * 1_000_000 }

@Suite("Claims to web sites")
struct SiteClaimsTests {
    private let host: WebHost
    private let shop: Set<String> = ["com.example.com.example.shop"]

    init() throws { host = try #require(WebHost("shop.example.com")) }

    private func claims(_ applications: InstalledApplication...) -> SiteClaims {
        var claims = SiteClaims(isEnabled: true)
        claims.setInstalled(applications)
        return claims
    }

    /// The hosts that are asked at this time, all of which answer so.
    private func ask(_ claims: inout SiteClaims, at now: Int64, _ answer: SiteAnswer) -> [String] {
        var asked: [String] = []
        while let host = claims.begin(at: now) {
            asked.append(host.description)
            claims.answered(host, answer, at: now)
        }
        return asked
    }

    @Test("without claims there is nothing to ask, and no time to wait for")
    func nothing() throws {
        var claims = claims(try claimant("shop"))
        #expect(claims.begin(at: hours(0)) == nil)
        #expect(claims.nextTime == nil)
    }

    @Test("a site is asked when the claim appears, then once a day")
    func onceADay() throws {
        var claims = claims(try claimant("shop", "shop.example.com"))
        #expect(ask(&claims, at: hours(0), .approved(shop)) == ["shop.example.com"])
        #expect(claims.nextTime == hours(24))
        #expect(ask(&claims, at: hours(23), .approved(shop)) == [])
        #expect(ask(&claims, at: hours(24), .approved(shop)) == ["shop.example.com"])
        #expect(claims.nextTime == hours(48))
    }

    @Test("without approval there is no claim; with approval there is, for that team and application alone")
    func approval() throws {
        var claims = claims(
            try claimant("shop", "shop.example.com"), try claimant("other", "shop.example.com"),
            try claimant("shop2", team: "org.evil", "shop.example.com"))
        #expect(claims.claimants(of: host, at: hours(0)) == [])
        _ = ask(&claims, at: hours(0), .nothing)
        #expect(claims.claimants(of: host, at: hours(0)) == [])
        _ = ask(&claims, at: hours(24), .approved(shop.union(["com.example.com.example.shop2"])))
        #expect(claims.claimants(of: host, at: hours(24)) == [try Example.application("shop")])
    }

    @Test("an application without a team is approved by its id twice")
    func noTeam() throws {
        var claims = claims(try claimant("shop", team: nil, "shop.example.com"))
        _ = ask(&claims, at: hours(0), .approved(["com.example.shop.com.example.shop"]))
        #expect(claims.claimants(of: host, at: hours(0)) == [try Example.application("shop")])
    }

    @Test("hosts below example.com ask example.com, which does not thereby belong to the application")
    func wildcard() throws {
        var claims = claims(try claimant("shop", "*.example.com"))
        #expect(ask(&claims, at: hours(0), .approved(shop)) == ["example.com"])
        #expect(claims.claimants(of: host, at: hours(0)) == [try Example.application("shop")])
        #expect(claims.claimants(of: try #require(WebHost("example.com")), at: hours(0)) == [])
    }

    @Test("who claims a host by its name comes before who claims all below another")
    func order() throws {
        var claims = claims(
            try claimant("a", "*.example.com"), try claimant("b", "*.shop.example.com", "shop.example.com"),
            try claimant("c", "shop.example.com"))
        let all: Set<String> = [
            "com.example.com.example.a", "com.example.com.example.b", "com.example.com.example.c",
        ]
        _ = ask(&claims, at: hours(0), .approved(all))
        #expect(
            claims.claimants(of: host, at: hours(0)) == [
                try Example.application("b"), try Example.application("c"), try Example.application("a"),
            ])
        let below = try #require(WebHost("x.shop.example.com"))
        #expect(
            claims.claimants(of: below, at: hours(0)) == [
                try Example.application("b"), try Example.application("a"),
            ])
    }

    @Test("what failed is tried again after an hour, then once a day")
    func backoff() throws {
        var claims = claims(try claimant("shop", "shop.example.com"))
        #expect(ask(&claims, at: hours(0), .failed).count == 1)
        #expect(claims.nextTime == hours(1))
        #expect(ask(&claims, at: hours(1), .failed).count == 1)
        #expect(claims.nextTime == hours(25))
        #expect(ask(&claims, at: hours(25), .failed).count == 1)
        #expect(claims.nextTime == hours(49))
    }

    @Test("an approval that cannot be renewed counts for a week; one that is taken back ends at once")
    func patience() throws {
        var claims = claims(try claimant("shop", "shop.example.com"))
        _ = ask(&claims, at: hours(0), .approved(shop))
        for day in Int64(1)...8 { _ = ask(&claims, at: hours(24 * day), .failed) }
        #expect(claims.claimants(of: host, at: hours(167)).count == 1)
        #expect(claims.claimants(of: host, at: hours(168)).isEmpty)
        _ = ask(&claims, at: hours(400), .approved(shop))
        #expect(claims.claimants(of: host, at: hours(400)).count == 1)
        _ = ask(&claims, at: hours(424), .nothing)
        #expect(claims.claimants(of: host, at: hours(424)).isEmpty)
    }

    @Test("sites that are nearly due are asked together, so that there is one time a day")
    func together() throws {
        var claims = claims(try claimant("shop", "shop.example.com"))
        _ = ask(&claims, at: hours(0), .nothing)
        claims.setInstalled([
            try claimant("shop", "shop.example.com"), try claimant("mail", "mail.example.com"),
        ])
        #expect(ask(&claims, at: hours(5), .nothing) == ["mail.example.com"])
        #expect(ask(&claims, at: hours(24), .nothing) == ["mail.example.com", "shop.example.com"])
        #expect(claims.nextTime == hours(48))
    }

    @Test("a claim of another application is asked about at once, and so is one that comes again")
    func newClaim() throws {
        var claims = claims(try claimant("shop", "shop.example.com"))
        _ = ask(&claims, at: hours(0), .approved(shop))
        claims.setInstalled([
            try claimant("shop", "shop.example.com"), try claimant("new", "shop.example.com"),
        ])
        #expect(claims.claimants(of: host, at: hours(1)) == [try Example.application("shop")])
        #expect(ask(&claims, at: hours(1), .approved(shop)) == ["shop.example.com"])
        claims.setInstalled([])
        #expect(claims.nextTime == nil && claims.known.isEmpty)
        claims.setInstalled([try claimant("shop", "shop.example.com")])
        #expect(claims.claimants(of: host, at: hours(2)).isEmpty)
        #expect(ask(&claims, at: hours(2), .approved(shop)) == ["shop.example.com"])
    }

    @Test("while Handoff is switched off nothing is asked, and what was being asked does not count")
    func switchedOff() throws {
        var claims = claims(try claimant("shop", "shop.example.com"))
        #expect(claims.begin(at: hours(0)) == host)
        #expect(claims.begin(at: hours(0)) == nil, "one at a time")
        claims.setEnabled(false)
        claims.answered(host, .approved(shop), at: hours(0))
        #expect(claims.claimants(of: host, at: hours(0)).isEmpty)
        #expect(claims.begin(at: hours(0)) == nil && claims.nextTime == nil)
        claims.setEnabled(true)
        #expect(claims.begin(at: hours(0)) == host)
    }

    @Test("a clock that is set back does not stop the asking")
    func clockSetBack() throws {
        var claims = claims(try claimant("shop", "shop.example.com"))
        _ = ask(&claims, at: hours(1000), .approved(shop))
        #expect(ask(&claims, at: hours(0), .failed).count == 1)
        #expect(claims.claimants(of: host, at: hours(167)).count == 1)
        #expect(claims.claimants(of: host, at: hours(168)).isEmpty)
    }

    @Test("what was known before a restart is known again, and is not asked again")
    func restart() throws {
        var claims = claims(try claimant("shop", "shop.example.com"))
        _ = ask(&claims, at: hours(0), .approved(shop))
        var other = self.claims(try claimant("shop", "shop.example.com"))
        other.restore(claims.known)
        #expect(ask(&other, at: hours(1), .nothing) == [])
        #expect(other.claimants(of: host, at: hours(1)).count == 1)
        var third = self.claims(try claimant("other", "shop.example.com"))
        third.restore(claims.known)
        #expect(third.claimants(of: host, at: hours(1)).isEmpty)
        #expect(ask(&third, at: hours(1), .nothing) == ["shop.example.com"])
    }

    @Test("kept values that nobody has kept stop nothing", arguments: [Int64.min, -1, 0, 1, Int64.max])
    func hostileMemory(time: Int64) throws {
        var claims = claims(try claimant("shop", "shop.example.com"))
        claims.restore([
            host: Site(
                considered: shop, approved: shop.union(["x.y"]), answeredAt: time, askedAt: time,
                failures: .max)
        ])
        #expect(ask(&claims, at: hours(0), .nothing) == ["shop.example.com"])
        #expect(claims.claimants(of: host, at: hours(0)).isEmpty)
    }

    @Test("no more than 32 claims of an application, 1024 in all and 512 hosts count")
    func bounds() throws {
        var claims = SiteClaims(isEnabled: true)
        claims.setInstalled(
            try (0..<100).map { number in
                InstalledApplication(
                    try Example.application("a\(number)"), team: nil,
                    declaration: Declaration(domains: (0..<40).map { "h\($0).a\(number).example.net" }))
            })
        #expect(claims.known.count == 512)
        claims.setInstalled([
            InstalledApplication(
                try Example.application("a"), team: nil,
                declaration: Declaration(domains: (0..<40).map { "h\($0).example.net" }))
        ])
        #expect(claims.known.count == 32)
    }
}

@Suite("Claims to web sites, whatever happens")
struct SiteClaimsPropertyTests {
    @Test(
        "each claimed site is asked within a day and not twice in twelve hours, and only the approved have claims",
        arguments: 1...200)
    func invariants(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var claims = SiteClaims(isEnabled: true)
        var now = hours(0)
        var (asked, failed): ([WebHost: Int64], [WebHost: Int]) = ([:], [:])
        var approvals: [WebHost: Set<String>] = [:]
        let applications = [
            try claimant("a", "x.example.net", "*.y.example.net"),
            try claimant("b", "x.example.net", "z.example.net"),
            try claimant("c", team: nil, "y.example.net", "a.y.example.net"),
        ]
        claims.setInstalled(applications)
        for _ in 0..<300 {
            let step = Int64.random(in: 1...20, using: &generator) * 1_800_000_000
            now = min(now + step, claims.nextTime.map { max(now, $0) } ?? .max)
            while let host = claims.begin(at: now) {
                #expect(claims.nextTime == nil)
                let least: Int64 = failed[host] == 1 ? 1 : 12
                #expect(now >= (asked[host] ?? .min / 2) + least * 3_600_000_000)
                asked[host] = now
                let names = [
                    "com.example.com.example.a", "com.example.com.example.b", "com.example.c.com.example.c",
                ]
                switch Int.random(in: 0..<4, using: &generator) {
                case 0:
                    failed[host, default: 0] += 1
                    claims.answered(host, .failed, at: now)
                case 1:
                    (failed[host], approvals[host]) = (0, [])
                    claims.answered(host, .nothing, at: now)
                default:
                    (failed[host], approvals[host]) = (0, Set(names.filter { _ in generator.chance(50) }))
                    claims.answered(host, .approved(approvals[host] ?? []), at: now)
                }
            }
            for host in claims.known.keys {
                #expect(now < (asked[host] ?? .min / 2) + 24 * 3_600_000_000, "\(host) waits for too long")
            }
            let next = try #require(claims.nextTime)
            #expect(next > now)
            for text in [
                "x.example.net", "y.example.net", "a.y.example.net", "b.y.example.net", "z.example.net",
                "q.example.net",
            ] {
                let host = try #require(WebHost(text))
                for claimant in claims.claimants(of: host, at: now) {
                    #expect(
                        applications.contains { application in
                            let team = application.team ?? Team(application.applicationID)
                            return application.applicationID == claimant
                                && application.declaration.domains.compactMap(DomainClaim.init).contains {
                                    $0.covers(host)
                                        && approvals[$0.host]?.contains("\(team).\(claimant)") == true
                                }
                        })
                }
            }
        }
    }
}
