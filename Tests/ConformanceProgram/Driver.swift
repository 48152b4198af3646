// SPDX-License-Identifier: LGPL-2.1-or-later
import DBus
import FoundationEssentials
import Glibc
import HandoffCore
import HandoffInterfaces
import HandoffKit

/// The application that is driven.
@MainActor
final class Driver {
    private let application: HandoffApplication
    private var activities: [String: UserActivity] = [:]
    private var answer = ["yes"]
    private var shows = false
    /// Whether nobody hears of failures.
    private var isSilent = false
    /// Whether the application stops when it is told that something does not come.
    private var stopsAtFailure = false
    private var others: [HandoffApplication] = []

    /// An application that has not started.
    init(id: String, activityType: String) {
        application = HandoffApplication(id: id, activityTypes: [activityType], team: "org.example.team")
        application.onWillContinue { [unowned self] type, device in
            tell("willContinue", type, device.name)
            return shows
        }
        application.onContinue { [unowned self] activity, device in try continues(activity, device) }
    }

    private func start() {
        if !isSilent {
            application.onFailure { [unowned self] type, error in
                tell("failed", type, name(error), error.message)
                if stopsAtFailure { application.stop() }
            }
        }
        application.start()
    }

    /// Makes another application of this id, and starts it.
    private func startAnother(_ id: String) {
        let other = HandoffApplication(id: id, activityTypes: application.activityTypes)
        others.append(other)
        other.start()
        tell("second", other.registrationError?.message ?? "ok")
    }

    private func continues(_ activity: UserActivity, _ device: ContinuationDevice) throws -> Bool {
        let number = "c\(activities.count)"
        keep(number, activity)
        tell("continue", number, activity.activityType, activity.title, device.name)
        if answer[0] == "fail" { throw HandoffError(.applicationFailed, answer[1]) }
        return answer[0] == "yes"
    }

    private func keep(_ number: String, _ activity: UserActivity) {
        activities[number] = activity
        if !isSilent {
            activity.onFailure { _, error in tell("refused", number, name(error), error.message) }
        }
        activity.onWasContinued { _, device in tell("wasContinued", number, device.name) }
    }

    /// Does what one line says.
    func told(_ words: [String]) {
        switch words[0] {
        case "start": start()
        case "stopsAtFailure": stopsAtFailure = true
        case "silent": isSilent = true
        case "second": startAnother(words[1])
        case "stop": application.stop()
        case "available": tell("available", application.isRegistered)
        case "shows": shows = words[1] == "yes"
        case "answer": answer = Array(words.dropFirst())
        case "make":
            keep(words[1], UserActivity(activityType: words[2], title: words[3], application: application))
        default:
            if let activity = activities[words[1]] { told(words, activity) }
        }
    }

    private func told(_ words: [String], _ activity: UserActivity) {
        let number = words[1]
        switch words[0] {
        case "set": set(words[2], words[3], of: activity)
        case "userInfo": activity.userInfo = UserInfo([words[2]: .string(words[3])])
        case "deep":
            activity.userInfo = UserInfo([
                "a": (1..<(Int(words[2]) ?? 1)).reduce(.array([])) { value, _ in .array([value]) }
            ])
        case "large":
            activity.userInfo = UserInfo(["a": .string(String(repeating: "a", count: Int(words[2]) ?? 0))])
        case "add": activity.addUserInfoEntries(from: UserInfo([words[2]: .string(words[3])]))
        case "becomeCurrent": activity.becomeCurrent()
        case "becomeOpen": activity.becomeOpen()
        case "leaveCurrent": activity.leaveCurrent()
        case "resignCurrent": activity.resignCurrent()
        case "invalidate": activity.invalidate()
        case "willSave": willSave(number, Array(words.dropFirst(2)), activity)
        case "takeStreams": activity.onStream { _, stream in Task { await echo(number, stream) } }
        case "openStream": Task { await ask(number, activity) }
        case "get": get(number, activity)
        default: tell("what?", words[0])
        }
    }

    private func set(_ property: String, _ value: String, of activity: UserActivity) {
        switch property {
        case "title": activity.title = value
        case "webpageURL": activity.webpageURL = URL(string: value)
        case "needsSave": activity.needsSave = value == "yes"
        default: activity.supportsContinuationStreams = value == "yes"
        }
    }

    private func willSave(_ number: String, _ what: [String], _ activity: UserActivity) {
        activity.onWillSave { activity in
            tell("saving", number, activity.userInfo.keys.count)
            if what[0] == "text" { activity.userInfo["text"] = .string(what[1]) }
            if what[0] == "deep" {
                activity.userInfo["a"] = (1..<40).reduce(.array([])) { value, _ in .array([value]) }
            }
            if what[0] == "raise" { throw HandoffError(.applicationFailed, "nokey") }
            if what[0] == "fail" { throw HandoffError(.applicationFailed, "the disk is full") }
        }
    }

    private func get(_ number: String, _ activity: UserActivity) {
        let entries = activity.userInfo.keys.sorted()
            .compactMap { key in activity.userInfo[key, as: String.self].map { "\(key)=\($0)" } }
        tell(
            "got", number, activity.isCurrent, activity.isValid, activity.needsSave, activity.title,
            activity.webpageURL?.absoluteString ?? "", entries.joined(separator: ","))
    }
}

/// One line, its words parted by tabs; written at once.
func tell(_ words: any CustomStringConvertible...) {
    let texts = words.map { ($0 as? Bool).map { $0 ? "1" : "0" } ?? $0.description }
    let line = Array((texts.joined(separator: "\t") + "\n").utf8)
    _ = write(1, line, line.count)
}

/// What D-Bus calls an error.
private func name(_ error: HandoffError) -> String { error.failure.code.errorName.text }

/// What comes, and then an answer.
@MainActor
private func echo(_ number: String, _ stream: ContinuationStream) async {
    do {
        let text = try await text(of: stream)
        try await stream.write(Data("pong".utf8))
        try await stream.finish()
        tell("stream", number, text)
    } catch {
        tell("broken", number, "\(error)")
    }
}

/// A question, and what comes.
@MainActor
private func ask(_ number: String, _ activity: UserActivity) async {
    do {
        let stream = try await activity.continuationStream()
        try await stream.write(Data("ping".utf8))
        try await stream.finishWriting()
        tell("opened", number, try await text(of: stream))
    } catch let error as HandoffError {
        tell("notOpened", number, name(error), error.message)
    } catch {
        tell("broken", number, "\(error)")
    }
}

@MainActor
private func text(of stream: ContinuationStream) async throws -> String {
    var all = Data()
    for try await chunk in stream.bytes { all.append(chunk) }
    return String(decoding: all, as: UTF8.self)
}
