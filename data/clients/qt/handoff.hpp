// SPDX-License-Identifier: LGPL-2.1-or-later

// Handoff for applications in C++ on QtDBus, for Qt 5 and Qt 6. Copy this file beside your own, and add it to the sources of
// your program, so that moc sees it (CMake: AUTOMOC).
//
//     HandoffApplication notes("org.example.Notes", {"org.example.notes.edit"});
//     notes.onContinue = [&](HandoffUserActivity *activity, const HandoffDevice &, QString *) {
//         show(activity->userInfo()["text"].toString());
//         return true;
//     };
//     notes.start();
//
//     HandoffUserActivity editing(&notes, "org.example.notes.edit", "Shopping");
//     editing.onWillSave = [&](QVariantMap *userInfo, QString *) { (*userInfo)["text"] = currentText(); };
//     editing.becomeCurrent();
//     editing.setNeedsSave(true);    // whenever the note has changed
//
// Brokers may come and go; without one, everything is accepted and does nothing. All of it belongs to the thread of the
// application's event loop. What is refused is printed by qWarning(), unless there is a function for failures; what your
// functions throw is printed too, and ends nothing. This file is long because it is to be copied as one file.

#pragma once

#include <QtCore/QDateTime>
#include <QtCore/QDebug>
#include <QtCore/QHash>
#include <QtCore/QPointer>
#include <QtCore/QSet>
#include <QtCore/QTimer>
#include <QtCore/QUrl>
#include <QtDBus/QDBusArgument>
#include <QtDBus/QDBusConnection>
#include <QtDBus/QDBusMessage>
#include <QtDBus/QDBusMetaType>
#include <QtDBus/QDBusPendingCallWatcher>
#include <QtDBus/QDBusPendingReply>
#include <QtDBus/QDBusUnixFileDescriptor>
#include <QtDBus/QDBusVirtualObject>

#include <climits>
#include <exception>
#include <functional>

#include <fcntl.h>
#include <sys/socket.h>

// The other device of a continuation. Its name was chosen by its user: it is plain text.
struct HandoffDevice {
    QString id, name;
};

// A refusal: the D-Bus name of the error, and what was wrong and what to do.
struct HandoffError {
    QString name, message;
    bool isError() const { return !name.isEmpty(); }
};

// A value with a tag, as a date or a URL in a state travels.
struct HandoffTagged {
    QString tag;
    QDBusVariant value;
};
Q_DECLARE_METATYPE(HandoffTagged)

inline QDBusArgument &operator<<(QDBusArgument &argument, const HandoffTagged &tagged)
{
    argument.beginStructure();
    argument << tagged.tag << tagged.value;
    argument.endStructure();
    return argument;
}

inline const QDBusArgument &operator>>(const QDBusArgument &argument, HandoffTagged &tagged)
{
    argument.beginStructure();
    argument >> tagged.tag >> tagged.value;
    argument.endStructure();
    return argument;
}

namespace Handoff {

const QString broker = QStringLiteral("org.example.Handoff");
const QString root = QStringLiteral("/org/example/Handoff");
const QString client = root + QStringLiteral("/client");
const QString browsingWeb = broker + QStringLiteral(".BrowsingWeb");

inline QString error(const char *name) { return broker + QLatin1String(".Error.") + QLatin1String(name); }
inline QString dbusError(const char *name)
{
    return QLatin1String("org.freedesktop.DBus.Error.") + QLatin1String(name);
}
inline HandoffError brokerEnded()
{
    return {error("ConnectionUnavailable"),
            QStringLiteral("The broker of Handoff has ended. Continue the activity again.")};
}

// Prints a mistake, and whose it is: an activity type or the id of an application.
inline void warn(const QString &whose, const QString &message)
{
    qWarning().noquote().nospace() << whose << ": " << message;
}

// What a call has ended with. The end of the bus is the end of the broker; whoever asked a broker that has ended is told that
// when its name has lost its owner.
inline HandoffError errorOf(const QDBusMessage &reply)
{
    if (reply.type() != QDBusMessage::ErrorMessage)
        return {};
    if (reply.errorName() == dbusError("Disconnected"))
        return brokerEnded();
    return {reply.errorName(), reply.errorMessage()};
}

inline QVariant tagged(const char *tag, const QVariant &value)
{
    return QVariant::fromValue(HandoffTagged{QString::fromLatin1(tag), QDBusVariant(value)});
}

inline QVariantMap toDBus(const QVariantMap &values);

// A value of a state as it travels.
inline QVariant toDBus(const QVariant &value)
{
    switch (value.userType()) {
    case QMetaType::UnknownType:
    case QMetaType::Nullptr: return tagged("null", false);
    case QMetaType::QDateTime: return tagged("date", value.toDateTime().toMSecsSinceEpoch() * 1000);
    case QMetaType::QUrl: return tagged("url", value.toUrl().toString(QUrl::FullyEncoded));
    case QMetaType::Float: return value.toDouble();
    case QMetaType::QVariantMap: return toDBus(value.toMap());
    case QMetaType::QVariantHash: return toDBus(value.value<QVariantMap>());
    case QMetaType::QVariantList: {
        QVariantList list = value.toList();
        for (QVariant &one : list)
            one = toDBus(one);
        return list;
    }
    default: return value;
    }
}

inline QVariantMap toDBus(const QVariantMap &values)
{
    QVariantMap map;
    for (auto entry = values.begin(); entry != values.end(); ++entry)
        map[entry.key()] = toDBus(entry.value());
    return map;
}

// A value that has come, as Qt has it: a set is a list.
inline QVariant fromDBus(const QVariant &value)
{
    if (value.userType() == qMetaTypeId<QDBusVariant>())
        return fromDBus(value.value<QDBusVariant>().variant());
    if (value.userType() == qMetaTypeId<HandoffTagged>()) {
        const HandoffTagged tagged = value.value<HandoffTagged>();
        const QVariant inner = fromDBus(tagged.value.variant());
        if (tagged.tag == QLatin1String("date"))
            return QDateTime::fromMSecsSinceEpoch(inner.toLongLong() / 1000, Qt::UTC);
        if (tagged.tag == QLatin1String("url"))
            return QUrl(inner.toString());
        return tagged.tag == QLatin1String("null") ? QVariant() : inner;
    }
    if (value.userType() == QMetaType::QVariantMap || value.userType() == QMetaType::QVariantList) {
        QVariantMap map = value.toMap();
        QVariantList list = value.toList();
        for (QVariant &one : map)
            one = fromDBus(one);
        for (QVariant &one : list)
            one = fromDBus(one);
        return value.userType() == QMetaType::QVariantMap ? QVariant(map) : QVariant(list);
    }
    if (value.userType() != qMetaTypeId<QDBusArgument>())
        return value;
    const QDBusArgument argument = value.value<QDBusArgument>();
    const QString signature = argument.currentSignature();
    if (signature == QLatin1String("(sv)"))
        return fromDBus(QVariant::fromValue(qdbus_cast<HandoffTagged>(argument)));
    if (signature.startsWith(QLatin1String("a{s"))) {
        QVariantMap map;
        for (argument.beginMap(); !argument.atEnd(); argument.endMapEntry()) {
            argument.beginMapEntry();
            const QString key = argument.asVariant().toString();
            map[key] = fromDBus(argument.asVariant());
        }
        argument.endMap();
        return map;
    }
    QVariantList list;
    // Keys are texts. What breaks that rule can't be read this way.
    if (signature.startsWith(QLatin1Char('a')) && !signature.startsWith(QLatin1String("a{"))) {
        for (argument.beginArray(); !argument.atEnd();)
            list << fromDBus(argument.asVariant());
        argument.endArray();
    }
    return list;
}

// The type of a value on the bus; empty if it has none.
inline QString signatureOf(const QVariant &value)
{
    if (value.userType() == qMetaTypeId<QDBusArgument>())
        return value.value<QDBusArgument>().currentSignature();
#if QT_VERSION < QT_VERSION_CHECK(6, 0, 0)
    return QString::fromLatin1(QDBusMetaType::typeToSignature(value.userType()));
#else
    return QString::fromLatin1(QDBusMetaType::typeToSignature(value.metaType()));
#endif
}

// The same for people, who know the type by its name in C++ if it has none on the bus.
inline QString typeOf(const QVariant &value)
{
    const QString signature = signatureOf(value);
    return signature.isEmpty() ? QString::fromLatin1(value.typeName()) : signature;
}

// Looks whether a state, as it travels, may be sent. The broker has the same rules, but a bus ends the connection of whoever
// nests too deeply, and QtDBus ends the application that sends a value without a type.
class StateCheck
{
public:
    // What is wrong with a state, as the broker says it.
    static HandoffError refusal(const QVariantMap &state)
    {
        StateCheck check;
        check.fixed(4);
        check.align(8);
        for (auto entry = state.begin(); entry != state.end(); ++entry) {
            check.align(8);
            check.text(entry.key());
            // The state is one container, and the variant that holds the value another.
            if (!check.addVariant(entry.value(), 2, 0))
                return {dbusError("InvalidArgs"),
                        QStringLiteral("UserInfo key \"%1\" %2").arg(entry.key(), check.m_reason)};
        }
        if (check.m_bytes <= maximumSize)
            return {};
        return {error("UserInfoTooLarge"),
                QStringLiteral("UserInfo takes %1 bytes, more than the %2 allowed. Send less, or the bulk of it through a stream.")
                    .arg(check.m_bytes).arg(maximumSize)};
    }

private:
    static constexpr qint64 maximumSize = 131072;
    // Of containers, and of the levels that a bus counts beneath a value.
    static constexpr int maximumDepth = 32, maximumWireDepth = 58;

