// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import HandoffCore
internal import HandoffStatus
internal import MainLoop
internal import Platform

/// The question which of several offers is to be continued, put to the user at a terminal.
@MainLoop
struct OfferChoice {
    private let offers: [RemoteOffer]

    /// A question about `offers`.
    init(among offers: [RemoteOffer]) { self.offers = offers }

    /// The lines that show the offers, each with its number before what others chose. None is wider than `columns`, so that
    /// nothing of that can begin a line of its own, and look like a number; nil for no limit.
    func lines(within columns: Int? = nil) -> [String] {
        let width = String(offers.count).count
        return offers.enumerated().map { index, offer in
            let number = String(index + 1)
            let start = "  " + String(repeating: " ", count: width - number.count) + number + "  "
            var (title, device) = (offer.label.shown, offer.device.shown)
            if let columns {
                let room = max(2, columns - start.displayWidth - "“”  “”".displayWidth)
                device = device.cut(to: max(1, room / 2))
                title = title.cut(to: max(1, room - device.displayWidth))
            }
            return start + "“\(title)”  “\(device)”"
        }
    }

    /// The offer whose number is `text`; nil if there is none.
    func offer(numbered text: String) -> RemoteOffer? {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 1, let number = Int(words[0]), offers.indices.contains(number &- 1) else {
            return nil
        }
        return offers[number - 1]
    }

    /// Asks until the user has typed a number that is one.
    /// - Throws: a failure if the input ends.
    func offer() async throws -> RemoteOffer {
        let (typed, feed) = AsyncStream<String?>.makeStream()
        let keyboard = Keyboard { feed.yield($0) }
        let lines = lines(within: Terminal.columns(of: STDERR_FILENO))
        Output.error(lines.joined(separator: "\n") + "\n" + tr("Which one? Type its number:") + " ")
        keyboard.readLine()
        for await line in typed {
            guard let line else { break }
            if let offer = offer(numbered: line) { return offer }
            Output.error(
                tr(
                    "“{text}” is not one of the numbers. Type one from 1 to {count}:",
                    ["text": line.shown, "count": "\(offers.count)"]) + " ")
            keyboard.readLine()
        }
        throw CommandFailure.usage(tr("No number was typed, so nothing was continued."))
    }
}
