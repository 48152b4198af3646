// SPDX-License-Identifier: LGPL-2.1-or-later
// Tells the host which page is in front, reads it when asked to, and opens pages of other devices.

import {api, tellsLostFocus} from './api.js';
import {choices, onChoice} from './choices.js';
import {ask, enter} from './entering.js';
import {Host} from './host.js';
import {Pace} from './pace.js';
import {described, isExcluded, isOfferable, isSamePage, origin} from './pages.js';

// In milliseconds: how often the page in front is told, how long the focus may be between two places, and how long a page
// that was opened may take to ask where in it its user was.
const PAUSE = 100;
const BETWEEN = 250;
const OPENING = 60000;
// How many pages that the browser was started with may be waited for.
const MOST_EXPECTED = 8;

// What the host says; `missing` while there is none.
let standing = 'missing';
let offers = [];
let outcome = null;
// What the user has chosen. Nothing is read before it is known.
let chosen = null;
let hasFocus = false;
// The page that the host was told of last, and the whole message.
let front = null;
let told = '';
// The places in pages that are being opened, by tab, and what has to be over before it is known which tab that is.
const places = new Map();
// The places in pages that the browser was started with, and that no tab shows yet.
let expected = [];
let opening = Promise.resolve();
const popups = new Set();

const mayRead = () => chosen !== null && (standing === 'ready' || standing === 'off');

// The page in front

const pace = new Pace(PAUSE, () => void report());

async function report() {
    if (!mayRead())
        return;
    const [tab] = await api.tabs.query({active: true, lastFocusedWindow: true});
    if (!mayRead())
        return;
    const page = described(tab, chosen.sites);
    const message = {message: 'front', page, focus: hasFocus};
    const text = JSON.stringify(message);
    if (text === told)
        return;
    if (page && page.tab !== front?.tab)
        void enter(page.tab);
    [front, told] = [page, text];
    host.send(message);
}

let leaving = null;

function setFocus(has) {
    clearTimeout(leaving);
    if (hasFocus === has)
        return;
    hasFocus = has;
    pace.changed();
}

// The focus goes from one window of the browser to another by way of none.
function loseFocus() {
    clearTimeout(leaving);
    leaving = setTimeout(() => setFocus(false), BETWEEN);
}

function focusChanged(window) {
    if (window === api.windows.WINDOW_ID_NONE)
        return loseFocus();
    setFocus(true);
    pace.changed();
}

async function lookForFocus() {
    const window = await api.windows.getLastFocused().catch(() => null);
    if (window?.focused && !window.incognito)
        setFocus(true);
    pace.changed();
}

async function choicesChanged() {
    chosen = await choices();
    pace.changed();
    tellPopups();
}

// What the host asks

function answer(question, members) {
    host.send({message: 'answer', id: question.id, ...members});
}

async function save(question) {
    const tab = front?.tab;
    let read = null;
    if (mayRead() && tab !== undefined)
        read = await ask(tab, {message: 'read', forms: chosen.forms});
    const isFit = read && mayRead() && isOfferable(read.url) && !isExcluded(read.url, chosen.sites);
    answer(question, isFit ? {url: read.url, place: read.place} : {});
}

async function open(question) {
    if (!isOfferable(question.url))
        return answer(question, {done: false});
    const opened = show(question.url);
    opening = opened.catch(() => null);
    try {
        const tab = await opened;
        const until = Date.now() + OPENING;
        places.set(tab.id, {origin: origin(question.url), place: question.place, until});
        answer(question, {done: true});
        setFocus(true);
        await api.windows.update(tab.windowId, {focused: true});
    } catch {
        answer(question, {done: false});
    }
}

// Opens a tab in the window that was used last, or a window if there is none.
async function show(url) {
    const window = await api.windows.getLastFocused({windowTypes: ['normal']}).catch(() => null);
    if (window && !window.incognito)
        return api.tabs.create({url, active: true, windowId: window.id});
    return (await api.windows.create({url})).tabs[0];
}

// The browser was started with a page, which may be there, on its way, or not even asked for yet.
function expect(message) {
    if (isOfferable(message.url))
        opening = arrange(message).catch(() => null);
}