    void align(int boundary) { m_bytes = (m_bytes + boundary - 1) / boundary * boundary; }
    void fixed(int size)
    {
        align(size);
        m_bytes += size;
    }
    void text(const QString &text)
    {
        fixed(4);
        m_bytes += text.toUtf8().size() + 1;
    }
    bool refuse(const QString &reason)
    {
        m_reason = reason;
        return false;
    }
    bool checkDepth(int depth, int levels)
    {
        return (depth <= maximumDepth && levels <= maximumWireDepth)
            || refuse(QStringLiteral("nests more than 32 containers. Flatten it."));
    }

    static int sizeOf(QChar code)
    {
        switch (code.toLatin1()) {
        case 'y': case 'g': case 'v': return 1;
        case 'n': case 'q': return 2;
        case 'x': case 't': case 'd': case '(': case '{': return 8;
        default: return 4;
        }
    }

    // Whether values of this type may stand anywhere, even in an empty array.
    bool checkType(const QString &type)
    {
        for (int place = 0; place < type.size(); place++) {
            const QChar code = type[place];
            if (code == QLatin1Char('o') || code == QLatin1Char('g') || code == QLatin1Char('h'))
                return refuse(QStringLiteral("holds values of type %1, which mean nothing on another device. Use strings.")
                                  .arg(type));
            if (code == QLatin1Char('(') && type.mid(place, 4) != QLatin1String("(sv)"))
                return refuse(QStringLiteral("holds a structure of type %1. Use a dictionary; only (sv) with a known tag is "
                                             "allowed.")
                                  .arg(type));
            if (code == QLatin1Char('{') && type[place + 1] != QLatin1Char('s'))
                return refuse(QStringLiteral("holds a dictionary of type %1, whose keys are not strings. Use string keys.")
                                  .arg(type));
        }
        return checkDepth(type.count(QLatin1Char('a')), 0);
    }

    // These return whether a value may be sent, which lies in so many containers and levels, and count its bytes.

    bool addVariant(const QVariant &value, int depth, int levels)
    {
        const QString type = signatureOf(value);
        if (type.isEmpty())
            return refuse(QStringLiteral("holds a value of type %1, which D-Bus does not have. Use texts, numbers, lists and "
                                         "QVariantMaps.")
                              .arg(typeOf(value)));
        m_bytes += type.size() + 2;
        return add(value, type, depth, levels, false);
    }

    bool add(const QVariant &value, const QString &type, int depth, int levels, bool isTypeChecked)
    {
        switch (type[0].toLatin1()) {
        case 's': text(value.toString()); return true;
        case 'o': case 'g': case 'h':
            return refuse(QStringLiteral("holds a value of type %1, which means nothing on another device. Use a string.")
                              .arg(type));
        case 'v':
            return checkDepth(depth + 1, levels + 1)
                && addVariant(value.value<QDBusVariant>().variant(), depth + 1, levels + 1);
        case '(': return checkDepth(depth + 1, levels + 1) && addStructure(value, type, depth + 1, levels + 1);
        case 'a': return addArray(value, type, depth + 1, levels + 1, isTypeChecked);
        default: fixed(sizeOf(type[0])); return true;
        }
    }

    bool addStructure(const QVariant &value, const QString &type, int depth, int levels)
    {
        if (type != QLatin1String("(sv)"))
            return checkType(type);
        const HandoffTagged tagged = qdbus_cast<HandoffTagged>(value);
        const QVariant content = tagged.value.variant();
        const QString contentType = signatureOf(content);
        if (!checkDepth(depth + 1, levels + 1))
            return false;
        static const QHash<QString, QString> types = {{QStringLiteral("date"), QStringLiteral("x")},
                                                      {QStringLiteral("url"), QStringLiteral("s")},
                                                      {QStringLiteral("set"), QStringLiteral("av")},
                                                      {QStringLiteral("null"), QStringLiteral("b")}};
        if (!types.contains(tagged.tag))
            return refuse(QStringLiteral("has the unknown tag \"%1\". Allowed are date, url, set and null.")
                              .arg(tagged.tag));
        if (types[tagged.tag] != contentType || (tagged.tag == QLatin1String("null") && content.toBool()))
            return refuse(QStringLiteral("tags a value of type %1 as \"%2\". Allowed are (\"date\", x), (\"url\", s), "
                                         "(\"set\", av) and (\"null\", false).")
                              .arg(typeOf(content), tagged.tag));
        align(8);
        text(tagged.tag);
        return addVariant(content, depth + 1, levels + 1);
    }

