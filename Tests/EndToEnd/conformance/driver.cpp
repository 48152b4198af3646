// SPDX-License-Identifier: LGPL-2.1-or-later

// An application that does what it is told, a line each, and tells what happens to it; see README.md.

#include "handoff.hpp"

#include <QtCore/QCoreApplication>
#include <QtCore/QSocketNotifier>

#include <stdexcept>
#include <thread>

#include <unistd.h>

namespace {

// One line, its words parted by tabs; written at once.
void tell(const QStringList &words)
{
    const QByteArray line = words.join(QLatin1Char('\t')).toUtf8() + '\n';
    if (write(1, line.constData(), line.size()) < 0)
        qWarning("Nobody listens.");
}

// So many lists, each in the one before.
QVariant nested(int levels)
{
    QVariantList list;
    for (int level = 1; level < levels; level++)
        list = QVariantList{QVariant(list)};
    return list;
}

QString word(bool value) { return QLatin1String(value ? "1" : "0"); }

// A question, or what comes and then an answer.
void talk(const QString &number, int stream, bool asks)
{
    std::thread([number, stream, asks] {
        QByteArray text;
        char some[4096];
        if (asks && write(stream, "ping", 4) == 4)
            shutdown(stream, SHUT_WR);
        for (ssize_t count; (count = read(stream, some, sizeof some)) > 0;)
            text.append(some, int(count));
        if (!asks && write(stream, "pong", 4) != 4)
            qWarning("Nobody reads.");
        close(stream);
        tell({QLatin1String(asks ? "opened" : "stream"), number, QString::fromUtf8(text)});
    }).detach();
}

class Driver
{
public:
    Driver(const QString &id, const QString &type)
        : application(id, {type}, {{QStringLiteral("Team"), QStringLiteral("org.example.team")}})
    {
        application.onWillContinue = [this](const QString &kind, const HandoffDevice &device) {
            tell({QStringLiteral("willContinue"), kind, device.name});
            return shows;
        };
        application.onFailure = [this](const QString &kind, const HandoffError &error) {
            tell({QStringLiteral("failed"), kind, error.name, error.message});
            if (stops)
                application.stop();
        };
        application.onContinue = [this](HandoffUserActivity *activity, const HandoffDevice &device, QString *error) {
            const QString number = QStringLiteral("c%1").arg(activities.size());
            keep(number, activity);
            tell({QStringLiteral("continue"), number, activity->activityType(), activity->title(), device.name});
            if (answer[0] == QLatin1String("fail"))
                *error = answer[1];
            return answer[0] == QLatin1String("yes");
        };
    }

    void told(const QStringList &words)
    {
        const QString command = words[0], number = words.value(1);
        HandoffUserActivity *activity = activities.value(number);
        if (command == QLatin1String("start"))
            application.start();
        else if (command == QLatin1String("stop"))
            application.stop();
        else if (command == QLatin1String("available"))
            tell({command, word(application.isAvailable())});
        else if (command == QLatin1String("shows"))
            shows = number == QLatin1String("yes");
        else if (command == QLatin1String("answer"))
            answer = words.mid(1);
        else if (command == QLatin1String("stopsAtFailure"))
            stops = true;
        else if (command == QLatin1String("silent")) {
            silent = true;
            application.onFailure = nullptr;
        } else if (command == QLatin1String("second")) {
            auto *other = new HandoffApplication(number);
            other->setParent(&application);
            other->start();
            const HandoffError refusal = other->registrationError();
            tell({command, refusal.isError() ? refusal.message : QStringLiteral("ok")});
        } else if (command == QLatin1String("make"))
            keep(number, new HandoffUserActivity(&application, words[2], words[3]));
        else if (activity)
            told(command, number, words, activity);
    }

private:
    void told(const QString &command, const QString &number, const QStringList &words, HandoffUserActivity *activity)
    {
        if (command == QLatin1String("set"))
            set(activity, words[2], words[3]);
        else if (command == QLatin1String("userInfo"))
            activity->setUserInfo({{words[2], words[3]}});
        else if (command == QLatin1String("add"))
            activity->addUserInfoEntries({{words[2], words[3]}});
        else if (command == QLatin1String("deep"))
            activity->setUserInfo({{QStringLiteral("a"), nested(words[2].toInt())}});
        else if (command == QLatin1String("large"))
            activity->setUserInfo({{QStringLiteral("a"), QString(words[2].toInt(), QLatin1Char('a'))}});
        else if (command == QLatin1String("odd"))
            activity->setUserInfo({{QStringLiteral("a"), QVariant::fromValue(QDBusObjectPath("/"))}});
        else if (command == QLatin1String("becomeCurrent"))
            activity->becomeCurrent();
        else if (command == QLatin1String("becomeOpen"))
            activity->becomeOpen();
        else if (command == QLatin1String("leaveCurrent"))
            activity->leaveCurrent();
        else if (command == QLatin1String("resignCurrent"))
            activity->resignCurrent();
        else if (command == QLatin1String("invalidate"))
            activity->invalidate();
        else if (command == QLatin1String("willSave"))
            activity->onWillSave = [number, words](QVariantMap *state, QString *error) {
                tell({QStringLiteral("saving"), number, QString::number(state->size())});
                if (words[2] == QLatin1String("text"))
                    (*state)[QStringLiteral("text")] = words[3];
                else if (words[2] == QLatin1String("fail"))
                    *error = QStringLiteral("the disk is full");
                else if (words[2] == QLatin1String("raise"))
                    throw std::runtime_error("nokey");
                else if (words[2] == QLatin1String("deep"))
                    (*state)[QStringLiteral("a")] = nested(words[3].toInt());
            };
        else if (command == QLatin1String("takeStreams"))
            activity->onStream = [number](int stream) { talk(number, stream, false); };
        else if (command == QLatin1String("openStream"))
            activity->continuationStream([number](int stream, const HandoffError &error) {
                if (error.isError())
                    tell({QStringLiteral("notOpened"), number, error.name, error.message});
                else
                    talk(number, stream, true);
            });
        else if (command == QLatin1String("get"))
            get(number, activity);
    }

