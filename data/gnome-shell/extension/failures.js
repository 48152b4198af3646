// SPDX-License-Identifier: LGPL-2.1-or-later
// What failures say to the user, in their language. What a daemon says of one is English, and may be in the words of another
// device: it stands behind that, in quotation marks, and only where it says more.

import Gettext from 'gettext';
import {quoted} from './text.js';

const _ = text => Gettext.dgettext('handoff', text);
const OURS = 'org.example.Handoff.Error.';
const BUS = 'org.freedesktop.DBus.Error.';
const MAXIMUM_WORDS = 256;

// The sentence for the error `name`, empty if there is none, and whether the daemon has more to say of it.
function sentence(name) {
    switch (name) {
    case `${OURS}Disabled`:
        return [_('Handoff is switched off, here or on the other device. Switch it on.'), false];
    case `${OURS}NoApplication`:
        return [_('No application here can continue it. Install one that can.'), true];
    case `${OURS}ApplicationTimedOut`:
        return [_('The application did not answer in time. Try again.'), false];
    case `${OURS}ApplicationFailed`:
        return [_('The application could not do it.'), true];
    case `${OURS}ConnectionUnavailable`:
        return [_('The other device cannot be reached. See whether it is switched on and on the same network.'), false];
    case `${OURS}OfferWithdrawn`:
    case `${BUS}UnknownObject`:
        return [_('It is no longer there. Look again at what there is, and choose from that.'), false];
    case `${OURS}NotPaired`:
        return [_('The other device is not paired with this one any more. Pair them again.'), false];
    case `${BUS}LimitsExceeded`:
        return [_('It is more than is allowed, or than there is room for.'), true];
    case `${BUS}AccessDenied`:
        return [_('That is not allowed.'), true];
    case `${BUS}NotSupported`:
        return [_('That cannot be done here.'), true];
    case `${BUS}NoReply`:
    case `${BUS}Timeout`:
        return [_('No answer came. Try again.'), false];
    case `${BUS}ServiceUnknown`:
    case `${BUS}NameHasNoOwner`:
    case `${BUS}Disconnected`:
        return [_('Handoff has ended meanwhile. Try again once it runs.'), false];
    default:
        return [_('Something went wrong. Try again.'), true];
    }
}

function joined([summary, saysMore], words) {
    const detail = saysMore ? quoted(words, MAXIMUM_WORDS) : '';
    return detail ? `${summary} ${detail}` : summary;
}

// What is said of the error `name`, of which a daemon says `words`.
export function explained(name, words) {
    return joined(sentence(name), words);
}

// What an application has said, without its id and the title, which the broker puts before it.
export function unframed(words, application) {
    const end = words.indexOf('": ');
    return words.startsWith(`${application} did not continue "`) && end > 0 ? words.slice(end + 3) : words;
}

// The same of what was to be pasted from a device.
export function explainedPasting(name, words) {
    switch (name) {
    case `${OURS}Disabled`:
        return _('Handoff, or its clipboard, is switched off here or on the other device. Switch it on.');
    case `${OURS}OfferWithdrawn`:
        return _('There is nothing in its clipboard that may go to other devices. Copy it once more there.');
    case `${BUS}AccessDenied`:
        return _('One of the devices is locked, or this one is muted there. Unlock or unmute it, then try again.');
    case `${BUS}NotSupported`:
        return joined(
            [_('The clipboard of one of the devices cannot be reached, or the Handoff of the other one is too old.'), true], words);
    case `${OURS}ApplicationFailed`:
        return joined([_('What has arrived is not what it claims to be. Copy it once more there.'), true], words);
    default:
        return explained(name, words);
    }
}

// The same of something that was sent to a device.
export function explainedSending(name, words) {
    switch (name) {
    case `${OURS}OfferWithdrawn`:
        return _('There is nothing to be sent. Turn to what you want to send, then try again.');
    case `${BUS}NotSupported`:
        return _('The Handoff of the other device is too old for that. Update it there.');
    case `${OURS}ApplicationFailed`:
    case '':
    case undefined:
        return joined([_('The other device did not take it.'), true], words);
    default:
        return explained(name, words);
    }
}