    bool addArray(const QVariant &value, const QString &type, int depth, int levels, bool isTypeChecked)
    {
        const bool isDictionary = type[1] == QLatin1Char('{');
        const QString element = isDictionary ? type.mid(3, type.size() - 4) : type.mid(1);
        // A bus counts the entries of dictionaries too.
        levels += isDictionary ? 1 : 0;
        if (!checkDepth(depth, levels) || !(isTypeChecked || checkType(type)))
            return false;
        fixed(4);
        align(sizeOf(type[1]));
        if (value.userType() == QMetaType::QByteArray) {
            m_bytes += value.toByteArray().size();
            return true;
        }
        for (const auto &one : contents(value, isDictionary)) {
            if (isDictionary) {
                align(8);
                text(one.first);
            }
            if (!add(one.second, element, depth, levels, true))
                return false;
        }
        return true;
    }

    // What a list or a dictionary holds, with its keys.
    static QList<QPair<QString, QVariant>> contents(const QVariant &value, bool isDictionary)
    {
        QList<QPair<QString, QVariant>> found;
        const int kind = value.userType();
        if (kind == qMetaTypeId<QDBusArgument>()) {
            const QDBusArgument argument = value.value<QDBusArgument>();
            isDictionary ? argument.beginMap() : argument.beginArray();
            while (!argument.atEnd()) {
                QString key;
                if (isDictionary) {
                    argument.beginMapEntry();
                    key = argument.asVariant().toString();
                }
                found << qMakePair(key, argument.asVariant());
                if (isDictionary)
                    argument.endMapEntry();
            }
            isDictionary ? argument.endMap() : argument.endArray();
            return found;
        }
        const bool isWrapped = kind == QMetaType::QVariantMap || kind == QMetaType::QVariantList;
        const auto wrapped = [isWrapped](const QVariant &one) {
            return isWrapped ? QVariant::fromValue(QDBusVariant(one)) : one;
        };
        const QVariantMap map = isDictionary ? value.value<QVariantMap>() : QVariantMap();
        for (auto entry = map.begin(); entry != map.end(); ++entry)
            found << qMakePair(entry.key(), wrapped(entry.value()));
        for (const QVariant &one : isDictionary ? QVariantList() : value.value<QVariantList>())
            found << qMakePair(QString(), wrapped(one));
        return found;
    }

    qint64 m_bytes = 0;
    QString m_reason;
};

// What is wrong with the value of this name; empty if nothing is. A broker would take a name that it does not know, and leave it
// out.
inline QString typeProblem(const QHash<QString, QString> &types, const QString &name, const QVariant &value)
{
    if (!types.contains(name))
        return QStringLiteral("There is no \"%1\". Names are written as in handoff.hpp.").arg(name);
    if (signatureOf(value) != types[name])
        return QStringLiteral("%1 must have the type %2, not %3.").arg(name, types[name], typeOf(value));
    return {};
}

inline QString optionProblem(const QString &name, const QVariant &value)
{
    static const QHash<QString, QString> types = {
        {QStringLiteral("Team"), QStringLiteral("s")},
        {QStringLiteral("DocumentTypes"), QStringLiteral("a{ss}")},
        {QStringLiteral("Domains"), QStringLiteral("as")},
        {QStringLiteral("Receives"), QStringLiteral("b")},
        {QStringLiteral("Adapter"), QStringLiteral("b")},
    };
    return typeProblem(types, name, value);
}

inline HandoffError propertyRefusal(const QString &name, const QVariant &value)
{
    static const QHash<QString, QString> types = {
        {QStringLiteral("Title"), QStringLiteral("s")},
        {QStringLiteral("UserInfo"), QStringLiteral("a{sv}")},
        {QStringLiteral("NeedsSave"), QStringLiteral("b")},
        {QStringLiteral("WebpageURL"), QStringLiteral("s")},
        {QStringLiteral("DocumentURL"), QStringLiteral("s")},
        {QStringLiteral("ReferrerURL"), QStringLiteral("s")},
        {QStringLiteral("TargetContentIdentifier"), QStringLiteral("s")},
        {QStringLiteral("PersistentIdentifier"), QStringLiteral("s")},
        {QStringLiteral("Keywords"), QStringLiteral("as")},
        {QStringLiteral("RequiredUserInfoKeys"), QStringLiteral("as")},
        {QStringLiteral("ExpirationDate"), QStringLiteral("x")},
        {QStringLiteral("EligibleForHandoff"), QStringLiteral("b")},
        {QStringLiteral("EligibleForSearch"), QStringLiteral("b")},
        {QStringLiteral("SupportsContinuationStreams"), QStringLiteral("b")},
    };
    const QString problem = typeProblem(types, name, value);
    if (!problem.isEmpty())
        return {dbusError("InvalidArgs"), problem};
    return name == QLatin1String("UserInfo") ? StateCheck::refusal(value.toMap()) : HandoffError();
}

inline HandoffDevice deviceOf(const QVariantMap &context)
{
    return {context.value(QStringLiteral("DeviceId")).toString(), context.value(QStringLiteral("DeviceName")).toString()};
}

inline QString pathOf(const QVariantMap &context)
{
    return context.value(QStringLiteral("Continuation")).value<QDBusObjectPath>().path();
}

// A descriptor of ours of the stream socket that has come; -1 if it is none.
inline int streamOf(const QVariant &value)
{
    const QDBusUnixFileDescriptor descriptor = value.value<QDBusUnixFileDescriptor>();
    int type = 0;
    socklen_t size = sizeof type;
    if (!descriptor.isValid() || getsockopt(descriptor.fileDescriptor(), SOL_SOCKET, SO_TYPE, &type, &size) != 0
        || type != SOCK_STREAM)
        return -1;
    return fcntl(descriptor.fileDescriptor(), F_DUPFD_CLOEXEC, 3);
}

// Calls what the application has set under this name, if it has. What is called is a copy: the function may delete whoever has
// it. Returns what it has thrown, as a sentence, which is printed; empty if it has not.
template <typename... Values, typename... Given>
QString call(const QString &whose, const char *name, std::function<void(Values...)> function, Given &&...given)
{
    const QString printed = whose;
    QString thrown;
    QT_TRY {
        if (function)
            function(std::forward<Given>(given)...);
    }
#ifndef QT_NO_EXCEPTIONS
    catch (const std::exception &exception) {
        thrown = QString::fromLocal8Bit(exception.what());
    } catch (...) {
        thrown = QStringLiteral("something that is no std::exception");
    }
#endif
    if (thrown.isNull())
        return {};
    thrown = QStringLiteral("%1 has thrown: %2").arg(QString::fromLatin1(name), thrown);
    warn(printed, thrown);
    return thrown;
}

} // namespace Handoff

