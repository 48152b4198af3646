// SPDX-License-Identifier: LGPL-2.1-or-later
internal import Glibc
internal import Platform

/// One of the two directions of a stream, and what is said of it when it stops before its end.
enum StreamDirection {
    /// What the other side has written is read here.
    case reading
    /// What is written here goes to the other side.
    case writing

    private var complaint: String {
        switch self {
        case .reading: "Nothing more can be read from the stream"
        case .writing: "Nothing more can be written to the stream"
        }
    }

    /// Streams are opened by who continues; who was continued is given a new one.
    private static let remedy = "Continue the activity again to get a new stream."

    /// What is said of a stream that broke with this error of the system's.
    func failure(_ code: CInt) -> HandoffError {
        let cause =
            switch code {
            case EPIPE: "the other application reads no more, or the stream was cut"
            case ECONNRESET: "it was cut before its end, so that what has come or gone may not be all"
            default: "the system says “\(String(cString: strerror(code)))” of its socket"
            }
        return HandoffError(.connectionUnavailable, "\(complaint), because \(cause). \(Self.remedy)")
    }

    /// What is said of a stream that was ended here.
    var ended: HandoffError {
        HandoffError(
            .connectionUnavailable, "\(complaint), because this application has ended it. \(Self.remedy)")
    }

    /// What is said if the system has no thread left that could wait.
    func hasNoThread(_ error: GLibError) -> HandoffError {
        HandoffError(
            .connectionUnavailable,
            "\(complaint), because no thread could be started for it: \(error.message). End what is not needed, then"
                + " continue the activity again.")
    }
}
