// SPDX-License-Identifier: LGPL-2.1-or-later
import FuzzSupport
import HandoffCore
import HandoffInterfaces

@testable import HandoffAssociations
@testable import HandoffBroker

/// What sites say of applications: their files, what the program that reads them prints, what is kept of it, and the
/// addresses of pages.
enum SitesTest {
    private static let host = WebHost("www.example.com")

    static func run(_ bytes: [UInt8]) {
        checkFile(bytes)
        checkAnswer(bytes)
        checkMemory(bytes)
        checkHosts(String(decoding: bytes, as: UTF8.self))
    }

    private static func checkFile(_ bytes: [UInt8]) {
        guard let host else { return require(false, "no host") }
        let (answer, reason) = SiteQuestion.ask(host) { _ in .file(bytes) }
        switch answer {
        case .approved(let names):
            require(names.count <= SiteAnswer.maximumCount && names.allSatisfy(SiteAnswer.isName), "\(names)")
        case .nothing: require(reason != nil, "no reason")
        case .failed: require(false, "a file is no failure")
        }
        if SignedFile.isOne(bytes) { require(answer == .nothing, "nobody has signed \(bytes)") }
        require(
            SiteAnswer(output: Array(answer.text.utf8)) == answer, "\(answer) is not read as it was printed")
    }

    private static func checkAnswer(_ bytes: [UInt8]) {
        guard let answer = SiteAnswer(output: bytes) else { return }
        require(SiteAnswer(output: Array(answer.text.utf8)) == answer, "\(bytes) is another answer")
    }

    private static func checkMemory(_ bytes: [UInt8]) {
        let known = SitesMemory.decode(bytes)
        require(known.count <= SiteClaims.maximumSites, "\(known.count) sites")
        require(known.values.allSatisfy { $0.approved.isSubset(of: $0.considered) }, "\(known)")
        require(SitesMemory.decode(SitesMemory.encode(known)) == known, "\(known) is not kept")
        // Whatever was kept, each site is asked within a day of any time.
        let now: Int64 = 1_700_000_000_000_000
        for (host, site) in known {
            guard let id = try? ApplicationID("a.b") else { continue }
            var claims = SiteClaims(isEnabled: true)
            claims.setInstalled([
                InstalledApplication(id, declaration: Declaration(domains: [host.description]))
            ])
            claims.restore([host: site])
            _ = claims.claimants(of: host, at: now)
            let asked = claims.begin(at: now)
            require(
                asked == host || (claims.nextTime ?? .max) <= now + 86_400_000_000, "\(site) is not asked")
        }
    }

    private static func checkHosts(_ text: String) {
        if let host = WebHost(text) {
            require(host.description == text && ActivityURL.asciiHost(text) == text, "\(text) is \(host)")
            require(DomainClaim("*.\(text)")?.covers(host) == false, "\(text) is below itself")
        }
        if let claim = DomainClaim(text) { require(claim.description == text, "\(text) is \(claim)") }
        for address in [text, "https://\(text)/"] {
            guard let host = try? ActivityURL.checkWeb(address, "WebpageURL") else { continue }
            // By bytes: to Swift, a slash is another one with an accent upon it.
            let plain = Array(ActivityURL.plain(address).utf8)
            require(
                plain.starts(with: "https://".utf8) || plain.starts(with: "http://".utf8),
                "\(address) is opened")
            // What names its host alone has it where everybody sees it.
            guard WebAddress(address)?.namesHostAlone == true, let host = WebHost(host) else { continue }
            let seen = plain.drop { $0 != UInt8(ascii: "/") }.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
            require(!seen.contains { "@:".utf8.contains($0) }, "\(address) is of \(host)")
        }
    }
}