class HandoffApplication;

// What the user is doing, which can be continued on another device while it is current. It ends with invalidate(), or when it
// is destroyed, which any of the functions that are called may do.
class HandoffUserActivity : public QObject
{
    Q_OBJECT

public:
    explicit HandoffUserActivity(HandoffApplication *application, const QString &activityType = {}, const QString &title = {});
    ~HandoffUserActivity() override { invalidate(); }

    // The state is needed: what is put into it is the whole new one. If that is nothing, or an error is set, or it is refused,
    // the former stays. It has two seconds.
    std::function<void(QVariantMap *userInfo, QString *error)> onWillSave;
    // It is continued there, and otherwise left as it is: resign or invalidate it, if that fits.
    std::function<void(const HandoffDevice &)> onWasContinued;
    // The continuing application has opened a stream: a connected stream socket, which whoever is called has to close.
    std::function<void(int stream)> onStream;
    // Something was refused, or a save has failed; what was set has its former value again.
    std::function<void(const HandoffError &)> onFailure;

    // Sets a property of org.example.Handoff.Activity by its name, with the type that it has there, and sends it together with
    // whatever else is set in this turn: WebpageURL, DocumentURL, ReferrerURL, TargetContentIdentifier, PersistentIdentifier
    // (QString), Keywords, RequiredUserInfoKeys (QStringList), ExpirationDate (qlonglong), EligibleForHandoff,
    // EligibleForSearch, SupportsContinuationStreams (bool). Another name, or another type, is refused.
    void set(const QString &name, const QVariant &value);
    // A property by its name; invalid if it is not set.
    QVariant get(const QString &name) const { return m_properties.value(name); }

    void setTitle(const QString &title) { set(QStringLiteral("Title"), title); }
    QString title() const { return get(QStringLiteral("Title")).toString(); }
    // The state that the continuing application needs, of at most 128 KiB and 32 containers one in another. Dates are
    // QDateTime, URLs QUrl, nil an invalid QVariant.
    void setUserInfo(const QVariantMap &userInfo) { set(QStringLiteral("UserInfo"), Handoff::toDBus(userInfo)); }
    QVariantMap userInfo() const { return Handoff::fromDBus(get(QStringLiteral("UserInfo")).toMap()).toMap(); }
    // Adds entries, which take the place of those with the same keys. What has come and is not replaced keeps its exact types.
    void addUserInfoEntries(const QVariantMap &entries)
    {
        QVariantMap merged = get(QStringLiteral("UserInfo")).toMap();
        for (auto entry = entries.begin(); entry != entries.end(); ++entry)
            merged[entry.key()] = Handoff::toDBus(entry.value());
        set(QStringLiteral("UserInfo"), merged);
    }
    // To be set whenever the user has changed something. A save clears it.
    void setNeedsSave(bool needsSave) { set(QStringLiteral("NeedsSave"), needsSave); }
    bool needsSave() const { return get(QStringLiteral("NeedsSave")).toBool(); }

    // Makes it the session's current activity, which can be continued elsewhere.
    void becomeCurrent();
    // It is open from now on, with the next broker too, without becoming current: whoever looks from another device at what is
    // open here finds it. resignCurrent() or invalidate() closes it.
    void becomeOpen();
    // It is no longer current, as when another one becomes current, and stays open.
    void leaveCurrent();
    // It is no longer current, and closed until it becomes current or open again.
    void resignCurrent();
    // Ends it everywhere; for what was continued here, its streams too. It can't be revived.
    void invalidate();
    bool isCurrent() const { return m_isCurrent; }
    bool isValid() const { return m_isValid; }
    QString activityType() const { return m_type; }
    // Where it comes from, and the token to raise a window with; only for what was continued here.
    HandoffDevice origin() const { return m_origin; }
    QString activationToken() const { return m_activationToken; }
    // Opens a stream to the application that this was continued from. Without an error, the socket is that of whoever is
    // called: QLocalSocket::setSocketDescriptor() takes it, shutdown(SHUT_WR) ends one direction.
    void continuationStream(const std::function<void(int stream, const HandoffError &)> &done);

private:
    friend class HandoffApplication;

    bool checkValid();
    void keepOpen();
    void endCurrent(const char *method);
    // Whoever is called may delete this activity.
    void tell(const HandoffError &error) const
    {
        if (onFailure)
            Handoff::call(m_type, "onFailure", onFailure, error);
        else
            Handoff::warn(m_type, error.message);
    }
    // Something was refused. Once the activity has ended, that matters to nobody.
    void fail(const HandoffError &error) const
    {
        if (m_isValid)
            tell(error);
    }
    void forgetBroker()
    {
        m_path.clear();
        m_isCurrent = m_isCreating = m_isUpdating = m_isRefused = false;
        m_ending = 0;
        m_confirmed.clear();
        m_changed.clear();
        m_alone.clear();
    }
    void confirm(const QVariantMap &sent)
    {
        for (auto entry = sent.begin(); entry != sent.end(); ++entry)
            m_confirmed[entry.key()] = entry.value();
    }
    QVariantMap take(const QStringList &names) const
    {
        QVariantMap taken;
        for (const QString &name : names)
            if (m_properties.contains(name))
                taken[name] = m_properties[name];
        return taken;
    }
    void flush();
    void updated(const QVariantMap &sent, const HandoffError &error);
    HandoffError save(QVariantMap *changes);
    HandoffError askForState(QVariantMap *state) const;

    QPointer<HandoffApplication> m_application;
    QString m_type, m_activationToken, m_continuation, m_path;
    HandoffDevice m_origin;
    bool m_isCurrent = false, m_isValid = true, m_isCreating = false, m_isUpdating = false, m_isRefused = false;
    // Whether it is open while it is not current; with the next broker too.
    bool m_isOpen = false;
    // How many calls that end its being current wait for their answers.
    int m_ending = 0;
    // What is wanted, what the broker has, which of it is to be sent, and what it has refused and is to be sent alone.
    QVariantMap m_properties, m_confirmed;
    QStringList m_changed, m_alone;
};

// This application, as Handoff knows it. There may be several in a process, each with an id of its own. The functions that
// it calls may delete activities; the application itself is to be ended by deleteLater() there.
class HandoffApplication : public QDBusVirtualObject
{
    Q_OBJECT

public:
    // The id is the name of the desktop entry without .desktop, and what that declares counts too. `options` are Team
    // (QString), Domains (QStringList), DocumentTypes (QMap<QString, QString>), Receives, Adapter (bool). Another name, or
    // another type, is printed, and left out.
    explicit HandoffApplication(const QString &id, const QStringList &activityTypes = {}, const QVariantMap &options = {},
                                const QDBusConnection &bus = QDBusConnection::sessionBus())
        : m_id(id), m_types(activityTypes), m_bus(bus)
    {
        qDBusRegisterMetaType<HandoffTagged>();
        qDBusRegisterMetaType<QMap<QString, QString>>();
        for (auto option = options.begin(); option != options.end(); ++option) {
            const QString problem = Handoff::optionProblem(option.key(), option.value());
            if (problem.isEmpty())
                m_options[option.key()] = option.value();
            else
                Handoff::warn(m_id, problem);
        }
    }
    ~HandoffApplication() override { stop(); }

