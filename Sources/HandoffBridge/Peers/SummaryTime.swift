// SPDX-License-Identifier: LGPL-2.1-or-later
internal import DBus
internal import HandoffCore
internal import HandoffInterfaces

/// The times in the summary of an offer. On a bus they are times of the wall clock; on a link they are ages, so
/// that the clocks of the two devices need not agree. Both are in microseconds.
enum SummaryTime {
    private static let keys = ["Since", "Used"]
    /// The largest summary, in bytes.
    private static let maximumSize = 4096

    /// Turns `summary`, whose size has been checked, from the form for a bus into the one for a link; `now` is the time of the
    /// wall clock.
    static func forLink(_ summary: [String: Value], now: Int64) throws(HandoffFailure) -> [String: Value] {
        // 0 means that there is no time, which the other side takes as now.
        try converted(summary) { $0 == 0 ? nil : max(0, now.subtracting($0)) }
    }

    /// Turns `summary`, whose size has been checked, from the form for a link into the one for a bus; `now` is the time of the
    /// wall clock. An age that reaches back before 1970 counts as 1970, and one in the future as now.
    static func forBus(_ summary: [String: Value], now: Int64) throws(HandoffFailure) -> [String: Value] {
        try converted(summary) { max(1, now.subtracting(max(0, $0))) }
    }

    /// Turns the summaries of what was listed from the form for a bus into the one for a link.
    static func forLink(_ listed: [ListedActivity], now: Int64) throws(HandoffFailure) -> [ListedActivity] {
        try listed.map { (one) throws(HandoffFailure) in
            ListedActivity(one.fields.0, try forLink(one.fields.1, now: now))
        }
    }

    /// Turns the summaries of what was listed, whose sizes are checked, from the form for a link into the one for a bus.
    static func forBus(_ listed: [ListedActivity], now: Int64) throws(HandoffFailure) -> [ListedActivity] {
        try listed.map { (one) throws(HandoffFailure) in
            try checkSize(one.fields.1)
            var summary = try forBus(one.fields.1, now: now)
            // Only this device says what was left here.
            summary["Parked"] = nil
            return ListedActivity(one.fields.0, summary)
        }
    }

    /// Throws unless `summary`, which has come with `message`, can be turned into the other form: it is not too large, and its
    /// times are times.
    static func check(_ summary: [String: Value], of message: Message) throws(HandoffFailure) {
        try checkSize(summary, of: message)
        for key in keys { _ = try time(key, in: summary) }
    }

    /// Throws if `summary`, which has come with `message`, is too large.
    static func checkSize(_ summary: [String: Value], of message: Message) throws(HandoffFailure) {
        // It takes no more than the message, which need not be counted.
        if message.marshalledSize > maximumSize { try checkSize(summary) }
    }

    /// Throws if `summary` is too large.
    static func checkSize(_ summary: [String: Value]) throws(HandoffFailure) {
        let size = MarshalledSize.ofBody(summary)
        guard size <= maximumSize else {
            throw HandoffFailure(
                .limitsExceeded, "The summary takes \(size) bytes. Give one of at most \(maximumSize).")
        }
    }

    private static func time(_ key: String, in summary: [String: Value]) throws(HandoffFailure) -> Int64? {
        guard let value = summary[key] else { return nil }
        guard case .int64(let time) = value else {
            throw HandoffFailure(
                .invalidArguments,
                "\(key) has the type \(value.typeSignature.prefix(64)). Give it the type x.")
        }
        return time
    }

    private static func converted(
        _ summary: [String: Value], _ convert: (Int64) -> Int64?
    ) throws(HandoffFailure) -> [String: Value] {
        var summary = summary
        for key in keys {
            if let time = try time(key, in: summary) { summary[key] = convert(time).map { .int64($0) } }
        }
        return summary
    }
}

extension Int64 {
    /// The difference, limited to the range of the type.
    fileprivate func subtracting(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        guard overflow else { return difference }
        return other < 0 ? .max : .min
    }
}