async function arrange({url, place}) {
    const until = Date.now() + OPENING;
    const tab = (await api.tabs.query({})).find(one => !one.incognito &&
        (isSamePage(one.url, url) || isSamePage(one.pendingUrl, url)));
    if (!tab) {
        expected = [...expected, {url, place, until}].slice(-MOST_EXPECTED);
        return;
    }
    // A page that is there already has asked before this was known.
    const isThere = await api.tabs.sendMessage(tab.id, {message: 'go', url, place}, {frameId: 0}).catch(() => false);
    if (isThere === true)
        return;
    places.set(tab.id, {origin: origin(url), place, until});
    // One that the add-on was not in asks now.
    void enter(tab.id);
}

// Where in the page its user was, for a tab that was opened for it; once, and to no other origin.
async function placeFor(tab, address) {
    await opening;
    expected = expected.filter(one => one.until >= Date.now());
    const wanted = expected.find(one => isSamePage(address, one.url));
    if (wanted) {
        expected = expected.filter(one => one !== wanted);
        return wanted.place;
    }
    for (const [id, one] of places) {
        if (one.until < Date.now())
            places.delete(id);
    }
    const found = places.get(tab);
    places.delete(tab);
    return found && found.origin === origin(address) ? found.place : null;
}

// What is shown on the button

function tellPopups() {
    for (const popup of popups)
        popup.postMessage({standing, offers, outcome, page: front});
}

function showOffers() {
    const count = standing === 'ready' ? offers.length : 0;
    api.action.setBadgeText({text: count > 0 ? String(count) : ''});
    api.action.setTitle({title: count > 0 ? `Handoff: ${api.i18n.getMessage('pagesThere')}` : 'Handoff'});
    tellPopups();
}

const said = {
    standing(message) {
        standing = message.standing;
        // A host that has just begun to listen knows of no page.
        told = '';
        pace.changed();
        showOffers();
    },
    offers(message) {
        ({offers} = message);
        if (outcome && !offers.some(offer => offer.id === outcome.offer))
            outcome = null;
        showOffers();
    },
    outcome(message) {
        outcome = message.error ? message : null;
        tellPopups();
    },
    place: expect,
    save,
    open,
};

const host = new Host(
    message => void said[message.message]?.(message),
    () => {
        [standing, offers, outcome, front, told] = ['missing', [], null, null, ''];
        showOffers();
    });

// What pages and the popup say

api.runtime.onMessage.addListener((message, sender, reply) => {
    if (sender.id !== api.runtime.id || !sender.tab || sender.frameId !== 0)
        return false;
    switch (message.message) {
    case 'place':
        placeFor(sender.tab.id, sender.url).then(reply);
        return true;
    case 'focus':
        if (message.focus)
            setFocus(true);
        else if (!tellsLostFocus)
            loseFocus();
        return false;
    }
    return false;
});

api.runtime.onConnect.addListener(popup => {
    if (popup.sender?.id !== api.runtime.id || popup.sender.url !== api.runtime.getURL('popup.html'))
        return popup.disconnect();
    popups.add(popup);
    popup.onDisconnect.addListener(() => popups.delete(popup));
    popup.onMessage.addListener(message => {
        if (message.message !== 'continue')
            return;
        outcome = null;
        host.send({message: 'continue', offer: message.offer});
    });
    tellPopups();
});

api.tabs.onActivated.addListener(() => {
    clearTimeout(leaving);
    pace.changed();
});
api.tabs.onUpdated.addListener((id, change, tab) => {
    if (change.status === 'complete' && isOfferable(tab.url))
        void enter(id);
    if (tab.active && (change.url !== undefined || change.title !== undefined || change.status === 'complete'))
        pace.changed();
});
api.tabs.onRemoved.addListener(id => {
    places.delete(id);
    pace.changed();
});
api.windows.onFocusChanged.addListener(focusChanged);
onChoice(() => void choicesChanged());
// Being told that the browser starts is what starts this script.
api.runtime.onStartup.addListener(() => {});
api.runtime.onInstalled.addListener(() => {});

host.connect();
void choicesChanged();
void lookForFocus();