    // Continue this, which is the callee's from now on; whether it was handled. An error is shown to the user.
    std::function<bool(HandoffUserActivity *activity, const HandoffDevice &device, QString *error)> onContinue;
    // Something is coming; whether the application shows that.
    std::function<bool(const QString &activityType, const HandoffDevice &device)> onWillContinue;
    // What was coming does not come.
    std::function<void(const QString &activityType, const HandoffError &error)> onFailure;

    // Whether there is a broker, and it knows the application.
    bool isAvailable() const { return m_registered; }
    // Why the broker, or start(), has refused the application. It was printed.
    HandoffError registrationError() const { return m_registrationError; }

    // Registers from now on, again with each new broker. Without a session bus it does nothing. If another application of this
    // process with this id has started and not stopped, it prints that and does nothing.
    void start()
    {
        if (m_hasStarted)
            return;
        m_registrationError = startRefusal();
        if (m_registrationError.isError()) {
            Handoff::warn(m_id, m_registrationError.message);
            return;
        }
        takeConnection();
        if (!m_bus.isConnected())
            return;
        m_hasStarted = true;
        started() << this;
        m_bus.registerVirtualObject(Handoff::client, this);
        watch(true);
        const int begun = ++m_epoch;
        ask(busCall("GetNameOwner", {Handoff::broker}), [this, begun](const QDBusMessage &reply) {
            if (begun != m_epoch || !m_owner.isEmpty())
                return;
            if (reply.type() == QDBusMessage::ReplyMessage)
                appeared(reply.arguments().value(0).toString());
            else
                // Once: if the user ends it later, it is not started again.
                m_bus.send(busCall("StartServiceByName", {Handoff::broker, 0U}));
        });
    }

    // Takes the registration and all activities back.
    void stop()
    {
        if (m_hasStarted) {
            // Also if the registration was not answered yet: calls of one connection take effect in their order.
            if (!m_owner.isEmpty())
                m_bus.send(brokerCall(Handoff::root, "Manager", "UnregisterApplication"));
            started().removeAll(this);
            watch(false);
            m_bus.unregisterObject(Handoff::client);
        }
        m_hasStarted = false;
        const Unheard unheard = leaveBroker();
        m_owner.clear();
        m_activities.clear();
        m_current = nullptr;
        tellOfEnd(unheard);
    }

    QString introspect(const QString &) const override { return {}; }

    // What the broker calls.
    bool handleMessage(const QDBusMessage &call, const QDBusConnection &) override
    {
        const QString interface = call.interface(), method = call.member();
        const bool isDelegate = interface == Handoff::broker + QLatin1String(".ActivityDelegate");
        if (call.path() != Handoff::client || (!isDelegate && interface != Handoff::broker + QLatin1String(".Application")))
            return false;
        static const QHash<QString, QString> signatures = {
            {QStringLiteral("WillContinueActivity"), QStringLiteral("sa{sv}")},
            {QStringLiteral("ContinueActivity"), QStringLiteral("a{sv}a{sv}")},
            {QStringLiteral("DidFailToContinueActivity"), QStringLiteral("sss")},
            {QStringLiteral("WillSave"), QStringLiteral("o")},
            {QStringLiteral("WasContinued"), QStringLiteral("oa{sv}")},
            {QStringLiteral("DidReceiveStream"), QStringLiteral("oh")},
        };
        if (!signatures.contains(method))
            return false;
        if (call.service() != m_owner || m_owner.isEmpty())
            return refuse(call, Handoff::dbusError("AccessDenied"),
                          QStringLiteral("Only the owner of org.example.Handoff may call this."));
        if (call.signature() != signatures[method])
            return refuse(call, Handoff::dbusError("InvalidArgs"), method + QLatin1String(" takes ") + signatures[method]);
        return isDelegate ? delegateCalled(call, method) : applicationCalled(call, method);
    }

private Q_SLOTS:
    void ownerChanged(const QString &, const QString &former, const QString &owner)
    {
        Unheard unheard;
        if (!former.isEmpty() && former == m_owner) {
            unheard = leaveBroker();
            m_owner.clear();
        }
        if (!owner.isEmpty())
            appeared(owner);
        tellOfEnd(unheard);
    }

    void registrationEnded(const QDBusMessage &signal)
    {
        if (signal.service() != m_owner || !m_registered)
            return;
        const Unheard unheard = leaveBroker();
        appeared(m_owner);
        tellOfEnd(unheard);
    }

    void propertiesChanged(const QDBusMessage &signal)
    {
        HandoffUserActivity *activity = find(signal.path());
        if (signal.service() != m_owner || !activity || signal.signature() != QLatin1String("sa{sv}as"))
            return;
        const QVariantMap changed = qdbus_cast<QVariantMap>(signal.arguments().at(1));
        const QVariant current = changed.value(QStringLiteral("Current"));
        const QVariant needsSave = changed.value(QStringLiteral("NeedsSave"));
        if (current.userType() == QMetaType::Bool) {
            activity->m_isCurrent = current.toBool();
            // What the broker said before it heard of the latest wish is older than that.
            if (!m_becoming && !activity->m_ending)
                m_current = current.toBool() ? activity : m_current == activity ? nullptr : m_current;
        }
        if (needsSave.userType() == QMetaType::Bool && !activity->m_isUpdating
            && !activity->m_changed.contains(QStringLiteral("NeedsSave")))
            activity->m_properties[QStringLiteral("NeedsSave")] = needsSave;
    }

private:
    friend class HandoffUserActivity;
    using Then = std::function<void(const QDBusMessage &)>;

    // What was asked of a broker and announced by it, which does not come when that ends.
    struct Unheard
    {
        QMap<int, std::function<void(int, const HandoffError &)>> openings;
        QMap<QString, QString> announced;
    };

    // The applications of this process that have started.
    static QList<HandoffApplication *> &started()
    {
        static QList<HandoffApplication *> all;
        return all;
    }

    HandoffError startRefusal() const
    {
        for (const HandoffApplication *other : started())
            if (other->m_id == m_id)
                return {Handoff::dbusError("InvalidArgs"),
                        QStringLiteral("Another HandoffApplication of this process has this id. Use that one, or stop it first.")};
        return {};
    }

    // A broker knows one application a connection, so another one takes a connection of its own.
    void takeConnection()
    {
        for (const HandoffApplication *other : started())
            if (other->m_bus.name() == m_bus.name()) {
                m_bus = QDBusConnection::connectToBus(QDBusConnection::SessionBus, Handoff::broker + QLatin1Char('/') + m_id);
                return;
            }
    }