    static void set(HandoffUserActivity *activity, const QString &name, const QString &value)
    {
        if (name == QLatin1String("title"))
            activity->setTitle(value);
        else if (name == QLatin1String("webpageURL"))
            activity->set(QStringLiteral("WebpageURL"), value);
        else if (name == QLatin1String("needsSave"))
            activity->setNeedsSave(value == QLatin1String("yes"));
        else
            activity->set(QStringLiteral("SupportsContinuationStreams"), value == QLatin1String("yes"));
    }

    static void get(const QString &number, HandoffUserActivity *activity)
    {
        QStringList shown;
        const QVariantMap state = activity->userInfo();
        for (auto entry = state.begin(); entry != state.end(); ++entry)
            if (entry.value().userType() == QMetaType::QString)
                shown << entry.key() + QLatin1Char('=') + entry.value().toString();
        tell({QStringLiteral("got"), number, word(activity->isCurrent()), word(activity->isValid()),
              word(activity->needsSave()), activity->title(), activity->get(QStringLiteral("WebpageURL")).toString(),
              shown.join(QLatin1Char(','))});
    }

    void keep(const QString &number, HandoffUserActivity *activity)
    {
        activity->setParent(&application);
        activities[number] = activity;
        if (!silent)
            activity->onFailure = [number](const HandoffError &error) {
                tell({QStringLiteral("refused"), number, error.name, error.message});
            };
        activity->onWasContinued = [number](const HandoffDevice &device) {
            tell({QStringLiteral("wasContinued"), number, device.name});
        };
    }

    HandoffApplication application;
    QMap<QString, HandoffUserActivity *> activities;
    QStringList answer{QStringLiteral("yes")};
    bool shows = false, silent = false, stops = false;
};

} // namespace

int main(int count, char **arguments)
{
    QCoreApplication application(count, arguments);
    Driver driver(application.arguments().value(1), application.arguments().value(2));
    QByteArray rest;
    QSocketNotifier notifier(0, QSocketNotifier::Read);
    // What has come together is done in one turn, as what an application does in one function is.
    QObject::connect(&notifier, &QSocketNotifier::activated, &application, [&] {
        char some[65536];
        const ssize_t size = read(0, some, sizeof some);
        if (size <= 0) {
            notifier.setEnabled(false);
            QCoreApplication::quit();
            return;
        }
        rest.append(some, int(size));
        for (int end; (end = int(rest.indexOf('\n'))) >= 0; rest.remove(0, end + 1))
            driver.told(QString::fromUtf8(rest.left(end)).split(QLatin1Char('\t')));
    });
    return application.exec();
}
