// SPDX-License-Identifier: LGPL-2.1-or-later
internal import HandoffCore

/// What a site says about its pages, by its association file.
enum SiteQuestion {
    /// What came of fetching a file.
    enum Fetched: Equatable {
        /// It is there.
        case file([UInt8])
        /// The site says that there is no such file.
        case absent(reason: String)
        /// The site answers otherwise: it may have the file in another place, or at another time.
        case refused(reason: String)
        /// The site cannot be asked.
        case unreachable(reason: String)
        /// It is there, and is longer than any such file may be.
        case tooLong
    }

    /// How many bytes a file may have.
    static let maximumSize = 128 * 1024

    /// Where the file may be on a site, in the order in which it is looked for.
    static let places = ["/.well-known/apple-app-site-association", "/apple-app-site-association"]

    /// Asks the site of `host` by `fetch`, which fetches the file at an address.
    /// - Returns: the answer, and why it is not that the site approves of something.
    static func ask(_ host: WebHost, _ fetch: (String) -> Fetched) -> (SiteAnswer, reason: String?) {
        var reasons: [String] = []
        var isAbsent = true
        for place in places {
            let address = "https://\(host)\(place)"
            switch fetch(address) {
            case .file(let bytes): return read(bytes, from: host, address)
            case .tooLong:
                return (.nothing, "\(address) is longer than \(maximumSize) bytes.")
            case .absent(let reason): reasons.append("\(address): \(reason)")
            case .refused(let reason):
                isAbsent = false
                reasons.append("\(address): \(reason)")
            case .unreachable(let reason):
                // The other place is on the same host.
                return (.failed, (reasons + ["\(address): \(reason)"]).joined(separator: " "))
            }
        }
        return (isAbsent ? .nothing : .failed, reasons.joined(separator: " "))
    }

    private static func read(
        _ bytes: [UInt8], from host: WebHost, _ address: String
    ) -> (SiteAnswer, reason: String?) {
        do throws(UnusableFile) {
            let content = SignedFile.isOne(bytes) ? try SignedFile.content(of: bytes, for: host) : bytes
            return (SiteAnswer.approving(of: try AssociationFile.applications(in: content)), nil)
        } catch {
            return (.nothing, "\(address) \(error.reason)")
        }
    }
}

/// Why a file approves of nothing.
struct UnusableFile: Error, Equatable {
    /// What is wrong, to be read after the address of the file.
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