    void watch(bool begins, const QString &service, const QString &interface, const char *name, const QString &argument,
               const char *slot)
    {
        const QStringList match = argument.isEmpty() ? QStringList() : QStringList(argument);
        if (begins)
            m_bus.connect(service, {}, interface, QString::fromLatin1(name), match, {}, this, slot);
        else
            m_bus.disconnect(service, {}, interface, QString::fromLatin1(name), match, {}, this, slot);
    }

    void watch(bool begins)
    {
        const QString bus = QStringLiteral("org.freedesktop.DBus");
        watch(begins, bus, bus, "NameOwnerChanged", Handoff::broker, SLOT(ownerChanged(QString, QString, QString)));
        watch(begins, {}, Handoff::broker + QLatin1String(".Manager"), "RegistrationEnded", {},
              SLOT(registrationEnded(QDBusMessage)));
        watch(begins, {}, bus + QLatin1String(".Properties"), "PropertiesChanged", Handoff::broker + QLatin1String(".Activity"),
              SLOT(propertiesChanged(QDBusMessage)));
    }

    // Calls to the broker

    static QDBusMessage busCall(const char *method, const QVariantList &arguments)
    {
        const QString bus = QStringLiteral("org.freedesktop.DBus");
        QDBusMessage call = QDBusMessage::createMethodCall(bus, QStringLiteral("/org/freedesktop/DBus"), bus,
                                                           QString::fromLatin1(method));
        call.setArguments(arguments);
        return call;
    }

    QDBusMessage brokerCall(const QString &path, const char *interface, const char *method, const QVariantList &arguments = {})
    {
        QDBusMessage call = QDBusMessage::createMethodCall(m_owner.isEmpty() ? Handoff::broker : m_owner, path,
                                                           Handoff::broker + QLatin1Char('.') + QLatin1String(interface),
                                                           QString::fromLatin1(method));
        call.setAutoStartService(false);
        call.setArguments(arguments);
        return call;
    }

    void ask(const QDBusMessage &call, const Then &then)
    {
        // Without a limit of time: the wait ends with the broker.
        auto *watcher = new QDBusPendingCallWatcher(m_bus.asyncCall(call, INT_MAX), this);
        connect(watcher, &QDBusPendingCallWatcher::finished, this, [then](QDBusPendingCallWatcher *finished) {
            finished->deleteLater();
            then(finished->reply());
        });
    }

    // Calls the broker of the moment about an activity, if that exists then. If either ends before, `then` is not called.
    void ask(HandoffUserActivity *activity, const QDBusMessage &call,
             const std::function<void(HandoffUserActivity *, const QDBusMessage &, const HandoffError &)> &then)
    {
        const QPointer<HandoffUserActivity> kept(activity);
        const int begun = m_epoch;
        ask(call, [this, kept, begun, then](const QDBusMessage &reply) {
            if (begun == m_epoch && kept)
                then(kept, reply, Handoff::errorOf(reply));
        });
    }

    // Brokers

    void appeared(const QString &owner)
    {
        m_owner = owner;
        const int begun = ++m_epoch;
        const QVariantList arguments = {m_id, m_types, QVariant::fromValue(QDBusObjectPath(Handoff::client)), m_options};
        ask(brokerCall(Handoff::root, "Manager", "RegisterApplication", arguments), [this, begun](const QDBusMessage &reply) {
            if (begun != m_epoch)
                return;
            m_registrationError = Handoff::errorOf(reply);
            m_registered = !m_registrationError.isError();
            if (!m_registered)
                Handoff::warn(m_id, m_registrationError.message);
            flush();
        });
    }

    // What the broker had of this application is worth nothing from now on.
    Unheard leaveBroker()
    {
        m_epoch++;
        m_registered = false;
        m_becoming = nullptr;
        for (HandoffUserActivity *activity : m_activities)
            activity->forgetBroker();
        Unheard unheard;
        m_openings.swap(unheard.openings);
        m_announced.swap(unheard.announced);
        return unheard;
    }

    // Comes last: whoever is told may stop the application, or start it.
    void tellOfEnd(const Unheard &unheard)
    {
        for (const auto &done : unheard.openings)
            Handoff::call(m_id, "continuationStream", done, -1, Handoff::brokerEnded());
        for (const QString &activityType : unheard.announced)
            failed(activityType, Handoff::brokerEnded());
    }

    void failed(const QString &activityType, const HandoffError &error) const
    {
        if (onFailure)
            Handoff::call(activityType, "onFailure", onFailure, activityType, error);
        else
            Handoff::warn(activityType, error.message);
    }

    // Activities

    void flushSoon()
    {
        if (m_isFlushing)
            return;
        m_isFlushing = true;
        QTimer::singleShot(0, this, [this] {
            m_isFlushing = false;
            flush();
        });
    }

    void flush()
    {
        const QList<HandoffUserActivity *> activities = m_activities;
        for (HandoffUserActivity *activity : activities)
            if (m_registered && m_activities.contains(activity))
                activity->flush();
    }

    void sayCurrent(HandoffUserActivity *activity)
    {
        if (activity->m_path.isEmpty())
            return;
        m_becoming = activity;
        ask(activity, brokerCall(activity->m_path, "Activity", "BecomeCurrent"),
            [this](HandoffUserActivity *activity, const QDBusMessage &, const HandoffError &error) {
                if (m_becoming == activity)
                    m_becoming = nullptr;
                if (!error.isError())
                    return;
                if (m_current == activity)
                    m_current = nullptr;
                activity->m_isOpen = false;
                activity->fail(error);
            });
    }

    void sayOpen(HandoffUserActivity *activity)
    {
        if (activity->m_path.isEmpty())
            return;
        ask(activity, brokerCall(activity->m_path, "Activity", "BecomeOpen"),
            [](HandoffUserActivity *activity, const QDBusMessage &, const HandoffError &error) {
                if (!error.isError())
                    return;
                activity->m_isOpen = false;
                activity->fail(error);
            });
    }

    void forgetCurrent(HandoffUserActivity *activity)
    {
        if (m_current == activity)
            m_current = nullptr;
        if (m_becoming == activity)
            m_becoming = nullptr;
    }

    void create(HandoffUserActivity *activity)
    {
        if (!activity->m_isValid || activity->m_isCreating || (activity->m_isRefused && activity->m_changed.isEmpty()))
            return;
        activity->m_isCreating = true;
        activity->m_isRefused = false;
        activity->m_changed.clear();
        const QVariantMap sent = activity->m_properties;
        const QPointer<HandoffUserActivity> kept(activity);
        const int begun = m_epoch;
        ask(brokerCall(Handoff::root, "Manager", "CreateActivity", {activity->m_type, sent}),
            [this, kept, begun, sent](const QDBusMessage &reply) {
                if (begun == m_epoch)
                    created(kept, sent, reply);
            });
    }

