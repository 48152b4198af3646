// SPDX-License-Identifier: LGPL-2.1-or-later
// What there is to show, made from what the daemons say.

import {line} from './text.js';

const BROKER = 'org.example.Handoff';
const BUS = 'org.freedesktop.DBus';
// More than that nobody reads in a menu; the Handoff window has them all.
const MAXIMUM_OFFERS = 6;
const MAXIMUM_DEVICES = 12;
const MAXIMUM_LISTABLE = 8;
const MAXIMUM_TITLE = 120;
const MAXIMUM_NAME = 64;

// Whether something is current here, or was left last, that can be sent, as far as the user has not excluded its application from
// Handoff.
function isAnythingToSend(broker) {
    const excluded = broker?.root[`${BROKER}.Preferences`]?.ExcludedApplications ?? [];
    const left = broker?.root[`${BROKER}.Manager`]?.LeftActivity ?? '/';
    return left !== '/' || (broker?.all(`${BROKER}.Activity`) ?? [])
        .some(([, properties]) => properties.Current === true && !excluded.includes(properties.ApplicationId));
}

// The telephones that the broker lists. They are no devices of the bridge: their paths are none of objects.
function phones(broker) {
    return (broker?.root[`${BROKER}.Phones`]?.Phones ?? []).map(phone => ({
        phone: phone.Id, path: `phone/${phone.Id}`, name: line(phone.Name, MAXIMUM_NAME),
    }));
}

// What stands against pasting from any of the devices that are connected: the name of an error; empty if nothing does.
function pasteObstacle(broker, isOn, linked) {
    if (!broker)
        return `${BUS}.Error.ServiceUnknown`;
    if (!isOn)
        return `${BROKER}.Error.Disabled`;
    if (!broker.root[`${BROKER}.Clipboard`]?.Desktop)
        return `${BUS}.Error.NotSupported`;
    return linked.length === 0 ? `${BROKER}.Error.ConnectionUnavailable` : '';
}

// What can be pasted from: the devices that are connected, unless the user wants no clipboard; the one of them that stands
// out, since it is the only one or the last that has offered something, or else null; and what stands against it.
function makePasting(broker, isEnabled, linked, offers) {
    const isOn = isEnabled && (broker?.root[`${BROKER}.Preferences`]?.Clipboard ?? 'off') !== 'off';
    const sources = isOn ? linked : [];
    const latest = offers.map(offer => sources.find(source => source.id === offer.deviceId)).find(source => source);
    return {
        sources: sources.slice(0, MAXIMUM_DEVICES),
        source: sources.length === 1 ? sources[0] : latest ?? null,
        obstacle: pasteObstacle(broker, isOn, linked),
    };
}

// The offers, the latest first; the devices of which it can be seen what is open there; those that
// something can be sent to, none if there is nothing to be sent; what can be pasted from; and the user's switch. Either of
// the `Objects` may be null.
export function makeReport(broker, bridge) {
    const isEnabled = broker?.root[`${BROKER}.Manager`]?.Enabled !== false;
    const offers = (broker?.all(`${BROKER}.RemoteActivity`) ?? []).map(([path, properties]) => ({
        path,
        title: line(properties.Title, MAXIMUM_TITLE),
        device: line(properties.DeviceName, MAXIMUM_NAME),
        deviceId: properties.DeviceId ?? '',
        // The application that would continue it, or else the one that it comes from.
        application: properties.Handlers?.[0] ?? '',
        origin: properties.ApplicationId ?? '',
        // Since when its device sleeps, in microseconds since the Unix epoch; 0 if it does not.
        asleep: properties.Parked === true ? properties.ParkedAt ?? 0 : 0,
        isContinuing: properties.State === 'continuing',
        since: properties.Since ?? 0,
    })).sort((one, other) => other.since - one.since || one.path.localeCompare(other.path));
    const peers = (isEnabled && bridge?.all(`${BROKER}.Device`) || [])
        .filter(([, properties]) => properties.Paired === true)
        .map(([path, properties]) => ({
            path, id: properties.DeviceId ?? '', name: line(properties.Name, MAXIMUM_NAME),
            isConnected: properties.Connected === true,
            // It sleeps, and has left here what is open there.
            isAsleep: (properties.AsleepSince ?? 0) !== 0,
        }))
        .sort((one, other) => one.name.localeCompare(other.name) || one.path.localeCompare(other.path));
    const linked = peers.filter(peer => peer.isConnected);
    return {
        isEnabled,
        offers: offers.slice(0, MAXIMUM_OFFERS),
        more: Math.max(0, offers.length - MAXIMUM_OFFERS),
        listable: peers.filter(peer => peer.isConnected || peer.isAsleep).slice(0, MAXIMUM_LISTABLE),
        devices: isAnythingToSend(broker) ? [...linked, ...phones(broker)].slice(0, MAXIMUM_DEVICES) : [],
        pasting: makePasting(broker, isEnabled, linked, offers),
    };
}