    void created(HandoffUserActivity *activity, const QVariantMap &sent, const QDBusMessage &reply)
    {
        const HandoffError error = Handoff::errorOf(reply);
        const QString path = reply.arguments().value(0).value<QDBusObjectPath>().path();
        if (activity)
            activity->m_isCreating = false;
        if (error.isError() && activity) {
            activity->m_isRefused = true;
            if (m_becoming == activity)
                m_becoming = nullptr;
            activity->fail(error);
            flush();
        }
        if (error.isError() || path.isEmpty())
            return;
        if (!activity || !activity->m_isValid) {
            m_bus.send(brokerCall(path, "Activity", "Invalidate"));
            return;
        }
        activity->m_path = path;
        activity->confirm(sent);
        activity->flush();
        // Only what was current, or was to be: another application may have what is now.
        if (m_current == activity)
            sayCurrent(activity);
        else if (activity->m_isOpen)
            sayOpen(activity);
    }

    HandoffUserActivity *find(const QString &path) const
    {
        for (HandoffUserActivity *activity : m_activities)
            if (!path.isEmpty() && activity->m_path == path)
                return activity;
        return nullptr;
    }

    // Calls of the broker

    bool answer(const QDBusMessage &call, const QVariantList &arguments = {})
    {
        m_bus.send(call.createReply(arguments));
        return true;
    }

    bool refuse(const QDBusMessage &call, const QString &name, const QString &message)
    {
        m_bus.send(call.createErrorReply(name, message));
        return true;
    }

    // What a function of the application has failed with, if it has, is the answer.
    bool answerOrFail(const QDBusMessage &call, const QString &problem, const QVariantList &arguments = {})
    {
        return problem.isEmpty() ? answer(call, arguments) : refuse(call, Handoff::error("ApplicationFailed"), problem);
    }

    bool applicationCalled(const QDBusMessage &call, const QString &method)
    {
        const QVariantList arguments = call.arguments();
        if (method == QLatin1String("DidFailToContinueActivity")) {
            const QString activityType = arguments[0].toString();
            m_announced.remove(m_announced.key(activityType));
            failed(activityType, {arguments[1].toString(), arguments[2].toString()});
            return answer(call);
        }
        const QVariantMap context = qdbus_cast<QVariantMap>(arguments[1]);
        const HandoffDevice device = Handoff::deviceOf(context);
        if (method == QLatin1String("WillContinueActivity")) {
            m_announced[Handoff::pathOf(context)] = arguments[0].toString();
            bool isShown = false;
            const auto shows = onWillContinue;
            Handoff::call(arguments[0].toString(), "onWillContinue", std::function<void()>([&] {
                              isShown = shows && shows(arguments[0].toString(), device);
                          }));
            return answer(call, {isShown});
        }
        m_announced.remove(Handoff::pathOf(context));
        const auto continues = onContinue;
        if (method != QLatin1String("ContinueActivity") || !continues)
            return false;
        HandoffUserActivity *activity = received(qdbus_cast<QVariantMap>(arguments[0]), context);
        const QString activityType = activity->m_type;
        QString problem;
        bool isHandled = false;
        const QString thrown = Handoff::call(activityType, "onContinue", std::function<void()>([&] {
                                                 isHandled = continues(activity, device, &problem);
                                             }));
        if (!problem.isEmpty() && thrown.isEmpty())
            Handoff::warn(activityType, QStringLiteral("onContinue has failed: ") + problem);
        return answerOrFail(call, thrown.isEmpty() ? problem : thrown, {isHandled});
    }

    HandoffUserActivity *received(QVariantMap properties, const QVariantMap &context);

    bool delegateCalled(const QDBusMessage &call, const QString &method)
    {
        const QVariantList arguments = call.arguments();
        HandoffUserActivity *activity = find(arguments[0].value<QDBusObjectPath>().path());
        if (!activity)
            return refuse(call, Handoff::dbusError("UnknownObject"),
                          QStringLiteral("This is not an activity of the application, or no longer."));
        if (method == QLatin1String("WillSave")) {
            QVariantMap changes;
            const HandoffError error = activity->save(&changes);
            return error.isError() ? refuse(call, error.name, error.message) : answer(call, {changes});
        }
        if (method == QLatin1String("WasContinued"))
            return answerOrFail(call, Handoff::call(activity->m_type, "onWasContinued", activity->onWasContinued,
                                                    Handoff::deviceOf(qdbus_cast<QVariantMap>(arguments[1]))));
        if (method != QLatin1String("DidReceiveStream") || !activity->onStream)
            return false;
        const int stream = Handoff::streamOf(arguments[1]);
        if (stream < 0)
            return refuse(call, Handoff::dbusError("InvalidArgs"),
                          QStringLiteral("What has come is no stream socket. Send one end of socketpair(AF_UNIX, SOCK_STREAM)."));
        return answerOrFail(call, Handoff::call(activity->m_type, "onStream", activity->onStream, stream));
    }

    QString m_id, m_owner;
    QStringList m_types;
    QVariantMap m_options;
    QDBusConnection m_bus;
    bool m_hasStarted = false, m_registered = false, m_isFlushing = false;
    HandoffError m_registrationError;
    // Counts whatever makes answers that are still to come worthless.
    int m_epoch = 0;
    QList<HandoffUserActivity *> m_activities;
    // The one that is current or is to be, and the one of which the broker has yet to hear that.
    HandoffUserActivity *m_current = nullptr, *m_becoming = nullptr;
    // From continuation to type: what was announced and has not come.
    QMap<QString, QString> m_announced;
    // The streams that are being opened, by number.
    QMap<int, std::function<void(int, const HandoffError &)>> m_openings;
    int m_opened = 0;
};

inline HandoffUserActivity::HandoffUserActivity(HandoffApplication *application, const QString &activityType,
                                                const QString &title)
    : m_application(application), m_type(activityType)
{
    if (!title.isEmpty())
        setTitle(title);
}

inline bool HandoffUserActivity::checkValid()
{
    if (m_isValid)
        return m_application;
    tell({Handoff::dbusError("UnknownObject"), QStringLiteral("This activity has ended. Make a new one.")});
    return false;
}

inline void HandoffUserActivity::set(const QString &name, const QVariant &value)
{
    const QVariant former = m_properties.value(name);
    const bool compares = value.userType() == QMetaType::QString || value.userType() == QMetaType::Bool;
    if (compares && former.isValid() && former == value)
        return;
    const HandoffError error = Handoff::propertyRefusal(name, value);
    if (error.isError()) {
        // Told when the function that has set it has returned, as if the broker had refused it.
        QTimer::singleShot(0, this, [this, error] { fail(error); });
        return;
    }
    m_properties[name] = value;
    m_alone.removeAll(name);
    if (!m_changed.contains(name))
        m_changed << name;
    if (m_application)
        m_application->flushSoon();
}

inline void HandoffUserActivity::keepOpen()
{
    // The last one is the one that was used last, for the next broker too.
    m_application->m_activities.removeAll(this);
    m_application->m_activities << this;
    m_isRefused = false;
    m_isOpen = true;
    if (m_application->m_registered)
        flush();
}

inline void HandoffUserActivity::becomeCurrent()
{
    if (!checkValid())
        return;
    m_application->m_current = m_application->m_becoming = this;
    keepOpen();
    m_application->sayCurrent(this);
}

inline void HandoffUserActivity::becomeOpen()
{
    if (!checkValid())
        return;
    keepOpen();
    m_application->sayOpen(this);
}

inline void HandoffUserActivity::leaveCurrent()
{
    if (checkValid())
        endCurrent("LeaveCurrent");
}

inline void HandoffUserActivity::resignCurrent()
{
    if (!checkValid())
        return;
    m_isOpen = false;
    endCurrent("ResignCurrent");
}

inline void HandoffUserActivity::endCurrent(const char *method)
{
    m_application->forgetCurrent(this);
    if (m_path.isEmpty())
        return;
    m_ending++;
    flush();
    m_application->ask(this, m_application->brokerCall(m_path, "Activity", method),
                       [](HandoffUserActivity *activity, const QDBusMessage &, const HandoffError &error) {
                           activity->m_ending--;
                           if (error.isError())
                               activity->fail(error);
                       });
}

inline void HandoffUserActivity::invalidate()
{
    if (!m_isValid)
        return;
    m_isValid = m_isCurrent = false;
    if (!m_application)
        return;
    m_application->m_activities.removeAll(this);
    m_application->forgetCurrent(this);
    if (!m_path.isEmpty())
        m_application->m_bus.send(m_application->brokerCall(m_path, "Activity", "Invalidate"));
    if (!m_continuation.isEmpty() && !m_application->m_owner.isEmpty())
        m_application->m_bus.send(m_application->brokerCall(m_continuation, "Continuation", "Release"));
    m_path.clear();
    m_continuation.clear();
}

inline void HandoffUserActivity::continuationStream(const std::function<void(int stream, const HandoffError &)> &done)
{
    if (m_continuation.isEmpty() || !m_application) {
        QTimer::singleShot(0, this, [done, type = m_type] {
            Handoff::call(type, "continuationStream", done, -1,
                          HandoffError{Handoff::error("StreamsNotSupported"),
                                       QStringLiteral("Streams are opened by who has continued an activity that supports them, as "
                                                      "long as its broker lives.")});
        });
        return;
    }
    HandoffApplication *application = m_application;
    const int number = ++application->m_opened;
    application->m_openings[number] = done;
    application->ask(application->brokerCall(m_continuation, "Continuation", "OpenStream"),
                     [application, number, type = m_type](const QDBusMessage &reply) {
                         const auto waiting = application->m_openings.take(number);
                         // Ended with its broker.
                         if (!waiting)
                             return;
                         HandoffError error = Handoff::errorOf(reply);
                         const int stream = error.isError() ? -1 : Handoff::streamOf(reply.arguments().value(0));
                         if (stream < 0 && !error.isError())
                             error = {Handoff::error("ConnectionUnavailable"), QStringLiteral("What the broker has sent is no stream.")};
                         Handoff::call(type, "continuationStream", waiting, stream, error);
                     });
}

// Sends what has changed: one message at a time, and after a refusal one property at a time.
inline void HandoffUserActivity::flush()
{
    if (!m_isValid || !m_application)
        return;
    if (m_path.isEmpty()) {
        m_application->create(this);
        return;
    }
    if (m_isUpdating || (m_alone.isEmpty() && m_changed.isEmpty()))
        return;
    const QStringList names = m_alone.isEmpty() ? m_changed : QStringList(m_alone.takeFirst());
    for (const QString &name : names)
        m_changed.removeAll(name);
    const QVariantMap sent = take(names);
    m_isUpdating = true;
    m_application->ask(this, m_application->brokerCall(m_path, "Activity", "Update", {sent}),
                       [sent](HandoffUserActivity *activity, const QDBusMessage &, const HandoffError &error) {
                           activity->updated(sent, error);
                       });
}

inline void HandoffUserActivity::updated(const QVariantMap &sent, const HandoffError &error)
{
    const QPointer<HandoffUserActivity> kept(this);
    m_isUpdating = false;
    if (!error.isError())
        confirm(sent);
    for (const QString &name : error.isError() ? sent.keys() : QStringList()) {
        if (m_changed.contains(name))
            continue;
        if (sent.size() > 1)
            // All or none was taken: one bad property must not cost the others.
            m_alone << name;
        else if (m_confirmed.contains(name))
            m_properties[name] = m_confirmed[name];
        else
            m_properties.remove(name);
    }
    if (error.isError() && sent.size() == 1)
        fail(error);
    if (kept)
        flush();
}

// Asks the application for the state; what it has failed with. That is printed in any case.
inline HandoffError HandoffUserActivity::askForState(QVariantMap *state) const
{
    const QPointer<const HandoffUserActivity> kept(this);
    const QString type = m_type;
    QString problem;
    const QString thrown = Handoff::call(type, "onWillSave", onWillSave, state, &problem);
    if (thrown.isEmpty() && !problem.isEmpty()) {
        problem.prepend(QStringLiteral("onWillSave has failed: "));
        Handoff::warn(type, problem);
    }
    if (!thrown.isEmpty())
        problem = thrown;
    else if (!kept && problem.isEmpty())
        problem = QStringLiteral("The activity has ended.");
    if (problem.isEmpty())
        return {};
    const HandoffError error = {Handoff::error("ApplicationFailed"), problem};
    if (kept && onFailure)
        fail(error);
    return error;
}

// Takes the new state; what is wrong with it.
inline HandoffError HandoffUserActivity::save(QVariantMap *changes)
{
    QVariantMap state;
    setNeedsSave(false);
    m_changed.removeAll(QStringLiteral("NeedsSave"));
    HandoffError error = askForState(&state);
    if (error.isError())
        return error;
    state = Handoff::toDBus(state);
    error = Handoff::StateCheck::refusal(state);
    if (error.isError()) {
        fail(error);
        return error;
    }
    if (!state.isEmpty())
        set(QStringLiteral("UserInfo"), state);
    *changes = take(m_changed);
    m_changed.clear();
    confirm(*changes);
    return {};
}

inline HandoffUserActivity *HandoffApplication::received(QVariantMap properties, const QVariantMap &context)
{
    auto *activity = new HandoffUserActivity(this, properties.take(QStringLiteral("ActivityType")).toString());
    activity->setParent(this);
    properties.remove(QStringLiteral("ApplicationId"));
    // In its place, as it has come, so that it can be passed on with its exact types.
    const QVariant state = properties.value(QStringLiteral("UserInfo"));
    if (state.isValid())
        properties[QStringLiteral("UserInfo")] = qdbus_cast<QVariantMap>(state);
    activity->m_properties = properties;
    activity->m_origin = Handoff::deviceOf(context);
    activity->m_activationToken = context.value(QStringLiteral("ActivationToken")).toString();
    if (properties.value(QStringLiteral("SupportsContinuationStreams")).toBool())
        activity->m_continuation = Handoff::pathOf(context);
    return activity;
}
